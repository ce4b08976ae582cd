"""`maia runs`: begin a task that goes on by itself, see what runs, look on, answer, stop (C6.05)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from time import localtime, strftime
from typing import get_args

from maia.app.build import Ground, lay_ground
from maia.app.runs import open_runs, run_store
from maia.app.usage import wrong_words
from maia.core.codec import to_json
from maia.core.errors import MaiaError, RunProblem, UsageProblem
from maia.core.events import ApprovalRequested
from maia.core.jsonvalue import JsonValue
from maia.core.permission import Answer, ApprovalScope
from maia.core.runs import RunInfo, RunNote, RunWish
from maia.core.text import visible
from maia.i18n.catalogue import Catalogue
from maia.runs.client import HostedRuns
from maia.terminal.asking import question_reason, question_title, scopes
from maia.terminal.badges import detail_lines, error_lines, failure_words
from maia.terminal.colours import Look, look_of
from maia.terminal.endings import cost_fact, usage_facts
from maia.terminal.headless import EXIT_CODES, show, show_aside, standard_streams, stream_look
from maia.terminal.loop import run_to_end
from maia.terminal.options import Options
from maia.terminal.render import RenderState, render
from maia.terminal.streams import literal

_SHOWN_TASK = 60
_PLAIN_WIDTH = 100
"""Columns of what is followed into a file or a pipe."""


def runs(options: Options, say: Catalogue) -> int:
    """`maia runs ACTION …`. Raises `UsageProblem` where the words make no command, `RunProblem` for a run."""
    action, *words = (*options.command[1:], "")[: max(1, len(options.command) - 1)]
    act = _ACTIONS.get(action)
    if act is None:
        raise wrong_words("runs")
    ground = lay_ground(options, os.environ, say)
    standard_streams()

    async def work() -> int:
        async with aclosing(open_runs(ground)) as opened:
            return await act(ground, opened, words)

    return run_to_end(work())


async def _start(ground: Ground, opened: HostedRuns, words: Sequence[str]) -> int:
    task = " ".join(words).strip()
    if task == "-":
        task = sys.stdin.buffer.read().decode("utf-8", "replace").strip()
    if not task:
        raise wrong_words("runs")
    info = await opened.start(RunWish(task, asking="ask"))
    if ground.options.as_json:
        _print_json(to_json(info))
    else:
        print(info.run_id)
    return 0


async def _list(ground: Ground, opened: HostedRuns, words: Sequence[str]) -> int:
    _expect(words, 0, 0)
    infos = await opened.listed()
    if ground.options.as_json:
        _print_json([to_json(info) for info in infos])
        return 0
    if not infos:
        print(ground.say("runs.none"), file=sys.stderr)
    states = [_state(info, ground.say) for info in infos]
    column = max(map(len, states), default=0)
    for info, state in zip(infos, states, strict=True):
        when = strftime("%Y-%m-%d %H:%M", localtime(info.started))
        task = " ".join(info.task.split())
        task = task if len(task) <= _SHOWN_TASK else task[: _SHOWN_TASK - 1] + "…"
        print(literal(f"{info.run_id}  {state:<{column}}  {when}  {visible(_who(info))}  {visible(task)}", sys.stdout))
    return 0


async def _show(ground: Ground, opened: HostedRuns, words: Sequence[str]) -> int:
    info = await opened.info(_run_id(ground, words))
    if ground.options.as_json:
        _print_json(to_json(info))
        return 0
    say = ground.say
    facts = {
        "state": _state(info, say),
        "who": _who(info),
        "folder": info.folder,
        "session": info.session,
        "used": " · ".join((*usage_facts(info.usage, say), cost_fact(info.cost, say))) if info.model else "",
        "why": _why(info, say),
    }
    for name, fact in facts.items():
        if fact:
            print(literal(say(f"runs.show.{name}", value=visible(fact)), sys.stdout))
    look = stream_look(os.environ, sys.stdout)
    for asked in info.open_asks:
        _ask_rows(info.run_id, asked, look, ground)
    if info.text:
        print(literal(f"\n{info.text}", sys.stdout))
    return 0


async def _follow(ground: Ground, opened: HostedRuns, words: Sequence[str]) -> int:
    run_id = _run_id(ground, words)
    look, state = _log_look(), RenderState()
    async for note in opened.follow(run_id):
        if ground.options.as_json:
            _print_json(_note(note))
            continue
        show(render(note.event, state, look, ground.say), look, sys.stdout)
        if isinstance(note.event, ApprovalRequested) and note.event in (await opened.info(run_id)).open_asks:
            _ask_rows(run_id, note.event, look, ground)
    info = await opened.info(run_id)
    if info.problem is not None:
        err = stream_look(os.environ, sys.stderr)
        problem = MaiaError(info.problem.key, **info.problem.values)
        show_aside(error_lines(problem, err, ground.say), err, sys.stderr)
    return EXIT_CODES[info.outcome] if info.outcome is not None else 1


def _log_look() -> Look:
    if sys.stdout.isatty():
        return stream_look(os.environ, sys.stdout)
    return look_of(os.environ, _PLAIN_WIDTH, is_tty=False)


async def _stop(ground: Ground, opened: HostedRuns, words: Sequence[str]) -> int:
    info = await opened.stop(_run_id(ground, words))
    if ground.options.as_json:
        _print_json(to_json(info))
    else:
        print(_state(info, ground.say))
    return 0


async def _answer(ground: Ground, opened: HostedRuns, words: Sequence[str]) -> int:
    """`answer RUN once|session|always|no [REASON]`: the one approval that waits; they are asked one by one."""
    if len(words) < 2:
        raise wrong_words("runs")
    scope = next((scope for scope in get_args(ApprovalScope) if scope == words[1]), None)
    if scope is None:
        raise UsageProblem("runs.choice", given=words[1], known=", ".join(get_args(ApprovalScope)))
    info = await opened.info(_run_id(ground, words[:1]))
    asked = info.open_asks[0] if info.open_asks else None
    answer = Answer(scope, " ".join(words[2:]))
    if asked is None or not await opened.answer(info.run_id, asked.approval_id, answer):
        raise RunProblem("runs.nothing_asked", run=info.run_id)
    return 0


_ACTIONS: dict[str, Callable[[Ground, HostedRuns, Sequence[str]], Awaitable[int]]] = {
    "start": _start,
    "list": _list,
    "show": _show,
    "follow": _follow,
    "stop": _stop,
    "answer": _answer,
}


def _run_id(ground: Ground, words: Sequence[str]) -> str:
    return run_store(ground).named(_expect(words, 1, 1)[0])


def _expect(words: Sequence[str], least: int, most: int) -> Sequence[str]:
    if not least <= len(words) <= most:
        raise wrong_words("runs")
    return words


def _note(note: RunNote) -> JsonValue:
    return {"seq": note.seq, "time": note.time, "event": to_json(note.event)}


def _print_json(value: JsonValue) -> None:
    print(literal(json.dumps(value, ensure_ascii=False), sys.stdout), flush=True)


def _state(info: RunInfo, say: Catalogue) -> str:
    return say(f"runs.outcome.{info.outcome}") if info.outcome is not None else say(f"runs.state.{info.state}")


def _who(info: RunInfo) -> str:
    """`The Chaos Prophet (sonnet-5)`: the nickname, with what really answers."""
    model = info.model or info.runner
    return f"{info.nickname or info.agent} ({model})" if info.nickname or info.agent else model


def _why(info: RunInfo, say: Catalogue) -> str:
    if info.problem is not None:
        fix = f"{info.problem.key}.fix"
        keys = (info.problem.key, fix) if say.has(fix) else (info.problem.key,)
        return "\n→ ".join(say(key, **info.problem.values) for key in keys)
    return failure_words(info.failure, say) if info.failure is not None else ""


def _ask_rows(run_id: str, asked: ApprovalRequested, look: Look, ground: Ground) -> None:
    """The question, why it is asked, and how it is answered from here."""
    say = ground.say
    choices = "|".join(scopes(asked))
    rows = [
        *detail_lines(f"◆ {question_title(asked, say)}", look),
        *detail_lines(question_reason(asked, say), look),
        *detail_lines(f"→ maia runs answer {run_id} {choices}", look),
    ]
    show(rows, look, sys.stdout)
