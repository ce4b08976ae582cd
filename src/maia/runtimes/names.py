"""From a program's tool call to ours: our tool's name, its arguments, and what the call needs of the rules."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.messages import ToolCallPart
from maia.core.permission import Need
from maia.core.results import Block, DiffBlock
from maia.core.runtime import ProgramCall
from maia.core.text import visible
from maia.runtimes.sweeps import swept

_OURS: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": (
        "bash",
        "shell",
        "terminal",
        "run_shell_command",
        "exec_command",
        "execute_command",
        "run_command",
        "local_shell",
        "command_execution",
        "bashoutput",
    ),
    "Read": ("read", "read_file", "readfile", "read_many_files", "view", "view_file", "cat", "notebookread"),
    "Write": ("write", "write_file", "writefile", "create_file"),
    "Edit": (
        "edit",
        "multiedit",
        "edit_file",
        "replace",
        "str_replace",
        "strreplacefile",
        "search_replace",
        "patch",
        "apply_patch",
        "file_change",
        "notebookedit",
    ),
    "Delete": ("delete", "delete_file", "deletefile", "remove_file"),
    "Glob": ("glob", "list_directory", "ls", "list", "find_files"),
    "Grep": ("grep", "grep_search", "search_file_content", "search_files", "search"),
    "WebFetch": ("webfetch", "web_fetch", "fetchurl", "fetch_url", "fetch"),
    "TodoWrite": ("todowrite", "todo_write", "write_todos", "settodolist", "todo", "todo_list", "todolist"),
}
_COMMON: Final[Mapping[str, str]] = {theirs: ours for ours, names in _OURS.items() for theirs in names}
"""Names that mean the same in every program, in lower case. A program's own row of the table comes before."""

_BY_KIND: Final[Mapping[str, str]] = {
    "execute": "Bash",
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Edit",
    "search": "Grep",
    "fetch": "WebFetch",
}
"""The kinds of the Agent Client Protocol, where a call has no name that we know."""

_SPELLINGS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "Bash": {"command": ("command", "cmd", "script"), "description": ("description",)},
    "Read": {"file_path": ("file_path", "filePath", "path", "absolute_path", "paths"), "offset": (), "limit": ()},
    "Write": {"file_path": ("file_path", "filePath", "path"), "content": ("content", "contents", "file_text")},
    "Edit": {
        "file_path": ("file_path", "filePath", "path", "notebook_path"),
        "old_string": ("old_string", "oldString", "old_str", "oldText"),
        "new_string": ("new_string", "newString", "new_str", "newText"),
        "replace_all": ("replace_all", "replaceAll"),
    },
    "Delete": {"file_path": ("file_path", "filePath", "path", "paths")},
    "Glob": {"pattern": ("pattern", "glob"), "path": ("path", "dir_path", "dirPath")},
    "Grep": {"pattern": ("pattern", "query", "regex"), "path": ("path", "dir_path", "include_path")},
    "WebFetch": {"url": ("url",), "prompt": ("prompt",)},
}
_SHELLS: Final = ("bash", "sh", "zsh")
_FOLDERS: Final = ("cwd", "workdir", "directory", "dir", "working_directory")
_LISTINGS: Final = ("list_directory", "ls", "list")
"""Show what lies in one folder and search nothing."""

_ENVELOPE: Final = frozenset({"tool_name", "tool_input", "variant"})
_OPENS_ENVELOPES: Final = ("use_tool", "usetool")

_NO_NEED: Final = ("TodoWrite", "Think", "Plan")
_CUT: Final = "…"
_LENT: Final = r"(?:Tool: )?(?:mcp_+)?maia(?:_+|[./:])([a-z][a-z0-9_]*)|([a-z][a-z0-9_]*) \(maia MCP Server\)"
"""How programs name a tool of the server that we give them (`runtimes.lending`): `mcp__maia__memory_search`,
`maia_memory_search` (OpenCode), `Tool: maia/memory_search` (codex-acp), `memory_search (maia MCP Server)` (Gemini).
"""
_PATCHED: Final = r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$"
"""The files that a patch of OpenAI's form names."""

_NAMED: Final = r"^(?:bash|shell|terminal): "
"""Before the command in the title of some (Hermes, Vibe)."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a program told of a call, in whatever pieces. `name` is its tool's name, `kind` that of the protocol."""

    call_id: str
    name: str = ""
    kind: str = ""
    title: str = ""
    arguments: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    paths: tuple[str, ...] = ()
    diffs: tuple[DiffBlock, ...] = ()
    title_is_command: bool = False


def ours_of(told: Told, own: Mapping[str, str]) -> str:
    """Our tool's name; the program's own where none of ours does the same."""
    name = told.name.lower()
    found = own.get(name) or _COMMON.get(name) or _BY_KIND.get(told.kind)
    if found == "Read" and name not in _COMMON and isinstance(pattern := told.arguments.get("pattern"), str):
        found = "Glob" if "*" in pattern else "Grep"  # Kimi calls its searches reading, and gives them no name
    return found or told.name or told.kind.capitalize() or "Tool"


def lent_name(told: Told) -> str:
    """The tool of ours that the call means, as its own name tells; empty for a tool of the program's own.

    A title may be the words of a command or a path: only where the call is of no kind that has such does it count.
    """
    found = re.fullmatch(_LENT, told.name or ("" if told.kind in _BY_KIND else told.title), re.IGNORECASE)
    return (found[1] or found[2]).lower() if found else ""


def program_call(told: Told, folder: Path, own: Mapping[str, str]) -> ProgramCall:
    """The call under our names. It is whole only where everything that the rules look at is known.

    Some tools do several things in one call (Cline): each of them is judged.
    """
    given, told = told, _unwrapped(_outside(told))
    lent = lent_name(given) or ("" if given.kind in _BY_KIND else lent_name(told))
    call = _judged(told, folder, own)
    theirs = told.name or (told.title if lent else "")
    return replace(call, lent=lent, own=theirs if theirs != call.call.name else "")


def _judged(told: Told, folder: Path, own: Mapping[str, str]) -> ProgramCall:
    ours = ours_of(told, own)
    arguments = _arguments(ours, told)
    match ours:
        case "Bash" if isinstance(commands := arguments.get("commands"), list):
            return _commands(told, arguments, cast("list[Any]", commands))
        case "Bash":
            return _command(told, arguments, folder)
        case "Read" | "Write" | "Edit" | "Delete" | "Glob" | "Grep":
            return _on_paths(ours, told, arguments, folder)
        case "WebFetch":
            urls = [str(arguments.get("url", "")), *_each(arguments.get("requests"), "url")]
            urls = [url for url in urls if url]
            hosts = [_host(url) for url in urls]
            needs = tuple(Need(ours, "host", host) for host in dict.fromkeys(hosts)) or (Need(ours, "host", ""),)
            return _call(ours, told, arguments, needs, ", ".join(urls), is_whole=bool(hosts) and all(hosts))
        case _:
            kind = "none" if ours in _NO_NEED else "name"
            shown = told.title or told.name
            return _call(ours, told, arguments, (Need(ours, kind, told.title),), shown)


def _outside(told: Told) -> Told:
    """OpenCode and Kilo ask whether a call may leave the folder before they ask about the call: it is that call.

    They tell the command, or the file; of a search the folder, as file and as the folder that it lies in.
    """
    given = told.arguments
    command, path, folder = given.get("command"), given.get("filepath"), given.get("parentDir")
    if told.name or told.kind != "other":
        return told
    if isinstance(command, str) and "directories" in given:
        return replace(told, name="bash", kind="execute", arguments={"command": command})
    if isinstance(path, str) and isinstance(folder, str):
        if path == folder:
            return replace(told, name="grep", kind="search", arguments={"path": path})
        return replace(told, name="read", kind="read", arguments={"file_path": path})
    return told


def _unwrapped(told: Told) -> Told:
    """The tool in the envelope in which Grok calls those that it was given (R-2.194): what really is received.

    Only its own tool opens envelopes: any other would be judged by arguments that it need not look at.
    """
    if (told.name or told.title).casefold() not in _OPENS_ENVELOPES:
        return told
    name, given = told.arguments.get("tool_name"), told.arguments.get("tool_input")
    if not isinstance(name, str) or not isinstance(given, dict) or set(told.arguments) - _ENVELOPE:
        return told
    return replace(told, name=name, kind="", title=name, arguments=cast(JsonObject, given), title_is_command=False)


def _call(
    ours: str,
    told: Told,
    arguments: JsonObject,
    needs: tuple[Need, ...],
    preview: str,
    *,
    blocks: tuple[Block, ...] = (),
    is_whole: bool = True,
) -> ProgramCall:
    shown = visible(preview.strip()).replace("\n", " ⏎ ")
    return ProgramCall(ToolCallPart(told.call_id, ours, arguments), needs, shown, blocks, is_whole)


def _arguments(ours: str, told: Told) -> JsonObject:
    """Under our spellings; what we have no name for stays as it is."""
    given = dict(told.arguments)
    spellings = _SPELLINGS.get(ours)
    if spellings is None:
        return given
    renamed: JsonObject = {}
    for name, others in spellings.items():
        for other in others:
            if other in given:
                renamed[name] = given.pop(other)
                break
    return {**renamed, **given}


def _commands(told: Told, arguments: JsonObject, commands: list[Any]) -> ProgramCall:
    """Several whole command lines in one call."""
    texts = [command for command in commands if isinstance(command, str) and command.strip()]
    needs = tuple(Need("Bash", "command", text) for text in texts) or (Need("Bash", "command", told.title),)
    is_here = not any(name in arguments for name in _FOLDERS)
    is_whole = is_here and bool(texts) and len(texts) == len(commands)
    return _call("Bash", told, arguments, needs, "\n".join(texts) or told.title, is_whole=is_whole)


def _each(value: JsonValue, name: str) -> list[str]:
    """That member of each object of a list, empty where one lacks it."""
    members = cast("list[Any]", value) if isinstance(value, list) else []
    return [str(cast(JsonObject, each).get(name, "")) if isinstance(each, dict) else "" for each in members]


def _command(told: Told, arguments: JsonObject, folder: Path) -> ProgramCall:
    command = plain_command(arguments.get("command"))
    is_whole = bool(command)
    if not command:
        command = re.sub(_NAMED, "", told.title)
        is_whole = told.title_is_command and _CUT not in command
    arguments = {**arguments, "command": command}
    where = next((str(arguments[name]) for name in _FOLDERS if isinstance(arguments.get(name), str)), "")
    judged = command
    if where and not _is_same(Path(folder, where), folder):
        judged = f"cd {shlex.quote(where)} && {command}"
    return _call("Bash", told, arguments, (Need("Bash", "command", judged),), judged, is_whole=is_whole)


def _is_same(path: Path, folder: Path) -> bool:
    """Whether both lead to one place; what is no path at all leads nowhere."""
    try:
        return path.resolve() == folder.resolve()
    except (OSError, RuntimeError, ValueError):
        return False


def plain_command(value: JsonValue) -> str:
    """The command line of a text or a list of words, without the shell that a program puts around each of its own."""
    if isinstance(value, list):
        words = [str(word) for word in cast("list[Any]", value)]
        return words[2] if _is_shell(words) else shlex.join(words)
    if not isinstance(value, str):
        return ""
    if value.startswith(("/", *_SHELLS)):
        try:
            words = shlex.split(value)
        except ValueError:
            return value
        if _is_shell(words):
            return words[2]
    return value


def _is_shell(words: Sequence[str]) -> bool:
    return len(words) == 3 and Path(words[0]).name in _SHELLS and words[1] in ("-c", "-lc")


def _on_paths(ours: str, told: Told, arguments: JsonObject, folder: Path) -> ProgramCall:
    argument = "path" if ours in ("Glob", "Grep") else "file_path"
    given = arguments.get(argument)
    named = [str(path) for path in cast("list[Any]", given)] if isinstance(given, list) else [str(given or "")]
    several = _each(arguments.get("files"), "path")
    patched = re.findall(_PATCHED, str(arguments.get("input", "")), re.MULTILINE)
    paths = [path for path in (*named, *several, *patched, *told.paths, *(diff.path for diff in told.diffs)) if path]
    if not paths and argument == "path":
        paths = [str(folder)]
    if ours == "Edit" and told.diffs and not told.diffs[0].before and "old_string" not in arguments:
        ours = "Write"
    if paths and argument not in arguments:
        arguments = {argument: paths[0], **arguments}
    if told.name.lower() not in _LISTINGS and ours in ("Glob", "Grep"):
        needs = tuple(swept(ours, path, arguments) for path in dict.fromkeys(paths))
    elif ours == "Delete":
        needs = _deleting(dict.fromkeys(paths), told.title)
    else:
        needs = tuple(Need(ours, "path", path) for path in dict.fromkeys(paths)) or (Need(ours, "name", told.title),)
    shown = str(arguments.get("pattern") or "") or ", ".join(dict.fromkeys(paths)) or told.title
    is_whole = bool(paths) and all(several)
    return _call(ours, told, arguments, needs, shown, blocks=_blocks(told, arguments, paths), is_whole=is_whole)


def _deleting(paths: Mapping[str, None], title: str) -> tuple[Need, ...]:
    """What restricts a change restricts a deletion as well; what allows changes does not allow it."""
    named = tuple(Need("Delete", "name", path) for path in paths) or (Need("Delete", "name", title),)
    return (*(Need("Edit", "path", path) for path in paths), *named)


def _blocks(told: Told, arguments: JsonObject, paths: Sequence[str]) -> tuple[Block, ...]:
    """What would change: as the program shows it, else as its arguments say."""
    if told.diffs:
        return told.diffs
    before, after = arguments.get("old_string"), arguments.get("new_string")
    if paths and isinstance(before, str) and isinstance(after, str):
        return (DiffBlock(paths[0], before, after),)
    content = arguments.get("content")
    return (DiffBlock(paths[0], "", content),) if paths and isinstance(content, str) else ()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
