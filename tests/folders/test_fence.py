import os
from collections.abc import Sequence

import pytest

from maia.core.permission import Decision, Need, Rule, RuleSource, Verdict
from maia.core.reason import Reason
from maia.folders.fence import Fence
from maia.folders.safety import Safety
from maia.permissions.judge import RuleJudge
from maia.permissions.paths import Place
from tests.folders.conftest import World


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def judge_of(world: World, *roots: str, mine: Sequence[str] = ("c1",)) -> RuleJudge:
    clock = Clock()
    fence = Fence(lambda: Safety(world.instance), [str(world.top / root) for root in roots], frozenset(mine), (), clock)
    names = ("Read(/**)", "Grep(/**)", "Glob(/**)", "Write(/**)", "Edit(/**)", "Redirect(/**)", "Bash")
    place = Place(world.made(roots[0]), world.home)
    return RuleJudge(place, allow=names, files=(), fence=fence)


def verdict(judge: RuleJudge, tool: str, value: object) -> Verdict:
    kind = "command" if tool == "Bash" else "path"
    return judge.decide([Need(tool, kind, str(value))]).verdict


@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "Glob", "Grep"])
def test_no_rule_opens_a_protected_place_to_a_file_tool(world: World, tool: str) -> None:
    vault = world.made("srv/p/a/b/c/d/e/f/g/h/i/Vault/.obsidian").parent
    judge = judge_of(world, "srv/p")
    assert verdict(judge, tool, world.top / "srv/p/a/file") is Verdict.ALLOW
    assert verdict(judge, tool, vault / "note.md") is Verdict.DENY
    assert verdict(judge, tool, "a/b/c/d/e/f/g/h/i/Vault") is Verdict.DENY
    assert verdict(judge, tool, world.made("srv/p/ai-memory/x") / "y") is Verdict.DENY


@pytest.mark.parametrize(
    ("folder", "name", "words"),
    [
        pytest.param("home/ann/.claude", "memory.md", "folders.closed_memory", id="another assistant's"),
        pytest.param("srv/p/Vault/.obsidian", "note.md", "folders.closed_memory", id="a vault"),
        pytest.param("srv/p", ".env", "folders.closed", id="keys"),
    ],
)
def test_the_reason_and_the_rule_name_the_place(world: World, folder: str, name: str, words: str) -> None:
    judge = judge_of(world, "srv/p")
    file = world.made(folder) / name
    rule = Rule(Verdict.DENY, "Read", str(file), f"Read({file})", RuleSource("built-in"))
    assert judge.decide([Need("Read", "path", str(file))]) == Decision(
        Verdict.DENY, Reason(words, {"path": str(file)}), rule
    )


@pytest.mark.parametrize("name", [".env", "sub/.env.local", "master.key", ".ssh/id"])
def test_files_of_keys_in_the_own_folder_are_closed(world: World, name: str) -> None:
    world.made("srv/p/sub", "srv/p/.ssh")
    judge = judge_of(world, "srv/p")
    assert verdict(judge, "Read", name) is Verdict.DENY
    assert [verdict(judge, "Read", each) for each in (".env.example", "sub/env")] == [Verdict.ALLOW] * 2


def test_project_files_for_assistants_stay_readable(world: World) -> None:
    world.made("srv/p/.claude", "srv/p/docs")
    judge = judge_of(world, "srv/p")
    for name in ("CLAUDE.md", "AGENTS.md", ".claude/settings.json", "docs/MEMORY.md"):
        assert verdict(judge, "Read", name) is Verdict.ALLOW


def test_file_tools_stay_in_the_folders_and_say_so(world: World) -> None:
    world.made("srv/two", "srv/other")
    judge = judge_of(world, "srv/p", "srv/two")
    (world.top / "srv/p/out").symlink_to(world.top / "srv/other")
    assert [verdict(judge, "Read", each) for each in ("x", "../two/x")] == [Verdict.ALLOW] * 2
    assert [verdict(judge, "Read", each) for each in ("../other/x", "out/x", "/etc/hosts", "~/x")] == [Verdict.DENY] * 4
    found = judge.decide([Need("Read", "path", "out/x")])
    assert found.reason == Reason("folders.outside", {"path": f"{world.top}/srv/p/out/x"})


def test_a_link_inside_a_workspace_opens_no_other_conversations(world: World) -> None:
    mine, theirs = (world.made(f"home/ann/.maia/data/workspaces/{name}") for name in ("c1", "c2"))
    (mine / "door").symlink_to(theirs)
    (mine / "up").symlink_to("..")
    judge = judge_of(world, "home/ann/.maia/data/workspaces/c1")
    assert verdict(judge, "Read", mine / "file") is Verdict.ALLOW
    for path in (mine / "door/secret", mine / "up/c2/secret", f"{mine}/../c2/secret", mine / "up/_runs/r/x"):
        assert verdict(judge, "Read", path) is Verdict.DENY
    assert verdict(judge, "Bash", f"cat {mine}/door/secret") is Verdict.DENY


def test_a_folder_that_is_swapped_for_a_link_between_two_calls_is_closed(world: World) -> None:
    sub, store = world.made("srv/p/sub"), world.made("home/ann/.claude")
    judge = judge_of(world, "srv/p")
    assert verdict(judge, "Read", "sub/x") is Verdict.ALLOW
    sub.rename(sub.parent / "away")
    os.symlink(store, sub)
    assert verdict(judge, "Read", "sub/x") is Verdict.DENY


def test_a_vault_that_appears_is_closed_after_a_moment(world: World) -> None:
    clock = Clock()
    notes = world.made("srv/p/notes")
    fence = Fence(lambda: Safety(world.instance), [f"{world.top}/srv/p"], clock=clock)
    path = str(notes / "x.md")
    assert fence.closed("Read", path, path) is None
    (notes / ".obsidian").mkdir()
    clock.now = 10.0
    assert fence.closed("Read", path, path) is not None


COMMANDS = [
    "cat {home}/.claude/x",
    "ls {home}/.claude",
    "cd {home}/.claude && cat x",
    "cat < {home}/.claude/x",
    "echo x > {home}/.claude/x",
    "echo x >> ~/.claude/x",
    "cat {home}/.cl*/settings.json",
    "cp {home}/.claude/x .",
    "find {home}/.claude -name x",
    "cat notes/../../../home/ann/.claude/x",
    "git log && grep -r x {home}/.claude",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_names_a_protected_place_is_refused(world: World, command: str) -> None:
    (world.made("home/ann/.claude") / "settings.json").touch()
    world.made("srv/p/notes")
    assert verdict(judge_of(world, "srv/p"), "Bash", command.format(home=world.home)) is Verdict.DENY


@pytest.mark.parametrize(
    "command", ["cat /usr/include/stdio.h", "ls ..", "echo '~/.claude is protected'", "git commit -m '/x/ai-memory'"]
)
def test_a_command_may_read_elsewhere_and_mention_anything(world: World, command: str) -> None:
    assert verdict(judge_of(world, "srv/p"), "Bash", command) is Verdict.ALLOW


def test_what_the_model_was_told_of_may_be_read(world: World) -> None:
    outputs = world.made("home/ann/.maia/data/outputs")
    fence = Fence(lambda: Safety(world.instance), [f"{world.top}/srv/p"], also=(outputs,))
    path = str(outputs / "one.txt")
    assert fence.closed("Read", path, path) is None
    assert fence.closed("Write", path, path) is not None
