"""Turns the rooms' `.po` files of one language into one `.mo` file, with nothing but the standard library.

Only what our files use: comments, `msgid`, `msgid_plural`, `msgstr`, `msgstr[n]` and continuation lines. A test reads
every file with Babel too and expects the same messages.
Format of `.mo`: https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html
"""

from __future__ import annotations

import ast
import os
import re
import struct
from collections.abc import Iterable
from pathlib import Path

PLURAL_FORMS = {
    "fr": "nplurals=2; plural=n > 1;",
    "en": "nplurals=2; plural=n != 1;",
}
"""The languages there are, each with its rule (CLDR; French counts 0 as singular)."""

Messages = dict[str, tuple[str, ...]]
"""A key with its sentence, or with one sentence a plural form."""


class PoProblem(ValueError):
    """A `.po` file that cannot be read. The message names file, line and reason."""


_LINE = re.compile(r'(?:(msgid|msgid_plural|msgstr(?:\[(\d)\])?)\s+)?(".*")\Z')


def read_po(text: str, name: str = "po") -> Messages:
    """The messages of one file, its header (empty key) and fuzzy marks left out. Raises `PoProblem`."""
    messages: Messages = {}
    entry: dict[str, str] = {}
    field = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        found = _LINE.match(line)
        if found is None or not (found[1] or field):
            raise PoProblem(f"{name}:{number}: cannot be read: {line}")
        if found[1] == "msgid":
            _keep(entry, messages, name)
            entry = {}
        if found[1]:
            field = found[1]
            if field in entry:
                raise PoProblem(f"{name}:{number}: {field} stands twice in one message")
        try:
            entry[field] = entry.get(field, "") + ast.literal_eval(found[3])
        except (SyntaxError, ValueError):
            raise PoProblem(f"{name}:{number}: the quotes or backslashes are wrong: {line}") from None
    _keep(entry, messages, name)
    return messages


def _keep(entry: dict[str, str], messages: Messages, name: str) -> None:
    key = entry.get("msgid", "")
    if not key:
        return
    if key in messages:
        raise PoProblem(f"{name}: the key {key} stands twice")
    plural = "msgid_plural" in entry
    forms = tuple(entry.get(field, "") for field in (("msgstr[0]", "msgstr[1]") if plural else ("msgstr",)))
    if not all(forms):
        raise PoProblem(f"{name}: the key {key} has no sentence")
    messages[key] = forms


def read_folder(folder: Path) -> Messages:
    """The messages of all `.po` files of one language. A key belongs to one file only. Raises `PoProblem`."""
    messages: Messages = {}
    for path in sorted(folder.glob("*.po")):
        found = read_po(path.read_text("utf-8"), f"{folder.name}/{path.name}")
        if twice := messages.keys() & found.keys():
            raise PoProblem(f"{folder.name}/{path.name}: the key {min(twice)} stands in another file too")
        messages |= found
    return messages


def mo_bytes(messages: Messages, lang: str) -> bytes:
    """The same messages as a `.mo` file."""
    header = f"Content-Type: text/plain; charset=UTF-8\nPlural-Forms: {PLURAL_FORMS[lang]}\nLanguage: {lang}\n"
    pairs = [(b"", header.encode())]
    for key, forms in messages.items():
        msgid = key if len(forms) == 1 else f"{key}\0{key}"
        pairs.append((msgid.encode(), "\0".join(forms).encode()))
    pairs.sort()
    start = 28 + 16 * len(pairs)
    ids, offset = _table((key for key, _ in pairs), start)
    texts, _ = _table((text for _, text in pairs), offset)
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + ids + texts + b"".join(key + b"\0" for key, _ in pairs) + b"".join(t + b"\0" for _, t in pairs)


def _table(items: Iterable[bytes], offset: int) -> tuple[bytes, int]:
    rows: list[bytes] = []
    for item in items:
        rows.append(struct.pack("<2I", len(item), offset))
        offset += len(item) + 1
    return b"".join(rows), offset


def build(lang: str, folder: Path, stamp_ns: int | None = None) -> bytes:
    """Compile `folder/<lang>/*.po`, write `folder/<lang>.mo` where that is possible, and give its bytes.

    `stamp_ns` becomes the file's time: that of the newest source when reading began, so that a source saved meanwhile
    is seen as newer. Raises `PoProblem`.
    """
    data = mo_bytes(read_folder(folder / lang), lang)
    target = folder / f"{lang}.mo"
    unfinished = target.with_name(f".{lang}.{os.getpid()}.mo")
    try:
        unfinished.write_bytes(data)
        if stamp_ns is not None:
            os.utime(unfinished, ns=(stamp_ns, stamp_ns))
        unfinished.replace(target)
    except OSError:
        unfinished.unlink(missing_ok=True)
    return data


def build_all(folder: Path) -> list[Path]:
    """Compile every language; returns the written files. Raises `PoProblem`."""
    for lang in PLURAL_FORMS:
        build(lang, folder)
    return [folder / f"{lang}.mo" for lang in PLURAL_FORMS]


if __name__ == "__main__":
    build_all(Path(__file__).parent)
