"""Reading a program's own options: which words are options, which their values, where the operands start."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from string import ascii_letters

from maia.permissions.script import Word


@dataclass(frozen=True, slots=True)
class Spec:
    """What a program's options look like. `short` letters take a value, `flags` take none; the same for long names.

    `loose` programs have many options: an unknown one is taken as one without a value instead of as a riddle.
    """

    short: str = ""
    flags: str = ""
    long: frozenset[str] = frozenset()
    long_flags: frozenset[str] = frozenset()
    loose: bool = False


@lru_cache(maxsize=512)
def spec(text: str) -> Spec:
    """A `Spec` from one line: `k: s: v kill-after= foreground`, `:` and `=` mark those with a value, `*` loose."""
    short = flags = ""
    long: set[str] = set()
    long_flags: set[str] = set()
    for token in text.split():
        if token == "*":
            continue
        if token.endswith("="):
            long.add(token[:-1])
        elif token.endswith(":") and len(token) == 2:
            short += token[0]
        elif len(token) == 1:
            flags += token
        else:
            long_flags.add(token)
    return Spec(short, flags, frozenset(long), frozenset(long_flags), "*" in text.split())


@dataclass(frozen=True, slots=True)
class Options:
    """The options found, as (name, value) in order, and the words behind them. `unknown` could not be read."""

    found: tuple[tuple[str, Word | None], ...]
    rest: tuple[Word, ...]
    unknown: Word | None = None

    def value(self, *names: str) -> Word | None:
        """The last value of any of these options."""
        return next((value for name, value in reversed(self.found) if name in names), None)

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.found)


def options(words: tuple[Word, ...], layout: Spec) -> Options:
    """Leading options of `words` (the program's name left out), up to the first operand or `--`."""
    found: list[tuple[str, Word | None]] = []
    at = 0
    unknown: Word | None = None
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        word = words[at]
        if word.text == "--":
            at += 1
            break
        if not word.fixed:
            unknown = unknown or word
        taken, riddle = _one(words, at, layout, found)
        unknown = unknown or (word if riddle and not layout.loose else None)
        at += taken
    return Options(tuple(found), words[at:], unknown)


def every_option(words: tuple[Word, ...], layout: Spec) -> Options:
    """As `options`, for programs that take options between their operands, too: `rest` are the operands.

    A letter that the layout does not name takes no value.
    """
    layout = replace(layout, flags=ascii_letters)
    found: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    at = 0
    while at < len(words):
        text = words[at].text
        if text == "--":
            return Options(tuple(found), (*operands, *words[at + 1 :]))
        if text.startswith("-") and text != "-":
            at += _one(words, at, layout, found)[0]
        else:
            operands.append(words[at])
            at += 1
    return Options(tuple(found), tuple(operands))


def _one(words: tuple[Word, ...], at: int, layout: Spec, found: list[tuple[str, Word | None]]) -> tuple[int, bool]:
    """Read the option at `at`: how many words it takes, and whether it is a riddle."""
    text = words[at].text
    following = words[at + 1] if at + 1 < len(words) else None
    if text.startswith("--") or (len(text) > 2 and text[1:].partition("=")[0] in layout.long | layout.long_flags):
        return _long(text.lstrip("-"), following, layout, found)
    for i, letter in enumerate(text[1:], 1):
        if letter in layout.short:
            attached = text[i + 1 :]
            found.append((letter, Word(attached, attached, pattern=attached) if attached else following))
            return (1 if attached else 2), False
        found.append((letter, None))
        if letter not in layout.flags:
            return 1, True
    return 1, False


def _long(name: str, following: Word | None, layout: Spec, found: list[tuple[str, Word | None]]) -> tuple[int, bool]:
    """GNU programs accept any unambiguous beginning of a long name."""
    name, equals, value = name.partition("=")
    with_value = _meant(name, layout.long)
    if with_value and name not in layout.long_flags:
        found.append((with_value, Word(value, value, pattern=value) if equals else following))
        return (1 if equals else 2), False
    flag = _meant(name, layout.long_flags)
    found.append((flag or name, Word(value, value, pattern=value) if equals else None))
    return 1, flag is None


def _meant(name: str, names: frozenset[str]) -> str | None:
    if name in names:
        return name
    return next((full for full in sorted(names) if name and full.startswith(name)), None)


def has_flag(words: tuple[Word, ...], *wanted: str, values: str = "", attached: str = "") -> Word | None:
    """The first word that is one of these options: `-o` also in `-ro` and `-oFILE`, `--out` for `--output=x`.

    `values` are short options that take a value and `attached` those that take one only in the same word, so that a
    cluster is not read beyond them. Words behind `--` are no options.
    """
    letters = "".join(flag[1] for flag in wanted if re.fullmatch(r"-\w", flag))
    longs = [flag for flag in wanted if len(flag) > 2]
    skip = False
    for word in words:
        text = word.text
        if skip:
            skip = False
            continue
        if text == "--":
            return None
        if text.startswith("--"):
            name = text.partition("=")[0]
            if any(long == name or (len(name) > 2 and long.startswith(name)) for long in longs):
                return word
        elif len(text) > 1 and text.startswith("-"):
            if text.partition("=")[0] in longs or _in_cluster(text, letters, values + attached):
                return word
            skip = text[-1] in values and _ends_with_value_option(text, values + attached)
    return None


def _in_cluster(text: str, letters: str, values: str) -> bool:
    for letter in text[1:]:
        if letter in letters:
            return True
        if letter in values or not letter.isalnum():
            return False
    return False


def _ends_with_value_option(text: str, values: str) -> bool:
    return not any(letter in values for letter in text[1:-1])
