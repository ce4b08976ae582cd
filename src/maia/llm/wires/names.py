"""Ids and names of calls as an API takes them back: a history may come from another one, or from a model's fancy."""

from __future__ import annotations

import hashlib
import re
from typing import Final, Literal, TypeAlias

IdForm: TypeAlias = Literal["any", "letters", "short", "nine"]
"""Which ids of calls an API takes.

`letters`: those of Anthropic, `[a-zA-Z0-9_-]+`. `short`: 40 characters, of OpenAI and Azure; servers that put a
signature into the id need theirs back as it was, so only a refusal makes ids short. `nine`: exactly nine letters and
digits, of Mistral's API and chat templates.
"""

_FITS: Final[dict[IdForm, str]] = {
    "any": r"(?s).*",
    "letters": r"[a-zA-Z0-9_-]+",
    "short": r"(?s).{1,40}",
    "nine": r"[a-zA-Z0-9]{9}",
}
_NAME: Final = r"[a-zA-Z0-9_-]{1,64}"
"""A tool's name as OpenAI, Anthropic and Bedrock take it."""


def fit_id(call_id: str, form: IdForm) -> str:
    """The id itself where it fits, else one made from it: the same each time, and another for another id."""
    if re.fullmatch(_FITS[form], call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:9] if form == "nine" else f"call_{digest[:32]}"


def fit_name(name: str) -> str:
    """The name of a call, which a model may have made up, in the letters and the length that every API takes.

    One that does not fit was no tool's name and the call was refused; sent as it came, it would make the API refuse
    every further request of the conversation (docker-agent#3974, pi#1643).
    """
    if re.fullmatch(_NAME, name):
        return name
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", name)[:64] or "unknown"
