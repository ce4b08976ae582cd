"""The bearer tokens of `maia mcp --transport http`: made once, shown once, kept as digests, each with an identity."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from maia.core.codec import load_value, to_json
from maia.core.errors import SettingsProblem, UsageProblem, system_words
from maia.core.filelock import locked
from maia.core.fileread import read_regular
from maia.core.filewrite import keep_private
from maia.core.jsontext import read_json
from maia.core.secret import Secret
from maia.core.text import kept_name
from maia.orchestrator.calls import Identity

PREFIX: Final = "maia_mcp_"
MAX_NAME: Final = 64
MOST_TOKENS: Final = 1_000
_MAX_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Token:
    """One token as it is kept. `digest` is the SHA-256 of its text, which has 256 random bits and needs no slow hash.

    `agent` is set for a token that stands for an agent. `created` is seconds since 1970.
    """

    name: str
    digest: str
    identity: str
    created: float
    agent: str = ""


class Tokens:
    """The file of the tokens. Read again when it has changed, so that a token revoked elsewhere is one at once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: tuple[int, int, int] | None = None
        self._tokens: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """In the order in which they were made. Raises `SettingsProblem` where the file cannot be used."""
        try:
            state = os.stat(self._file)
            seen = (state.st_mtime_ns, state.st_size, state.st_ino)
            if seen != self._seen:
                if state.st_mode & 0o077:
                    os.chmod(self._file, 0o600)
                self._tokens, self._seen = self._read(), seen
        except FileNotFoundError:
            self._tokens, self._seen = (), None
        except OSError as problem:
            raise self._unusable(system_words(problem)) from problem
        return self._tokens

    def identity_of(self, presented: str) -> Identity | None:
        """Whose token this is, None for none of ours. Takes the same time for any that is not."""
        digest = _digest(presented)
        found: Token | None = None
        for token in self.all():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return Identity(found.identity, found.agent) if found is not None else None

    def create(self, name: str, identity: Identity) -> Secret:
        """A new token, whose text is known to nobody afterwards but to whom it is given now.

        Raises `UsageProblem` for a name that is taken or that cannot be one, `SettingsProblem` where nothing is kept.
        """
        if not kept_name(name) or len(name) > MAX_NAME or not name.isprintable():
            raise UsageProblem("mcp.token.bad_name", most=MAX_NAME)
        text = PREFIX + secrets.token_urlsafe(32)
        with self._changing() as tokens:
            if any(token.name == name for token in tokens):
                raise UsageProblem("mcp.token.taken", name=name)
            if len(tokens) >= MOST_TOKENS:
                raise UsageProblem("mcp.token.many", most=MOST_TOKENS)
            tokens.append(Token(name, _digest(text), identity.name, time.time(), identity.agent))
        return Secret(text)

    def revoke(self, name: str) -> None:
        """Take a token away. Raises `UsageProblem` where there is none of that name."""
        with self._changing() as tokens:
            kept = [token for token in tokens if token.name != name]
            if len(kept) == len(tokens):
                raise UsageProblem("mcp.token.unknown", name=name, known=", ".join(t.name for t in tokens) or "—")
            tokens[:] = kept

    @contextmanager
    def _changing(self) -> Generator[list[Token]]:
        """The tokens to change, written afterwards; one process at a time."""
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._file.with_suffix(".lock")):
                tokens = list(self.all())
                yield tokens
                self._write(tokens)
        except OSError as problem:
            raise self._unusable(system_words(problem)) from problem

    def _read(self) -> tuple[Token, ...]:
        data, _ = read_regular(Path(os.path.realpath(self._file)), _MAX_BYTES)
        try:
            return tuple(load_value(Token, row) for row in read_json(data)["tokens"])
        except (ValueError, TypeError, KeyError):
            raise self._unusable("JSON") from None

    def _write(self, tokens: list[Token]) -> None:
        text = json.dumps({"version": 1, "tokens": [to_json(token) for token in tokens]}, indent=1, ensure_ascii=False)
        # The identity of a project's agent holds the path of its folder, which may be no UTF-8.
        keep_private(self._file, f"{text}\n".encode("utf-8", "surrogatepass"))

    def _unusable(self, why: str) -> SettingsProblem:
        return SettingsProblem("mcp.token.file", file=str(self._file), why=why)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
