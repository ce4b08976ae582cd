import json
import subprocess
import sys
from pathlib import Path

from maia.tools.toolbox import built_in_tools

MINE = ("Read", "Write", "Edit", "Glob", "Grep", "TodoWrite", "CurrentModel")


def test_every_built_in_tool_is_there_once() -> None:
    assert [tool.spec.name for tool in built_in_tools()] == [
        "Read", "Write", "Edit", "Bash", "Glob", "Grep", "TodoWrite", "CurrentModel", "WebFetch",
    ]  # fmt: skip


def test_what_the_model_reads_of_the_file_tools_stays_short() -> None:
    specs = [tool.spec for tool in built_in_tools() if tool.spec.name in MINE]
    sizes = [
        len(json.dumps({"name": s.name, "description": s.description, "parameters": s.parameters}).encode())
        for s in specs
    ]
    assert sum(sizes) <= 6000


def test_a_spec_is_the_same_object_each_time_so_that_prompt_caches_hold() -> None:
    for tool in built_in_tools():
        assert tool.spec is tool.spec
        assert tool.spec == type(tool)().spec


def test_the_toolbox_loads_no_tool_and_the_tools_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "import maia.tools.toolbox as box\n"
        "assert not [name for name in sys.modules if name in ('maia.tools.read', 'maia.tools.grep')]\n"
        "[tool.spec for tool in box.built_in_tools()]\n"
        "heavy = {'pathspec', 'httpx2', 'rich', 'prompt_toolkit', 'html_to_markdown', 'tree_sitter', 'pydantic'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    source = str(Path(__file__).parents[2] / "src")
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n" + script], check=True)
