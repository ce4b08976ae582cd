"""Which variables of a script have one literal value, so that `opts=-rf; rm $opts x` is judged as `rm -rf x`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maia.permissions import shell_words
from maia.permissions.wildcard import ANY, ONE

if TYPE_CHECKING:
    from tree_sitter import Node

_ASSIGNS = (b"=", b"for ", b"for\t", b"select ")


def known_values(root: Node, data: bytes) -> dict[str, str]:
    """Variable -> its one literal value, `ONE` when all its values are plain words, `ANY` when one of them is not.

    Variables that the script does not set are left out: their value is the environment's.
    """
    if not any(mark in data for mark in _ASSIGNS):
        return {}
    found: dict[str, set[str]] = {}
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type == "variable_assignment":
            _note(found, *_assigned(node, data))
        elif node.type == "for_statement":
            _loop(found, node, data)
        todo += [child for child in node.children if child.child_count]
    return {name: _value(values) for name, values in found.items()}


def _note(found: dict[str, set[str]], name: str, value: str) -> None:
    found.setdefault(name, set()).add(value)


def _assigned(node: Node, data: bytes) -> tuple[str, str]:
    name = node.children[0]
    text = shell_words.decode(name.text or b"")
    if name.type != "variable_name" or node.child_count < 2 or node.children[1].type != "=":
        return text.partition("[")[0], ANY
    if node.child_count == 2:
        return text, ""
    word = shell_words.build(node.children[2:], data, lambda _: None)
    return text, word.text if word.literal and node.children[2].type != "array" else _unknown(word.text)


def _unknown(text: str) -> str:
    """A value with unknown pieces is harmless when it starts with something known that is no dash and has no blank."""
    return ONE if text[:1] not in (ANY, ONE, "-", "") and not any(char.isspace() for char in text) else ANY


def _loop(found: dict[str, set[str]], node: Node, data: bytes) -> None:
    name = node.child_by_field_name("variable")
    if name is None:
        return
    for value in node.children_by_field_name("value"):
        word = shell_words.build([value], data, lambda _: None)
        text = word.text if word.literal and not word.braces else _unknown(word.text)
        _note(found, shell_words.decode(name.text or b""), text if not word.glob else _unknown(text))


def _value(values: set[str]) -> str:
    if len(values) == 1:
        return next(iter(values))
    return ANY if any(v == ANY or v.startswith("-") or any(c.isspace() for c in v) for v in values) else ONE
