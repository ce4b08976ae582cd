"""Fragments of tool calls, as broken as gateways send them → whole calls, or the report that one is broken (T5.09).

The one rule: nothing is repaired. Arguments that are not whole, valid JSON make a `BrokenCall`; what varies between
servers is only which fragment belongs to which call, and whether a fragment continues the arguments or repeats them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, cast

from maia.core.events import BrokenCall
from maia.core.jsontext import is_deep, read_json
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import Message, ToolCallPart, ToolMessage

HEAD_CHARS: Final = 200
"""How much of a broken call's arguments is kept, so that the model can be told what arrived."""

USUAL_LIMITS: Final = frozenset(
    {1024, 2048, 4096, 8000, 8192, 16000, 16384, 32000, 32768, 64000, 65536, 128000, 131072}
)
"""Output limits that servers and gateways set by default. Some repair the call they cut there (T5.09)."""


@dataclass(slots=True)
class Draft:
    """One call while its fragments arrive."""

    position: int
    index: int | None
    call_id: str = ""
    name: str = ""
    fragments: list[str] = field(default_factory=list[str])
    whole: JsonObject | None = None
    chars: int = 0
    settled: bool = False

    def add(self, arguments: JsonValue) -> None:
        if isinstance(arguments, dict):
            self.whole = cast(JsonObject, arguments)
            self.chars = len(json.dumps(self.whole, ensure_ascii=False))
        elif isinstance(arguments, str) and arguments:
            self.fragments.append(arguments)
            self.chars += len(arguments)

    def rename(self, name: str) -> None:
        """The name, which comes once, repeated, growing, or in pieces before the arguments."""
        if not name or name == self.name:
            return
        if not self.name or name.startswith(self.name):
            self.name = name
        elif not self.chars:
            self.name += name

    @property
    def text(self) -> str:
        return "".join(self.fragments)

    def is_whole(self) -> bool:
        return self.whole is not None or (bool(self.fragments) and self.arguments() is not None)

    def arguments(self) -> JsonObject | None:
        """The arguments, or None when they are cut or no JSON object.

        Joined fragments are tried first. Where they are no JSON and each one (or the last) repeats what came before,
        the server resends cumulatively and the last state counts; both readings can never be valid at once.
        """
        if self.whole is not None:
            return None if is_deep(self.whole) else self.whole
        joined = read_arguments(self.text)
        if joined is not None or len(self.fragments) < 2:
            return joined
        state = self.fragments[0]
        for fragment in self.fragments[1:]:
            state = fragment if fragment.startswith(state) else state + fragment
        return read_arguments(state)


def read_arguments(text: str) -> JsonObject | None:
    """A JSON object from the text of a call's arguments, or None. Empty and `null` are a call without arguments.

    A JSON string that itself holds an object is read too: some gateways encode twice.
    """
    text = text.strip()
    if not text:
        return {}
    value = _loads(text)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _loads(value)
    if value is None and text == "null":
        return {}
    return cast(JsonObject, value) if isinstance(value, dict) else None


def _loads(text: str) -> JsonValue:
    try:
        return read_json(text, finite=True)
    except ValueError:
        return None


def fresh_id() -> str:
    """An id for a call that came without a usable one."""
    return "call_" + os.urandom(9).hex()


class CallDrafts:
    """The calls of one answer. `add` each fragment as it comes, then `finish` once."""

    def __init__(
        self, offered: Collection[str] = (), taken: Iterable[str] = (), new_id: Callable[[], str] = fresh_id
    ) -> None:
        """`offered` are the names of the request's tools, `taken` the ids that the history already uses."""
        self._offered = offered
        self._taken = set(taken)
        self._new_id = new_id
        self.drafts: list[Draft] = []

    def add(self, *, index: int | None, call_id: str = "", name: str = "", arguments: JsonValue = None) -> Draft:
        """Take one fragment and give the call it belongs to. `arguments` is text, an object, or None."""
        draft = self._find(index, call_id, name, arguments)
        if draft is None:
            draft = Draft(len(self.drafts), index)
            self.drafts.append(draft)
        if call_id and not draft.call_id:
            draft.call_id = call_id
        if name:
            draft.rename(name)
        draft.add(arguments)
        return draft

    def _find(self, index: int | None, call_id: str, name: str, arguments: JsonValue) -> Draft | None:
        """The draft a fragment continues, or None when it begins another call."""
        if call_id:
            return self._find_by_id(index, call_id, name, arguments)
        draft = next((d for d in reversed(self.drafts) if index is None or d.index == index), None)
        if not name:
            # A fragment without id and name can only continue, even where its index is wrong.
            return draft or (self.drafts[-1] if self.drafts else None)
        return draft if draft is not None and self._continues(draft, name, arguments) else None

    def _find_by_id(self, index: int | None, call_id: str, name: str, arguments: JsonValue) -> Draft | None:
        same_id = [d for d in self.drafts if d.call_id == call_id]
        for draft in reversed(same_id):
            # Two calls of one answer may share an id; then only the index tells them apart.
            if index is None or draft.index is None or draft.index == index or not name:
                return draft
        if same_id:
            return None
        draft = next((d for d in reversed(self.drafts) if d.index == index), None) if index is not None else None
        if draft is None:
            return None
        if not draft.call_id:
            return draft if not name or self._continues(draft, name, arguments) else None
        if not name:
            return draft  # a server that makes a new id for every fragment
        begins = not isinstance(arguments, str) or not arguments or arguments.lstrip().startswith("{")
        return draft if not begins and draft.name == name and draft.fragments and not draft.is_whole() else None

    def _continues(self, draft: Draft, name: str, arguments: JsonValue) -> bool:
        """Whether a fragment with a name but without a new id continues `draft` rather than begin another call."""
        if draft.name and not name.startswith(draft.name) and (draft.chars or name in self._offered):
            return False
        if not draft.is_whole():
            return True
        text = arguments if isinstance(arguments, str) else ""
        # A whole call followed by nothing, by the same text or by a longer one is a server that resends.
        return not text or text.startswith(draft.text)

    def finish(self, *, cut: bool = False) -> tuple[tuple[ToolCallPart, ...], tuple[BrokenCall, ...]]:
        """Whole calls and broken ones, in the order they began.

        `cut` says that the server itself reports a limit: then a last call without any arguments was cut, too.
        """
        calls: list[ToolCallPart] = []
        broken: list[BrokenCall] = []
        self.settle()
        for draft in self.drafts:
            call_id = draft.call_id
            name = known_name(draft.name, self._offered)
            arguments = draft.arguments()
            if cut and draft is self.drafts[-1] and not draft.chars:
                arguments = None
            if arguments is None or not name:
                broken.append(BrokenCall(call_id, name, draft.chars, draft.text[:HEAD_CHARS]))
            else:
                calls.append(ToolCallPart(call_id, name, arguments))
        return tuple(calls), tuple(broken)

    def settle(self) -> None:
        """Give every call its final id: its own where that is usable and new, else a fresh one."""
        for draft in self.drafts:
            if not draft.settled:
                while not draft.call_id or draft.call_id in self._taken:
                    draft.call_id = self._new_id()
                self._taken.add(draft.call_id)
                draft.settled = True


def known_name(name: str, offered: Collection[str]) -> str:
    """The tool's name without the decoration that some models add (`functions.Read`, `Read<|channel|>json`).

    Only a name that is not offered as it stands is cleaned, and only where the clean one is offered.
    """
    if name in offered:
        return name
    clean = name.split("<|")[0].strip().removeprefix("functions.").removeprefix("functions:").removeprefix("tools.")
    return clean if clean in offered else name.strip()


def taken_ids(messages: Iterable[Message]) -> set[str]:
    """Ids of calls that a history already holds."""
    return {result.call_id for message in messages if isinstance(message, ToolMessage) for result in message.results}


def likely_cut(output_tokens: int, asked_limit: int | None, has_calls: bool) -> bool:
    """Whether the output falls exactly on a limit with a call in it: some servers repair what they cut (T5.09)."""
    return has_calls and output_tokens > 0 and (output_tokens in USUAL_LIMITS or output_tokens == asked_limit)
