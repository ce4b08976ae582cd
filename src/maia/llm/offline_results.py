"""What the `offline` model makes of tool results: the file behind numbered lines, paths, an outline, short quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

LANGUAGE_NAMES = {
    ".py": "Python",
    ".js": "JavaScript",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".rs": "Rust",
    ".go": "Go",
    ".java": "Java",
    ".c": "C",
    ".h": "C",
    ".cpp": "C++",
    ".cs": "C#",
    ".rb": "Ruby",
    ".php": "PHP",
    ".sh": "Shell",
    ".html": "HTML",
    ".css": "CSS",
    ".sql": "SQL",
    ".md": "Markdown",
    ".rst": "reStructuredText",
    ".json": "JSON",
    ".toml": "TOML",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".txt": "text",
}

_DEFINITIONS = {
    "Python": r"(?:async )?(?:def|class) (\w+)",
    "JavaScript": r"(?:export )?(?:default )?(?:async )?(?:function\*?|class|const) (\w+)",
    "TypeScript": r"(?:export )?(?:default )?(?:async )?(?:function|class|const|interface|type|enum) (\w+)",
    "Rust": r"(?:pub(?:\([^)]*\))? )?(?:async )?(?:fn|struct|enum|trait|mod) (\w+)",
    "Go": r"(?:func(?: \([^)]*\))?|type) (\w+)",
    "Java": r"(?:public |final |abstract )*(?:class|interface|enum|record) (\w+)",
    "C": r"(?:[\w*]+ )+\*?(\w+)\([^;]*$",
    "C#": r"(?:public |internal |static |sealed )*(?:class|interface|enum|record) (\w+)",
    "Ruby": r"(?:def|class|module) ([\w.]+)",
    "PHP": r"(?:function|class|interface) (\w+)",
    "Shell": r"(?:function )?(\w+) ?\(\)",
    "Markdown": r"#{1,3} +(.+)",
    "TOML": r"\[+([^\]]+)\]+",
}
"""How a top-level definition starts in a language; the group is its name."""


def file_text(result: str) -> str:
    """The file's own text from a result of Read: line numbers and notes taken off; empty where it says so."""
    lines = result.splitlines()
    numbered = [re.match(r"\s*\d+(?:→|\t|\| ?|: )(.*)", line) for line in lines]
    if any(numbered):
        return "\n".join(found[1] for found in numbered if found)
    if len(lines) == 1 and re.search(r"\b0 (?:bytes|octets)\b", result):
        return ""
    return "\n".join(line for line in lines if not _is_note(line))


def entries(result: str) -> list[str]:
    """The entries of a folder that was read: folders end with a slash. The first line only introduces them."""
    lines = [line for line in result.splitlines() if line.strip() and not _is_note(line)]
    return lines[1:] if lines and re.search(r"[:：]\s*$", lines[0]) else lines


def listed(result: str) -> list[str]:
    """The lines of a listing of paths, without notes and empty lines."""
    return [line.rstrip() for line in result.splitlines() if line.strip() and not _is_note(line)]


def matches(result: str) -> list[str]:
    """The matches of a search as `path:12:text`, also where each file's path stands above its lines."""
    found: list[str] = []
    path = ""
    for line in listed(result):
        if numbered := re.match(r"(\d+):(.*)", line):
            found.append(f"{path}:{numbered[1]}:{numbered[2]}" if path else line)
        elif re.match(r".+?:\d+:", line):
            found.append(line)
        else:
            path = line
    return found


def is_cut(result: str) -> bool:
    """Whether a tool says, in brackets at the end, that there is more."""
    lines = result.rstrip().splitlines()
    return bool(lines) and bool(re.match(r"\[.*\d.*\]\s*$", lines[-1]))


def _is_note(line: str) -> bool:
    """Tools speak about a result in brackets, or say in a sentence that there is none."""
    return bool(re.match(r"\s*[\[(].*[\])]\s*$|No (?:files?|match|result)[^/]*$|Aucun[^/]*$", line))


@dataclass(frozen=True, slots=True)
class Outline:
    """What a file is about (its first comment or paragraph) and the public names it defines, in order."""

    about: str
    names: tuple[str, ...]


def outline(path: str, text: str) -> Outline:
    """An outline of a file by its suffix; empty where nothing is known."""
    language = LANGUAGE_NAMES.get(PurePosixPath(path).suffix.lower(), "")
    pattern = _DEFINITIONS.get(language)
    found = re.findall(rf"^{pattern}", text, re.MULTILINE) if pattern else []
    names = dict.fromkeys(name.strip() for name in found if not name.startswith("_"))
    return Outline(_about(language, text), tuple(names))


def _about(language: str, text: str) -> str:
    if language in ("Markdown", "reStructuredText", "text", ""):
        return first_paragraph(text)
    if found := re.match(r"\s*(?:#![^\n]*\n)?\s*(?:r?\"\"\"([\s\S]*?)\"\"\"|/\*\*?([\s\S]*?)\*/)", text):
        comment = (found[1] or found[2] or "").split("\n\n")[0]
        return first_words(re.sub(r"\s*\n[\s*]*", " ", comment).strip(), 400)
    lines = re.match(r"(?:#![^\n]*\n)?((?:(?://|#|--)[^\n]*\n)+)", text)
    return first_words(re.sub(r"\n?(?://+!?|#+|--) ?", " ", lines[1]).strip(), 400) if lines else ""


def first_paragraph(text: str) -> str:
    """The first paragraph of prose: headings, badges, HTML and rules are passed over."""
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.splitlines()]
        prose = [line for line in lines if line and not re.match(r"[#<>|!=*_-]{3,}|#|<|\[?!\[|[-=~]+$", line)]
        if prose and not block.lstrip().startswith("```"):
            return first_words(" ".join(prose), 500)
    return ""


def first_words(text: str, most: int) -> str:
    """The text cut at a word, `most` characters and an ellipsis at the longest."""
    text = text.strip()
    return text if len(text) <= most else text[:most].rsplit(None, 1)[0] + "…"


def tail_to_extend(text: str) -> str:
    """The last lines, as few as name one place in the text; empty when the text is."""
    lines = text.rstrip("\n").split("\n")
    for n in range(1, len(lines) + 1):
        tail = "\n".join(lines[-n:])
        if tail.strip() and text.count(tail) == 1:
            return tail
    return ""


def fenced(text: str, path: str = "") -> str:
    """A code block that its content cannot close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{PurePosixPath(path).suffix.removeprefix('.').lower()}\n{text}\n{fence}"
