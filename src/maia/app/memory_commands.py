"""`maia memory`: what a person does with a memory of theirs or of one of their agents (C6.04).

Whoever sits at the machine owns all files on it, so an option names the agent here. Through tools and servers the
identity is settled before, and is no argument.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import localtime, strftime
from typing import TYPE_CHECKING, Final

from maia.app.build import Ground, lay_ground
from maia.app.memories import agent_identity, memory_place, open_memory
from maia.app.usage import wrong_words
from maia.core.errors import MaiaError, NotConfigured, UsageProblem, system_words
from maia.core.events import Notice
from maia.core.fileread import read_bounded
from maia.core.filewrite import replace_file
from maia.core.jsonvalue import JsonObject
from maia.core.memories import PERSON, MemoryEntry
from maia.core.text import visible, whole_number
from maia.i18n.catalogue import Catalogue
from maia.terminal.endings import notice_lines
from maia.terminal.headless import show, stream_look
from maia.terminal.options import Options
from maia.terminal.streams import literal

if TYPE_CHECKING:
    from maia.memory.private import PrivateMemory

MAX_FILE_BYTES: Final = 200_000_000
LISTED: Final = 50
SHOWN_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class _Call:
    """One command on one memory; `who` is its owner for people."""

    ground: Ground
    identity: str
    who: str
    memory: PrivateMemory
    words: tuple[str, ...]

    @property
    def options(self) -> Options:
        return self.ground.options

    def tell(self, key: str, n: int | None = None, **values: object) -> None:
        """A sentence beside the answer, on standard error."""
        print(visible(self.ground.say(key, n, **values)), file=sys.stderr)


def memory(options: Options, say: Catalogue) -> int:
    """`maia memory ACTION …`; the exit code. Raises `MaiaError`."""
    _, *words = options.command
    action = _ACTIONS.get(words[0]) if words else None
    if action is None or not action.least <= len(words) - 1 <= action.most:
        raise wrong_words("memory")
    ground = lay_ground(replace(options, agent=None), os.environ, say)
    identity = _identity(ground, options.agent)

    def tell(notice: Notice) -> None:
        look = stream_look(os.environ, sys.stderr)
        show(notice_lines(notice, look, ground.say), look, sys.stderr)

    async def run() -> int:
        opened = open_memory(ground.rules.settings, ground.folders, ground.env, identity, tell)
        try:
            return await action.run(_Call(ground, identity, options.agent or "maia", opened, tuple(words[1:])))
        finally:
            await opened.aclose()

    return asyncio.run(run())


def _identity(ground: Ground, name: str | None) -> str:
    """Whose memory is meant: the person's own, or that of an agent by name or nickname.

    An agent that is gone may have left a memory behind: it is reached by its name.
    """
    folders = ground.folders
    if not name:
        return PERSON
    from maia.app.agents import agent_shelf

    try:
        agent = agent_shelf(folders).read().find(name)
    except MaiaError:
        left = (agent_identity(name, level, folders.launch) for level in ("project", "home"))
        for identity in left:
            if memory_place(ground.rules.settings, folders, identity).is_there:
                return identity
        raise
    return agent_identity(agent.name, agent.level, folders.launch)


# Showing --------------------------------------------------------------------------------------------------------------


async def _list(call: _Call) -> int:
    limit = whole_number(call.words[0]) if call.words else LISTED
    if not limit:
        raise wrong_words("memory")
    entries = list(reversed(await call.memory.everything(call.options.tags)))[:limit]
    _show(call, [(entry, {}) for entry in entries])
    return 0


async def _search(call: _Call) -> int:
    hits = await call.memory.search(" ".join(call.words), tags=call.options.tags)
    _show(call, [(hit.entry, {"score": hit.score, "by": hit.by}) for hit in hits])
    return 0


def _show(call: _Call, rows: Sequence[tuple[MemoryEntry, JsonObject]]) -> None:
    if call.options.as_json:
        _print_json([{**_json(entry), **more} for entry, more in rows])
        return
    if not rows:
        call.tell("memory.nothing")
    for entry, _ in rows:
        text = visible(" ".join(entry.text.split()))
        short = text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
        when = strftime("%Y-%m-%d %H:%M", localtime(entry.created))
        print(f"{visible(entry.entry_id)}  {when}  {short}{''.join(f' #{tag}' for tag in entry.tags)}")


def _json(entry: MemoryEntry) -> JsonObject:
    return {
        "id": entry.entry_id,
        "created": entry.created,
        "text": entry.text,
        "tags": list(entry.tags),
        "source": entry.source,
    }


def _print_json(value: object) -> None:
    print(literal(json.dumps(value, ensure_ascii=False), sys.stdout))


async def _path(call: _Call) -> int:
    print(visible(memory_place(call.ground.rules.settings, call.ground.folders, call.identity).shown))
    return 0


# Changing -------------------------------------------------------------------------------------------------------------


async def _add(call: _Call) -> int:
    given = " ".join(call.words)
    text = _decoded(sys.stdin.buffer.read(MAX_FILE_BYTES)).strip("\n") if given == "-" else given
    entry = await call.memory.store(text, call.options.tags)
    if entry.text != text:
        call.tell("memory.masked")
    if call.options.as_json:
        _print_json(_json(entry))
    else:
        print(entry.entry_id)
    return 0


async def _forget(call: _Call) -> int:
    unknown = [word for word in call.words if not await call.memory.forget(word)]
    if unknown:
        raise UsageProblem("memory.unknown_entry", names=", ".join(unknown))
    return 0


async def _embed(call: _Call) -> int:
    """Give vectors to all entries that have none, after the embeddings model was set or changed."""
    if not call.ground.rules.settings.memory.embeddings:
        raise NotConfigured("memory.no_model")
    call.tell("memory.embedded", await call.memory.embed_all())
    return 0


# Files ----------------------------------------------------------------------------------------------------------------


async def _export(call: _Call) -> int:
    from maia.memory.markdown import write_markdown

    title = call.ground.say("memory.title", who=call.who)
    text = write_markdown(title, await call.memory.everything(call.options.tags))
    if not call.words or call.words[0] == "-":
        print(literal(text, sys.stdout), end="")
        return 0
    path = _named(call)
    try:
        replace_file(path, text.encode(), path.stat() if path.exists() else None, 0o600)
    except OSError as problem:
        raise UsageProblem("memory.file", path=str(path), why=system_words(problem)) from None
    print(visible(str(path)))
    return 0


async def _import(call: _Call) -> int:
    from maia.memory.entries import checked_tags, checked_text
    from maia.memory.markdown import read_markdown

    is_stdin = call.words[0] == "-"
    path = _named(call)
    try:
        data = sys.stdin.buffer.read(MAX_FILE_BYTES) if is_stdin else read_bounded(path, MAX_FILE_BYTES)
    except OSError as problem:
        raise UsageProblem("memory.file", path=str(path), why=system_words(problem)) from None
    written = read_markdown(_decoded(data), time.time())
    for each in written:
        try:
            checked_text(each.entry.text)
            checked_tags(each.entry.tags)
        except MaiaError as problem:
            what = call.ground.say(problem.key, **problem.values)
            raise UsageProblem("memory.bad_entry", line=each.line, why=what) from None
    new = await call.memory.take_in([each.entry for each in written])
    call.tell("memory.taken_in", new, all=len(written))
    return 0


def _named(call: _Call) -> Path:
    """The file of the command, real and without links, from the launch folder."""
    return (call.ground.folders.launch / Path(call.words[0]).expanduser()).resolve()


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageProblem("memory.not_utf8") from None


@dataclass(frozen=True, slots=True)
class _Action:
    """How an action is run, and how many words may follow its name."""

    run: Callable[[_Call], Awaitable[int]]
    least: int = 0
    most: int = 0


MANY: Final = 10_000
"""Words of a text or of a question, which need no quotes."""

_ACTIONS: Final[Mapping[str, _Action]] = {
    "list": _Action(_list, most=1),
    "search": _Action(_search, 1, MANY),
    "add": _Action(_add, 1, MANY),
    "forget": _Action(_forget, 1, MANY),
    "export": _Action(_export, most=1),
    "import": _Action(_import, 1, 1),
    "embed": _Action(_embed),
    "path": _Action(_path),
}
