"""Keeps keys by their variable's name: in the system's keyring where one works, else in an encrypted file (C5.01)."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

from maia.core.errors import MaiaError
from maia.core.fileread import read_regular
from maia.core.filewrite import keep_private
from maia.core.jsonvalue import JsonObject
from maia.core.secret import Secret
from maia.credentials.all_or_none import locked, make_private, recover, replace_all
from maia.credentials.prefixes import clean_token, mask

SERVICE: Final = "maia"
"""Under which name the system's keyring lists our keys."""

INDEX: Final = "keys.json"
_SEALED: Final = "sealed.bin"
_SEAL: Final = "seal.bin"
_LOCK: Final = ".lock"

Keeper: TypeAlias = Literal["keyring", "file"]

KEYRING_VAR: Final = "MAIA_KEYRING"
"""`off` keeps keys in the encrypted file even where the system has a keyring."""


class KeyProblem(MaiaError):
    """A key cannot be kept, read or removed."""


class Keyring(Protocol):
    """What is used of the `keyring` package."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Kept:
    """One kept key as the index tells it: who keeps it, and how it may be shown."""

    name: str
    keeper: Keeper
    masked: str


class Vault:
    """The kept keys of one user, in `folder` (`~/.maia/keys`). The index there holds names and never a key.

    `keyring` gives the system's, or None where none works, and is asked only when it is needed: finding one takes
    0.1 s. Methods raise `KeyProblem`.
    """

    def __init__(self, folder: Path, keyring: Callable[[], Keyring | None]) -> None:
        self._folder = folder
        self._find_keyring = keyring

    @cached_property
    def _keyring(self) -> Keyring | None:
        return self._find_keyring()

    def names(self) -> dict[str, Kept]:
        """What is kept, by name, without opening anything."""
        try:
            data = json.loads(read_regular(self._folder / INDEX)[0])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            raise KeyProblem("keys.index_broken", path=str(self._folder / INDEX)) from None
        rows = cast(JsonObject, data).get("keys") if isinstance(data, dict) else None
        if not isinstance(rows, dict):
            raise KeyProblem("keys.index_broken", path=str(self._folder / INDEX))
        return {name: kept for name, row in cast(JsonObject, rows).items() if (kept := _kept(name, row))}

    def set(self, name: str, token: Secret) -> Kept:
        """Keep a key, in place of an earlier one of that name. The key is cleaned; what is no key is refused."""
        cleaned = clean_token(token.reveal())
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,99}", name):
            raise KeyProblem("keys.bad_name")
        if cleaned.error:
            raise KeyProblem(cleaned.error.words, where=name, **cleaned.error.values)
        with self._locked():
            index = self.names()
            keeper: Keeper = "keyring" if self._put(name, cleaned.text) else "file"
            kept = Kept(name, keeper, mask(cleaned.text))
            sealed = self._open_sealed()
            before = dict(sealed)
            sealed.pop(name, None)
            if keeper == "file":
                sealed[name] = cleaned.text
            files = {INDEX: _index_bytes({**index, name: kept})}
            if sealed != before:
                files[_SEALED] = self._seal(sealed)
            replace_all(self._folder, files)
        return kept

    def get(self, name: str) -> Secret | None:
        """The key of that name; None when none is kept."""
        kept = self.names().get(name)
        if kept is None:
            return None
        value = self._from_keyring(name) if kept.keeper == "keyring" else self._open_sealed().get(name)
        if value is None:
            raise KeyProblem("keys.lost", name=name)
        return Secret(value)

    def all(self) -> dict[str, Secret]:
        """Every kept key that can be read; those that cannot are left out."""
        names = self.names()
        found: dict[str, Secret] = {}
        sealed: dict[str, str] = {}
        if any(kept.keeper == "file" for kept in names.values()):
            with suppress(KeyProblem):
                sealed = self._open_sealed()
        for name, kept in names.items():
            value = sealed.get(name)
            if kept.keeper == "keyring":
                with suppress(KeyProblem):
                    value = self._from_keyring(name)
            if value:
                found[name] = Secret(value)
        return found

    def remove(self, name: str) -> bool:
        """Forget a key; False when none was kept under that name."""
        with self._locked():
            index = self.names()
            kept = index.pop(name, None)
            if kept is None:
                return False
            if kept.keeper == "keyring" and self._keyring is not None:
                with suppress(Exception):  # whatever the backend raises: it is gone there already
                    self._keyring.delete_password(SERVICE, name)
            files = {INDEX: _index_bytes(index)}
            if kept.keeper == "file":
                sealed = self._open_sealed()
                sealed.pop(name, None)
                files[_SEALED] = self._seal(sealed)
            replace_all(self._folder, files)
        return True

    # The keyring

    def _put(self, name: str, text: str) -> bool:
        """Whether the system's keyring took the key and gives it back."""
        if self._keyring is None:
            return False
        try:
            self._keyring.set_password(SERVICE, name, text)
            return self._keyring.get_password(SERVICE, name) == text
        except Exception:  # each backend has its own errors, locked and refused among them: the file takes it then
            return False

    def _from_keyring(self, name: str) -> str | None:
        if self._keyring is None:
            raise KeyProblem("keys.no_keyring", name=name)
        try:
            return self._keyring.get_password(SERVICE, name)
        except Exception as error:
            raise KeyProblem("keys.keyring_refused", name=name, why=type(error).__name__) from None

    # The encrypted file

    def _open_sealed(self) -> dict[str, str]:
        try:
            data = read_regular(self._folder / _SEALED)[0]
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _unreadable(self._folder / _SEALED, error) from None
        fernet, invalid = _fernet()
        try:
            opened = json.loads(fernet(self._seal_key()).decrypt(data))
        except (invalid, ValueError):
            raise KeyProblem("keys.seal_broken", path=str(self._folder / _SEALED)) from None
        return {str(name): str(value) for name, value in cast(JsonObject, opened).items()}

    def _seal(self, keys: Mapping[str, str]) -> bytes:
        fernet, _ = _fernet()
        return fernet(self._seal_key(create=True)).encrypt(json.dumps(dict(keys)).encode())

    def _seal_key(self, *, create: bool = False) -> bytes:
        """The key of the encrypted file, which lies beside it, for its owner alone."""
        path = self._folder / _SEAL
        try:
            _close(path)
            if key := read_regular(path)[0].strip():
                return key
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _unreadable(path, error) from None
        if not create or (self._folder / _SEALED).exists():
            raise KeyProblem("keys.seal_broken", path=str(path))
        from cryptography.fernet import Fernet

        key = Fernet.generate_key()
        keep_private(path, key)
        return key

    def _locked(self) -> _Held:
        return _Held(self._folder)


class _Held:
    """The vault's lock, with the folder made and an interrupted write finished."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        try:
            make_private(self._folder)
            for name in (_SEALED, INDEX):
                _close(self._folder / name)
            self._lock = locked(self._folder / _LOCK)
            self._lock.__enter__()
            recover(self._folder)
        except OSError as error:
            raise _unreadable(self._folder, error) from None

    def __exit__(self, *problem: Any) -> None:
        self._lock.__exit__(*problem)
        if isinstance(problem[1], OSError):
            raise _unreadable(self._folder, problem[1]) from None


def _close(path: Path) -> None:
    """Close a file of ours that others can read. A link is not followed."""
    with suppress(FileNotFoundError):
        if stat.S_ISREG(path.lstat().st_mode) and stat.S_IMODE(path.lstat().st_mode) & 0o077:
            path.chmod(0o600)


def _unreadable(path: Path, error: OSError) -> KeyProblem:
    return KeyProblem("keys.vault_failed", path=str(error.filename or path), why=os.strerror(error.errno or 0))


def _kept(name: str, row: Any) -> Kept | None:
    if not isinstance(row, dict):
        return None
    fields = cast(JsonObject, row)
    return Kept(name, "keyring" if fields.get("keeper") == "keyring" else "file", str(fields.get("shown", "")))


def _index_bytes(index: Mapping[str, Kept]) -> bytes:
    rows = {name: {"keeper": kept.keeper, "shown": kept.masked} for name, kept in sorted(index.items())}
    return (json.dumps({"version": 1, "keys": rows}, indent=2, ensure_ascii=False) + "\n").encode()


def _fernet() -> tuple[Any, type[Exception]]:
    try:
        from cryptography.fernet import Fernet, InvalidToken
    except ImportError:
        raise KeyProblem("keys.no_cryptography") from None
    return Fernet, InvalidToken


def system_keyring(env: Mapping[str, str]) -> Keyring | None:
    """The system's keyring, where the package is there and a real backend works; None otherwise.

    Backends that write keys in clear or forget them (`keyrings.alt`, `null`, `fail`) do not count.
    """
    if env.get(KEYRING_VAR, "").strip().lower() == "off":
        return None
    try:
        import keyring  # pyright: ignore[reportMissingImports] - an extra, which not everybody has
    except ImportError:
        return None
    try:
        backend: Any = cast(Any, keyring).get_keyring()
        module, priority = str(type(backend).__module__), float(backend.priority)
    except Exception:  # a backend may fail in any way when its service is not there
        return None
    if priority <= 0 or module.startswith(("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")):
        return None
    return cast(Keyring, backend)


def open_vault(folder: Path, env: Mapping[str, str]) -> Vault:
    """The user's vault in `folder` (`~/.maia/keys`)."""
    return Vault(folder, lambda: system_keyring(env))


def kept_environment(folder: Path, env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with the kept keys under their names; what is set there already wins.

    Costs one look at the file system where nothing is kept. What cannot be read is left out.
    """
    if not (folder / INDEX).is_file():
        return env
    try:
        kept = open_vault(folder, env).all()
    except KeyProblem:
        return env
    return {**{name: secret.reveal() for name, secret in kept.items()}, **env}
