"""What a person asks of the `offline` model, in French or English: a request becomes wishes, by a table of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, cast

Lang: TypeAlias = Literal["fr", "en"]

WishKind: TypeAlias = Literal[
    "window",
    "recap",
    "model",
    "help",
    "greet",
    "thanks",
    "go_on",
    "explain_project",
    "todo",
    "replace",
    "remove_text",
    "delete_file",
    "rename",
    "append",
    "create",
    "run_tests",
    "run",
    "fetch",
    "count_lines",
    "list",
    "find",
    "read",
    "explain_file",
    "search",
    "unknown",
]


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing asked for. Which fields are filled depends on `kind`; `lang` is the language of the words used."""

    kind: WishKind
    lang: Lang | None = None
    path: str = ""
    text: str = ""
    new: str = ""
    first: int = 0
    last: int = 0
    prints: bool = False


_LONGEST = 4_000
"""Characters of a request that are looked at: nobody types more, and the patterns may look back."""

_MOST_WISHES = 8

_POLITE_HEAD = (
    r"^(?:(?:s['’]il (?:te|vous) pla[iî]t|stp|svp|please|"
    r"(?:est-ce que )?(?:tu (?:peux|pourrais)|(?:peux|pourrais)[- ]tu)|"
    r"(?:pouvez|pourriez)[- ]vous|(?:can|could|would|will) you|i(?: would|['’]d) like you to|i want you to|"
    r"(?:je (?:veux|voudrais)|j['’]aimerais) que (?:tu|vous)|merci de|veuillez|maintenant|now|ok|okay|d['’]accord|"
    r"alors|bon|just|et|and|puis|then|ensuite|enfin|finally|maia|bonjour|salut|hello|hi|hey)[\s,:!]+)+"
)
_POLITE_TAIL = r"[\s,]*(?:please|stp|svp|s['’]il (?:te|vous) pla[iî]t|merci|thanks|thank you)[\s.!]*$"

_JOINS = (
    r"\s*[,;.]?\s+(?:et\s+|and\s+)?(?:puis|ensuite|enfin|then|finally|after that|après(?: quoi)?)\s+"
    r"|\s+(?:et|and)\s+|\n+"
)

_SMALL_WORDS: dict[Lang, str] = {
    "fr": (
        "le la les un une des du de dans est et que qui quoi je tu il elle nous vous mon ma mes ce cette pour avec sur "
        "pas plus fichier fichiers projet dossier moi toi où quel quelle quels comment pourquoi au aux en par lis "
        "montre cherche crée lance explique remplace bonjour merci fait faire peux veux oui non"
    ),
    "en": (
        "the a an of in is and that which what i you he she we they my your this for with on not more file files "
        "project folder me where how why to by read show search create run explain replace hello thanks do does can "
        "want yes no it please are was"
    ),
}
_FRENCH_SPELLING = "[éèêàçùœ]|\\b(?:l|d|qu|c|j|n)['’]"


def understand(request: str) -> tuple[Wish, ...]:
    """The wishes of a request, in order; one of kind `unknown` where nothing fits."""
    text = request.strip()[:_LONGEST]
    parts = [_wish(part) for part in _pieces(text) if part]
    if 1 < len(parts) <= _MOST_WISHES and all(part.kind != "unknown" for part in parts):
        return tuple(parts)
    return (_wish(text),)


def language_of(request: str, default: Lang) -> Lang:
    """The language a request is written in, by its small words; `default` when they do not tell."""
    words = re.findall(r"[^\W\d_]+", request[:_LONGEST].lower())
    french, english = (sum(map(small.split().count, words)) for small in _SMALL_WORDS.values())
    if re.search(_FRENCH_SPELLING, request[:_LONGEST].lower()):
        french += 2
    if french == english:
        return default
    return "fr" if french > english else "en"


def unquoted(text: str) -> str:
    """The text without one pair of quotes around it, or a code block without its fence."""
    text = text.strip()
    if fenced := re.fullmatch(r"```[^\n]*\n?([\s\S]*?)\n?```", text):
        return fenced[1]
    if len(text) < 2:
        return text
    if (text[0], text[-1]) == ("«", "»"):
        return text[1:-1].strip(" \u00a0\u202f")
    paired = (text[0], text[-1]) in {("“", "”"), ("‘", "’")} or (text[0] == text[-1] and text[0] in "\"'`")
    return text[1:-1] if paired else text


def _wish(text: str) -> Wish:
    plain = re.sub(_POLITE_HEAD, "", text.strip(), flags=re.IGNORECASE)
    plain = re.sub(_POLITE_TAIL, "", plain, flags=re.IGNORECASE)
    for body in dict.fromkeys((plain.strip(), text.strip())):
        for kind, lang, pattern in _patterns():
            if found := pattern.fullmatch(body):
                return _filled(kind, lang, {name: value for name, value in found.groupdict().items() if value})
    return Wish("unknown", text=text)


def _filled(kind: WishKind, lang: Lang | None, groups: dict[str, str]) -> Wish:
    """`path2` is another place for `path`: digits at the end of a group's name say nothing."""
    values = {name.rstrip("0123456789"): value for name, value in groups.items()}
    text = "date" if "date" in values else values.get("command") or values.get("text", "")
    path, first, last = _with_lines(_clean_path(values.get("path") or values.get("name") or ""))
    return Wish(
        kind,
        lang,
        path=path,
        text=text.strip() if kind in ("todo", "run") and not _is_code(text) else unquoted(text),
        new=_clean_path(values["new"]) if kind == "rename" else unquoted(values.get("new", "")),
        first=int(values.get("first", first)),
        last=int(values.get("last", last)),
        prints="prints" in values,
    )


def _is_code(text: str) -> bool:
    """A whole command may stand in quotes made for it; in `"my prog" -x` or 'a' 'b' they belong to the command."""
    text = text.strip()
    return len(text) > 1 and text[0] in "`«“" and not re.search("[`»”]", text[1:-1].strip("`"))


def _clean_path(raw: str) -> str:
    path = raw.removeprefix("@")
    bare = unquoted(path)
    if bare != path or not path.strip("./"):
        return bare
    return path.rstrip(".,;:!?)")


def _with_lines(path: str) -> tuple[str, int, int]:
    """`a.py:12-30`, `a.py:12` and `a.py#L12` as mentions write lines: the path, the first and the last line, else 0."""
    found = re.fullmatch(r"(.+?)(?::|#L)(\d{1,9})(?:-L?(\d{1,9}))?", path)
    return (found[1], int(found[2]), int(found[3] or found[2])) if found else (path, 0, 0)


def _pieces(text: str) -> Iterator[str]:
    """The request cut at words such as "then", outside quotes."""
    start = 0
    for found in re.finditer(rf"{_expanded('{value}')}|(?P<join>{_JOINS})", text, re.IGNORECASE):
        if found["join"]:
            yield text[start : found.start()].strip()
            start = found.end()
    yield text[start:].strip()


# The table of patterns ----------------------------------------------------------------------------------------------


@cache
def _patterns() -> tuple[tuple[WishKind, Lang | None, re.Pattern[str]], ...]:
    """The rows of `offline_patterns.txt`, compiled on first use: only who talks to `offline` pays for it."""
    rows: list[tuple[WishKind, Lang | None, re.Pattern[str]]] = []
    for head, pattern in _entries():
        if not head.startswith("{"):
            kind, lang = head.split()
            meaning = re.compile(_expanded(pattern), re.IGNORECASE)
            rows.append((cast(WishKind, kind), None if lang == "-" else cast(Lang, lang), meaning))
    return tuple(rows)


@cache
def _entries() -> tuple[tuple[str, str], ...]:
    entries: list[tuple[str, str]] = []
    for line in files("maia.llm").joinpath("offline_patterns.txt").read_text("utf-8").splitlines():
        if line.startswith(" "):
            head, pattern = entries[-1]
            entries[-1] = head, pattern + line.strip()
        elif line and not line.startswith("#"):
            entries.append((line, ""))
    return tuple(entries)


def _expanded(pattern: str) -> str:
    """With the pieces filled in. A later piece may use an earlier one."""
    for name, meaning in reversed(_entries()):
        if name.startswith("{"):
            pattern = pattern.replace(name, meaning)
    return pattern
