"""One word of a shell script: the shell's unquoting, done on the syntax tree, with what cannot be known left open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from maia.permissions.script import Word
from maia.permissions.wildcard import ANY, ONE, SEP

if TYPE_CHECKING:
    from tree_sitter import Node

Values = Callable[[str], "str | None"]
"""What is known about a variable: its one literal text, `ONE` for something harmless, None for nothing."""

MAX_CHOICES = 64

_PLAIN = re.compile(rb"[\w./:=@%+,-]+\Z")
_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_QUOTED_ESCAPE = re.compile(r'\\(\n|[$`"\\])')
_GLOB = re.compile(r"[*?\[]")
_SEPARATOR = re.compile(r"[ \t\n;|&]")
_PARAMETER = re.compile(r"\$\{[^{}]*\}")
_DOLLAR = re.compile(r"\$[\w{(@*#?!-]")
"""A variable that the grammar took for plain text (`{a$x,b}`)."""
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_OPTION_GLOB = re.compile(r"-[^=]*[*?\[]")
"""A glob that only finds files named like an option."""
_OPEN_OPTION = re.compile(f"-(?:-[^=]*)?[{ANY}{ONE}]")
"""An option whose name holds a value: `-$x`, `--$x`."""
_AFTER_NOTHING = re.compile(f"[{ANY}{ONE}]+-")
"""`$x-delete`, where the environment may have no `x`."""
_OPEN_BRACES = re.compile(r"\{(?!-?\d+\.\.\d+\}\Z)|.*\{[^{}]*[$`]")
_MANY = re.compile(r"\$\{?(?:@|[!#]?\w+\[[@*]\])")


def decode(data: bytes) -> str:
    """Bytes of the script as text again (it was encoded with `surrogatepass`)."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # the parser cut a character where it gave up on the syntax
        return data.decode("utf-8", "replace")


def build(nodes: Iterable[Node], data: bytes, values: Values) -> Word:
    """The word that adjacent nodes make together."""
    pieces = list(nodes)
    start, end = pieces[0].start_byte, pieces[-1].end_byte
    raw = data[start:end]
    if len(pieces) == 1 and _PLAIN.match(raw) and raw.isascii():
        text = raw.decode("ascii")
        return Word(text, text, pattern=text)
    builder = _Builder(data, values)
    for node, following in zip(pieces, [*pieces[1:], None], strict=True):
        if node.type == "$" and following is not None and following.type == "string":
            continue  # `$"…"`, translated text: the dollar is no part of it
        builder.add(node)
    return builder.word(decode(raw))


class _Builder:
    """Collects the pieces of one word."""

    def __init__(self, data: bytes, values: Values) -> None:
        self.data = data
        self.values = values
        self.text: list[str] = []
        self.pattern: list[str] = []
        self.literal = True
        self.glob = False
        self.braces = False
        self.quoted = False
        self.torn = False
        self.made = False
        self.dollar = False
        self.hollow = False

    def word(self, source: str) -> Word:
        text = "".join(self.text)
        choices = brace_choices(source) if self.braces else ()
        open_braces = self.braces and not choices and (source[:1] in "-$" or bool(_OPEN_BRACES.match(source)))
        empty_before_dash = self.hollow and _AFTER_NOTHING.match(text) is not None
        open_option = _OPEN_OPTION.match(text) or (self.glob and _OPTION_GLOB.match(text))
        made = self.made or open_braces or empty_before_dash or bool(open_option)
        pattern = "".join(self.pattern) if not self.braces or choices else ANY
        return Word(
            choices[0] if choices else ANY + text if open_braces else text,
            _joined_lines(source),
            literal=self.literal,
            pattern=choices[0] if choices else pattern,
            braces=self.braces,
            glob=self.glob,
            quoted=self.quoted,
            choices=choices[1:],
            torn=self.torn,
            made=made,
        )

    def add(self, node: Node) -> None:
        kind = node.type
        if kind == "raw_string":
            self._quoted(self._slice(node)[1:-1])
        elif kind in ("string", "translated_string"):
            self._string(node)
        elif kind == "ansi_c_string":
            self._quoted(ansi_c(self._slice(node)[2:-1]))
        elif kind in _UNKNOWN:
            self._unknown(node, in_quotes=False)
        elif node.child_count and kind in ("concatenation", "command_name", "arithmetic_expansion"):
            self._children(node)
        elif kind == "brace_expression":
            self.braces = True
            self._bare(self._slice(node))
        elif any(child.type in _UNKNOWN for child in node.children):
            self._unknown(node, in_quotes=False)
        else:
            self._bare(self._slice(node))

    def _children(self, node: Node) -> None:
        at = node.start_byte
        for child in node.children:
            if child.start_byte > at:
                self._bare(decode(self.data[at : child.start_byte]))
            self.add(child)
            at = child.end_byte
        raw = decode(self.data[node.start_byte : node.end_byte])
        if "{" in raw and _BRACES.search(_PARAMETER.sub("$x", raw)):
            self.braces = True

    def _slice(self, node: Node) -> str:
        return decode(self.data[node.start_byte : node.end_byte])

    def _quoted(self, text: str) -> None:
        self.quoted = True
        self.dollar = False
        self.text.append(text)
        self.pattern.append(text)

    def _bare(self, source: str) -> None:
        """Text outside quotes. A backslash makes the next character plain; globs and braces are noted."""
        plain = _ESCAPE.sub("", source)
        if _DOLLAR.search(plain) or (self.dollar and re.match(r"[\w{(@*#?!-]", plain)):
            self.torn = True
        self.dollar = plain.endswith("$")
        if _GLOB.search(plain):
            self.glob = True
        if _SEPARATOR.search(plain):
            self.torn = True
        if _BRACES.search(plain):
            self.braces = True
        if "\\" in source:
            self.quoted = True
        self.text.append(_ESCAPE.sub(_unescaped, source))
        self.pattern.append(_GLOB.sub(ONE, _ESCAPE.sub(_unescaped, source)) if self.glob else self.text[-1])

    def _string(self, node: Node) -> None:
        self.quoted = True
        inner = node.children[-1] if node.children and node.type == "translated_string" else node
        at = inner.start_byte + 1
        for child in inner.children[1:-1]:
            if child.type not in _UNKNOWN:
                continue
            self._quoted(_QUOTED_ESCAPE.sub(_unescaped, decode(self.data[at : child.start_byte])))
            self._unknown(child, in_quotes=True)
            at = child.end_byte
        end = inner.end_byte - (1 if self.data[at : inner.end_byte].endswith(b'"') else 0)
        self._quoted(_QUOTED_ESCAPE.sub(_unescaped, decode(self.data[at:end])))

    def _unknown(self, node: Node, *, in_quotes: bool) -> None:
        self.literal = False
        self.dollar = False
        known = self.values(_name(node)) if node.type in ("simple_expansion", "expansion") else None
        self.hollow = self.hollow or (known is None and "".join(self.text).strip(ANY + ONE) == "")
        made = known == ANY or (known is None and is_made(self._slice(node), self.values))
        self.made = self.made or made
        if made:
            known = ANY
        elif known is not None:
            known = known if in_quotes else SEP.join(known.split())
        elif not in_quotes or _MANY.match(self._slice(node)):
            known = ANY
        else:
            known = ONE
        if node.type == "arithmetic_expansion":
            known = ONE
        self.text.append(known)
        self.pattern.append(known)


_UNKNOWN = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)


def _name(node: Node) -> str:
    """The variable of `$x` and `${x}`; empty for every other form, whose value is never known."""
    wanted = 2 if node.type == "simple_expansion" else 3
    if node.child_count != wanted or node.children[1].type not in ("variable_name", "special_variable_name"):
        return ""
    return decode(node.children[1].text or b"")


def _unescaped(found: re.Match[str]) -> str:
    return "" if found.group(1) == "\n" else found.group(1)


def _joined_lines(source: str) -> str:
    return source.replace("\\\n", "") if "\\\n" in source else source


_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.))",
    re.DOTALL,
)
_ANSI_LETTERS = {
    "a": 7, "b": 8, "e": 27, "E": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63,
}  # fmt: skip


def ansi_c(body: str) -> str:
    """The text of `$'…'`. A NUL ends it, as in bash."""
    out = bytearray()
    at = 0
    for found in _ANSI.finditer(body):
        out += body[at : found.start()].encode("utf-8", "surrogatepass")
        at = found.end()
        out += _ansi_bytes(found)
    out += body[at:].encode("utf-8", "surrogatepass")
    return bytes(out).split(b"\0")[0].decode("utf-8", "surrogateescape")


def _ansi_bytes(found: re.Match[str]) -> bytes:
    letter, octal, hexa, short, long, control = found.groups()
    if letter:
        return bytes([_ANSI_LETTERS[letter]])
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    if hexa:
        return bytes([int(hexa, 16)])
    if control:
        return bytes([ord(control.upper()) & 0x1F])
    code = int(short or long, 16)
    return chr(code).encode("utf-8", "surrogatepass") if code <= 0x10FFFF else b"?"


_EXPANSION = re.compile(r"\$\{[!#]?(\w+|[@*])(.*)\}\Z", re.DOTALL)
_DEFAULT = re.compile(r"(?:\[[^\]]*\])?:?[-=+](.*)", re.DOTALL)


def is_made(source: str, values: Values) -> bool:
    """Whether `${x…}` may give a value that the script itself put there and that may be an option."""
    found = _EXPANSION.match(source)
    if found is None or source.startswith("${#"):
        return False
    name, rest = found.groups()
    default = _DEFAULT.match(rest)
    if default and _may_be_option(default.group(1), values):
        return True
    operation = "" if default else re.sub(r"^\[[^\]]*\]", "", rest)
    known = values(name)
    if known is None or known == ONE:
        replaces = operation.startswith("/") and re.search(r"[-$`]", operation) is not None
        return replaces or (known == ONE and re.match(r":\s*[^0\s]", operation) is not None)
    return known == ANY or known.startswith("-") or operation[:1] in ("#", "/", ":")


def _may_be_option(text: str, values: Values) -> bool:
    text = text.strip("'\"\\")
    if variable := re.match(r"\$\{?(\w+)", text):
        return values(variable.group(1)) == ANY
    return text.startswith(("-", "`", "$")) or any(char.isspace() for char in text)


_BRACE_CHARS = {ord(char): chr(0xE010 + i) for i, char in enumerate("{},.")}
_QUOTED_CHARS = {ord(hidden): chr(char) for char, hidden in _BRACE_CHARS.items()}
_QUOTED_PIECE = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", re.DOTALL)


def brace_choices(source: str) -> tuple[str, ...]:
    """What brace expansion makes of a word without variables; empty when it is more than we follow."""
    if re.search(r"[$`\ue010-\ue013]", source):
        return ()
    done, todo = list[str](), [_QUOTED_PIECE.sub(_hidden_braces, source)]
    while todo:
        text = todo.pop(0)
        found = _innermost(text)
        if found is None:
            done.append(text.translate(_QUOTED_CHARS))
            continue
        start, end, parts = found
        todo += [text[:start] + part + text[end:] for part in parts]
        if len(todo) + len(done) > MAX_CHOICES:
            return ()
    return tuple(done)


def _hidden_braces(found: re.Match[str]) -> str:
    """Quoted text without its quotes, in which braces and commas are plain characters."""
    single, double, escaped = found.groups()
    if double is not None:
        double = _QUOTED_ESCAPE.sub(_unescaped, double)
    return next(text for text in (single, double, escaped) if text is not None).translate(_BRACE_CHARS)


def _innermost(text: str) -> tuple[int, int, list[str]] | None:
    for found in _BRACES.finditer(text):
        body = found.group()[1:-1]
        if "," in body:
            return found.start(), found.end(), body.split(",")
        if span := _SPAN.fullmatch(body):
            first, last = filter(None, span.groups())
            return found.start(), found.end(), _range(first, last)
    return None


_NUMBER = r"([+-]?[0-9]{1,19})"
_LETTER = "([A-Za-z])"
_SPAN = re.compile(rf"(?:{_NUMBER}\.\.{_NUMBER}|{_LETTER}\.\.{_LETTER})(?:\.\.[+-]?[0-9]{{1,19}})?")
"""`{1..9}` and `{a..z}` with a step or without; of more digits, or of other characters, bash makes nothing."""


def _range(first: str, last: str) -> list[str]:
    """What stands between two numbers or two letters, with the zeros in front that bash keeps."""
    if first.isalpha():
        low, high = sorted((ord(first), ord(last)))
        return [chr(n) for n in range(low, min(high, low + MAX_CHOICES) + 1)]
    low, high = sorted((int(first), int(last)))
    padded = any(re.match("[+-]?0[0-9]", end) for end in (first, last))
    width = max(len(end.lstrip("+")) for end in (first, last)) if padded else 0
    return [f"{n:0{width}d}" for n in range(low, min(high, low + MAX_CHOICES) + 1)]
