"""Values of every type, made here or published as examples by those who give such numbers out."""

from __future__ import annotations

from maia.privacy.kinds import KINDS

VALUES: dict[str, tuple[str, ...]] = {
    "email": ("jean.dupont@exemple.fr", "o'neil+maia@mail.example.co.uk", "élodie@société.example", "x_1@sub.example"),
    "phone": (
        "+33 6 12 34 56 78",
        "+33612345678",
        "0033 6 12 34 56 78",
        "06 12 34 56 78",
        "06.12.34.56.78",
        "0612345678",
        "+36 30 123 4567",
        "(415) 555-0132",
        "415-555-0132",
        "+1 (415) 555-0132",
    ),
    "iban": (
        "FR76 3000 6000 0112 3456 7890 189",
        "FR7630006000011234567890189",
        "fr76-3000-6000-0112-3456-7890-189",
        "GB82 WEST 1234 5698 7654 32",
        "DE89370400440532013000",
        "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
        "HU42 1177 3016 1111 1018 0000 0000",
    ),
    "bank_account": (
        "30006 00001 12345678901 89",
        "30006000011234567890189",
        "11773016-11111018-00000000",
        "1234-1234-16-1234567890",
    ),
    "tax_number": ("30 23 217 600 053", "FR 40 303 265 045", "FR40303265045", "DE136695976", "36 574 261 809"),
    "personal_id": (
        "2 95 10 99 126 111 93",
        "295109912611193",
        "253072B07300470",
        "RCCMNL83S18D969H",
        "X-2482300W",
        "85.07.30-033.28",
        "756.9217.0769.85",
        "131052-308T",
    ),
    "credit_card": (
        "4111 1111 1111 1111",
        "4111111111111111",
        "5500-0055-5555-5559",
        "3782 822463 10005",
        "6011.1111.1111.1117",
        "3530111333300000",
        "2223003122003222",
    ),
    "ssn": ("536-90-4399", "536 90 4399"),
}
"""What tells by itself what it is."""

NAMED: tuple[tuple[str, str, str], ...] = (
    ("phone", "tél. : ", "612 345 678"),
    ("phone", "Téléphone ", "1234567"),
    ("phone", "my phone is ", "(0)12345678"),
    ("ssn", "Social Security no. ", "536904399"),
    ("taj_number", "TAJ-szám: ", "123 456 788"),
    ("personal_id", "Carte d'identité n° ", "X4RTBPFW4"),
    ("personal_id", "CNI ", "880692310285"),
    ("personal_id", "PESEL ", "44051401359"),
    ("personal_id", "DNI ", "54362315-K"),
    ("personal_id", "personnummer ", "880320-0016"),
    ("personal_id", "National Insurance ", "AB 12 34 56 C"),
    ("tax_number", "numéro fiscal ", "3023217600053"),
    ("tax_number", "Steuer-ID ", "36574261809"),
    ("bank_account", "account ", "34278-0727558021/0100"),
)
"""What only a word before it makes a value: type, words, value."""

NEVER = (
    "2026-11-30",
    "30/11/2026",
    "2026-11-30T15:04:05.123Z",
    "15:04:05",
    "192.168.100.200",
    "2001:db8::1",
    "v12.34.567",
    "1 234 567,89 €",
    "$1,234,567.89",
    "550e8400-e29b-41d4-a716-446655440000",
    "d41d8cd98f00b204e9800998ecf8427e",
    "0c87db4a1b2c3d4e5f60718293a4b5c6d7e8f901",
    "1700000000000",
    "1700000000000000000",
    "0.4111111111111111",
    "build 20261130.4",
    "#1234567",
    "git@github.com:maia/maia.git",
    "icon@2x.png",
    "pip install maia==1.2.3",
    "4111 1111 1111 1112",
    "FR76 3000 6000 0112 3456 7890 188",
    "000-12-3456",
)
"""N-10.04, and numbers whose check digits are wrong."""

ACTING = tuple(kind for kind, action in KINDS.items() if action in ("mask", "block"))
