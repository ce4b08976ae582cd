"""`maia doctor`: what is configured, reachable and working; settings, the wall around commands, every model server."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from maia.app.build import Ground, endpoint_models, lay_ground, look_for_wall, yard_of
from maia.app.usage import wrong_words
from maia.core.errors import NotConfigured
from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject
from maia.core.reason import Reason
from maia.core.text import visible
from maia.i18n.catalogue import Catalogue
from maia.settings_values import MemoryWish
from maia.terminal.badges import failure_words
from maia.terminal.colours import Look, Style
from maia.terminal.headless import show, stream_look
from maia.terminal.options import Options
from maia.terminal.spans import Line, Span, cell_width, clean_row, line, prefix, width_of, wrap_text

if TYPE_CHECKING:
    from maia.llm.doctor import Check

State: TypeAlias = Literal["fail", "warn", "ok", "skipped"]


def doctor(options: Options, say: Catalogue) -> int:
    """Print one row a finding. Exit code 3 when no model is configured or found, 1 when something failed, else 0."""
    if len(options.command) > 1:
        raise wrong_words("doctor")
    ground = lay_ground(options, os.environ, say)
    rows, has_model = asyncio.run(_findings(ground))
    if options.as_json:
        print(json.dumps(rows, ensure_ascii=False))
    else:
        look = stream_look(os.environ, sys.stdout)
        show(doctor_lines(rows, look, ground.say), look, sys.stdout)
    if not has_model:
        return NotConfigured.exit_code
    return 1 if any(row["state"] == "fail" for row in rows) else 0


async def _findings(ground: Ground) -> tuple[list[JsonObject], bool]:
    """All rows, and whether there is a model server at all."""
    models = endpoint_models(ground)
    problems = await models.problems()
    rows = [*_settings(ground, problems), _sandbox(ground)]
    checks = await models.checks()
    if not checks:
        reason = Reason("cli.nothing_configured")
        rows.append(_row(ground, "", "configured", "fail", reason))
    rows += [_check_row(ground, check) for check in checks]
    rows += await _memory(ground)
    return rows + await _programs(ground), bool(checks)


def _settings(ground: Ground, more: Sequence[Notice]) -> Iterator[JsonObject]:
    """A row a problem of the settings, the rules and the addresses; one that all is well where there is none."""
    told = [notice for notice in (*ground.folders.notices, *ground.rules.notices(), *more) if notice.level != "info"]
    for notice in told:
        yield _row(ground, "", "settings", "warn", Reason(notice.key, notice.values))
    if not told:
        yield _row(ground, "", "settings", "ok", Reason("cli.doctor.settings_ok"))


def _sandbox(ground: Ground) -> JsonObject:
    found = look_for_wall(ground)
    if found.wall is None:
        state: State = "fail" if found.required else "warn"
        return _row(ground, "", "sandbox", state, found.notice or Reason("cli.doctor.sandbox_off"))
    if found.notice is not None:
        return _row(ground, "", "sandbox", "warn", found.notice)
    return _row(ground, "", "sandbox", "ok", Reason("cli.doctor.sandbox_ok", {"wall": found.wall.name}))


async def _memory(ground: Ground) -> list[JsonObject]:
    if ground.rules.settings.memory == MemoryWish():
        return []
    from maia.app.memories import checked

    found = await checked(ground.rules.settings, ground.folders, ground.env)
    return [_row(ground, "", "memory", "ok" if well else "fail", reason) for well, reason in found]


async def _programs(ground: Ground) -> list[JsonObject]:
    from maia.app.runtimes import check_programs

    found = await check_programs(yard_of(ground))
    return [_row(ground, one.program, one.check, one.state, one.reason) for one in found]


def _row(ground: Ground, endpoint: str, check: str, state: State, reason: Reason) -> JsonObject:
    words = ground.say(reason.key, **reason.values)
    if ground.say.has(f"{reason.key}.fix"):
        words = f"{words} → {ground.say(f'{reason.key}.fix', **reason.values)}"
    return {
        "endpoint": endpoint,
        "check": check,
        "state": state,
        "reason": reason.key,
        "values": reason.values,
        "seconds": 0.0,
        "words": visible(words),
    }


def _check_row(ground: Ground, check: Check) -> JsonObject:
    from maia.llm.doctor import check_row

    words = failure_words(check.failure, ground.say) if check.failure else None
    return {**check_row(check), "words": words or visible(ground.say(check.reason.key, **check.reason.values))}


_WORDS: Mapping[State, tuple[str, Style]] = {
    "ok": ("OK", "ok"),
    "warn": ("WARN", "warn"),
    "fail": ("FAIL", "fail"),
    "skipped": ("—", "muted"),
}


def doctor_lines(rows: Sequence[JsonObject], look: Look, say: Catalogue) -> list[Line]:
    """The findings for a person: state, what was looked at, what was found, in columns."""
    names = [clean_row(f"{row['endpoint']} ".lstrip() + say(f"cli.doctor.check.{row['check']}")) for row in rows]
    column = max(map(cell_width, names), default=0) + 2
    lines: list[Line] = []
    for name, row in zip(names, rows, strict=True):
        word, style = _WORDS[cast(State, row["state"])]
        gaps = " " * (6 - len(word)), " " * (column - cell_width(name))
        head = line(Span(look.text(word), style), gaps[0], look.text(name), gaps[1])
        indent = width_of(head)
        body = wrap_text(look.text(str(row["words"])), max(24, look.width - indent))
        lines += prefix(body, head, line(" " * indent))
    return lines
