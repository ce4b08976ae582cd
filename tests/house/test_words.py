import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po as babel_read_po

from maia.core import errors
from maia.i18n.catalogue import LANGUAGES
from maia.i18n.po import read_folder, read_po

SRC = Path(__file__).resolve().parents[2] / "src" / "maia"
WORDS = {lang: read_folder(SRC / "i18n" / lang) for lang in LANGUAGES}
KEYS = WORDS["fr"].keys() | WORDS["en"].keys()
NAMESPACES = {key.partition(".")[0] for key in KEYS}
FILE_ENDINGS = (
    ".db",
    ".json",
    ".jsonl",
    ".md",
    ".py",
    ".po",
    ".mo",
    ".txt",
    ".log",
    ".lock",
    ".toml",
    ".com",
    ".org",
    ".net",
    ".html",
    ".svg",
    ".css",
    ".js",
)

ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.MaiaError) and value is not errors.ModelFailed
}


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def test_both_languages_have_the_same_keys() -> None:
    assert WORDS["fr"].keys() == WORDS["en"].keys()


def test_both_languages_fill_the_same_placeholders_and_only_plain_ones() -> None:
    different = {
        key: (WORDS["fr"][key], WORDS["en"][key])
        for key in WORDS["fr"].keys() & WORDS["en"].keys()
        if placeholders(WORDS["fr"][key][-1]) != placeholders(WORDS["en"][key][-1])
        or len(WORDS["fr"][key]) != len(WORDS["en"][key])
    }
    assert different == {}
    odd = [name for lang in LANGUAGES for forms in WORDS[lang].values() for s in forms for name in placeholders(s)]
    assert [name for name in odd if not name.isidentifier()] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_babel_reads_the_same_messages(lang: str) -> None:
    for path in sorted((SRC / "i18n" / lang).glob("*.po")):
        with path.open("rb") as file:
            catalog = babel_read_po(file, locale=lang)
        by_babel = {
            (m.id if isinstance(m.id, str) else m.id[0]): ((m.string,) if isinstance(m.string, str) else m.string)
            for m in catalog
            if m.id
        }
        assert read_po(path.read_text("utf-8"), path.name) == by_babel, path.name


LETTER_BY_LETTER = {"tool.exit_code", "tool.exit_signal"}
"""T5.03 gives the last line of a command's result letter by letter, and the model reads it."""


def test_french_is_set_as_french_is_set() -> None:
    wrong = {
        key: forms
        for key, forms in WORDS["fr"].items()
        if key not in LETTER_BY_LETTER
        and any(re.search(r" [;:!?»]|« |\w[;!?»](?!\w)|«\w|\.\.\.", re.sub(r"\{\w*\}", "x", form)) for form in forms)
    }
    assert wrong == {}, "narrow no-break space (U+202F) before ; : ! ? » and after «; … is one character"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_apostrophes_and_inner_quotes_are_the_ones_of_the_keyboard(lang: str) -> None:
    wrong = {key: forms for key, forms in WORDS[lang].items() if any(re.search("[‘’“”]", form) for form in forms)}
    assert wrong == {}, "one style everywhere, as the frames have it: what is shown can be typed, searched and copied"


# Every key that the source names is there, every key that is there is named ------------------------------------------


@cache
def trees() -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_text("utf-8"))) for path in sorted(SRC.rglob("*.py"))]


ANYTHING = r"[\w.-]+"
"""Stands for what a name holds when the program runs."""


def patterns(node: ast.expr | None) -> Iterator[str]:
    """The keys that an expression may give, as regular expressions: literals, f-strings, either branch of an `if`."""
    match node:
        case ast.Constant(value=str(text)):
            yield re.escape(text)
        case ast.JoinedStr(values=parts):
            yield "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ANYTHING for part in parts)
        case ast.IfExp(body=body, orelse=other):
            yield from patterns(body)
            yield from patterns(other)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for one in list(patterns(left)) or [ANYTHING]:
                for two in list(patterns(right)) or [ANYTHING]:
                    yield one + two
        case _:
            return


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def asked_for() -> Iterator[tuple[str, str]]:
    """(place, pattern) of every key given to `say`, to an error, to a `Reason` or to a `Notice`."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = name_of(node.func)
            where = f"{path.relative_to(SRC)}:{node.lineno}"
            position = 1 if name == "Notice" else 0
            if name.strip("_") == "say" or name in ERRORS or name in ("Reason", "Notice", "RuleProblem"):
                given = node.args[position] if len(node.args) > position else None
                named = next((word.value for word in node.keywords if word.arg == "key"), None)
                for pattern in patterns(given if given is not None else named):
                    yield where, pattern


SETTINGS = {"i18n.timezone"}
"""Names of settings, which have the look of keys."""


def looks_like_a_key(text: str) -> bool:
    return (
        re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_-]+)+", text) is not None
        and text.partition(".")[0] in NAMESPACES
        and not text.endswith(FILE_ENDINGS)
        and text not in SETTINGS
    )


def in_templates() -> Iterator[tuple[str, str]]:
    """(place, pattern) of every key that a page's template names."""
    for path in sorted(SRC.rglob("templates/*.html")):
        for text in re.findall(r'(?<=")[a-z0-9_.-]+(?=")', path.read_text("utf-8")):
            if looks_like_a_key(text):
                yield str(path.relative_to(SRC)), re.escape(text)


def mentioned() -> Iterator[tuple[str, str]]:
    """(place, pattern) of every text of the source that looks like a key, in tables and anywhere else."""
    for path, tree in trees():
        pieces: set[int] = set()
        for node in ast.walk(tree):  # outer nodes first
            where = f"{path.relative_to(SRC)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, (ast.JoinedStr, ast.BinOp)):
                pieces |= {id(inner) for inner in ast.walk(node)} - {id(node)}
                for pattern in patterns(node):
                    if pattern.partition(r"\.")[0] in NAMESPACES and id(node) not in pieces:
                        yield where, pattern
            elif id(node) in pieces or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            elif looks_like_a_key(node.value):
                yield where, re.escape(node.value)


def test_every_key_that_the_source_asks_for_has_its_sentence() -> None:
    missing = [
        (where, pattern)
        for where, pattern in (*asked_for(), *in_templates())
        if not any(re.fullmatch(pattern, key) for key in KEYS) and not pattern.startswith("[")
    ]
    assert missing == []


def test_every_text_that_looks_like_a_key_is_one() -> None:
    wrong = [
        (where, pattern)
        for where, pattern in mentioned()
        if not any(re.fullmatch(pattern, key) or re.match(pattern + r"\.", key) for key in KEYS)
    ]
    assert wrong == []


def test_every_sentence_is_used() -> None:
    written = {p for _, p in mentioned()}
    asked = {p for _, p in (*asked_for(), *in_templates())}
    # In `f"{keys}.missing"` the beginning is a text that stands somewhere else; it does not stand for every key.
    begun = {p for p in asked | written if p.startswith(ANYTHING)}
    grown = {start + p.removeprefix(ANYTHING) for p in begun for start in written - begun}
    used = [re.compile(pattern) for pattern in (asked | written | grown) - begun]
    unused = [key for key in sorted(KEYS) if not any(u.fullmatch(key.removesuffix(".fix")) for u in used)]
    assert unused == []


# No sentence for people stands in the code ---------------------------------------------------------------------------

WORDS_MAY_STAND_IN = {
    "i18n/formats.py",  # months and units of each language
}
"""Files whose literals are words of a language by their nature."""


def spoken_literals() -> Iterator[str]:
    for path, tree in trees():
        shown = str(path.relative_to(SRC))
        if shown in WORDS_MAY_STAND_IN:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and name_of(node.func) in ("print", "write", "exit", "SystemExit"):
                for argument in node.args:
                    for text in literals(argument):
                        if re.search(r"[A-Za-zÀ-ÿ]{2,} [A-Za-zÀ-ÿ]{2,} [A-Za-zÀ-ÿ]{2,}", text):
                            yield f"{shown}:{node.lineno}: {text!r}"


def literals(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def test_no_sentence_is_printed_from_a_literal() -> None:
    assert list(spoken_literals()) == []
