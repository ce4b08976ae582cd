"""What the audit says of each act, and that no act is without words."""

import re
from pathlib import Path

import pytest

from maia.core.jsonvalue import JsonObject
from maia.i18n.catalogue import LANGUAGES, Catalogue, Lang
from maia.privacy.message import MASKED, REFUSED
from maia.privacy.sent import EGRESS, POLICY_UPDATED
from maia.web.drawing.acts import ActWords, Told
from maia.web.drawing.render import mark
from maia.workspace.records import Act
from maia.workspace.sessions import OPENED
from maia.workspace.terminals import OPENED as TERMINAL

SOURCE = Path(__file__).resolve().parents[2] / "src" / "maia"
NOTED = re.compile(
    r'note_act\([^)]*?, "([a-z_]+\.[a-z_.]+)"|\bby,\s*"([a-z_]+\.[a-z_.]+)"|_note\((?:connection|by), "([a-z_]+)"'
)

ROOMS = {"people.py": "users", "definitions.py": "agents"}
"""What stands before the names that a file notes by a function of its own."""


def acts() -> set[str]:
    """Every act that the source notes by its name."""
    found = {
        OPENED,
        TERMINAL,
        POLICY_UPDATED,
        MASKED,
        REFUSED,
        EGRESS,
        "approval.approved",
        "approval.refused",
        "provider.off",
    }
    for path in (SOURCE / "workspace").rglob("*.py"):
        for full, of_models, short in NOTED.findall(path.read_text("utf-8")):
            found.add(full or of_models or f"{ROOMS[path.name]}.{short}")
    return found


def test_every_act_has_words_in_both_languages() -> None:
    known = acts()
    assert len(known) > 20
    for lang in LANGUAGES:
        say = Catalogue(lang, strict=True)
        assert [act for act in sorted(known) if not say.has(f"audit.act.{act}")] == [], lang


@pytest.mark.parametrize(
    ("lang", "action", "details", "told"),
    [
        pytest.param(
            "fr",
            "users.role",
            {"user": "u1", "before": "guest", "role": "admin"},
            Told("Rôle changé", "users.role", (("Personne", "Noor"), ("Avant", "Invité"), ("Rôle", "Administrateur"))),
            id="ids and roles",
        ),
        pytest.param(
            "en",
            "approval.approved",
            {"approval": "a1", "tool": "Bash"},
            Told("Call approved", "approval.approved", (("Tool", "run_command"),)),
            id="a tool by the name that people see",
        ),
        pytest.param(
            "en",
            "routing.auto",
            {"allowed": True, "model": None, "types": ["iban", "x\x07"]},
            Told("Automatic routing set", "routing.auto", (("Allowed", "yes"), ("Types", "IBAN, x\u2407"))),
            id="yes and nothing",
        ),
        pytest.param(
            "fr",
            "agents.changed",
            {"agent": "iris", "fields": ["max_turns", "instructions", "skills"]},
            Told(
                "Agent modifié",
                "agents.changed",
                (("Agent", "iris"), ("Champs", "Tours max., Prompt système, skills")),
            ),
            id="fields by the names of the page",
        ),
        pytest.param(
            "en",
            "later.act",
            {"new": {"a": 1}},
            Told("later.act", "later.act", (("new", '{"a": 1}'),)),
            id="what has no words yet",
        ),
    ],
)
def test_an_act_is_told_in_words_with_its_code(lang: Lang, action: str, details: JsonObject, told: Told) -> None:
    words = ActWords(Catalogue(lang, strict=True), {"u1": "Noor"}, str.title)
    assert words.told(Act("1", 0, action, None, None, None, details)) == told


def test_a_name_without_a_letter_is_marked_by_its_first_sign() -> None:
    names = ("Léa Morel", "ana", "★ star", "★", "")
    assert [mark(name) for name in names] == ["LM", "An", "St", "★", "·"]
