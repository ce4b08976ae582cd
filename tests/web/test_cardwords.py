from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from maia.i18n.catalogue import Catalogue, Lang
from maia.i18n.formats import long_day
from maia.web.boards.home import needing
from maia.web.boards.records import marked
from maia.web.drawing.boardview import columns
from maia.web.drawing.cardwords import CardWords, Share
from maia.web.drawing.export import as_markdown, file_header
from maia.workspace.record.board import Asked, Board, Filter, Lane, words_in
from maia.workspace.records import Card, MessageRow, Stage

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MS = int(NOW.timestamp() * 1000)
MINUTE = 60_000
CARD = Card("c", "A", "idle", "normal", None, None, None, False, None, None, False, None, None, None, 1, MS, MS)


def test_what_needs_somebody_is_named_once() -> None:
    due = replace(CARD, due_on=NOW.date().isoformat())
    stuck = replace(due, id="s", status="running", moved_at=MS - 11 * MINUTE)
    assert needing([stuck, replace(CARD, id="r", status="running", moved_at=MS)], [stuck, due], EN) == [stuck, due]


@pytest.mark.parametrize(("shown", "size"), [(20, 50), (50, 100), (1_500, 2_000), (2_000, 0)])
def test_a_lane_offers_more_cards_up_to_the_most_that_it_may_show(shown: int, size: int) -> None:
    lane = Lane("s", 5_000, (CARD,) * shown)
    board = Board([lane], [Stage("s", "To do", False, False, False, None, None)], [], [], [])
    (column,) = columns(board, Asked(Filter()), {}, EN.say)
    assert (column.size, column.left) == (size, 5_000 - shown)


@pytest.fixture
def words(lang: Lang) -> CardWords:
    return CardWords(Catalogue(lang, strict=True), lang, NOW)


EN = CardWords(Catalogue("en", strict=True), "en", NOW)


@pytest.mark.parametrize(
    ("card", "state", "age"),
    [
        (CARD, "Idle", "now"),
        (replace(CARD, status="running", moved_at=MS, updated_at=MS - 5 * MINUTE), "Working", "5 min"),
        (replace(CARD, status="running", moved_at=MS - 11 * MINUTE), "Working", "stuck"),
        (replace(CARD, status="waiting", updated_at=MS - 47 * 60 * MINUTE), "Waiting", "47 h"),
        (replace(CARD, status="waiting_approval", updated_at=MS - 49 * 60 * MINUTE), "Approval", "2 d"),
        (replace(CARD, outcome="failed"), "Error", "now"),
        (replace(CARD, outcome="failed", status="running"), "Working", "now"),
        (replace(CARD, updated_at=MS + 9 * MINUTE), "Idle", "now"),
    ],
)
def test_a_card_in_words(card: Card, state: str, age: str) -> None:
    assert (EN.say(EN.state(card).key), EN.age(card).replace("\u00a0", " ")) == (state, age)


def test_every_card_has_words_in_each_language(words: CardWords) -> None:
    for card in (CARD, replace(CARD, status="running"), replace(CARD, cost_usd=1.0, has_unknown_cost=True)):
        assert words.say(words.state(card).key)
        assert words.cost(card)
        assert words.age(card)


@pytest.mark.parametrize(
    ("card", "shown"),
    [
        (replace(CARD, turns=0), "no turn yet"),
        (CARD, "Not reported"),
        (replace(CARD, cost_usd=1.482), "$1.48"),
        (replace(CARD, cost_usd=1.94, has_estimate=True), "~$1.94"),
        (replace(CARD, cost_usd=0.0021), "$0.0021"),
        (replace(CARD, cost_usd=0.00001), "<$0.0001"),
        (replace(CARD, cost_usd=0.0), "free"),
        (replace(CARD, status="running"), "in progress"),
    ],
)
def test_a_cost_is_never_zero_dollars(card: Card, shown: str) -> None:
    assert EN.cost(card) == shown


def test_a_share_says_where_it_is_an_estimate() -> None:
    full = replace(CARD, context_tokens=124_000, context_window=200_000, context_source="measured")
    assert EN.share(full) == Share(124_000, 200_000, "warning", "62%")
    assert EN.share(replace(full, context_source="estimated")) == Share(124_000, 200_000, "warning", "~62%")
    assert EN.share(CARD) is None


@pytest.mark.parametrize(
    ("days", "shown", "tone"),
    [
        (-2, "28 Nov", "danger"),
        (-1, "yesterday", "danger"),
        (0, "today", "warning"),
        (1, "tomorrow", ""),
        (5, "5 Dec", ""),
    ],
)
def test_a_due_date_is_told_and_is_loud_only_while_it_matters(days: int, shown: str, tone: str) -> None:
    card = replace(CARD, due_on=(NOW.date() + timedelta(days)).isoformat())
    due = EN.due(card)
    assert due is not None
    assert (due.words.replace("\u00a0", " "), due.tone) == (shown, tone)
    for over in (replace(card, is_closed=True), replace(card, status="archived")):
        told = EN.due(over)
        assert told is not None
        assert told.tone == ""


def test_a_day_in_full() -> None:
    assert long_day(date(2026, 11, 30), "en") == "Monday, 30 November"
    assert long_day(date(2026, 12, 1), "fr") == "Mardi 1er décembre"


def test_a_board_without_cards_still_has_its_lanes() -> None:
    stages = [Stage("a", "To do", False, False, False, None, 1), Stage("z", "Done", True, True, False, None, None)]
    empty = Board((), stages, (), (), ())

    def titles(asked: Asked) -> list[str]:
        return [lane.title for lane in columns(empty, asked, {"iris": "Iris"}, EN.say)]

    assert titles(Asked()) == ["To do", "Done"]
    assert titles(Asked(Filter(state="active"))) == ["To do"]
    assert titles(Asked(Filter(stage_id="z"))) == ["Done"]
    assert titles(Asked(group="priority")) == ["Urgent", "High", "Normal", "Low"]
    assert titles(Asked(group="agent")) == ["Unassigned", "Iris"]


@pytest.mark.parametrize(
    ("query", "hits"),
    [("tax", ["Tax"]), ("vat tax", ["Tax", "VAT"]), ("a.*", ["a", "A"]), ("", []), ("zebra", [])],
)
def test_what_was_searched_for_is_marked_in_the_excerpt(query: str, hits: list[str]) -> None:
    pieces = marked("…Tax <b> of VAT", words_in(query))
    assert "".join(piece for piece, _ in pieces) == "…Tax <b> of VAT"
    assert [piece for piece, is_hit in pieces if is_hit] == hits


# Export --------------------------------------------------------------------------------------------------------------


def test_a_conversation_is_read_as_markdown() -> None:
    said = MessageRow("1", 1, "user", None, "Hello\n", 1, MS, MS, None)
    answer = MessageRow("2", 1, "assistant", None, "Good **day**", 1, MS, MS, {"model": "m-1"})
    card = replace(CARD, title="A title", project="Invoicing", due_on="2026-12-04", labels=("tax",))
    assert as_markdown(card, [said, answer], "Léa", EN.say) == (
        "# A title\n\n- Project: Invoicing\n- Due date: 2026-12-04\n- Labels: tax\n"
        "- Created: 2026-11-30T12:00:00.000Z\n\n"
        "## Léa · 2026-11-30T12:00:00.000Z\n\nHello\n\n## maia (m-1) · 2026-11-30T12:00:00.000Z\n\nGood **day**\n"
    )


@pytest.mark.parametrize(
    ("title", "header"),
    [
        ("Été", "attachment; filename=\"t.md\"; filename*=UTF-8''%C3%89t%C3%A9.md"),
        ('a"/../b\r\nx', "attachment; filename=\"a .. b x.md\"; filename*=UTF-8''a%20..%20b%20x.md"),
        ("...", "attachment; filename=\"conversation.md\"; filename*=UTF-8''conversation.md"),
        ("漢字", "attachment; filename=\"conversation.md\"; filename*=UTF-8''%E6%BC%A2%E5%AD%97.md"),
    ],
)
def test_a_title_never_breaks_the_header_of_its_file(title: str, header: str) -> None:
    assert file_header(title, "md") == header
