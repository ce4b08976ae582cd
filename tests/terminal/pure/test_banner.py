import subprocess
import sys
from base64 import b85decode
from pathlib import Path

import pytest

from maia.i18n.catalogue import Catalogue
from maia.terminal.banner import LETTERS, banner_lines
from maia.terminal.banner_data import PIXELS_BASE85, SIZE
from maia.terminal.colours import Look, Paint
from maia.terminal.spans import text_of
from tests.terminal.pure.frames import EN, FR, shown

ROOT = Path(__file__).resolve().parents[3]
PICTURE_CHARS = "▀▄█ "
TEXT_FR = ["Assistant IA en ligne de commande", "Un seul agent, plusieurs modèles", "maia 0.1"]


@pytest.mark.parametrize("width", [58, 80, 200])
def test_from_58_columns_the_picture_stands_left_of_the_letters(width: int) -> None:
    rows = shown(banner_lines(Look(width=width), FR, "0.1"), width).split("\n")
    assert len(rows) == 19
    assert all(len(row) == 32 and set(row) <= set(PICTURE_CHARS) for row in rows[:6] + rows[10:16])
    assert [row[32:] for row in rows[6:10]] == ["  " + letters for letters in LETTERS]
    assert rows[16:] == TEXT_FR


@pytest.mark.parametrize(("width", "rows"), [(58, 19), (57, 7), (25, 7), (24, 3)])
def test_the_form_changes_at_58_and_at_25_columns(width: int, rows: int) -> None:
    assert len(banner_lines(Look(width=width), FR, "0.1")) == rows


@pytest.mark.parametrize("width", [57, 40, 34])
def test_from_25_columns_there_are_the_letters_alone(width: int) -> None:
    assert shown(banner_lines(Look(width=width), FR, "0.1"), width).split("\n") == [*LETTERS, *TEXT_FR]


def test_a_line_that_does_not_fit_is_cut_at_a_word() -> None:
    rows = shown(banner_lines(Look(width=25), FR, "0.1"), 25).split("\n")
    assert rows[4:] == ["Assistant IA en ligne de…", "Un seul agent, plusieurs…", "maia 0.1"]


def test_below_25_columns_the_title_has_a_double_border() -> None:
    assert shown(banner_lines(Look(width=20), FR, "0.1"), 20) == "\n".join(
        ["╔══════════════════╗", "║       Maia       ║", "╚══════════════════╝"]
    )
    assert shown(banner_lines(Look(width=24), FR, "0.1"), 24).count("\n") == 2
    assert shown(banner_lines(Look(width=5), FR, "0.1"), 5) == "Maia"


def test_the_three_lines_are_in_the_users_language() -> None:
    rows = banner_lines(Look(), EN, "0.1")
    assert [text_of(row) for row in rows[16:]] == [
        "AI assistant for the command line",
        "One agent, many models",
        "maia 0.1",
    ]
    assert [row[0].style for row in rows[16:]] == ["tagline", "motto", "credit"]


def test_the_picture_is_shown_in_its_own_colours() -> None:
    """Half blocks: what the terminal shows are exactly the pixels of the picture."""
    data = b85decode(PIXELS_BASE85)
    assert len(data) == SIZE * SIZE * 4
    for y, row in enumerate(banner_lines(Look(), FR, "0.1")[:16]):
        for x, span in enumerate(row[:32]):
            upper, lower = (data[((2 * y + half) * SIZE + x) * 4 :][:4] for half in (0, 1))
            assert _colours(span.text, span.style) == tuple(
                f"#{pixel[:3].hex().upper()}" if pixel[3] >= 128 else "" for pixel in (upper, lower)
            )


def _colours(char: str, style: object) -> tuple[str, str]:
    if not isinstance(style, Paint):
        return "", ""
    return {"▀": (style.fg, style.bg), "▄": ("", style.fg), "█": (style.fg, style.fg)}[char]


def test_the_letters_go_through_the_rainbow_and_shadows_are_darker() -> None:
    row = banner_lines(Look(width=40), FR, "0.1")[1]
    paints = [(span.text, span.style) for span in row if isinstance(span.style, Paint)]
    first, last = paints[0][1], paints[-2][1]
    assert isinstance(first, Paint)
    assert isinstance(last, Paint)
    assert first.fg == "#FF5252"
    assert _light(last.fg) > 2 * _light(paints[-1][1].fg) * 0.95  # type: ignore[union-attr]
    assert len({style for _, style in paints}) == len(paints)


def _light(colour: str) -> int:
    return sum(int(colour[place : place + 2], 16) for place in (1, 3, 5))


@pytest.mark.parametrize(
    "look", [Look(level="none"), Look(level="16"), Look(unicode=False)], ids=["none", "16", "ascii"]
)
def test_where_truecolour_is_missing_there_is_no_picture(look: Look) -> None:
    rows = banner_lines(look, FR, "0.1")
    assert len(rows) == 7
    assert all(not span.style[1] for row in rows for span in row if isinstance(span.style, Paint))
    if look.plain:
        assert all(span.style == "plain" for row in rows[:4] for span in row)
    if not look.unicode:
        assert shown(rows).isascii()


def test_a_screen_reader_hears_one_line(say: Catalogue) -> None:
    assert shown(banner_lines(Look(screen_reader=True), say, "0.1")) == "maia 0.1"


@pytest.mark.parametrize("width", range(1, 100, 7))
def test_the_banner_is_never_wider_than_the_screen(width: int) -> None:
    shown(banner_lines(Look(width=width), FR, "0.1-with-a-long-version-name"), width)


def test_the_data_is_what_the_script_makes_of_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="the script needs Pillow, which maia does not")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import make_banner as m; from PIL import Image;"
        "sys.stdout.buffer.write(m.pixels(Image.open(m.PICTURE), int(sys.argv[2])).tobytes())"
    )
    for size in (SIZE, 24):
        done = subprocess.run(
            [sys.executable, "-c", code, str(ROOT / "scripts"), str(size)],
            capture_output=True,
            check=True,
            cwd=tmp_path,
        )
        assert len(done.stdout) == size * size * 4
        if size == SIZE:
            assert done.stdout == b85decode(PIXELS_BASE85)


def test_showing_the_banner_loads_nothing_heavy() -> None:
    code = "import sys; import maia.terminal.banner, maia.terminal.contextbar; print(*sys.modules)"
    env = {"PYTHONPATH": str(ROOT / "src")}
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    heavy = {"PIL", "rich", "prompt_toolkit", "wcwidth", "markdown_it", "asyncio", "httpx2"}
    assert not heavy & set(loaded.split())
