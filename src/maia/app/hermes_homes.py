"""`maia keys hermes` and `maia keys migrate`: the homes of Hermes agents, written and moved (C4)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from maia.app.keyground import KeyGround, print_json, problems_json, refused, told
from maia.app.usage import wrong_words
from maia.core.jsonvalue import JsonObject
from maia.core.text import visible
from maia.credentials import hermes, migrate
from maia.credentials.explain import look_up
from maia.credentials.find import MODEL_VAR
from maia.credentials.hermes_home import CENTRAL, agent_of, agents_root
from maia.credentials.problems import Problem
from maia.i18n.catalogue import Catalogue


def write_home(ground: KeyGround, words: Sequence[str]) -> int:
    """Write an agent's home, or show masked what would change."""
    if len(words) > 1:
        raise wrong_words("keys")
    agent = words[0] if words else ""
    home = ground.home(agent)
    request = ground.request(agent=agent or (agent_of(ground.settings.name) if ground.settings else "") or CENTRAL)
    found = look_up(request)
    if home.path is None or found.error:
        return refused([*home.problems, *found.problems], ground.say)
    folder = Path(home.path)
    model = next((m for layer in request.layers if (m := layer.values.get(MODEL_VAR, ""))), "")
    act = hermes.plan if ground.options.dry_run else hermes.write
    planned = act(found, folder, model)
    for change in planned.changes:
        print(visible(str(change.path)))
        for line in change.shown():
            print(f"  {visible(line)}")
    for row in told((*home.problems, *found.warnings, *planned.problems), ground.say):
        print(row, file=sys.stderr)
    return 1 if planned.error else 0


def migrate_homes(ground: KeyGround, words: Sequence[str]) -> int:
    """Move old homes out of this workspace, or list what would move. Exit codes 0, 1 and 2 (C4.05)."""
    if words:
        raise wrong_words("keys")
    root = agents_root(ground.env, str(ground.launch))
    if root is None:
        return refused([Problem("NO_HOME", "fail")], ground.say)
    act = migrate.preview if ground.options.dry_run else migrate.migrate
    done = act(ground.launch, Path(root))
    if ground.options.as_json:
        print_json([_move_json(move, ground.say) for move in done.moves])
        return done.code
    for move in done.moves:
        print(
            visible(ground.say("keys.move", n=len(move.files), source=move.source, target=move.target, size=move.size))
        )
        for name in move.conflicts:
            print(visible(ground.say("keys.move_conflict", name=name)))
        for row in told(move.problems, ground.say):
            print(row, file=sys.stderr)
    if not done.moves:
        print(ground.say("keys.nothing_to_move"))
    return done.code


def _move_json(move: migrate.Move, say: Catalogue) -> JsonObject:
    return {
        "agent": move.agent,
        "source": str(move.source),
        "target": str(move.target),
        "files": list(move.files),
        "bytes": move.size,
        "conflicts": list(move.conflicts),
        "problems": problems_json(move.problems, say),
    }
