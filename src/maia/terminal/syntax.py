"""Colours for code in an answer: comments, strings, numbers, keywords and calls, for the languages of one table.

No parser: one expression a language reads the text from left to right, and no part of it can backtrack. A wrong colour
is harmless; the text itself is never changed. A highlighter package would cost 6 MB for the same few colours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from maia.terminal.colours import Style
from maia.terminal.spans import Line, Span, line

MAX_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class _Language:
    """`comment` begins a comment to the end of the line (an expression), `blocks` are expressions of longer pieces."""

    keywords: frozenset[str]
    comment: str = "//"
    blocks: tuple[str, ...] = (r"/\*(?:[^*]|\*(?!/))*(?:\*/)?",)
    ignore_case: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_C = (
    "auto bool break case catch char class const constexpr continue default delete do double else enum extern false "
    "final float for friend if inline int long namespace new noexcept nullptr operator override private protected "
    "public return short signed sizeof static struct switch template this throw true try typedef typename union "
    "unsigned using virtual void volatile while"
)
_JS = (
    "as async await break case catch class const continue debugger declare default delete do else enum export "
    "extends false finally for from function get if implements import in instanceof interface keyof let new null of "
    "private protected public readonly return set static super switch this throw true try type typeof undefined var "
    "void while with yield string number boolean any unknown never"
)
_JAVA = (
    "abstract as assert base boolean break byte case catch char class const continue data default do double else "
    "enum extends false final finally float for foreach fun if implements import in instanceof int interface "
    "internal is long namespace new null object open operator out override package private protected public "
    "readonly record return sealed short static string struct super switch this throw throws true try typeof using "
    "val var virtual void when while"
)
_PYTHON = (
    "and as assert async await break case class continue def del elif else except False finally for from global if "
    "import in is lambda match None nonlocal not or pass raise return self True try type while with yield"
)
_RUST = (
    "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move "
    "mut pub ref return self Self static struct super trait true type unsafe use where while"
)
_GO = (
    "break case chan const continue default defer else fallthrough false for func go goto if import interface map "
    "nil package range return select struct switch true type var error string int bool byte"
)
_SHELL = (
    "case do done elif else esac export fi for function if in local readonly return select set shift source then "
    "trap unset until while cd echo exit"
)
_RUBY = (
    "alias and begin break case class def do else elsif end ensure false for function if in local module next nil "
    "not or redo repeat rescue retry return self super then true unless until when while yield"
)
_SQL = (
    "add all alter and as asc between by case column constraint create default delete desc distinct drop else end "
    "exists foreign from full group having in index inner insert into is join key left like limit not null offset "
    "on or order outer primary references right select set table then union unique update values view when where "
    "with"
)
_PHP = "echo elseif endif foreach function global namespace use require require_once include private public"
_TRIPLE = (r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*(?:""")?', r"'''(?:[^'\\]|\\[\s\S]|'(?!''))*(?:''')?")
_HASH = r"(?<!\S)#"

_LANGUAGES: Mapping[str, _Language] = {
    "python py python3": _Language(_words(_PYTHON), "#", _TRIPLE),
    "javascript js jsx mjs typescript ts tsx": _Language(
        _words(_JS), blocks=(*_Language(frozenset()).blocks, "`[^`]*`?")
    ),
    "c h cpp c++ cc hpp": _Language(_words(_C)),
    "java kotlin kt csharp cs swift scala": _Language(_words(_JAVA)),
    "rust rs": _Language(_words(_RUST)),
    "go golang": _Language(_words(_GO)),
    "php": _Language(_words(f"{_JAVA} {_PHP}")),
    "bash sh shell zsh console make makefile dockerfile": _Language(_words(_SHELL), _HASH, ()),
    "yaml yml toml ini": _Language(_words("true false null yes no on off"), _HASH, ()),
    "json jsonc css scss": _Language(_words("true false null important")),
    "ruby rb": _Language(_words(_RUBY), "#", ()),
    "lua": _Language(_words(_RUBY), "--", ()),
    "sql": _Language(_words(_SQL), "--", ignore_case=True),
}
"""Words after a fence → how to read what follows; any other language stays plain."""


@cache
def _language(name: str) -> _Language | None:
    return next((language for names, language in _LANGUAGES.items() if name in names.split()), None)


def coloured(text: str, language: str) -> list[Line]:
    """The lines of the code in colours; plain when the language is not in the table or the text is very long."""
    name = language.lower()
    if len(text) <= MAX_CHARS:
        if name in ("diff", "patch"):
            return [line(Span(row, _DIFF.get(row[:1], "plain"))) for row in text.split("\n")]
        if (found := _language(name)) is not None:
            return _rows(text, found)
    return [line(row) for row in text.split("\n")]


_DIFF: Mapping[str, Style] = {"+": "diff_new", "-": "diff_old", "@": "muted"}


@cache
def _pattern(language: _Language) -> re.Pattern[str]:
    blocks = "|".join(language.blocks) or "(?!)"
    string = r'"(?:[^"\\\n]|\\.)*"?' + "|" + r"'(?:[^'\\\n]|\\.)*'?"
    return re.compile(
        rf"(?P<comment>{language.comment}[^\n]*)|(?P<block>{blocks})|(?P<string>{string})"
        r"|(?P<number>\b\d[\w.]*)|(?P<word>[^\W\d]\w*)(?P<call>(?=\())?"
    )


def _rows(text: str, language: _Language) -> list[Line]:
    rows: list[list[Span]] = [[]]
    end = 0
    for found in _pattern(language).finditer(text):
        _add(rows, text[end : found.start()], "plain")
        _add(rows, found.group(), _style(found, language))
        end = found.end()
    _add(rows, text[end:], "plain")
    return [line(*row) for row in rows]


def _add(rows: list[list[Span]], text: str, style: Style) -> None:
    first, *others = text.split("\n")
    rows[-1].append(Span(first, style))
    rows += [[Span(part, style)] for part in others]


_KINDS: Mapping[str, Style] = {"comment": "muted", "string": "code_text", "number": "code_number"}


def _style(found: re.Match[str], language: _Language) -> Style:
    kind = found.lastgroup or ""
    if kind in _KINDS:
        return _KINDS[kind]
    if kind == "block":
        return "muted" if found.group().startswith("/*") else "code_text"
    word = found["word"]
    if (word.lower() if language.ignore_case else word) in language.keywords:
        return "code_keyword"
    return "code_name" if found["call"] is not None else "plain"
