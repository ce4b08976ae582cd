from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.privacy.samples import VALUES
from tests.privacy.test_mask import bare

from maia.core.codec import to_json
from maia.core.events import TextDelta, WireAnswer, WireEvent
from maia.core.jsonvalue import JsonValue
from maia.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from maia.core.requests import ModelRequest, Section, ToolSpec
from maia.privacy.mask import Masked, Masker, Span, apply
from maia.privacy.policy import Policy
from maia.privacy.request import WITHHELD, mask_request
from maia.privacy.sent import PartSent, Sent, badge, kind_name
from maia.privacy.wire import MaskedWire

ANSWER = WireAnswer(AssistantMessage((TextPart("[EMAIL] noted"),)), "end", "stop")


pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class RecordingWire:
    """Keeps what it is asked, and answers one sentence."""

    provider = "far"

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[WireEvent]:
        self.asked.append(request)
        try:
            yield TextDelta("[EMAIL] noted")
            yield ANSWER
        finally:
            self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


MAIL = "jean@exemple.fr"
IBAN = "FR76 3000 6000 0112 3456 7890 189"
MESSAGES: tuple[Message, ...] = (
    UserMessage((TextPart(f"écris à {MAIL}"), ImagePart("image/png", "aGk="), TextPart(f"pièce jointe : {IBAN}"))),
    AssistantMessage(
        (
            ReasoningPart(f"he is {MAIL}", "anthropic", {"thinking": f"he is {MAIL}", "signature": "abc"}),
            ReasoningPart("clean", "anthropic", {"signature": "abc"}),
            TextPart(f"à {MAIL} ?"),
            ToolCallPart("1", "memory_search", {"query": MAIL, "tags": [MAIL, 3, True, None], MAIL: 4111111111111111}),
        ),
        "m",
        "p",
    ),
    ToolMessage((ToolResultPart("1", "memory_search", f"{MAIL} et {MAIL}"), ToolResultPart("2", "Read", "rien"))),
)
REQUEST = ModelRequest(
    "m",
    (Section("maia", f"You are maia, see {MAIL}", "maia"), Section("project", f"Ask {MAIL}", "MAIA.md")),
    MESSAGES,
    (ToolSpec("Read", f"reads, ask {MAIL}", {"type": "object"}),),
    100,
    "low",
)


async def sent_by(wire: MaskedWire, request: ModelRequest = REQUEST) -> list[WireEvent]:
    return [event async for event in wire.stream(request)]


async def test_everything_that_the_product_did_not_write_leaves_masked() -> None:
    far, kept = RecordingWire(), list[Sent]()
    events = await sent_by(MaskedWire(far, Masker(Policy(number=4)), is_local=False, record=kept.append))
    assert events == [TextDelta("[EMAIL] noted"), ANSWER], "nothing is put back into the answer"
    assert far.asked == [
        ModelRequest(
            "m",
            (REQUEST.system[0], Section("project", "Ask [EMAIL]", "MAIA.md")),
            (
                UserMessage(
                    (
                        TextPart("écris à [EMAIL]"),
                        ImagePart("image/png", "aGk="),
                        TextPart("pièce jointe : [IBAN]"),
                    )
                ),
                AssistantMessage(
                    (
                        ReasoningPart("he is [EMAIL]", "anthropic", None),
                        ReasoningPart("clean", "anthropic", {"signature": "abc"}),
                        TextPart("à [EMAIL] ?"),
                        ToolCallPart(
                            "1",
                            "memory_search",
                            {"query": "[EMAIL]", "tags": ["[EMAIL]", 3, True, None], "[EMAIL]": "[CREDIT_CARD]"},
                        ),
                    ),
                    "m",
                    "p",
                ),
                ToolMessage(
                    (ToolResultPart("1", "memory_search", "[EMAIL] et [EMAIL]"), ToolResultPart("2", "Read", "rien"))
                ),
            ),
            REQUEST.tools,
            100,
            "low",
        )
    ]
    (sent,) = kept
    assert (sent.provider, sent.version, sent.is_local) == ("far", "regex@1/policy@4", False)
    assert sent.sections == (
        PartSent("maia", "unscanned"),
        PartSent("project", "masked", (Span("email", 4, 4 + len(MAIL)),)),
    )
    assert {part.name: part.counts for part in sent.parts} == {
        "user": {"email": 1, "iban": 1},
        "assistant": {"email": 6, "credit_card": 1},
        "tool": {"email": 2},
    }
    assert sent.tools == (("memory_search", 1),)
    assert sent.pictures == 1


async def test_what_was_sent_of_a_section_can_be_shown_again_from_its_spans() -> None:
    far, kept = RecordingWire(), list[Sent]()
    await sent_by(MaskedWire(far, Masker(Policy()), is_local=False, record=kept.append))
    assert apply(REQUEST.system[1].text, kept[0].sections[1].spans) == far.asked[0].system[1].text


async def test_what_is_only_counted_leaves_and_is_counted() -> None:
    far, kept = RecordingWire(), list[Sent]()
    masker = Masker(Policy(actions={"email": "warn"}))
    await sent_by(MaskedWire(far, masker, is_local=False, record=kept.append))
    assert far.asked[0].system[1] == REQUEST.system[1]
    assert kept[0].noticed == {"email": 10}
    assert kept[0].counts == {"iban": 1, "credit_card": 1}


async def test_to_this_machine_everything_goes_as_it_is() -> None:
    near, kept = RecordingWire(), list[Sent]()
    await sent_by(MaskedWire(near, Masker(Policy()), is_local=True, record=kept.append))
    assert near.asked == [REQUEST]
    assert kept == [
        Sent("far", "regex@1/policy@1", True, (PartSent("maia", "unscanned"), PartSent("project", "local")))
    ]


async def test_a_policy_that_is_not_enabled_changes_and_records_nothing() -> None:
    far, kept = RecordingWire(), list[Sent]()
    await sent_by(MaskedWire(far, Masker(Policy(enabled=False)), is_local=False, record=kept.append))
    assert (far.asked, kept) == ([REQUEST], [])


async def test_closing_early_closes_the_wire_behind() -> None:
    far = RecordingWire()
    wire = MaskedWire(far, Masker(Policy()), is_local=False)
    stream = wire.stream(REQUEST)
    await anext(stream)
    await stream.aclose()
    assert far.closed == 1
    await wire.aclose()
    assert far.closed == 2


class CountingMasker(Masker):
    """Counts the texts that it looks through."""

    def __init__(self) -> None:
        super().__init__(Policy())
        self.texts: list[str] = []

    def mask(self, text: str, only: object = None) -> Masked:
        self.texts.append(text)
        return super().mask(text)


async def test_a_text_of_the_history_is_looked_through_once_and_gives_the_same_bytes() -> None:
    far, masker = RecordingWire(), CountingMasker()
    wire = MaskedWire(far, masker, is_local=False)
    await sent_by(wire)
    before = len(masker.texts)
    longer = ModelRequest("m", REQUEST.system, (*MESSAGES, UserMessage((TextPart("encore"),))))
    await sent_by(wire, longer)
    assert masker.texts[before:] == ["encore"]
    assert far.asked[1].messages[:3] == far.asked[0].messages


async def test_results_of_tools_that_the_caller_names_stay_as_they_are() -> None:
    far = RecordingWire()
    await sent_by(MaskedWire(far, Masker(Policy()), is_local=False, as_they_are=("memory_search",)))
    assert far.asked[0].messages[2] == MESSAGES[2]


@pytest.mark.parametrize("tool", ["Read", "memory_search", "memory_expand"])
def test_a_text_that_cannot_be_checked_is_withheld_and_the_call_goes_on(tool: str) -> None:
    def broken(text: str) -> Masked:
        if "boom" in text:
            raise RecursionError
        return Masked(text)

    request = ModelRequest(
        "m",
        (Section("project", "boom"),),
        (UserMessage((TextPart("boom"),)), ToolMessage((ToolResultPart("1", tool, "boom"),))),
    )
    masked = mask_request(request, broken)
    assert masked.request == ModelRequest(
        "m",
        (Section("project", WITHHELD),),
        (UserMessage((TextPart(WITHHELD),)), ToolMessage((ToolResultPart("1", tool, WITHHELD, True),))),
    )
    assert masked.sections == (PartSent("project", "withheld"),)
    assert [part.state for part in masked.parts] == ["withheld", "withheld"]


@pytest.mark.parametrize(
    ("part", "key"),
    [
        (PartSent("a", "masked", (Span("iban", 0, 1), Span("email", 2, 3), Span("email", 4, 5))), "masked"),
        (PartSent("a", "clean"), "clean"),
        (PartSent("a", "unscanned"), "unscanned"),
        (PartSent("a", "local"), "local"),
        (PartSent("a", "withheld"), "withheld"),
    ],
)
def test_each_section_has_a_badge(part: PartSent, key: str) -> None:
    assert badge(part).key == f"privacy.badge.{key}"
    if key == "masked":
        assert badge(part).values == {"n": 3, "types": ["email", "iban"]}


def test_a_type_is_called_by_its_name_and_a_custom_one_by_its_patterns() -> None:
    from maia.privacy.custom import CustomPattern

    policy = Policy(patterns=(CustomPattern("Dossier", "D", "dossier"),))
    assert kind_name("iban", policy).key == "privacy.type.iban"
    assert kind_name("dossier", policy).values == {"name": "Dossier"}


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.sampled_from(VALUES["iban"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
TEXTS = st.one_of(st.text(max_size=30), st.sampled_from([value for values in VALUES.values() for value in values]))


@given(TEXTS, TEXTS, JSON, st.sampled_from(VALUES["iban"]))
def test_no_value_is_anywhere_in_what_leaves(one: str, two: str, data: JsonValue, iban: str) -> None:
    request = ModelRequest(
        "m",
        (Section("project", f"{one}\n{iban}"),),
        (
            UserMessage((TextPart(f"{iban}\n{two}"),)),
            AssistantMessage(
                (ReasoningPart(two, "w", {"text": iban}), ToolCallPart("1", "Write", {"a": data, "b": [{iban: 1}]}))
            ),
            ToolMessage((ToolResultPart("1", "Read", f"{one}\n{two}\n{iban}"),)),
        ),
    )
    masked = mask_request(request, Masker(Policy()).mask)
    left = json.dumps(to_json(masked.request), ensure_ascii=False)
    if bare(iban) not in bare(json.dumps([one, two], ensure_ascii=False)):
        assert bare(iban) not in bare(left)


def test_what_the_audit_keeps_holds_counts_and_names_but_no_value() -> None:
    masked = mask_request(REQUEST, Masker(Policy()).mask)
    sent = Sent("far", "v", False, masked.sections, masked.parts, masked.tools, masked.pictures)
    assert sent.noted() == {
        "provider": "far",
        "policy": "v",
        "counts": {"email": 10, "iban": 1, "credit_card": 1},
        "sections": ["project", "user", "assistant", "tool"],
    }
    assert MAIL not in repr(sent)
    assert "3000" not in repr(sent)
