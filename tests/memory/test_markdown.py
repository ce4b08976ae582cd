from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maia.core.memories import MemoryEntry
from maia.memory.entries import checked_tags
from maia.memory.markdown import read_markdown, write_markdown
from maia.memory.problems import MemoryProblem

NOW = 1_796_049_596.25

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)
LINES = (
    st.lists(
        st.sampled_from(
            ["## x", "\\## x", "# t", "", " ", "## 2026-11-30 — a", '<!-- {"id": "x"} -->', "a\r", "\r\n", "é"]
        ),
        min_size=1,
    )
    .map("\n".join)
    .filter(str.strip)
)


def _is_tag(tag: str) -> bool:
    try:
        return checked_tags([tag]) == (tag,)
    except MemoryProblem:
        return False


ENTRIES = st.builds(
    MemoryEntry,
    entry_id=st.text("0123456789abcdef", min_size=1, max_size=12),
    text=TEXTS | LINES,
    created=st.integers(0, 4 * 10**15).map(lambda micro: micro / 1_000_000),
    tags=st.lists(st.text("aé -—œ日x", min_size=1, max_size=8).filter(_is_tag), unique=True, max_size=3).map(tuple),
    source=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@given(st.lists(ENTRIES, max_size=4))
@example([MemoryEntry("a", "\n\n## two\n\n\n", 0.0, ("a — b",), "--> x")])
def test_what_is_given_out_comes_back_as_it_was(entries: list[MemoryEntry]) -> None:
    text = write_markdown("Memory of agent:x", entries)
    assert [written.entry for written in read_markdown(text, NOW)] == entries


@given(st.text())
def test_any_file_is_read(text: str) -> None:
    read = read_markdown(text, NOW)
    assert all(written.entry.text.strip() for written in read)
    if text.strip() and not text.lstrip("\ufeff").startswith(("#", "\n")):
        assert read


ENTRY = MemoryEntry("9cdb63217ded", "We chose SQLite.\n## Why\nOne file.", NOW, ("decisions", "storage"), "run_7")


def test_the_file_is_readable() -> None:
    assert write_markdown("Memory of\nagent:x", [ENTRY]) == (
        "# Memory of agent:x\n\n"
        "## 2026-11-30 14:39:56.250000 UTC — decisions, storage\n"
        '<!-- {"id": "9cdb63217ded", "source": "run_7"} -->\n\n'
        "We chose SQLite.\n\\## Why\nOne file.\n\n"
    )


def test_lines_know_where_an_entry_begins() -> None:
    text = write_markdown("m", [ENTRY, replace(ENTRY, entry_id="b")])
    assert [written.line for written in read_markdown(text, NOW)] == [3, 10]


def test_a_file_whose_line_ends_an_editor_changed_is_the_same() -> None:
    text = write_markdown("m", [ENTRY]).replace("\n", "\r\n")
    assert [written.entry for written in read_markdown("\ufeff" + text, NOW)] == [ENTRY]


@pytest.mark.parametrize(
    ("heading", "when", "tags"),
    [
        ("2026-11-30", "2026-11-30T00:00", ()),
        ("2026-11-30 14:05", "2026-11-30T14:05", ()),
        ("2026-11-30T14:05:06Z — a, b", "2026-11-30T14:05:06", ("a", "b")),
        ("2026-11-30 14:05:06.5 UTC", "2026-11-30T14:05:06.5", ()),
    ],
)
def test_dates_by_hand_are_read(heading: str, when: str, tags: tuple[str, ...]) -> None:
    (written,) = read_markdown(f"## {heading}\nA fact.\n", NOW)
    seconds = datetime.fromisoformat(when).replace(tzinfo=UTC).timestamp()
    assert (written.entry.text, written.entry.created, written.entry.tags) == ("A fact.", seconds, tags)


@pytest.mark.parametrize("heading", ["Storage", "2026-13-01", "2026-11-30 25:00", "30 November"])
def test_a_heading_without_a_date_is_part_of_the_text(heading: str) -> None:
    (written,) = read_markdown(f"## {heading}\n\nA fact.\n", NOW)
    assert (written.entry.text, written.entry.created) == (f"{heading}\n\nA fact.", NOW)


def test_notes_of_another_program_are_taken_in_once_however_often_they_are_read() -> None:
    text = "# Notes\n\nBefore all.\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n"
    first, again = read_markdown(text, NOW), read_markdown(text, NOW + 60)
    assert [written.entry.text for written in first] == ["Before all.", "One\n\nFirst.", "Two\n\nSecond."]
    assert [written.entry.entry_id for written in first] == [written.entry.entry_id for written in again]
    assert len({written.entry.entry_id for written in first}) == 3
