"""Which variables of a script have one literal value, so that `opts=-rf; rm $opts x` is judged as `rm -rf x`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from maia.permissions import shell_words
from maia.permissions.shell_names import INPUT_NAMES
from maia.permissions.wildcard import ANY, ONE

if TYPE_CHECKING:
    from tree_sitter import Node

PLACES = {"PWD": ".", "HOME": "~"}
"""Variables of the environment that a path may start with, as the path that says the same."""
POSITIONAL = ("@", "*", *"0123456789")
RUNNING = {"_": ANY, "BASH_COMMAND": ANY, "BASH_EXECUTION_STRING": ANY}
"""Variables in which the shell itself puts parts of the script."""
_ROUNDS = 2
"""A value may come from a variable that is only set further down, in a loop."""

_SUBSCRIPT = re.compile(r"\[[^\]]*\]=")
_NAME = re.compile(r"\w+\Z")
_USED = re.compile(rb"\$\{?[!#]?(\w+)")
_SETS = re.compile(rb"\$\{(\w+):?=([^}]*)")


def known_values(root: Node, data: bytes, *, inside: bool = False) -> dict[str, str]:
    """Variable -> its one literal value, `ONE` when all its values are plain words, `ANY` when one of them is not.

    Variables that the script does not set are left out: their value is the environment's. `inside` a command
    (`bash -c`) a script also has positional parameters.
    """
    if b"$" not in data:
        return {}
    found: dict[str, set[str]] = {}
    if inside:  # what is in force outside, before the command or exported, is not known here
        _fill(found, (*POSITIONAL, *_used(data)))
    for name, value in _SETS.findall(data):
        _note(found, shell_words.decode(name), _unknown(shell_words.decode(value)))
    for _ in range(_ROUNDS):
        _collect(found, root, data)
    return PLACES | RUNNING | {name: _value(values) for name, values in found.items()}


def _used(data: bytes) -> tuple[str, ...]:
    """The variables that the script reads, but for the places."""
    return tuple(name for name in map(shell_words.decode, _USED.findall(data)) if name not in PLACES)


def _collect(found: dict[str, set[str]], root: Node, data: bytes) -> None:
    todo = [root]
    while todo:
        node = todo.pop()
        match node.type:
            case "variable_assignment":
                _note(found, *_assigned(node, data, found))
            case "for_statement":
                _loop(found, node, data)
            case "command":
                _filled(found, node, data)
            case "function_definition":
                _fill(found, POSITIONAL)
            case _:
                pass
        todo += [child for child in reversed(node.children) if child.child_count]


def _note(found: dict[str, set[str]], name: str, value: str) -> None:
    found.setdefault(name, set()).add(value)


def _fill(found: dict[str, set[str]], names: tuple[str, ...]) -> None:
    for name in names:
        _note(found, name, ANY)


def _filled(found: dict[str, set[str]], node: Node, data: bytes) -> None:
    """`read x`, `printf -v x`, `set -- …` give variables a value that is data."""
    words = [child for child in node.children if child.is_named and child.type != "variable_assignment"]
    texts = [shell_words.build([word], data, lambda _: None).text for word in words]
    while texts and texts[0] in ("builtin", "command"):
        texts = texts[1:]
    if not texts:
        return
    if texts[0] in ("eval", "source", ".", "trap"):
        _fill(found, (*POSITIONAL, *_used(data)))
    elif texts[0] == "set":
        _fill(found, POSITIONAL)
    elif texts[0] in INPUT_NAMES or (texts[0] == "printf" and any(text.startswith("-v") for text in texts)):
        _fill(
            found, tuple(name for text in texts[1:] if _NAME.match(name := text.partition("[")[0].removeprefix("-v")))
        )
        _fill(found, ("REPLY", "MAPFILE", "OPTARG"))


def _assigned(node: Node, data: bytes, found: dict[str, set[str]]) -> tuple[str, str]:
    name = node.children[0]
    text = shell_words.decode(name.text or b"")
    if name.type != "variable_name" or node.child_count < 2 or node.children[1].type != "=":
        return text.partition("[")[0], ANY
    if node.child_count == 2:
        return text, ""
    if node.children[2].type == "array":
        elements = [shell_words.build([child], data, _so_far(found)) for child in node.children[2].children[1:-1]]
        plain = all(_unknown(_SUBSCRIPT.sub("", word.text)) == ONE and not word.made for word in elements)
        return text, ONE if plain else ANY
    word = shell_words.build(node.children[2:], data, _so_far(found))
    known = word.literal or not re.search(f"[{ANY}{ONE}]", word.text)
    return text, ANY if word.made else word.text if known else _unknown(word.text)


def _so_far(found: dict[str, set[str]]) -> shell_words.Values:
    """What a variable holds by now; one that the script does not set holds the environment's value, as one word."""
    return lambda name: (_value(found[name]) if name in found else PLACES.get(name, ONE)) if name else None


def _unknown(text: str) -> str:
    """A value with unknown pieces is harmless when it starts with something known that is no dash and has no blank."""
    return ONE if text[:1] not in (ANY, "-", "") and not any(char.isspace() for char in text) else ANY


def _loop(found: dict[str, set[str]], node: Node, data: bytes) -> None:
    name = node.child_by_field_name("variable")
    if name is None:
        return
    values = node.children_by_field_name("value")
    if not values:  # `for x` goes through the positional parameters
        _note(found, shell_words.decode(name.text or b""), ANY)
    for value in values:
        word = shell_words.build([value], data, _so_far(found))
        for text in (word.text, *word.choices):
            plain = word.literal and not word.glob
            _note(found, shell_words.decode(name.text or b""), ANY if word.made else text if plain else _unknown(text))


def _value(values: set[str]) -> str:
    if len(values) == 1:
        return next(iter(values))
    return ANY if any(v == ANY or v.startswith("-") or any(c.isspace() for c in v) for v in values) else ONE
