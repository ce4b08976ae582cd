from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from maia.core.fileread import read_bounded


def _listen(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


REFUSED: dict[str, tuple[Callable[[Path], object], int]] = {
    "a FIFO would wait for ever": (os.mkfifo, errno.EINVAL),
    "a socket": (_listen, errno.EINVAL),
    "a device never ends": (lambda path: path.symlink_to("/dev/zero"), errno.EINVAL),
    "a folder": (Path.mkdir, errno.EISDIR),
    "a link to itself": (lambda path: path.symlink_to(path), errno.ELOOP),
    "beyond the bound": (lambda path: path.write_bytes(b"12345"), errno.EFBIG),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_small_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    make, number = REFUSED[kind]
    make(tmp_path / "file")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match=os.strerror(number)) as refused:
        read_bounded(tmp_path / "file", 4)
    assert refused.value.errno == number
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_is_read_to_its_bound_and_through_links(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"1234")
    (tmp_path / "link").symlink_to("real")
    assert read_bounded(tmp_path / "link", 4) == b"1234"
