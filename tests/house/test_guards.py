import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import maia

pytest_plugins = ["pytester"]


def test_a_name_cannot_be_looked_up() -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("example.org", 443)


def test_this_machine_can_be_reached() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5),
    ):
        server.accept()[0].close()


def test_a_test_that_tries_to_leave_the_machine_fails_even_when_it_swallows_the_error(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(maia.__file__).parent.parent))
    pytester.makeconftest(Path(__file__).parent.parent.joinpath("conftest.py").read_text("utf-8"))
    pytester.makepyfile(
        """
        import socket
        def test_out():
            try:
                socket.create_connection(("192.0.2.1", 80), timeout=1)
            except OSError:
                pass
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*tried to leave the machine*192.0.2.1*"])


def test_a_test_has_its_own_home_and_none_of_the_persons_settings() -> None:
    assert "pytest" in os.environ["HOME"]
    assert not os.listdir(os.environ["HOME"])
    assert [name for name in os.environ if name.startswith(("MAIA_", "XDG_")) or name.endswith("_API_KEY")] == []


def test_programs_that_tests_start_use_byte_code() -> None:
    done = subprocess.run([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"], capture_output=True)
    assert done.stdout == b"False\n"
