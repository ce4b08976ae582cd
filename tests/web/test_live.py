"""What a page of a conversation keeps and is sent, without a server."""

from maia.core.costs import Cost
from maia.core.events import Answered, Event, StepStarted, TextDelta, TurnEnded, TurnStarted, UserSaid
from maia.core.messages import AssistantMessage, TextPart
from maia.i18n.catalogue import Catalogue
from maia.web.conversation.live import Canvas
from maia.web.drawing.render import Reader
from maia.workspace.records import Logged

ENDED = TurnEnded("finished", "end", "stop", None, Cost(), "m", "p", 1, 0, 0)


def a_canvas() -> Canvas:
    canvas = Canvas(Reader(Catalogue("en", strict=True), "en"), "Léa", may_decide=True, conversation="c")
    assert "".join(canvas.begin(0, (), 0)) == ""
    return canvas


def sent(canvas: Canvas, turn: int, *events: Event) -> str:
    return "".join(canvas.add(tuple(Logged(n, 0, turn, each) for n, each in enumerate(events, 100 * turn))))


def answered(text: str) -> Answered:
    return Answered(AssistantMessage((TextPart(text),), "m", "p"), "end", "", None, Cost())


def test_a_page_that_stays_open_keeps_its_last_turn_and_learns_an_earlier_one_again() -> None:
    canvas = a_canvas()
    turn = (TurnStarted(1, "m", "p"), UserSaid("Hello"), TextDelta("Hi."), answered("Hi."), ENDED)
    for n in range(1, 4):
        assert f'id="turn-{n}"' in sent(canvas, n, *turn)
    late = tuple(Logged(400, 0, n, ENDED) for n in (1, 3))
    assert canvas.unknown(late) == {1}, "the two before are kept no longer"
    canvas.learn([Logged(n, 0, 1, each) for n, each in enumerate(turn)])
    assert canvas.unknown(late) == set()
    assert 'hx-target="#t1-answer"' in sent(canvas, 1, ENDED)


def test_words_that_were_only_white_space_leave_the_page() -> None:
    canvas = a_canvas()
    sent(canvas, 1, TurnStarted(1, "m", "p"), UserSaid("Hello"), StepStarted(1), TextDelta("\n\n"))
    gone = sent(canvas, 1, answered("\n\n"))
    assert ('hx-target="#t1-answer"' in gone, 'id="t1-i1"' in gone) == (True, False)
    assert sent(canvas, 1, StepStarted(2), TextDelta("Hi.")).count('id="t1-i1"') == 1
