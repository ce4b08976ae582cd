"""A secret value that cannot be shown by accident: every way of printing it gives a mask."""

from __future__ import annotations

from typing import Final, NoReturn

MASK: Final = "••••"


class Secret:
    """A key or token. `reveal()` is the only way to its text; `str`, `repr`, `format` and logs get a mask.

    Equal secrets compare equal and hash alike, so that a frozen value may hold one. It refuses to be pickled or copied
    into JSON.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not serialised")
