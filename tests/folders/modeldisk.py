"""A disk that is a value: folders, files, links, folders that lie in two places, and names whose case may not count."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from maia.folders.disk import Identity, State, SubFolder

_NUMBERS = count(2)
_MAX_LINKS = 20


def _nothing() -> dict[str, Node]:
    return {}


@dataclass(eq=False)
class Node:
    kind: str = "folder"  # folder | file | link
    target: str = ""
    is_readable: bool = True
    number: int = field(default_factory=lambda: next(_NUMBERS))
    names: dict[str, Node] = field(default_factory=_nothing)


class ModelDisk:
    """`looked` are the folders that were listed."""

    def __init__(self, *folders: str, folds_case: bool = False) -> None:
        self.top = Node()
        self.folds_case = folds_case
        self.looked: list[str] = []
        for path in folders:
            self.folder(path)

    # Building

    def folder(self, path: str) -> Node:
        node = self.top
        for name in path.split("/")[1:]:
            key = self._key(node, name)
            node = node.names.setdefault(key, Node()) if name else node
        return node

    def file(self, path: str) -> Node:
        return self._put(path, Node("file"))

    def link(self, path: str, target: str) -> Node:
        return self._put(path, Node("link", target))

    def bind(self, path: str, source: str) -> None:
        self._put(path, self.folder(source))

    def _put(self, path: str, node: Node) -> Node:
        parent, name = os.path.split(path)
        self.folder(parent).names[name] = node
        return node

    # The port

    def real(self, path: str) -> str:
        return self._walk(path)[0]

    def state(self, path: str) -> State:
        node = self._walk(path)[1]
        if node is None:
            return "missing"
        if node.kind == "file":
            return "file"
        return "folder" if node.is_readable else "unreadable"

    def identity(self, path: str) -> Identity | None:
        node = self._walk(path)[1]
        return (1, node.number) if node else None

    def sub_folders(self, path: str) -> Sequence[SubFolder]:
        self.looked.append(path)
        node = self._walk(path)[1]
        if node is None or not node.is_readable:
            return ()
        found: list[SubFolder] = []
        for name, sub in sorted(node.names.items()):
            if sub.kind == "folder":
                found.append(SubFolder(name, is_link=False, identity=(1, sub.number)))
            elif sub.kind == "link" and self.state(f"{path.rstrip('/')}/{name}") in ("folder", "unreadable"):
                found.append(SubFolder(name, is_link=True))
        return found

    def _key(self, node: Node, name: str) -> str:
        if self.folds_case:
            return next((key for key in node.names if key.casefold() == name.casefold()), name)
        return name

    def _walk(self, path: str, links: int = 0) -> tuple[str, Node | None]:
        """The real path as far as it exists, and what lies there. Case is kept as written, as Linux does."""
        real: list[str] = []
        nodes: list[Node | None] = [self.top]
        for name in path.split("/"):
            if name in ("", "."):
                continue
            if name == "..":
                if real:
                    real.pop()
                    nodes.pop()
                continue
            node = nodes[-1]
            sub = node.names.get(self._key(node, name)) if node else None
            if sub is not None and sub.kind == "link" and links < _MAX_LINKS:
                links += 1
                target = sub.target if sub.target.startswith("/") else "/".join(("", *real, sub.target))
                resolved, _ = self._walk(target, links)
                real = [part for part in resolved.split("/") if part]
                nodes = [self.top]
                for part in real:
                    above = nodes[-1]
                    nodes.append(above.names.get(self._key(above, part)) if above else None)
                continue
            real.append(name)
            nodes.append(sub if sub is None or sub.kind != "link" else None)
        return "/" + "/".join(real), nodes[-1]
