"""How each sub-command of `maia` is written, for the help and for whoever wrote it wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maia.core.errors import UsageProblem

USAGE: Final[Mapping[str, str]] = {
    "serve": "serve [--host ADDRESS] [--port N] [--database URL] [--model MODEL] "
    "| serve backup FILE | serve restore FILE [--replace]",
    "permissions": "permissions check TOOL VALUE [--cwd DIR] [--settings FILE …] [--json]",
    "sessions": "sessions list | show NAME | export NAME [FILE]",
    "models": "models [--json]",
    "doctor": "doctor [--json]",
    "keys": "keys explain [NAME] | list | set [NAME] | remove NAME | check [NAME] | hermes [AGENT] | migrate",
    "agents": "agents list | show NAME | create NAME | edit NAME | delete NAME | prompts NAME [PROMPT] | nicknames",
    "runs": "runs list | start TASK | show RUN | follow RUN | stop RUN | answer RUN CHOICE [REASON]",
    "mcp": "mcp [--transport stdio|http] [--host HOST] [--port PORT] [--as AGENT] "
    "| token create NAME [--as AGENT] | token list | token revoke NAME",
    "memory": "memory list | search WORDS | add TEXT | forget ID | export [FILE] | import FILE | embed | path",
    "tokens": "tokens < FILE",
}
"""One row a sub-command, in the order of the help."""


def wrong_words(command: str) -> UsageProblem:
    """The problem of a sub-command whose words are too few, too many or other ones; it shows how it is written."""
    return UsageProblem("cli.wrong_words", usage=USAGE[command])
