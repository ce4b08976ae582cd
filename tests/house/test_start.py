import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes import fake_llm

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "alembic",
    "anthropic",
    "argon2",
    "fastapi",
    "genai_prices",
    "html_to_markdown",
    "jinja2",
    "markdown_it",
    "mcp",
    "nh3",
    "openai",
    "pydantic",
    "pydantic_ai",
    "pygments",
    "sqlalchemy",
    "sqlite3",
    "starlette",
    "toktok",
    "uvicorn",
    "yaml",
}
"""What no door needs before a request needs it."""

_MAIN = """
import runpy, sys
try:
    runpy.run_module("maia", run_name="__main__", alter_sys=True)
finally:
    print("\\nMODULES", *sys.modules, file=sys.stderr)
"""


def modules_of(*argv: str, cwd: Path) -> tuple[str, set[str]]:
    """What maia printed, and the modules that were loaded when it ended."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _MAIN, *argv],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    _, _, modules = done.stderr.rpartition("\nMODULES ")
    return done.stdout, set(modules.split())


def test_the_version_is_told_without_loading_anything(tmp_path: Path) -> None:
    out, modules = modules_of("--version", cwd=tmp_path)
    assert out.startswith("maia ")
    assert {name for name in modules if name.startswith("maia")} == {"maia"}
    assert not {"asyncio", "json", "argparse", "typing"} & modules
    assert not (tmp_path / ".maia").exists(), "asking for the version leaves nothing behind"


@pytest.mark.parametrize(
    ("scenario", "options"),
    [("text", {}), ("tool", {"tool_name": "Read", "tool_args": '{"path": "a.txt"}'})],
)
def test_one_headless_turn_loads_nothing_that_it_does_not_need(
    tmp_path: Path, scenario: str, options: dict[str, str]
) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    with fake_llm(scenario, **options) as server:
        settings = Path(os.environ["HOME"], ".maia", "settings.json")
        settings.parent.mkdir()
        settings.write_text(json.dumps({"LiteLLM_URL": server.url, "permissions": {"allow": ["Read(**)"]}}))
        out, modules = modules_of("-p", "hi", "--model", "fake-model", cwd=tmp_path)
        assert len(server.chats()) == (1 if scenario == "text" else 2), out
    top = {name.partition(".")[0] for name in modules}
    assert not HEAVY & top
    assert not {name for name in modules if name.startswith(("maia.terminal.screen", "maia.terminal.app"))}


_WATCHED = """
import runpy, sys
opened = []
def watch(event, args):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(args[0], (str, bytes)):
        opened.append(args[0] if isinstance(args[0], str) else args[0].decode())
sys.addaudithook(watch)
try:
    runpy.run_module("maia", run_name="__main__", alter_sys=True)
finally:
    print("\\nOPENED", *opened, sep="\\n", file=sys.stderr)
"""


def test_of_the_home_folder_only_its_maia_folder_is_read_and_of_the_parent_nothing(tmp_path: Path) -> None:
    home, parent = Path(os.environ["HOME"]), tmp_path / "parent"
    launch = parent / "launch"
    for folder in (home, parent, launch):
        for name in (".claude/settings.json", ".claude/CLAUDE.md", "CLAUDE.md", "MAIA.md", ".maia/settings.json"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("{}")
    done = subprocess.run(
        [sys.executable, "-P", "-c", _WATCHED, "-p", "hi", "--model", "offline"],
        cwd=launch,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    opened = [Path(path) for path in done.stderr.rpartition("\nOPENED\n")[2].splitlines()]
    of_home = {path for path in opened if path.is_relative_to(home)}
    assert home / ".maia" / "settings.json" in of_home
    assert {path for path in of_home if not path.is_relative_to(home / ".maia")} == set(), "T1.02"
    of_parent = {path for path in opened if path.is_relative_to(parent) and not path.is_relative_to(launch)}
    assert of_parent == set(), "T1.07, T6.01: parent folders are not searched"
    assert launch / "MAIA.md" in opened
    assert {path for path in opened if ".claude" in path.parts} == set(), "T1.07"
