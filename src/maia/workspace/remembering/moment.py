"""The clock that rides on each message, so that the system prompt stays the same from turn to turn (N-12.04)."""

from __future__ import annotations

import os
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from maia.core.jsonvalue import JsonValue
from maia.core.requests import Section

TIMEZONE = "i18n.timezone"
"""The setting that names the zone; without it this machine's counts."""
_ZONES = "zoneinfo/"
_LOCAL = "/etc/localtime"


def known_zone(name: JsonValue) -> ZoneInfo | None:
    """The zone of that name, None for what is no name of one."""
    if not isinstance(name, str) or not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def turn_time(now: datetime, zone: ZoneInfo | None) -> Section:
    """Day, date and time with the zone's name and its distance from UTC. `now` is aware of its own zone."""
    local = now.astimezone(zone)
    offset = f"{local:%z}"
    name = zone.key if zone else _machine_zone() or local.tzname() or ""
    where = f"UTC{offset[:3]}:{offset[3:5]}" if offset else "UTC"
    told = f"Current date and time: {_DAYS[local.weekday()]} {local:%Y-%m-%d %H:%M}, {name} ({where})."
    return Section("turn-time", told, "maia")


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _machine_zone() -> str:
    """The name of this machine's zone, where it can be told."""
    named = os.environ.get("TZ", "").lstrip(":")
    if known_zone(named) is not None:
        return named
    try:
        return _zone_behind(_LOCAL, os.readlink(_LOCAL))
    except OSError:
        return ""


@lru_cache(maxsize=1)
def _zone_behind(link: str, goal: str) -> str:
    """Where the links end that begin with this one, which leads to `goal`: asked again when it is set anew."""
    end = os.path.realpath(os.path.join(os.path.dirname(link), goal))
    return end.rpartition(_ZONES)[2] if _ZONES in end else ""
