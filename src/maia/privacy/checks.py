"""Whether a piece of text that looks like a number of some kind can be one: check digits, lengths, known ranges.

Each check takes the text as found, separators included. Those of python-stdnum and phonenumbers are loaded on use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Final, TypeAlias, cast

Check: TypeAlias = Callable[[str], bool]

_IBAN_LENGTHS: Final = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18
FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20
LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24
SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
"""
"""Country and whole length, from the IBAN registry of SWIFT, release 99."""


def digits_of(text: str) -> str:
    """The digits alone."""
    return "".join(char for char in text if char in "0123456789")


def compact(text: str) -> str:
    """Letters and digits alone, in capitals."""
    return "".join(char for char in text if char.isalnum()).upper()


def standard(module: str) -> Check:
    """The check of a module of python-stdnum, loaded when it is first asked."""

    def check(text: str) -> bool:
        return _stdnum(module)(text)

    return check


@cache
def _stdnum(module: str) -> Check:
    import stdnum

    return cast(Check, import_module(f"{stdnum.__name__}.{module}").is_valid)


def always(_text: str) -> bool:
    """For what its shape, or the words before it, already tell."""
    return True


# Banks ----------------------------------------------------------------------------------------------------------------


def is_iban(text: str) -> bool:
    """ISO 13616: the length of its country, and ISO 7064 mod 97-10."""
    number = compact(text)
    if not number.isascii() or _iban_lengths().get(number[:2]) != len(number):
        return False
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1


@cache
def _iban_lengths() -> dict[str, int]:
    return {row[:2]: int(row[2:]) for row in _IBAN_LENGTHS.split()}


_RIB_LETTERS: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "12345678912345678923456789")


def is_rib(text: str) -> bool:
    """A French account: bank (5), branch (5), account (11, letters too), key (2), which is a sum modulo 97."""
    number = compact(text).translate(_RIB_LETTERS)
    if len(number) != 23 or not number.isdecimal() or not number.strip("0"):
        return False
    bank, branch, account, key = int(number[:5]), int(number[5:10]), int(number[10:21]), int(number[21:])
    return (89 * bank + 15 * branch + 3 * account + key) % 97 == 0


def is_giro(text: str) -> bool:
    """A Hungarian account: eight digits and eight or sixteen more, both with weights 9-7-3-1 modulo 10."""
    number = digits_of(text)
    if len(number) not in (16, 24) or not number.strip("0"):
        return False
    return _weighs_nothing(number[:8]) and _weighs_nothing(number[8:])


def _weighs_nothing(digits: str) -> bool:
    return sum(int(digit) * (9, 7, 3, 1)[place % 4] for place, digit in enumerate(digits)) % 10 == 0


_NETWORKS: Final = re.compile(
    r"""4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})          # Visa
    | 5[1-5][0-9]{14} | 2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}    # Mastercard
    | 3[47][0-9]{13}                                # American Express
    | (?:6011|64[4-9][0-9]|65[0-9]{2})[0-9]{12,15}  # Discover
    | 35[2-8][0-9][0-9]{12,15}                      # JCB
    | 3(?:0[0-5]|095|[689][0-9])[0-9]{11,16}        # Diners Club
    | 62[0-9]{14,17}                                # UnionPay
    | (?:50|5[6-8]|6[37])[0-9]{11,17}               # Maestro
    """,
    re.VERBOSE,
)


def is_card(text: str) -> bool:
    """ISO/IEC 7812: 13 to 19 digits with the prefix of a network, and Luhn's check digit."""
    number = digits_of(text)
    return _NETWORKS.fullmatch(number) is not None and _is_luhn(number)


def _is_luhn(number: str) -> bool:
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(number)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


# People ---------------------------------------------------------------------------------------------------------------


def is_ssn(text: str) -> bool:
    """A United States social security number: area, group and serial that are given out."""
    return _stdnum("us.ssn")(digits_of(text))


def is_nir(text: str) -> bool:
    """A French social security number: sex, year, month, place, and a key modulo 97."""
    number = compact(text)
    month = int(number[3:5]) if number[3:5].isdecimal() else 0
    is_month = month in range(1, 13) or month in range(20, 43) or month >= 50
    return number[:1] in ("1", "2", "3", "4", "7", "8") and is_month and _stdnum("fr.nir")(number)


def is_hungarian_tax(text: str) -> bool:
    """A Hungarian tax number: eight digits that are checked, the kind of tax, the office."""
    return _stdnum("hu.anum")(text[:8])


def has_two_digits(text: str) -> bool:
    """For numbers of documents, which check nothing: words in capitals are none."""
    return len(digits_of(text)) >= 2


def is_taj(text: str) -> bool:
    """A Hungarian social security number: eight digits with weights 3 and 7, modulo 10."""
    number = digits_of(text)
    if len(number) != 9 or not number.strip("0"):
        return False
    return sum(int(digit) * (3, 7)[place % 2] for place, digit in enumerate(number[:8])) % 10 == int(number[8])


def is_nino(text: str) -> bool:
    """A British national insurance number, by the letters that are given out (HMRC, NIM39110)."""
    number = compact(text)
    return re.fullmatch(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][0-9]{6}[A-D]", number) is not None


# Telephones -----------------------------------------------------------------------------------------------------------


def has_phone_length(text: str) -> bool:
    """Seven to fifteen digits (ITU-T E.164 allows fifteen)."""
    return 7 <= len(digits_of(text)) <= 15


def is_bracketed(text: str) -> bool:
    """A number whose area code stands in brackets; a year in brackets is none."""
    area = text[1 : text.index(")")]
    return has_phone_length(text) and re.fullmatch(r"(?:19|20)[0-9]{2}", area) is None


def is_international(text: str) -> bool:
    """`+` or `00` and eight to fifteen digits that a telephone could have, by the plan of that country."""
    number = digits_of(text)
    number = number if text.startswith("+") else number.removeprefix("00")
    return 8 <= len(number) <= 15 and _is_possible(f"+{number}", None)


def is_french_phone(text: str) -> bool:
    """Ten digits by the French plan of numbers."""
    return _is_valid(digits_of(text), "FR")


def _is_possible(number: str, region: str | None) -> bool:
    import phonenumbers

    try:
        reason = phonenumbers.is_possible_number_with_reason(phonenumbers.parse(number, region))
        return reason == phonenumbers.ValidationResult.IS_POSSIBLE  # not one that only neighbours can call
    except phonenumbers.NumberParseException:
        return False


def _is_valid(number: str, region: str) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False
