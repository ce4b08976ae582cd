from maia.privacy.mask import Span
from maia.privacy.sent import PartSent, Sent
from maia.workspace.tally import Tally

EMAIL = PartSent("user", "masked", (Span("email", 0, 5),))
RESULT = PartSent("tool", "masked", (Span("iban", 0, 5),))


def test_calls_are_counted_once_and_values_each_time_they_would_have_left() -> None:
    tally = Tally(since=1)
    first = Sent("p", "v", False, (), (EMAIL,), noticed={"taj_number": 2})
    grown = Sent("p", "v", False, (), (EMAIL, RESULT), new=Sent("p", "v", False, (), (RESULT,)))
    withheld = Sent("p", "v", False, (PartSent("project", "withheld"),))
    for sent in (first, grown, withheld, Sent("here", "v", True)):
        tally.take(sent)
    assert tally.to_json() == {
        "scanned": 2,
        "local": 1,
        "refused": 0,
        "sentMasked": 0,
        "withheld": 1,
        "masked": {"email": 1, "iban": 1},
        "counted": {"taj_number": 2},
    }
