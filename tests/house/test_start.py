import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes import fake_llm

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "anthropic",
    "genai_prices",
    "html_to_markdown",
    "markdown_it",
    "mcp",
    "openai",
    "pydantic",
    "pydantic_ai",
    "sqlite3",
    "starlette",
    "toktok",
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
