"""The search in pure Python, run as a child process that writes what `rg --null` would write.

A child, because a regular expression that explodes can be stopped no other way, and because neither the walk nor the
matching may hold the interpreter that draws the screen. Standard library only; started with `-I -S`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from maia.tools.search.globs import Glob, compile_glob
from maia.tools.search.ignore import LEFT_OUT, Ignore, ignores_above, read_ignore
from maia.tools.search.query import Query

MAX_LINE_BYTES: Final = 2000
"""Of a longer line only the beginning is written; the same number is given to ripgrep."""
MAX_SECONDS: Final = 60
"""After that the system ends this process, whatever it does: its parent may be gone and nobody else would."""
MAX_FILE_BYTES: Final = 64 * 1024 * 1024
_FLUSH_PATHS: Final = 2000
_CHUNK: Final = 1 << 18

_POSIX: Final[dict[str, str]] = {
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:blank:]": r" \t",
    "[:cntrl:]": r"\x00-\x1f\x7f",
    "[:digit:]": "0-9",
    "[:graph:]": "!-~",
    "[:lower:]": "a-z",
    "[:print:]": " -~",
    "[:punct:]": r"!-/:-@\[-`{-~",
    "[:space:]": r"\s",
    "[:upper:]": "A-Z",
    "[:word:]": r"\w",
    "[:xdigit:]": "0-9A-Fa-f",
}
_NOT_LINE_WISE: Final = re.compile(r"\\[AZz]|\(\?[<=!>]|[+*?}]\+|\(\?[a-z]*s")
"""Where a match within a line need not show in the whole text: anchors of the text, look-around, possessive repeats."""


@dataclass(frozen=True, slots=True)
class Hunt:
    """A compiled search: `line` is applied to one line, `text` to a whole file, `literal` must occur in its bytes."""

    line: re.Pattern[str]
    text: re.Pattern[str] | None
    literal: bytes


def main(argv: list[str]) -> int:
    """Write the result of the query in `argv[0]` to standard output, and what could not be read to standard error."""
    signal.alarm(MAX_SECONDS)
    query = Query(**json.loads(argv[0]))
    out = sys.stdout.buffer
    hunt = compile_hunt(query) if query.pattern else None
    try:
        if hunt is None:
            _list(query, out)
        else:
            for path in walk(query):
                _search(query, hunt, path, out)
        out.flush()
    except BrokenPipeError:
        os._exit(0)  # the reader has enough; a second failing flush at exit would only be noise
    return 0


def compile_hunt(query: Query) -> Hunt:
    """The query's regular expression, in the dialect that `rg` shares with Python. Raises `re.error`."""
    flags = re.MULTILINE | (re.IGNORECASE if query.ignore_case else 0) | (re.DOTALL if query.multiline else 0)
    pattern = _python_dialect(query.pattern)
    plain = not query.ignore_case and not set(pattern) & set(".^$*+?{}[]|()\\\n")
    line = re.compile(pattern, flags)
    text = line if query.multiline or not _NOT_LINE_WISE.search(pattern) else None
    return Hunt(line, text, pattern.encode("utf-8", "surrogateescape") if plain else b"")


def walk(query: Query) -> Iterator[str]:
    """The regular files below the query's start that are wanted, with paths relative to its root."""
    glob = compile_glob(query.glob) if query.glob else None
    top = os.path.join(query.root, query.start) if query.start else query.root
    if os.path.isfile(top):
        yield query.start
        return
    prefix = f"{query.start}/" if query.start else ""
    yield from _walk_folder(top, prefix, ignores_above(os.path.realpath(top), len(prefix)), glob)


def _walk_folder(top: str, prefix: str, ignores: list[Ignore], glob: Glob | None) -> Iterator[str]:
    pending = [(top, prefix, ignores, True)]
    while pending:
        folder, prefix, ignores, is_top = pending.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as problem:
            _complain(folder, problem)
            continue
        if any(entry.name == ".gitignore" for entry in entries) and (own := read_ignore(folder, "", len(prefix))):
            ignores = [*ignores, own]
        is_own = not is_top and os.path.basename(folder) == ".maia"
        folders: list[tuple[str, str, list[Ignore], bool]] = []
        for entry in entries:
            name = entry.name
            if name in LEFT_OUT or (is_own and name.startswith(".")) or entry.is_symlink():
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            path = prefix + name
            if ignores and _is_ignored(ignores, name, path, is_folder):
                continue
            if is_folder:
                folders.append((entry.path, path + "/", ignores, False))
            elif entry.is_file(follow_symlinks=False) and (glob is None or glob.matches(path)):
                yield path
        pending += reversed(folders)


def _is_ignored(ignores: list[Ignore], name: str, path: str, is_folder: bool) -> bool:
    """The innermost file that says something decides."""
    for ignore in reversed(ignores):
        verdict = ignore.verdict(name, path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _list(query: Query, out: BinaryIO) -> None:
    batch: list[bytes] = []
    for path in walk(query):
        batch.append(os.fsencode(path))
        if len(batch) == _FLUSH_PATHS:
            out.write(b"\0".join(batch) + b"\0")
            batch.clear()
    if batch:
        out.write(b"\0".join(batch) + b"\0")


def _search(query: Query, hunt: Hunt, path: str, out: BinaryIO) -> None:
    full = os.path.join(query.root, path)
    try:
        data = _bytes(full)
    except OSError as problem:
        _complain(full, problem)
        return
    text = _text(data, hunt.literal)
    if text is None or (hunt.text and not hunt.text.search(text)):
        return
    name = os.fsencode(path)
    if query.mode == "files":
        if query.multiline or _line_matches(hunt, text, first=True):
            out.write(name + b"\0")
    elif query.mode == "count":
        count = sum(1 for _ in hunt.line.finditer(text)) if query.multiline else len(_line_matches(hunt, text))
        if count:
            out.write(b"%s\0%d\n" % (name, count))
    else:
        lines = text.split("\n")
        wanted = _multiline_matches(hunt, text) if query.multiline else _line_matches(hunt, text)
        _write_lines(name, lines, wanted, query.context, out)


def _bytes(path: str) -> bytes:
    """The content of a file without a file object around it, which would cost as much as the reading itself."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        chunk = os.read(fd, _CHUNK)
        if len(chunk) < _CHUNK:
            return chunk
        chunks = [chunk]
        while chunk and len(chunks) * _CHUNK < MAX_FILE_BYTES:
            chunk = os.read(fd, _CHUNK)
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(fd)


def _text(data: bytes, literal: bytes) -> str | None:
    """The text of a file, None when it is binary or cannot hold the literal."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[2:].decode(encoding, "replace").replace("\r\n", "\n")
    if b"\0" in data or literal not in data:
        return None
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return text.replace("\r\n", "\n") if "\r" in text else text


def _line_matches(hunt: Hunt, text: str, *, first: bool = False) -> list[int]:
    """Indexes of the lines that match, each looked at for itself as ripgrep does."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    search = hunt.line.search
    found: list[int] = []
    for n, line in enumerate(lines):
        if search(line):
            found.append(n)
            if first:
                break
    return found


def _multiline_matches(hunt: Hunt, text: str) -> list[int]:
    found: set[int] = set()
    line, at = 0, 0
    for match in hunt.line.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        found.update(range(line, line + match.group().rstrip("\n").count("\n") + 1))
    return sorted(found)


def _write_lines(name: bytes, lines: list[str], wanted: list[int], context: int, out: BinaryIO) -> None:
    end = len(lines) - 1 if lines and not lines[-1] else len(lines)
    shown = {n: False for at in wanted for n in range(max(0, at - context), min(end, at + context + 1))}
    shown.update((n, True) for n in wanted)
    for n in sorted(shown):
        body = lines[n].encode("utf-8", "surrogateescape")[:MAX_LINE_BYTES]
        out.write(b"%s\0%d%s%s\n" % (name, n + 1, b":" if shown[n] else b"-", body))


def _python_dialect(pattern: str) -> str:
    for name, members in _POSIX.items():
        pattern = pattern.replace(name, members)
    return re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", pattern).replace(r"\z", r"\Z")


def _complain(path: str, problem: OSError) -> None:
    sys.stderr.write(f"{os.fsencode(path)!r}: {problem.strerror} (os error {problem.errno})\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
