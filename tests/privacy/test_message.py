from __future__ import annotations

import pytest
from tests.privacy.samples import VALUES

from maia.privacy.destination import AUTO, HERE, PROGRAM, UNKNOWN, Destination, all_local, is_local
from maia.privacy.mask import Masker
from maia.privacy.message import Refused, judge_message, mask_blocked
from maia.privacy.policy import Policy

MASKER = Masker(Policy(local_hosts=("gpu.lan", "10.0.0.7", "fd00::1")))
REMOTE = Destination("endpoint", "https://api.example.com/v1")
TEXT = "Mon IBAN FR76 3000 6000 0112 3456 7890 189, mon adresse a@b.example et encore 4111 1111 1111 1111."


@pytest.mark.parametrize(
    ("destination", "local"),
    [
        (HERE, True),
        (PROGRAM, False),
        (AUTO, False),
        (UNKNOWN, False),
        *(
            (Destination("endpoint", url), local)
            for url, local in (
                ("http://localhost:11434", True),
                ("http://LOCALHOST./v1", True),
                ("http://models.localhost/", True),
                ("http://127.0.0.1:8080/v1", True),
                ("http://127.8.9.10", True),
                ("http://[::1]:80/", True),
                ("http://[::ffff:127.0.0.1]/", True),
                ("http://gpu.lan:4000/v1", True),
                ("http://GPU.LAN./v1", True),
                ("http://10.0.0.7", True),
                ("http://[fd00:0:0::1]", True),
                ("localhost:4000", True),
                ("https://api.example.com", False),
                ("http://127.0.0.1.example.com", False),
                ("http://127.example.com", False),
                ("http://localhost.example.com", False),
                ("http://xgpu.lan", False),
                ("http://10.0.0.70", False),
                ("http://user@evil.example:80@localhost.example", False),
                ("http://localhost@evil.example/", False),
                ("http://[bad", False),
                ("http://2130706433/", False),
                ("", False),
            )
        ),
    ],
    ids=lambda value: value.url or value.kind if isinstance(value, Destination) else "",
)
def test_a_destination_is_local_by_its_host_alone(destination: Destination, local: bool) -> None:
    assert is_local(destination, MASKER.policy.local_hosts) is local


def test_of_several_models_one_remote_makes_all_remote_and_none_is_remote() -> None:
    assert all_local((HERE, Destination("endpoint", "http://127.0.0.1")))
    assert not all_local((HERE, REMOTE))
    assert not all_local(())


def test_a_blocked_value_for_a_remote_model_is_refused_with_its_types_and_the_text_without_it() -> None:
    assert judge_message(TEXT, MASKER, (REMOTE,)) == Refused(
        ("iban", "credit_card"), "Mon IBAN [IBAN], mon adresse a@b.example et encore [CREDIT_CARD]."
    )


def test_what_the_audit_keeps_holds_types_and_no_value() -> None:
    refused = judge_message(TEXT, MASKER, (REMOTE,))
    assert refused is not None
    assert refused.noted() == {"types": ["iban", "credit_card"]}


@pytest.mark.parametrize(
    ("text", "masker", "destinations"),
    [
        pytest.param(TEXT, MASKER, (HERE,), id="to a model in here"),
        pytest.param(TEXT, MASKER, (Destination("endpoint", "http://gpu.lan"),), id="to a host that counts as here"),
        pytest.param(TEXT, Masker(Policy(enabled=False)), (REMOTE,), id="policy off"),
        pytest.param("à a@b.example, tél. 06 12 34 56 78", MASKER, (REMOTE,), id="only masked types"),
        pytest.param("TAJ 123 456 788", MASKER, (REMOTE,), id="only counted types"),
        pytest.param("bonjour", MASKER, (REMOTE,), id="nothing"),
        pytest.param("[IBAN]", MASKER, (REMOTE,), id="already masked"),
    ],
)
def test_everything_else_passes(text: str, masker: Masker, destinations: tuple[Destination, ...]) -> None:
    assert judge_message(text, masker, destinations) is None


@pytest.mark.parametrize("destination", [PROGRAM, AUTO, UNKNOWN, REMOTE], ids=lambda each: each.kind)
@pytest.mark.parametrize("kind", ["iban", "bank_account", "tax_number", "personal_id", "credit_card", "ssn"])
def test_each_blocked_type_is_refused_wherever_it_is_not_sure_to_stay(kind: str, destination: Destination) -> None:
    refused = judge_message(VALUES[kind][0], MASKER, (destination,))
    assert refused == Refused((kind,), f"[{kind.upper()}]")


def test_the_masked_text_passes_when_it_is_sent_again() -> None:
    masked = mask_blocked(TEXT, MASKER).text
    assert judge_message(masked, MASKER, (REMOTE,)) is None
    assert mask_blocked(masked, MASKER).text == masked
