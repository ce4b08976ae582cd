"""`maia doctor`: what is configured, reachable and working; settings, the wall around commands, every model server."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from maia.app.build import Ground, endpoint_models, lay_ground, look_for_wall
from maia.app.usage import wrong_words
from maia.core.errors import NotConfigured
from maia.core.events import Notice
from maia.core.text import visible
from maia.core.types import JsonObject, Reason
from maia.i18n.catalogue import Catalogue
from maia.terminal.options import Options

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
        for row in rows:
            place = f"{row['endpoint']}  " if row["endpoint"] else ""
            print(f"{row['state']!s:<8}{place}{row['check']}: {row['words']}")
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
    return rows + [_check_row(ground, check) for check in checks], bool(checks)


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

    return {**check_row(check), "words": visible(ground.say(check.reason.key, **check.reason.values))}
