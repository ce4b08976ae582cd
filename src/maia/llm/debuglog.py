"""MAIA_DEBUG_LLM: requests and raw answers of model servers, appended to a file that only its owner reads (T1.08)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from maia.core.namedpath import named_path
from maia.core.secret import MASK

FILE_NAME: Final = "maia-llm-debug.log"
_OFF: Final = ("", "0", "false", "no", "off")
_ON: Final = ("1", "true", "yes", "on")


class DebugLog:
    """Appends; every entry is written at once, so that a killed run leaves what arrived. Keys are masked.

    A file that cannot be written never stops a call: the log is then silent.
    """

    def __init__(self, path: Path, secrets: Iterable[str] = ()) -> None:
        self.path = path
        self._secrets = tuple(s.encode() for s in secrets if len(s) >= 4)

    def request(self, method: str, url: str, body: bytes) -> None:
        self._write(f"\n=== {_now()} {method} {url}\n".encode() + body + b"\n")

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        lines = "".join(f"{name}: {value}\n" for name, value in headers.items() if name != "set-cookie")
        self._write(f"--- {_now()} HTTP {status}\n{lines}\n".encode("utf-8", "replace"))

    def chunk(self, data: bytes) -> None:
        self._write(data)

    def end(self, how: str) -> None:
        self._write(f"\n--- {_now()} {how}\n".encode("utf-8", "replace"))

    def _write(self, data: bytes) -> None:
        for secret in self._secrets:
            data = data.replace(secret, MASK.encode())
        try:
            # No link is followed: the temp folder belongs to everybody, and the name is known.
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except OSError:
            return
        try:
            if hasattr(os, "fchmod") and os.fstat(fd).st_uid == os.geteuid():
                os.fchmod(fd, 0o600)
            os.write(fd, data)
        except OSError:
            return
        finally:
            os.close(fd)


def debug_path(environ: Mapping[str, str]) -> Path | None:
    """The file that `MAIA_DEBUG_LLM` names: `1` is the usual one in the temp folder, another value is a path.

    None where it is off, or names no path.
    """
    value = environ.get("MAIA_DEBUG_LLM", "").strip()
    if value.lower() in _OFF:
        return None
    if value.lower() not in _ON:
        named = named_path(value, Path())
        return named if isinstance(named, Path) else None
    import tempfile

    return Path(tempfile.gettempdir(), FILE_NAME)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S")
