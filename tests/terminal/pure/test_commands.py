import pytest

from maia.core.errors import UsageProblem
from maia.i18n.catalogue import Catalogue
from maia.terminal.commands import COMMANDS, find_command, nearest

REQUIRED = {
    "help",
    "model",
    "clear",
    "new",
    "load",
    "rename",
    "permissions",
    "context",
    "cost",
    "undo",
    "redo",
    "diff",
    "export",
    "tools",
    "exit",
}


def test_every_command_of_the_specification_is_there_once() -> None:
    names = [row.name for row in COMMANDS]
    assert set(names) >= REQUIRED
    assert len(names) == len(set(names) | {alias for row in COMMANDS for alias in row.aliases}) - sum(
        len(row.aliases) for row in COMMANDS
    )


def test_every_command_has_words(say: Catalogue) -> None:
    for row in COMMANDS:
        assert say(row.description)
        assert not row.argument or say(row.argument)


@pytest.mark.parametrize(
    ("typed", "name"), [("help", "help"), ("HELP", "help"), ("?", "help"), ("quit", "exit"), ("resume", "load")]
)
def test_a_command_is_found_by_name_and_alias(typed: str, name: str) -> None:
    assert find_command(typed).name == name


@pytest.mark.parametrize(
    ("typed", "near"), [("permisions", ("permissions",)), ("co", ("context", "cost")), ("qwertz", ())]
)
def test_a_wrong_name_says_what_was_perhaps_meant(typed: str, near: tuple[str, ...]) -> None:
    assert nearest(typed) == near
    with pytest.raises(UsageProblem) as problem:
        find_command(typed)
    assert problem.value.key == ("term.command.unknown_near" if near else "term.command.unknown")
