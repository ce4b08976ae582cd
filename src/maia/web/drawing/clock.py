"""Times as a reader sees them: in their own zone, the hour for today, the day for what is older."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from maia.core.ports import Say
from maia.i18n.formats import day

_EPOCH = datetime(1970, 1, 1)
"""Without a zone, which is UTC here: lists have hundreds of times, and zones take half of what writing one takes."""


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """The zone that a browser names, else this machine's."""
    if name:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    return datetime.now().astimezone().tzinfo or UTC


@lru_cache(maxsize=4096)
def moment(ms: int | None) -> str | None:
    """Milliseconds as ISO 8601 in UTC."""
    if ms is None:
        return None
    return (_EPOCH + timedelta(0, ms // 1000, ms % 1000 * 1000)).isoformat("T", "milliseconds") + "Z"


@dataclass(frozen=True, slots=True)
class Clock:
    """`now` is in the reader's zone."""

    now: datetime
    say: Say
    lang: str

    def moment(self, ms: int) -> datetime:
        return datetime.fromtimestamp(ms / 1000, self.now.tzinfo)

    def iso(self, ms: int) -> str:
        return self.moment(ms).isoformat(timespec="seconds")

    def hour(self, ms: int) -> str:
        """`10:02`."""
        return f"{self.moment(ms):%H:%M}"

    def short(self, ms: int) -> str:
        """`10:02`, `hier, 17:40`, `27 nov., 09:15`."""
        at = self.moment(ms)
        hour = f"{at:%H:%M}"
        if at.date() == self.now.date():
            return hour
        if at.date() == self.now.date() - timedelta(days=1):
            return self.say("web.time.yesterday", hour=hour)
        return f"{day(at.date(), self.lang, self.now.date())}, {hour}"

    def day(self, iso: str) -> str:
        """`4 déc.`, `4 Dec 2031` for a day that is kept as `2031-12-04`."""
        return day(date.fromisoformat(iso), self.lang, self.now.date())

    def brief(self, ms: int) -> str:
        """As `short` for today, else the day alone: for lists."""
        at = self.moment(ms)
        return f"{at:%H:%M}" if at.date() == self.now.date() else day(at.date(), self.lang, self.now.date())
