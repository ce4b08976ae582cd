"""A PostgreSQL server of the tests' own: from the system or from the wheel `pgserver`, on a free port of 127.0.0.1."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest


def _programs(*, vectors: bool) -> Path | None:
    """The folder with `initdb` and `postgres`; the wheel's, which has pgvector, where that is needed."""
    places = [] if vectors else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = find_spec("pgserver")
    if wheel is not None and wheel.submodule_search_locations:
        places.append(Path(next(iter(wheel.submodule_search_locations)), "pginstall", "bin"))
    return next((found for found in places if (found / "initdb").exists()), None)


def _as_somebody() -> Sequence[str]:
    """PostgreSQL refuses to run as root; then it runs as nobody."""
    return ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()


@contextmanager
def postgres_server(*, vectors: bool = False) -> Generator[str]:
    """The address of a running server without a database name. Skips, with the reason, where there can be none.

    With `vectors` it has the extension pgvector. It ends with the tests, also where they are killed.
    """
    programs = _programs(vectors=vectors)
    if programs is None:
        pytest.skip("needs PostgreSQL: neither installed nor there as the wheel pgserver")
    somebody = _as_somebody()
    if somebody and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv: PostgreSQL does not run as root")
    if subprocess.run([*somebody, programs / "initdb", "--version"], capture_output=True, check=False).returncode:
        pytest.skip(f"PostgreSQL in {programs} cannot be run by an ordinary user")
    folder = Path(tempfile.mkdtemp(prefix="maia-pg-"))
    if somebody:
        os.chown(folder, 65534, 65534)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = folder / "data"
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"

    def run(*argv: object) -> None:
        line = [*somebody, *map(str, argv)]
        subprocess.run(line, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)

    run(programs / "initdb", "-D", data, "-A", "trust", "-U", "maia", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
    run(programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
    end = 'read -r _; "$0" -D "$1" -m immediate stop; rm -rf "$2"'
    line = [*somebody, "sh", "-c", end, *map(str, (programs / "pg_ctl", data, folder))]
    quiet = subprocess.DEVNULL
    watch = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        yield f"postgresql://maia@127.0.0.1:{port}"
    finally:
        watch.communicate(timeout=60)
