"""The commands for scripts: permissions, tokens, models, sessions (decisions §11)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import localtime, strftime

from maia.app.build import Ground, endpoint_models, lay_ground
from maia.app.usage import wrong_words
from maia.app.workspaces import of_workspace
from maia.core.errors import MaiaError, SessionProblem, UsageProblem
from maia.core.events import Notice
from maia.core.jsonvalue import JsonValue
from maia.core.text import visible
from maia.engine.export import markdown, write_markdown
from maia.engine.transcript import Transcript
from maia.i18n.catalogue import Catalogue
from maia.launch import find_folders
from maia.store.sessions import Sessions
from maia.terminal.badges import failure_lines
from maia.terminal.endings import notice_lines
from maia.terminal.headless import show, stream_look
from maia.terminal.options import Options
from maia.terminal.streams import literal

MANY = 100
"""Files that may follow `--settings`: `--settings A B` is the same as `--settings A --settings B`."""


def _words(options: Options, least: int, most: int) -> tuple[str, ...]:
    """The words after the command's name. Raises `UsageProblem` with how it is written."""
    name, *words = options.command
    if not least <= len(words) <= most:
        raise wrong_words(name)
    return tuple(words)


def _print_json(value: JsonValue) -> None:
    print(literal(json.dumps(value, ensure_ascii=False), sys.stdout))


def permissions(options: Options, say: Catalogue) -> int:
    """`maia permissions check TOOL VALUE`: what the rules decide, without doing anything."""
    from maia.permissions.check import check

    most = 3 + (MANY if options.settings else 0)
    action, tool, *rest = _words(options, 2, most)
    if action != "check":
        raise wrong_words("permissions")
    value, files = "".join(rest[:1]), (*options.settings, *rest[1:])
    if value == "-":
        value = sys.stdin.buffer.read().decode("utf-8", "replace")
    folders = find_folders({**os.environ, **({"MAIA_CWD": folder_of(options.cwd)} if options.cwd else {})})
    found = check(
        tool,
        value,
        cwd=folders.launch,
        home=folders.home,
        settings_files=[Path(name) for name in files],
        say=say,
    )
    if options.as_json:
        _print_json(found)
    else:
        print(f"{str(found['verdict']).upper()}  {visible(str(found['reason']))}")
    return 0


def folder_of(name: str) -> str:
    """A folder named by an option. Raises `UsageProblem` when there is none."""
    if not Path(name).is_dir():
        raise UsageProblem("cli.bad_dir", path=name)
    return name


def tokens(options: Options, _say: Catalogue) -> int:
    """`maia tokens`: the number of tokens on standard input, by the vocabulary that the context bar uses (T3.02)."""
    from maia.llm.count import ENCODING, TokenCounter

    _words(options, 0, 0)
    count = TokenCounter().count_one(sys.stdin.buffer.read().decode("utf-8", "replace"))
    if options.as_json:
        _print_json({"tokens": count, "encoding": ENCODING})
    else:
        print(count)
    return 0


def tell_problems(ground: Ground, more: Sequence[Notice]) -> None:
    """What is wrong with settings, rules and servers, on standard error: standard output is for the answer (T1.10)."""
    err = sys.stderr
    look = stream_look(os.environ, err)
    for notice in (*ground.folders.notices, *ground.rules.notices(), *more):
        if notice.level != "info":
            show(notice_lines(notice, look, ground.say), look, err)


def models(options: Options, say: Catalogue) -> int:
    """`maia models`: one row a model; a server that does not answer is told on standard error."""
    _words(options, 0, 0)
    ground = lay_ground(options, os.environ, say)

    async def rows() -> int:
        known = endpoint_models(ground)
        found, failures = await known.rows()
        tell_problems(ground, await known.problems())
        if options.as_json:
            _print_json(found)
        else:
            names = [f"{row['provider']}/{row['id']}" for row in found]
            column = max(map(len, names), default=0)
            for name, row in zip(names, found, strict=True):
                print(f"{visible(name):<{column}}  {row['contextWindow'] or ''}".rstrip())
        look = stream_look(os.environ, sys.stderr)
        for _, failure in failures:
            show(failure_lines(failure, look, ground.say), look, sys.stderr)
        return 1 if failures else 0

    return asyncio.run(rows())


def sessions(options: Options, say: Catalogue) -> int:
    """`maia sessions list | show NAME | export NAME [FILE]`."""
    action, *rest = _words(options, 1, 3)
    run = _SESSION_ACTIONS.get(action)
    if run is None:
        raise wrong_words("sessions")
    ground = lay_ground(options, os.environ, say)
    return run(ground, Sessions(ground.folders.sessions), rest)


def _list(ground: Ground, kept: Sessions, rest: Sequence[str]) -> int:
    _expect(rest, 0, 0)
    infos, elsewhere = kept.list(), _of_workspace(ground)
    if ground.options.as_json:
        files = [
            {"name": i.name, "modified": i.modified, "tokens": i.tokens, "title": i.title, "path": str(i.path)}
            for i in infos
        ]
        others = [
            {"name": name, "modified": modified, "tokens": None, "title": title, "path": None}
            for name, title, modified in elsewhere
        ]
        _print_json([*files, *others])
        return 0
    if not infos and not elsewhere:
        print(ground.say("screen.no_sessions"), file=sys.stderr)
    mark = ground.say("session.of_workspace")
    lines = [(info.name, info.modified, info.title) for info in infos]
    lines += [(name, modified, f"{title} ({mark})".lstrip()) for name, title, modified in elsewhere]
    column = max((len(name) for name, _, _ in lines), default=0)
    for name, modified, title in lines:
        print(f"{name:<{column}}  {strftime('%Y-%m-%d %H:%M', localtime(modified))}  {visible(title)}")
    return 0


def _of_workspace(ground: Ground) -> Sequence[tuple[str, str, float]]:
    """The workspace's conversations in this folder: (id, title, last change). Where it cannot be read, that is told."""
    try:
        return of_workspace(ground)
    except MaiaError as problem:
        print(ground.say(problem.key, **problem.values), file=sys.stderr)
        return ()


def _show(ground: Ground, kept: Sessions, rest: Sequence[str]) -> int:
    name = _expect(rest, 1, 1)[0]
    if ground.options.as_json:
        from maia.core.codec import dump_event

        for record in kept.load(name).records:
            print(literal(dump_event(record.event), sys.stdout))
        return 0
    print(literal(markdown(_transcript(kept, name), name), sys.stdout), end="")
    return 0


def _export(ground: Ground, kept: Sessions, rest: Sequence[str]) -> int:
    name, *path = _expect(rest, 1, 2)
    print(write_markdown(_transcript(kept, name), name, ground.folders.launch, "".join(path)))
    return 0


_SESSION_ACTIONS: dict[str, Callable[[Ground, Sessions, Sequence[str]], int]] = {
    "list": _list,
    "show": _show,
    "export": _export,
}


def _transcript(kept: Sessions, name: str) -> Transcript:
    transcript = Transcript.of(record.event for record in kept.load(name).records)
    if not transcript.messages():
        raise SessionProblem("session.empty", name=name)
    return transcript


def _expect(rest: Sequence[str], least: int, most: int) -> Sequence[str]:
    if not least <= len(rest) <= most:
        raise wrong_words("sessions")
    return rest
