"""Bytes of a terminal in raw mode -> keys, text and pastes, incremental and pure.

Loaded before the first paint, so it imports nothing. Sequences: ECMA-48 CSI and SS3, xterm's modifiers and
modifyOtherKeys, kitty's `CSI u` (https://sw.kovidgoyal.net/kitty/keyboard-protocol/), bracketed paste.
"""

from __future__ import annotations

Key = tuple[str, str]
"""(`text`, characters), (`paste`, characters), (`key`, name), (`report`, `row;column`) or (`terminal`, its name).

Names are `enter`, `tab`, `esc`, `up`, `f1`, … and characters, after the modifiers `c-`, `m-`, `s-` in this order.
"""

_ESC = 0x1B
_PASTE_END = b"\x1b[201~"
_CONTROLS = {
    0x00: "c-space",
    0x08: "backspace",
    0x09: "tab",
    0x0A: "c-j",
    0x0D: "enter",
    0x1B: "esc",
    0x7F: "backspace",
}
_FINALS = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "F": "end",
    "H": "home",
    "M": "enter",
    "P": "f1",
    "Q": "f2",
    "R": "f3",
    "S": "f4",
    "Z": "tab",
}
_TILDES = {
    1: "home",
    2: "insert",
    3: "delete",
    4: "end",
    5: "pageup",
    6: "pagedown",
    7: "home",
    8: "end",
    11: "f1",
    12: "f2",
    13: "f3",
    14: "f4",
    15: "f5",
    17: "f6",
    18: "f7",
    19: "f8",
    20: "f9",
    21: "f10",
    23: "f11",
    24: "f12",
}
_CODES = {
    9: "tab",
    13: "enter",
    27: "esc",
    32: "space",
    127: "backspace",
    57414: "enter",
    57417: "left",
    57418: "right",
    57419: "up",
    57420: "down",
    57421: "pageup",
    57422: "pagedown",
    57423: "home",
    57424: "end",
    57425: "insert",
    57426: "delete",
}
"""Kitty's numbers of the keys that are no characters, the keypad's among them."""


class KeyReader:
    """Turns chunks of bytes, cut anywhere, into keys. Unknown sequences are swallowed whole, never typed as text."""

    __slots__ = ("_buffer", "_paste")

    def __init__(self) -> None:
        self._buffer = b""
        self._paste: bytearray | None = None

    @property
    def waiting(self) -> bool:
        """True when the buffer holds the beginning of something: call `flush` if nothing follows within 40 ms."""
        return bool(self._buffer) and self._paste is None

    def feed(self, data: bytes) -> list[Key]:
        """The keys that are complete now, in the order typed; neighbouring characters come as one `text`."""
        self._buffer += data
        return self._drain(final=False)

    def flush(self) -> list[Key]:
        """What was waiting, taken as it stands: a lone escape is the Escape key. An open paste stays open."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> list[Key]:
        keys: list[Key] = []
        while self._buffer:
            if self._paste is not None:
                if not self._take_paste(keys):
                    break
                continue
            used = self._take(keys, final)
            if not used:
                break
            self._buffer = self._buffer[used:]
        return keys

    def _take_paste(self, keys: list[Key]) -> bool:
        assert self._paste is not None
        end = self._buffer.find(_PASTE_END)
        if end < 0:
            keep = len(_PASTE_END) - 1
            self._paste += self._buffer[:-keep]
            self._buffer = self._buffer[-keep:]
            return False
        self._paste += self._buffer[:end]
        self._buffer = self._buffer[end + len(_PASTE_END) :]
        pasted = self._paste.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        self._paste = None
        keys.append(("paste", pasted))
        return True

    def _take(self, keys: list[Key], final: bool) -> int:
        """Add what stands at the head of the buffer; returns the bytes used, 0 when more are needed."""
        first = self._buffer[0]
        if first == _ESC:
            return self._take_escape(keys, final)
        if first < 0x20 or first == 0x7F:
            keys.append(("key", _CONTROLS.get(first) or "c-" + chr(first | 0x60 if first < 0x1B else first + 0x40)))
            return 1
        text, used = _text(self._buffer, final)
        if text and keys and keys[-1][0] == "text":
            keys[-1] = ("text", keys[-1][1] + text)
        elif text:
            keys.append(("text", text))
        return used

    def _take_escape(self, keys: list[Key], final: bool) -> int:
        buffer = self._buffer
        lead = 1 if buffer[1:3] in (b"\x1b[", b"\x1bO") else 0  # rxvt sends Alt as a second escape
        kind = buffer[1 + lead : 2 + lead]
        if not kind:
            return _add(keys, "esc", 1) if final else 0
        if kind == b"\x1b":
            return _add(keys, "esc", 1) if len(buffer) > 2 or final else 0
        if kind in b"[O":
            used = self._take_sequence(keys, 1 + lead, "m-" if lead else "")
            return used or (_add(keys, "m-" + chr(kind[0]), 2 + lead) if final else 0)
        if kind in b"]P^_X":
            end = _string_end(buffer)
            if kind == b"P" and buffer[2 + lead : 4 + lead] == b">|" and end:  # xterm's XTVERSION
                name = buffer[4 + lead : end].rstrip(b"\x07\x1b\\").decode("utf-8", "replace")
                keys.append(("terminal", name))
            return end or (_add(keys, "m-" + chr(kind[0]), 2) if final else 0)
        if kind[0] < 0x20 or kind[0] == 0x7F:
            return _add(keys, "m-" + (_CONTROLS.get(kind[0]) or "c-" + chr(kind[0] | 0x60)), 2)
        length = _length(kind[0])
        if len(buffer) < 1 + length and not final:
            return 0
        return _add(keys, "m-" + buffer[1 : 1 + length].decode("utf-8", "replace"), 1 + length)

    def _take_sequence(self, keys: list[Key], start: int, alt: str) -> int:
        buffer = self._buffer
        at = start + 1
        if buffer[start : start + 1] == b"O" or buffer[start : start + 2] == b"[[":
            console = buffer[start : start + 2] == b"[["  # the Linux console's F1 to F5
            at += console
            if at >= len(buffer):
                return 0
            name = f"f{buffer[at] - 0x40}" if console else _FINALS.get(chr(buffer[at]))
            return _add(keys, alt + name, at + 1) if name else at + 1
        while at < len(buffer) and 0x20 <= buffer[at] <= 0x3F:
            at += 1
        if at >= len(buffer):
            return 0
        if not 0x40 <= buffer[at] <= 0x7E:  # broken off: the sequence goes, what follows is read afresh
            return at
        key = _csi(buffer[start + 1 : at].decode("ascii"), chr(buffer[at]))
        if key == ("key", "paste"):
            self._paste = bytearray()
        elif key is not None:
            keys.append(("key", alt + key[1]) if key[0] == "key" else key)
        return at + 1


def _add(keys: list[Key], name: str, used: int) -> int:
    keys.append(("key", name))
    return used


def _length(lead: int) -> int:
    """How many bytes the UTF-8 character has that begins with `lead`; 1 for what cannot begin one."""
    return 4 if 0xF0 <= lead <= 0xF4 else 3 if 0xE0 <= lead <= 0xEF else 2 if 0xC2 <= lead <= 0xDF else 1


def _text(buffer: bytes, final: bool) -> tuple[str, int]:
    """The run of characters at the head, up to a control character, without a character that is still arriving."""
    end = 0
    while end < len(buffer) and buffer[end] >= 0x20 and buffer[end] != 0x7F:
        end += 1
    if end == len(buffer) and not final:
        for back in range(1, min(4, end) + 1):
            if buffer[end - back] & 0xC0 != 0x80:
                end -= back if _length(buffer[end - back]) > back else 0
                break
    text = buffer[:end].decode("utf-8", "replace")
    for code in range(0x80, 0xA0):  # C1 controls act on some terminals and are never meant as text
        text = text.replace(chr(code), "") if chr(code) in text else text
    return text, end


def _string_end(buffer: bytes) -> int:
    """Where an OSC, DCS or APC string is over (BEL or ST), 0 when it is not there yet."""
    ends = [at + len(mark) for mark in (b"\x07", b"\x1b\\") if (at := buffer.find(mark, 2)) >= 0]
    return min(ends, default=0)


def _number(digits: str) -> int:
    return int(digits) if digits.isdecimal() and len(digits) <= 9 else 0


def _csi(params: str, final: str) -> Key | None:
    """One control sequence. None for what is no key: releases, focus, unknown ones."""
    numbers = [[_number(n) for n in part.split(":")] for part in params.lstrip("<=>?").split(";")]
    first = numbers[0][0]
    second = numbers[1] if len(numbers) > 1 else [1]
    if params[:1] in ("?", "<", ">", "="):
        return None
    if final == "R" and len(numbers) == 2 and params:
        return ("report", params)
    if len(second) > 1 and second[1] == 3:
        return None
    if final == "u":
        return _coded(first, second[0])
    if final == "~" and first == 200:
        return ("key", "paste")
    if final == "~" and first == 27 and len(numbers) == 3:
        return _coded(numbers[2][0], second[0])
    name = _TILDES.get(first) if final == "~" else _FINALS.get(final)
    if name is None:
        return None
    return ("key", _modifiers(second[0]) + ("s-" if final == "Z" and second[0] == 1 else "") + name)


def _coded(code: int, modifiers: int) -> Key | None:
    """A key sent as a code point with modifiers (kitty, modifyOtherKeys)."""
    name = _CODES.get(code) or (chr(code) if 0x20 < code < 0xD800 else "")
    if not name:
        return None
    prefix = _modifiers(modifiers)
    if len(name) == 1 and prefix in ("", "s-"):
        return ("text", name.upper() if prefix else name)
    if name == "space" and prefix in ("", "s-"):
        return ("text", " ")
    if prefix == "c-" and name in ("i", "m", "h"):
        return ("key", {"i": "tab", "m": "enter", "h": "backspace"}[name])
    return ("key", prefix + name)


def _modifiers(code: int) -> str:
    """`c-m-s-` as far as they are set; super, hyper and the locks are left out."""
    bits = max(0, code - 1)
    return ("c-" if bits & 4 else "") + ("m-" if bits & 2 else "") + ("s-" if bits & 1 else "")
