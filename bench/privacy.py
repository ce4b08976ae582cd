"""Privacy: looking a text through for personal data, with keys, and masking one that is full of them.

`python bench/harness.py privacy`
"""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path

from harness import Row, at_most

from maia.credentials.scrub import key_places
from maia.privacy.mask import Masker
from maia.privacy.policy import Policy

ROOT = Path(__file__).resolve().parents[1]
SIZE = 200_000


def texts() -> dict[str, str]:
    """Texts of the same length, from what a conversation mostly holds to what is nothing but digits."""
    dice = random.Random(1)
    rows = (f"{dice.randrange(10**6)},{dice.random()},{dice.randrange(10**10)}\n" for _ in range(6_000))
    made = {
        "prose": (ROOT / "docs" / "agents.md").read_text("utf-8"),
        "code": (ROOT / "src" / "maia" / "settings.py").read_text("utf-8"),
        "French": (ROOT / "src" / "maia" / "i18n" / "fr" / "cli.po").read_text("utf-8"),
        "table of numbers": "".join(rows),
        "full of values": "jean@exemple.fr, 06 12 34 56 78, FR76 3000 6000 0112 3456 7890 189 et du texte autour.\n",
    }
    return {name: (text * (SIZE // len(text) + 1))[:SIZE] for name, text in made.items()}


def milliseconds(masker: Masker, text: str) -> float:
    """CPU time of one masking, for 10,000 characters: the median of five."""
    masker.mask(text[:2_000])
    taken: list[float] = []
    for _ in range(5):
        start = time.process_time()
        masker.mask(text)
        taken.append((time.process_time() - start) * 1e3 * 10_000 / SIZE)
    return statistics.median(taken)


LIMITS = {"prose": 2, "code": 2, "French": 2, "table of numbers": 10, "full of values": 40}


def main() -> list[Row]:
    masker = Masker(Policy(), key_places)
    return [
        at_most(f"10 KB of {name}", milliseconds(masker, text), "ms", LIMITS[name]) for name, text in texts().items()
    ]
