import asyncio
import os
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from maia.files import pictures, reading
from maia.files.kinds import sniff
from maia.files.pictures import NoPicture, prepare
from maia.files.reader import CPU_SECONDS, WALL_SECONDS
from maia.files.reading import MOST_CHARS, Look, look
from tests.files import making

_MS = "application/vnd.openxmlformats-officedocument"
UNKNOWN = Look("other", "application/octet-stream")
LOOKS: dict[str, tuple[bytes, Look]] = {
    "text": ("été\r\nici\n".encode(), Look("text", "text/plain", "été\nici\n")),
    "latin": ("été".encode("latin-1"), Look("text", "text/plain", "été")),
    "svg": (b"<svg onload='alert(1)'/>", Look("text", "text/plain", "<svg onload='alert(1)'/>")),
    "docx": (making.docx(), Look("document", f"{_MS}.wordprocessingml.document", "Bonjour\tà tous\nici\n\na | b c\n")),
    "xlsx": (
        making.xlsx(),
        Look("document", f"{_MS}.spreadsheetml.sheet", "# Été\nNom\t\tDate\n1.5\tTRUE\t2026-11-30\n\n"),
    ),
    "pptx": (
        making.pptx(),
        Look("document", f"{_MS}.presentationml.presentation", "# 2\nslide 2\n\n# 10\nslide 10\n\n"),
    ),
    "odt": (
        making.odt(),
        Look("document", "application/vnd.oasis.opendocument.text", "Titre\nun  deux trois\n"),
    ),
    "pdf": (making.pdf(), Look("document", "application/pdf", "# 1\nHello from a page\n\n")),
    "scan": (making.pdf(""), Look("document", "application/pdf", problem="no_text")),
    "locked pdf": (making.locked_pdf(), Look("document", "application/pdf", problem="locked")),
    "broken pdf": (b"%PDF-1.7\nnothing of the kind", Look("other", "application/pdf")),
    "archive": (making.archive({"a.txt": "b"}), Look("other", "application/zip")),
    "entities": (
        making.archive({"word/document.xml": '<!DOCTYPE d [<!ENTITY a "aaaa">]><d>&a;</d>'}),
        Look("document", f"{_MS}.wordprocessingml.document", problem="no_text"),
    ),
    "no picture": (b"\x89PNG\r\n\x1a\n and no more", Look("other", "application/octet-stream", problem="no_picture")),
    "bytes": (bytes(range(256)), UNKNOWN),
}


@pytest.mark.parametrize(("content", "found"), LOOKS.values(), ids=LOOKS)
def test_a_file_is_what_it_holds(content: bytes, found: Look, tmp_path: Path) -> None:
    place = tmp_path / "liar.png"
    place.write_bytes(content)
    assert asyncio.run(look(place)) == found


def test_a_text_that_is_too_long_says_so(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("x" * (MOST_CHARS + 1))
    found = asyncio.run(look(place))
    assert (len(found.text or ""), found.is_cut) == (MOST_CHARS, True)


PICTURES = {
    "png": (making.picture(), "image/png"),
    "gif": (making.picture("GIF", mode="P"), "image/gif"),
    "webp": (making.picture("WEBP"), "image/webp"),
    "jpeg": (making.photograph(), "image/jpeg"),
}


@pytest.mark.parametrize(("content", "media_type"), PICTURES.values(), ids=PICTURES)
def test_a_picture_is_known_by_its_content_alone(content: bytes, media_type: str) -> None:
    assert (sniff(content).kind, sniff(content).media_type) == ("image", media_type)
    made = prepare(BytesIO(content))
    assert made.media_type in ("image/png", "image/jpeg")
    assert Image.open(BytesIO(made.thumbnail)).format == "WEBP"


def test_a_photograph_is_turned_upright_and_loses_where_it_was_made(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_bytes(making.photograph("48.8 N"))
    found = asyncio.run(look(place))
    assert found.picture is not None
    sent = Image.open(BytesIO(found.picture.sent))
    assert (found.kind, found.picture.width, found.picture.height, sent.size) == ("image", 30, 60, (30, 60))
    assert dict(sent.getexif()) == {}
    assert b"48.8 N" in place.read_bytes()
    for made in (found.picture.sent, found.picture.thumbnail):
        assert b"48.8 N" not in made
        assert b"Camera" not in made


def test_a_large_picture_is_made_smaller_and_a_bomb_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    made = prepare(BytesIO(making.picture("JPEG", (4000, 100))))
    assert (made.width, made.height, Image.open(BytesIO(made.sent)).size) == (4000, 100, (1568, 39))
    monkeypatch.setattr(pictures, "MOST_PIXELS", 1000)
    with pytest.raises(NoPicture):
        prepare(BytesIO(making.picture("PNG", (40, 26))))


def test_grey_of_sixteen_bits_stays_grey_and_transparency_stays() -> None:
    into = BytesIO()
    Image.new("I;16", (2, 2), 32768).save(into, "PNG")
    into.seek(0)
    assert Image.open(BytesIO(prepare(into).sent)).getpixel((0, 0)) == (128, 128, 128)
    made = prepare(BytesIO(making.picture(mode="RGBA")))
    assert Image.open(BytesIO(made.sent)).mode == "RGBA"


def _played(monkeypatch: pytest.MonkeyPatch, program: str, **limits: Any) -> None:
    """The process runs that program in the place of the reader."""
    monkeypatch.setattr(reading, "_START", program)
    for name, value in limits.items():
        monkeypatch.setattr(reading, name, value)


def test_what_takes_too_long_is_ended_and_its_beginning_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a.pdf"
    place.write_bytes(making.pdf())
    program = "import time\nprint('application/pdf\\nthe beginning', flush=True)\ntime.sleep(60)#{}"
    _played(monkeypatch, program, WALL_SECONDS=0.5)
    assert asyncio.run(look(place)) == Look("document", "application/pdf", "the beginning\n", is_cut=True)


def test_who_stops_waiting_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, told = tmp_path / "a.pdf", tmp_path / "pid"
    place.write_bytes(making.pdf())
    os.mkfifo(told)
    _played(monkeypatch, f"import os,time\nopen({str(told)!r},'w').write(str(os.getpid()))\ntime.sleep(60)#{{}}")

    async def story() -> int:
        task = asyncio.create_task(look(place))
        pid = int(await asyncio.to_thread(told.read_text))  # waits for the writer
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    pid = asyncio.run(story())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux alone")
def test_the_process_bounds_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a.pdf"
    place.write_bytes(making.pdf())
    start = "import sys; sys.path.append(sys.argv[1]); from maia.files import reader; reader._limit(){}"
    _played(monkeypatch, start.replace("{}", "; bytearray(3 * 10**9); print('application/pdf')#{}"))
    assert asyncio.run(look(place)) == Look("other", "application/pdf")
    asked = "; import resource as r, signal; print('application/pdf')"
    asked += "; print(r.getrlimit(r.RLIMIT_CPU)[1], signal.alarm(0))#{}"
    _played(monkeypatch, start.replace("{}", asked))
    assert asyncio.run(look(place)).text == f"{CPU_SECONDS} {WALL_SECONDS}\n"
