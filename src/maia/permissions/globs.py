"""Path globs: `**` any folders, `*` and `?` within one name (hidden too), `[…]`, `{a,b}`, `\\` before a character."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

SPECIAL = "*?[{\\"
MAX_ALTERNATIVES = 64


def escaped(path: str) -> str:
    """A glob that matches exactly this path."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", path)


def literal_folder(glob: str) -> str:
    """The part before the first name with a special character: the folder that every match lies in (or is)."""
    names: list[str] = []
    for name in glob.split("/"):
        if any(char in SPECIAL for char in re.sub(r"\\.", "", name)):
            break
        names.append(re.sub(r"\\(.)", r"\1", name))
    return "/".join(names) or ("/" if glob.startswith("/") else "")


def is_literal(glob: str) -> bool:
    """Whether the glob names exactly one path."""
    return not any(char in SPECIAL for char in re.sub(r"\\.", "", glob))


@lru_cache(maxsize=2048)
def compiled(glob: str, *, fold_case: bool = False) -> re.Pattern[str]:
    """A regular expression for whole paths without trailing slash. `dir/**` and `dir/` also match `dir` itself."""
    if glob.endswith("/") and len(glob) > 1:
        glob += "**"
    source = "|".join(_one(alternative) for alternative in _alternatives(glob))
    return re.compile(rf"(?:{source})\Z", re.DOTALL | (re.IGNORECASE if fold_case else 0))


def _one(glob: str) -> str:
    out: list[str] = []
    names = glob.split("/")
    for i, name in enumerate(names):
        last = i == len(names) - 1
        if name == "**":
            if i > 0 and names[i - 1] == "**":
                continue
            out.append(r".*" if last and i == 0 else r"(?:/.*)?" if last else r"(?:[^/]+/)*")
            continue
        out.append(_name(name))
        if not last and not (names[i + 1] == "**" and all(rest == "**" for rest in names[i + 1 :])):
            out.append("/")
    return "".join(out)


def _name(name: str) -> str:
    out: list[str] = []
    i = 0
    while i < len(name):
        char = name[i]
        if char == "*":
            while name.startswith("*", i + 1):
                i += 1
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (closed := name.find("]", i + 2)) > 0:
            out.append(_set(name[i + 1 : closed]))
            i = closed
        elif char == "\\" and i + 1 < len(name):
            i += 1
            out.append(re.escape(name[i]))
        else:
            out.append(re.escape(char))
        i += 1
    return "".join(out)


def _set(body: str) -> str:
    negated = body[:1] in ("!", "^")
    body = body[1:] if negated else body
    body = re.sub(r"([\\\[\]&~|^])", r"\\\1", body)
    candidate = f"[^/{body}]" if negated else f"[{body}]"
    try:
        re.compile(candidate)
    except re.error:  # a range in the wrong order, as in `[z-a]`, matches nothing
        return r"(?!)"
    return candidate


def _alternatives(glob: str) -> list[str]:
    """The glob without its outermost braces, one text per choice; too many choices leave the braces as they are."""
    done: list[str] = []
    todo = [glob]
    while todo:
        text = todo.pop()
        braces = _first_braces(text)
        if braces is None:
            done.append(text)
            continue
        start, end, choices = braces
        todo += [text[:start] + choice + text[end:] for choice in choices]
        if len(todo) + len(done) > MAX_ALTERNATIVES:
            return [glob]
    return done


def _first_braces(text: str) -> tuple[int, int, list[str]] | None:
    start = -1
    depth = 0
    cuts: list[int] = []
    i = 0
    while i < len(text):
        char = text[i]
        if char == "\\":
            i += 1
        elif char == "{":
            if depth == 0:
                start, cuts = i, [i]
            depth += 1
        elif char == "," and depth == 1:
            cuts.append(i)
        elif char == "}" and depth:
            depth -= 1
            if depth == 0 and len(cuts) > 1:
                edges = [*cuts, i]
                return start, i + 1, [text[a + 1 : b] for a, b in pairwise(edges)]
        i += 1
    return None
