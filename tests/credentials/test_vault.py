from __future__ import annotations

import json
import stat
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maia.core.secret import Secret
from maia.credentials.vault import Kept, KeyProblem, Keyring, Vault, kept_environment, open_vault, system_keyring
from tests.credentials.made import MINIMAX, ZAI, fake


class MemoryKeyring:
    """A keyring that works."""

    priority = 5

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class LockedKeyring(MemoryKeyring):
    """A keyring whose owner does not unlock it."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"locked {service} {username} {password}")

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError(f"locked {service} {username}")


def of(keyring: Keyring | None) -> Callable[[], Keyring | None]:
    return lambda: keyring


def text_of(folder: Path) -> str:
    return "".join(path.read_text("utf-8", "replace") for path in folder.iterdir())


def test_a_key_is_kept_in_an_encrypted_file_where_there_is_no_keyring(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    kept = Vault(folder, of(None)).set("MINIMAX_API_KEY", Secret(f" {MINIMAX}\n"))
    assert kept == Kept("MINIMAX_API_KEY", "file", f"sk-cp-…({len(MINIMAX)})")
    assert Vault(folder, of(None)).get("MINIMAX_API_KEY") == Secret(MINIMAX)
    assert MINIMAX not in text_of(folder)
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_working_keyring_keeps_it_and_no_file_does(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    assert Vault(tmp_path, of(keyring)).set("GLM_API_KEY", Secret(ZAI)).keeper == "keyring"
    assert keyring.kept == {("maia", "GLM_API_KEY"): ZAI}
    assert ZAI not in text_of(tmp_path)
    assert Vault(tmp_path, of(keyring)).get("GLM_API_KEY") == Secret(ZAI)


def test_a_keyring_that_refuses_leaves_it_to_the_file(tmp_path: Path) -> None:
    vault = Vault(tmp_path, of(LockedKeyring()))
    assert vault.set("GLM_API_KEY", Secret(ZAI)).keeper == "file"
    assert vault.get("GLM_API_KEY") == Secret(ZAI)


def test_a_later_key_takes_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    vault = Vault(tmp_path, of(None))
    vault.set("GLM_API_KEY", Secret(fake("", 40)))
    vault.set("GLM_API_KEY", Secret(ZAI))
    vault.set("MINIMAX_API_KEY", Secret(MINIMAX))
    assert vault.all() == {"GLM_API_KEY": Secret(ZAI), "MINIMAX_API_KEY": Secret(MINIMAX)}
    assert vault.remove("GLM_API_KEY")
    assert not vault.remove("GLM_API_KEY")
    assert vault.all() == {"MINIMAX_API_KEY": Secret(MINIMAX)}


def test_moving_to_the_keyring_leaves_nothing_in_the_file(tmp_path: Path) -> None:
    Vault(tmp_path, of(None)).set("GLM_API_KEY", Secret(ZAI))
    keyring = MemoryKeyring()
    Vault(tmp_path, of(keyring)).set("GLM_API_KEY", Secret(ZAI))
    index = json.loads((tmp_path / "keys.json").read_text())
    assert index["keys"]["GLM_API_KEY"]["keeper"] == "keyring"
    assert Vault(tmp_path, of(keyring))._open_sealed() == {}  # pyright: ignore[reportPrivateUsage] - what is on disk


@pytest.mark.parametrize("token", ["", "***", "$NAME", "a\nb"])
def test_what_is_no_key_is_not_kept(token: str, tmp_path: Path) -> None:
    with pytest.raises(KeyProblem):
        Vault(tmp_path, of(None)).set("GLM_API_KEY", Secret(token))
    assert not (tmp_path / "keys.json").exists()


@pytest.mark.parametrize("name", ["", "a", "../X", "X Y", "X\n", "1X", "X" * 200])
def test_a_name_is_a_variables_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(KeyProblem):
        Vault(tmp_path, of(None)).set(name, Secret(ZAI))


@pytest.mark.parametrize("file", ["sealed.bin", "seal.bin", "keys.json"])
def test_a_damaged_vault_is_told_and_the_rest_goes_on(file: str, tmp_path: Path) -> None:
    Vault(tmp_path, of(None)).set("GLM_API_KEY", Secret(ZAI))
    (tmp_path / file).write_text("x")
    with pytest.raises(KeyProblem):
        Vault(tmp_path, of(None)).get("GLM_API_KEY")
    assert kept_environment(tmp_path, {"A": "b", "MAIA_KEYRING": "off"}) == {"A": "b", "MAIA_KEYRING": "off"}


def test_a_lost_seal_never_makes_a_new_one_over_kept_keys(tmp_path: Path) -> None:
    Vault(tmp_path, of(None)).set("GLM_API_KEY", Secret(ZAI))
    sealed = (tmp_path / "sealed.bin").read_bytes()
    (tmp_path / "seal.bin").unlink()
    with pytest.raises(KeyProblem):
        Vault(tmp_path, of(None)).set("MINIMAX_API_KEY", Secret(MINIMAX))
    assert (tmp_path / "sealed.bin").read_bytes() == sealed


def test_a_seal_that_a_crash_left_empty_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "seal.bin").touch()
    Vault(tmp_path, of(None)).set("GLM_API_KEY", Secret(ZAI))
    assert Vault(tmp_path, of(None)).get("GLM_API_KEY") == Secret(ZAI)


def test_files_of_the_vault_that_others_could_read_are_closed(tmp_path: Path) -> None:
    vault = Vault(tmp_path, of(None))
    vault.set("GLM_API_KEY", Secret(ZAI))
    for path in tmp_path.iterdir():
        path.chmod(0o644)
    vault.set("MINIMAX_API_KEY", Secret(MINIMAX))
    assert {path.name for path in tmp_path.iterdir() if stat.S_IMODE(path.stat().st_mode) & 0o077} <= {".lock"}


def test_kept_keys_join_the_environment_under_what_is_set_there(tmp_path: Path) -> None:
    env = {"MAIA_KEYRING": "off", "GLM_API_KEY": "set"}
    assert kept_environment(tmp_path / "none", env) is env
    vault = open_vault(tmp_path, env)
    vault.set("GLM_API_KEY", Secret(ZAI))
    vault.set("MINIMAX_API_KEY", Secret(MINIMAX))
    assert kept_environment(tmp_path, env) == {**env, "MINIMAX_API_KEY": MINIMAX}


@pytest.mark.parametrize(
    ("module", "priority", "found"),
    [
        ("keyring.backends.SecretService", 5.0, True),
        ("keyring.backends.fail", 0, False),
        ("keyring.backends.null", -1, False),
        pytest.param("keyrings.alt.file", 0.5, False, id="one that writes keys in clear"),
    ],
)
def test_only_a_real_keyring_counts(module: str, priority: float, found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = type("Backend", (MemoryKeyring,), {"__module__": module, "priority": priority})()
    fake_package: Any = types.ModuleType("keyring")
    fake_package.get_keyring = lambda: backend
    monkeypatch.setitem(sys.modules, "keyring", fake_package)
    assert (system_keyring({}) is backend) == found
    assert system_keyring({"MAIA_KEYRING": "off"}) is None


def test_a_keyring_that_fails_to_start_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise RuntimeError("no bus")

    package: Any = types.ModuleType("keyring")
    package.get_keyring = broken
    monkeypatch.setitem(sys.modules, "keyring", package)
    assert system_keyring({}) is None


def test_no_problem_of_the_vault_holds_a_key(tmp_path: Path) -> None:
    vault = Vault(tmp_path, of(LockedKeyring()))
    vault.set("GLM_API_KEY", Secret(ZAI))
    assert ZAI not in repr(vault.names()) + repr(vault.all()) + repr(vault)
    with pytest.raises(KeyProblem) as problem:
        vault.set("X", Secret(ZAI + "\x00"))
    assert ZAI not in f"{problem.value!r} {problem.value}"
