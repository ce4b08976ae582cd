"""The table of what is recognised: a shape that finds, words that must stand before it, a check that decides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from maia.privacy.checks import (
    Check,
    always,
    has_phone_length,
    has_two_digits,
    is_bracketed,
    is_card,
    is_french_phone,
    is_giro,
    is_hungarian_tax,
    is_iban,
    is_international,
    is_nino,
    is_nir,
    is_rib,
    is_ssn,
    is_taj,
    standard,
)

RULES_VERSION: Final = 1
"""Goes up whenever the table finds something else in the same text; part of a policy's version."""

NEAR: Final = 40
"""How many characters before a number the words that tell what it is may stand, on the same line (N-10.05)."""


@dataclass(frozen=True, slots=True)
class Recogniser:
    """One shape of one type. `words` must stand near before it, where its own form does not tell enough.

    With fewer `digits` in a stretch of text, or without its `sign`, it is not looked for. What it finds may be too long
    (a number that follows is not part of it): it is tried down to each end of a word. `is_weak` ones give way to dates,
    sums and the like, and all but those that are `is_sure` to identifiers.
    """

    kind: str
    name: str
    shape: str
    check: Check = always
    words: str = ""
    digits: int = 7
    sign: str = ""
    is_sure: bool = False

    @property
    def has_letters(self) -> bool:
        """Whether it begins with letters that belong to it."""
        return self.shape.startswith(("[A-Z", "(?:AT", "[XYZ]", "[0-9A-Z"))

    @property
    def is_weak(self) -> bool:
        return bool(self.words) or self.name == "international"


_PHONE: Final = (
    "tel|tél|tels|téléphone|telephone|phone|phones|mobile|mob|portable|gsm|fax|télécopie|whatsapp|sms|telefon|"
    "telefonszám|telefono|teléfono|móvil|cellulare|handy|joignable|cellphone|appelez-moi|call me"
)
_TAX: Final = "spi|fiscal|fiscale|fiscaux|impôt|impôts|impot|impots|tax|tin|nif|steuer-id|idnr|steuernummer|adószám|utr"
_CARD: Final = (
    "cni|carte d'identité|carte nationale d'identité|carte d’identité|pièce d'identité|pièce d’identité|identity card|"
    "id card|identity number|personalausweis|ausweis|passeport|passport|titre de séjour|személyi"
)
_ACCOUNT: Final = "compte|account|konto|kontonummer|cuenta|conto|rekening|účet|számla|bankszámla|iban|rib|ccc"
_DNI: Final = f"dni|nif|{_CARD}"
_SWEDISH: Final = f"personnummer|{_CARD}"
_NI: Final = "national insurance|ni number"

_SEP: Final = r"[ .\-/]?"
_EU: Final = "AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK"


def _digits(count: int | str, sep: str = _SEP) -> str:
    """Digits with at most one separator between two of them; `count` may be a range like `7,15`."""
    low, _, high = str(count).partition(",")
    return rf"[0-9](?:{sep}[0-9]){{{int(low) - 1},{int(high or low) - 1}}}"


def _joined(groups: str) -> str:
    """Groups of so many digits, with or without a separator between two of them."""
    return _SEP.join(rf"[0-9]{{{count}}}" for count in groups.split())


_IBAN: Final = rf"[A-Za-z]{{2}}{_SEP}[0-9]{{2}}(?:[ .\-]{{0,2}}[0-9A-Za-z]){{11,30}}"
_RIB: Final = rf"{_joined('5 5')}(?:{_SEP}[0-9A-Za-z]){{11}}{_SEP}[0-9]{{2}}"
_FOURS: Final = r"[2-6][0-9]{3}([ .\-])[0-9]{4}\1[0-9]{4}\1[0-9]{1,4}(?:\1[0-9]{1,3})?"
_NIR: Final = rf"[1-478](?:{_SEP}[0-9]){{5}}{_SEP}[0-9ABab](?:{_SEP}[0-9]){{8}}"
_ITALIAN: Final = r"[A-Za-z]{6}[0-9LMNP-V]{2}[A-Za-z][0-9LMNP-V]{2}[A-Za-z][0-9LMNP-V]{3}[A-Za-z]"

RECOGNISERS: Final[tuple[Recogniser, ...]] = (
    Recogniser("iban", "iban", _IBAN, is_iban, digits=6, is_sure=True),
    Recogniser("bank_account", "fr rib", _RIB, is_rib, digits=12),
    Recogniser("bank_account", "hu", r"[0-9]{8}[ \-]?[0-9]{8}(?:[ \-]?[0-9]{8})?", is_giro, digits=16),
    Recogniser("bank_account", "es ccc", _joined("4 4 2 10"), standard("es.ccc"), digits=20),
    Recogniser("bank_account", "cz", r"(?:[0-9]{1,6}-)?[0-9]{2,10}/[0-9]{4}", standard("cz.bankaccount"), _ACCOUNT, 6),
    Recogniser("bank_account", "no", _digits(11), standard("no.kontonr"), _ACCOUNT, 11),
    Recogniser("credit_card", "bare", r"[2-6][0-9]{12,18}", is_card, digits=13),
    Recogniser("credit_card", "in fours", _FOURS, is_card, digits=13),
    Recogniser("credit_card", "4-6", r"3[0-9]{3}([ .\-])[0-9]{6}\1[0-9]{4,5}", is_card, digits=14),
    Recogniser("tax_number", "fr spi", r"[0-3][0-9] [0-9]{2}(?: [0-9]{3}){3}", standard("fr.nif"), digits=13),
    Recogniser("tax_number", "fr spi named", _digits(13), standard("fr.nif"), _TAX, 13),
    Recogniser("tax_number", "eu vat", rf"(?:{_EU})(?:[ .\-]?[0-9A-Z]){{7,12}}", standard("eu.vat")),
    Recogniser("tax_number", "de idnr", r"[0-9]{2}(?: [0-9]{3}){3}", standard("de.idnr"), digits=11),
    Recogniser("tax_number", "de idnr named", _digits(11), standard("de.idnr"), _TAX, 11),
    Recogniser("tax_number", "hu", r"[0-9]{8}-[1-5]-[0-9]{2}", is_hungarian_tax, digits=11),
    Recogniser("tax_number", "gb utr", _digits(10), standard("gb.utr"), _TAX, 10),
    Recogniser("personal_id", "fr nir", _NIR, is_nir, digits=14),
    Recogniser("personal_id", "it", _ITALIAN, standard("it.codicefiscale")),
    Recogniser("personal_id", "es dni", r"[0-9]{2}\.?[0-9]{3}\.?[0-9]{3}-?[A-Z]", standard("es.dni"), _DNI, 8),
    Recogniser("personal_id", "es nie", r"[XYZ]-?[0-9]{7}-?[A-Z]", standard("es.nie")),
    Recogniser("personal_id", "be", r"(?:[0-9]{2}\.){2}[0-9]{2}-[0-9]{3}\.[0-9]{2}", standard("be.nn"), digits=11),
    Recogniser("personal_id", "ch", r"756(?:\.[0-9]{4}){2}\.[0-9]{2}|756[0-9]{10}", standard("ch.ssn"), digits=13),
    Recogniser("personal_id", "fi", r"[0-9]{6}[+\-A-FU-Y][0-9]{3}[0-9A-Y]", standard("fi.hetu"), digits=9),
    Recogniser("personal_id", "pl", _digits(11), standard("pl.pesel"), f"pesel|{_CARD}", 11),
    Recogniser("personal_id", "nl", _digits(9), standard("nl.bsn"), f"bsn|{_CARD}", 9),
    Recogniser("personal_id", "se", r"(?:[0-9]{2})?[0-9]{6}[+\-]?[0-9]{4}", standard("se.personnummer"), _SWEDISH, 10),
    Recogniser("personal_id", "gb nino", r"[A-Za-z]{2}(?: ?[0-9]{2}){3} ?[A-Da-d]", is_nino, f"nino|{_NI}|{_CARD}", 6),
    Recogniser("personal_id", "card", r"[0-9A-Z]{8,12}|[0-9]{4}(?:[ \-][0-9]{4}){1,2}", has_two_digits, _CARD, 2),
    Recogniser("ssn", "ssn", r"[0-9]{3}([ \-])[0-9]{2}\1[0-9]{4}", is_ssn, digits=9),
    Recogniser("ssn", "ssn named", _digits(9), is_ssn, "ssn|social security", 9),
    Recogniser("taj_number", "hu", r"[0-9]{3}(?:[ \-]?[0-9]{3}){2}", is_taj, "taj|taj-szám|tajszám", 9),
    Recogniser("phone", "international", r"(?:\+|00)[1-9](?:[ .\-/()]{0,3}[0-9]){7,14}", is_international, digits=8),
    Recogniser("phone", "fr", r"0[1-9](?:[ .\-]?[0-9]{2}){4}", is_french_phone, digits=10),
    Recogniser("phone", "nanp", r"[2-9][0-9]{2}([.\-])[2-9][0-9]{2}\1[0-9]{4}", digits=10),
    Recogniser(
        "phone", "bracketed", r"\([0-9]{2,5}\)[ .\-]?[0-9]{2,4}(?:[ .\-]?[0-9]{2,4}){1,3}", is_bracketed, sign="("
    ),
    Recogniser("phone", "named", r"(?<![+0-9])\(?[0-9](?:[ .\-/()]{0,2}[0-9]){6,14}", has_phone_length, _PHONE),
)
"""Where two find the same text, the stricter action wins, then the longer one, then the one that stands first here."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A row of the table with its place there and its shape compiled."""

    rank: int
    row: Recogniser
    shape: re.Pattern[str]


@cache
def by_shape() -> tuple[Ready, ...]:
    """The rows that need no word, compiled once, when the first text is read."""
    return tuple(each for each in _compiled() if not each.row.words)


@cache
def by_word() -> dict[str, tuple[Ready, ...]]:
    """Each word in small letters, with the rows of what may stand after it."""
    named = [each for each in _compiled() if each.row.words]
    words = {word for each in named for word in each.row.words.split("|")}
    return {word: tuple(each for each in named if word in each.row.words.split("|")) for word in sorted(words)}


@cache
def _compiled() -> tuple[Ready, ...]:
    return tuple(Ready(rank, row, _bounded(row)) for rank, row in enumerate(RECOGNISERS))


def _bounded(row: Recogniser) -> re.Pattern[str]:
    """The shape where no number and no decimal fraction goes on before it, nor a word that it begins with."""
    before = r"(?<![0-9A-Za-z])" if row.has_letters else r"(?<![0-9])(?<![0-9]\.)"
    return re.compile(rf"{before}(?:{row.shape})", re.ASCII)
