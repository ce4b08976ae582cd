"""What every test gets: no way out of this machine, its own home, no key and no setting of the person who runs it."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from maia.i18n.catalogue import LANGUAGES, Catalogue, Lang

# Deadlines measure the machine, not the code. In CI the examples are the same every time.
_BUSY = (HealthCheck.too_slow,)
settings.register_profile("here", deadline=None, suppress_health_check=_BUSY)
settings.register_profile("ci", deadline=None, suppress_health_check=_BUSY, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Programs that tests start write and use byte-code, as an installed maia does.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"

_DROPPED_STARTS = ("MAIA_", "XDG_", "LC_", "GIT_", "LITELLM_")
_DROPPED_ENDS = ("_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_API_BASE", "_TOKEN", "_PROXY")
_DROPPED = {"INIT_CWD", "LANGUAGE", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "OLLAMA_HOST", "ENV", "BASH_ENV"}


@pytest.fixture(autouse=True)
def own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder of its own and an environment without anything that changes what maia does."""
    for name in list(os.environ):
        upper = name.upper()
        if upper.startswith(_DROPPED_STARTS) or upper.endswith(_DROPPED_ENDS) or upper in _DROPPED:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "A Tester")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "tester@example.org")


@pytest.fixture(autouse=True)
def no_way_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Connections leave this process only for this machine; whoever tries otherwise fails, even when it caught that."""
    if request.node.get_closest_marker("real"):
        yield
        return
    tried: list[Any] = []

    def guarded(name: str) -> Any:
        original = getattr(socket.socket, name)

        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
                tried.append(address)
                raise OSError(errno.ENETUNREACH, "tests stay on this machine")
            return original(self, address)

        return connect

    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        if name and not _is_address(name) and name.rstrip(".") not in ("localhost", socket.gethostname()):
            raise socket.gaierror(socket.EAI_NONAME, "tests ask no name server")
        return resolve(host, *args, **options)

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guarded(name))
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield
    if tried:
        pytest.fail(f"this test tried to leave the machine: {tried}")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def _is_here(host: Any) -> bool:
    if host == "localhost":
        return True
    return _is_address(str(host)) and ipaddress.ip_address(str(host).partition("%")[0]).is_loopback


@pytest.fixture(params=LANGUAGES)
def lang(request: pytest.FixtureRequest) -> Lang:
    """Each language in turn: the test runs once in each."""
    return request.param


@pytest.fixture
def say(lang: Lang) -> Catalogue:
    """The real words of each language; an unknown key or a missing value fails the test."""
    return Catalogue(lang, strict=True)


@pytest.fixture
def shared() -> Path:
    """Recordings that cannot be part of this repository; tests that need them are skipped without them."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder ../shared with recorded streams")
    return SHARED
