from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.permission import Need, Sweep, Verdict
from maia.core.results import DiffBlock
from maia.permissions.judge import RuleJudge
from maia.permissions.paths import Place
from maia.runtimes.names import Told, plain_command, program_call

HERE = Path("/work")


def call(**told: Any) -> Any:
    return program_call(Told("c1", **told), HERE, {})


@pytest.mark.parametrize(
    ("told", "name", "needs", "whole"),
    [
        pytest.param(
            {"name": "run_shell_command", "arguments": {"command": "ls"}},
            "Bash",
            (Need("Bash", "command", "ls"),),
            True,
            id="a shell by any name",
        ),
        pytest.param(
            {"kind": "execute", "title": "rm -rf x"},
            "Bash",
            (Need("Bash", "command", "rm -rf x"),),
            False,
            id="a title alone may hide the rest of the command",
        ),
        pytest.param(
            {"kind": "execute", "title": "rm -rf x", "title_is_command": True},
            "Bash",
            (Need("Bash", "command", "rm -rf x"),),
            True,
            id="unless the program is known to say all of it there",
        ),
        pytest.param(
            {"kind": "execute", "title": "rm -rf x && ec…", "title_is_command": True},
            "Bash",
            (Need("Bash", "command", "rm -rf x && ec…"),),
            False,
            id="and even then not where it is cut",
        ),
        pytest.param(
            {"kind": "execute", "title": "terminal: rm x"},
            "Bash",
            (Need("Bash", "command", "rm x"),),
            False,
            id="the name of the tool before the command is no command",
        ),
        pytest.param(
            {"kind": "execute", "arguments": {"command": "rm x", "workdir": "/etc"}},
            "Bash",
            (Need("Bash", "command", "cd /etc && rm x"),),
            True,
            id="a command somewhere else is judged there",
        ),
        pytest.param(
            {"name": "Edit", "arguments": {"filePath": "a.py", "oldString": "x", "newString": "y"}},
            "Edit",
            (Need("Edit", "path", "a.py"),),
            True,
            id="spellings of arguments",
        ),
        pytest.param(
            {"kind": "edit", "title": "patch", "diffs": (DiffBlock("a", "1", "2"), DiffBlock("b", "1", "2"))},
            "Edit",
            (Need("Edit", "path", "a"), Need("Edit", "path", "b")),
            True,
            id="every file of a patch needs its own yes",
        ),
        pytest.param(
            {"kind": "edit", "diffs": (DiffBlock("new", "", "2"),)},
            "Write",
            (Need("Write", "path", "new"),),
            True,
            id="a new file is written",
        ),
        pytest.param(
            {"kind": "edit", "title": "?"}, "Edit", (Need("Edit", "name", "?"),), False, id="of an unknown file"
        ),
        pytest.param(
            {"kind": "fetch", "arguments": {"url": "https://example.org/x"}},
            "WebFetch",
            (Need("WebFetch", "host", "example.org"),),
            True,
            id="a host",
        ),
        pytest.param(
            {"name": "Grep", "arguments": {"pattern": "x"}},
            "Grep",
            (Need("Grep", "path", "/work", Sweep()),),
            True,
            id="a search without a folder searches this one",
        ),
        pytest.param(
            {"name": "grep_search", "arguments": {"pattern": "x", "path": "~", "glob": "*.py"}},
            "Grep",
            (Need("Grep", "path", "~", Sweep(("*.py",))),),
            True,
            id="a search says what it includes",
        ),
        pytest.param(
            {"name": "Grep", "arguments": {"pattern": "x", "path": "~", "glob": "!.claude"}},
            "Grep",
            (Need("Grep", "path", "~", Sweep()),),
            True,
            id="what is left out narrows nothing",
        ),
        pytest.param(
            {"name": "Glob", "arguments": {"pattern": "../x/**/*.md", "path": "/work/a"}},
            "Glob",
            (Need("Glob", "path", "/work/a/../x", Sweep(("**/*.md",))),),
            True,
            id="the pattern of a glob may climb",
        ),
        pytest.param(
            {"kind": "read", "title": "Searching", "arguments": {"pattern": "x", "path": "/home"}},
            "Grep",
            (Need("Grep", "path", "/home", Sweep()),),
            True,
            id="a search that calls itself reading",
        ),
        pytest.param(
            {"name": "list_directory", "arguments": {"path": "/"}},
            "Glob",
            (Need("Glob", "path", "/"),),
            True,
            id="a listing is no search",
        ),
        pytest.param(
            {
                "title": "use_tool",
                "kind": "other",
                "arguments": {
                    "tool_name": "mcp__maia__memory_search",
                    "tool_input": {"query": "x"},
                    "variant": "UseTool",
                },
            },
            "mcp__maia__memory_search",
            (Need("mcp__maia__memory_search", "name", "mcp__maia__memory_search"),),
            True,
            id="a tool in the envelope of another one",
        ),
        pytest.param(
            {"name": "mcp__srv__wipe", "arguments": {"tool_name": "TodoWrite", "tool_input": {}}},
            "mcp__srv__wipe",
            (Need("mcp__srv__wipe", "name", ""),),
            True,
            id="an envelope that the tool does not open",
        ),
        pytest.param(
            {"kind": "execute", "title": "run_commands", "arguments": {"commands": ["ls", "rm -r x"]}},
            "Bash",
            (Need("Bash", "command", "ls"), Need("Bash", "command", "rm -r x")),
            True,
            id="of several commands each is judged",
        ),
        pytest.param(
            {"kind": "execute", "title": "run_commands", "arguments": {"commands": ["ls", {"run": "rm"}]}},
            "Bash",
            (Need("Bash", "command", "ls"),),
            False,
            id="a list with something else in it is a part",
        ),
        pytest.param(
            {"kind": "execute", "title": "run_commands", "arguments": {"commands": ["ls"], "cwd": "/etc"}},
            "Bash",
            (Need("Bash", "command", "ls"),),
            False,
            id="several commands elsewhere are a part",
        ),
        pytest.param(
            {"kind": "execute", "title": "run_commands", "arguments": {"commands": []}},
            "Bash",
            (Need("Bash", "command", "run_commands"),),
            False,
            id="no command is none that a rule allows",
        ),
        pytest.param(
            {"kind": "read", "title": "read_files", "arguments": {"files": [{"path": "a"}, {"path": "b"}]}},
            "Read",
            (Need("Read", "path", "a"), Need("Read", "path", "b")),
            True,
            id="of several files each is judged",
        ),
        pytest.param(
            {"kind": "read", "title": "read_files", "arguments": {"files": [{"path": "a"}, {"uri": "b"}]}},
            "Read",
            (Need("Read", "path", "a"),),
            False,
            id="a file without a path is a part",
        ),
        pytest.param(
            {
                "kind": "fetch",
                "arguments": {"requests": [{"url": "https://a.example/x"}, {"url": "https://b.example"}]},
            },
            "WebFetch",
            (Need("WebFetch", "host", "a.example"), Need("WebFetch", "host", "b.example")),
            True,
            id="of several pages each host is judged",
        ),
        pytest.param(
            {
                "kind": "edit",
                "title": "apply_patch",
                "arguments": {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z"},
            },
            "Edit",
            (Need("Edit", "path", "a.py"), Need("Edit", "path", "b.py")),
            True,
            id="a patch names its files",
        ),
        pytest.param(
            {"kind": "other", "title": "x", "arguments": {"command": "cat /srv/a", "directories": ["/srv"]}},
            "Bash",
            (Need("Bash", "command", "cat /srv/a"),),
            True,
            id="a command that may leave the folder is that command",
        ),
        pytest.param(
            {"kind": "other", "title": "/srv", "arguments": {"filepath": "/srv", "parentDir": "/srv"}},
            "Grep",
            (Need("Grep", "path", "/srv", Sweep()),),
            True,
            id="a look outside goes through the folder",
        ),
        pytest.param(
            {"kind": "other", "title": "/srv/a", "arguments": {"filepath": "/srv/a", "parentDir": "/srv"}},
            "Read",
            (Need("Read", "path", "/srv/a"),),
            True,
            id="a file outside is read",
        ),
        pytest.param(
            {"name": "mcp__db__drop", "title": "drop"},
            "mcp__db__drop",
            (Need("mcp__db__drop", "name", "drop"),),
            True,
            id="what we do not know keeps its name and asks",
        ),
    ],
)
def test_a_call_of_any_program_is_one_of_ours(told: dict[str, Any], name: str, needs: Any, whole: bool) -> None:
    found = call(**told)
    assert (found.call.name, found.needs, found.is_whole) == (name, needs, whole)


@pytest.mark.parametrize(
    ("value", "command"),
    [
        ("/bin/bash -lc 'echo a && b'", "echo a && b"),
        (["bash", "-lc", "echo a"], "echo a"),
        (["rm", "a b"], "rm 'a b'"),
        ("bash -c 'x' y", "bash -c 'x' y"),
        ("bashful 'unclosed", "bashful 'unclosed"),
        (None, ""),
    ],
)
def test_only_the_shell_that_a_program_adds_is_taken_off(value: Any, command: str) -> None:
    assert plain_command(value) == command


def test_a_working_folder_that_is_no_path_is_another_folder() -> None:
    found = call(kind="execute", arguments={"command": "ls", "cwd": "a\x00b"})
    assert found.needs[0].value.startswith("cd ")


@given(
    st.dictionaries(
        st.sampled_from(["command", "commands", "path", "files", "requests", "input", "file_path", "url", "cwd"]),
        st.text() | st.none() | st.integers() | st.lists(st.text() | st.dictionaries(st.text(), st.text())),
    ),
    st.text(),
    st.sampled_from(["", "execute", "read", "edit", "fetch", "search", "other"]),
    st.text(),
)
def test_whatever_is_told_gives_a_call_that_needs_something(
    arguments: dict[str, Any], name: str, kind: str, title: str
) -> None:
    assert call(arguments=arguments, name=name, kind=kind, title=title).needs


@pytest.mark.parametrize(
    "told",
    [
        {"name": "", "kind": "delete", "title": "x", "paths": ("src/a.py",)},
        {"name": "delete_file", "kind": "", "title": "", "arguments": {"path": "src/a.py"}},
    ],
    ids=["by its kind", "by its name"],
)
@pytest.mark.parametrize(
    ("allow", "deny", "verdict"),
    [
        (["Edit(src/**)"], [], Verdict.ASK),
        (["Edit(src/**)", "Delete(src/*)"], [], Verdict.ALLOW),
        (["Delete"], [], Verdict.ASK),
        (["Edit", "Delete"], ["Edit(src/**)"], Verdict.DENY),
        (["Edit"], ["delete"], Verdict.DENY),
    ],
)
def test_a_deletion_is_no_change_that_a_rule_for_changes_allows(
    tmp_path: Path, told: dict[str, Any], allow: list[str], deny: list[str], verdict: Verdict
) -> None:
    asked = call(**told)
    assert asked.call.name == "Delete"
    judge = RuleJudge(Place(tmp_path, tmp_path), allow=allow, deny=deny, files=())
    assert judge.decide(asked.needs).verdict is verdict
