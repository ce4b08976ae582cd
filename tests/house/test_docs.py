import dataclasses
import inspect
import os
import re
import typing
from pathlib import Path

import pytest

from maia.core import costs, endings, events, messages, permission, reason, requests, results, submission
from maia.core.codec import to_json
from maia.core.costs import Cost
from maia.core.jsonvalue import JsonObject
from maia.core.permission import Verdict
from maia.settings_values import KEYS
from maia.terminal.commands import COMMANDS
from maia.terminal.headless import EXIT_CODES
from maia.terminal.options import TABLE

ROOT = Path(__file__).resolve().parents[2]
REWRITE = os.environ.get("MAIA_WRITE_DOCS") == "1"
VALUES = (messages, requests, endings, costs, permission, reason, results, submission)
"""Where the values stand that events hold, in the order in which they are told."""
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


# docs/events.md is written from the source ---------------------------------------------------------------------------

_HEAD = """# Events

Everything that happens in a session is one stream of events. The screen, `--output-format stream-json`, the session
files and the tests read this stream and nothing else. This page is written from `src/maia/core/events.py` and
the values beside it (`MAIA_WRITE_DOCS=1 ./test tests/house/test_docs.py`), and a test holds it to them.

In JSON each event is an object with `type` and its fields in camelCase. Readers leave out types and fields that they
do not know; a new version may add both.

## The order of a turn

"""


def _kind(hint: object) -> str:
    """A type as JSON readers see it."""
    if hint in (typing.Any, JsonObject):
        return "object" if hint == JsonObject else "any"
    if hint is type(None):
        return "null"
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " \\| ".join(f'"{word}"' for word in args)
    if origin is tuple:
        return f"list of {_kind(args[0])}"
    if args:
        return " \\| ".join(_kind(arg) for arg in args)
    named = {str: "string", int: "number", float: "number", bool: "true/false"}
    if hint in named:
        return named[typing.cast("type", hint)]
    if isinstance(hint, type) and issubclass(hint, Verdict):
        return " \\| ".join(f'"{member.name.lower()}"' for member in hint)
    name = getattr(hint, "__name__", str(hint))
    return f"[{name}](#{name.lower()})"


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _entry(cls: type) -> str:
    doc = inspect.cleandoc(cls.__doc__ or "")
    hints = typing.get_type_hints(cls)
    rows = [f"| `{_camel(f.name)}` | {_kind(hints[f.name])} |" for f in dataclasses.fields(cls)]
    table = "\n".join(["", "| Field | Value |", "| --- | --- |", *rows, ""]) if rows else ""
    return f"### {cls.__name__}\n\n{doc}\n{table}"


def _used_values(classes: tuple[type, ...]) -> list[type]:
    """The value classes that events hold, in the order in which they stand in `VALUES`."""
    found: set[type] = set()

    def visit(hint: object) -> None:
        for arg in typing.get_args(hint):
            visit(arg)
        if isinstance(hint, type) and dataclasses.is_dataclass(hint) and hint not in found:
            found.add(hint)
            for inner in typing.get_type_hints(hint).values():
                visit(inner)

    for cls in classes:
        visit(cls)
    written = (value for module in VALUES for value in vars(module).values())
    return list(dict.fromkeys(value for value in written if isinstance(value, type) and value in found))


def events_page() -> str:
    classes = typing.get_args(events.Event)
    grammar = inspect.cleandoc(events.__doc__ or "").partition("\n\n")[2]
    return (
        _HEAD
        + grammar
        + "\n\n## Events\n\n"
        + "\n".join(_entry(cls) for cls in classes)
        + "\n## Values\n\nMembers of a choice (message parts, blocks) carry `type` too.\n\n"
        + "\n".join(_entry(cls) for cls in _used_values(classes))
    )


def test_the_page_of_events_says_what_the_source_says() -> None:
    path = ROOT / "docs" / "events.md"
    if REWRITE:
        path.write_text(events_page(), "utf-8")
    assert path.read_text("utf-8") == events_page(), "run MAIA_WRITE_DOCS=1 ./test tests/house/test_docs.py"


def test_field_names_on_the_page_are_those_of_the_json() -> None:
    ended = events.TurnEnded("finished", "end", "stop", None, Cost(), "m", "p", 1, 2, 3)
    for name in to_json(ended):
        assert f"`{name}`" in page("events.md") or name == "type"


# Tables on the other pages -------------------------------------------------------------------------------------------


def first_column(text: str) -> list[str]:
    """What stands in code in the first cell of every table row."""
    return [name for row in re.findall(r"^\| (.*?) \|", text, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)]


def test_every_setting_is_described_and_no_other() -> None:
    table = page("settings.md").partition("## Keys")[2].partition("\n##")[0]
    assert sorted(first_column(table)) == sorted(KEYS)


def test_every_environment_variable_is_described() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r'"(MAIA_[A-Z_]+[A-Z])"', source)) - {"MAIA_RUN", "MAIA_BRIDGE"}  # of our own processes
    described = set(first_column(page("settings.md").partition("## Environment")[2]))
    assert sorted(named - described) == []


def test_every_slash_command_is_described_and_no_other() -> None:
    table = page("terminal.md").partition("## Commands")[2].partition("\n## ")[0]
    described = {name.split()[0] for name in first_column(table)}
    assert described == {f"/{name}" for row in COMMANDS for name in (row.name, *row.aliases)}


def test_every_option_is_described_and_no_other() -> None:
    table = page("headless.md").partition("## Options")[2].partition("\n## ")[0]
    described = {name.split()[0] for name in first_column(table)}
    assert described == {spelling for row in TABLE for spelling in row.spellings}


def test_every_outcome_has_its_exit_code_on_the_page() -> None:
    table = page("headless.md").partition("## Exit codes")[2]
    for outcome, code in EXIT_CODES.items():
        assert re.search(rf"^\| {code} \|.*`{outcome}`", table, re.MULTILINE), outcome


def test_every_tool_has_its_section() -> None:
    described = set(re.findall(r"^## (\w+)$", page("tools.md"), re.MULTILINE))
    built_in = {
        found
        for path in (ROOT / "src" / "maia" / "tools").glob("*.py")
        for found in re.findall(r'load_spec\("(\w+)"', path.read_text("utf-8"))
    }
    assert built_in, "the tools load their specs in another way now"
    assert described >= built_in


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    broken: list[str] = []
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
        file, _, anchor = target.partition("#")
        if "://" in file:
            continue
        there = (path.parent / file).resolve() if file else path
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in _anchors(there)):
            broken.append(target)
    assert broken == []


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_dependency_is_explained() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = [
        *project["project"]["dependencies"],
        *(each for extra in project["project"]["optional-dependencies"].values() for each in extra),
        *project["dependency-groups"]["test"],
    ]
    explained = {name.replace("_", "-") for name in first_column(page("dependencies.md"))}
    wanted = {re.split(r"[\[<>=]", each)[0].replace("_", "-") for each in named}
    assert wanted - explained == set()
    assert explained - wanted == set()


def test_the_architecture_names_every_room_in_its_layer() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers: list[str] = project["tool"]["importlinter"]["contracts"][0]["layers"]
    lines = page("architecture.md").split("- **capabilities** (")[1].split(") know core")
    rooms = max(layers, key=len).split(" | ")
    assert sorted(re.findall(r"`(\w+)`", lines[0])) == sorted(rooms)
    drawing = page("architecture.md").split("```")[1]
    shown = {room for room in rooms if re.search(rf"\b{room}\b", drawing)}
    assert set(rooms) - shown <= {"i18n", "settings", "launch"}, "each room that does something is in the drawing"
    assert all(re.search(rf"\b{door}\b", drawing) for door in layers[2].split(" | "))


def test_the_two_readmes_have_the_same_chapters() -> None:
    def chapters(name: str) -> list[int]:
        return [len(marks) for marks in re.findall(r"^(#+) ", (ROOT / name).read_text("utf-8"), re.MULTILINE)]

    assert chapters("README.md") == chapters("README.fr.md")


def test_no_page_names_a_place_of_one_machine() -> None:
    for path in PAGES:
        assert re.search(r"/work/|/tmp/maia-|/root/", path.read_text("utf-8")) is None, path.name
