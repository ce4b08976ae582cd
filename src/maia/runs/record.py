"""What is kept of a run beside its notes: who hosts it, what was asked for, and how it stands, as one JSON file."""

from __future__ import annotations

import json
from dataclasses import dataclass

from maia.core.codec import UnreadableEvent, load_value, to_json
from maia.core.jsontext import read_json
from maia.core.runs import RunInfo, RunWish

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Record:
    """`host` names the process that runs it. Until the run has ended, `info` holds what was settled at its start."""

    host: str
    wish: RunWish
    info: RunInfo

    @property
    def is_over(self) -> bool:
        return self.info.state == "ended"


class UnreadableRecord(ValueError):
    """A file is no record of a run that this version can read."""


def dump_record(record: Record) -> bytes:
    """The record as the bytes of its file."""
    body = {"v": FORMAT, "host": record.host, "wish": to_json(record.wish), "info": to_json(record.info)}
    return json.dumps(body, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"


def load_record(data: bytes) -> Record:
    """The record that these bytes hold. Raises `UnreadableRecord`, also for one that a newer format wrote."""
    try:
        body = read_json(data)
        if body["v"] != FORMAT:
            raise UnreadableRecord(f"format {body['v']!r}")
        return Record(str(body["host"]), load_value(RunWish, body["wish"]), load_value(RunInfo, body["info"]))
    except UnreadableRecord:
        raise
    except (ValueError, KeyError, TypeError, OverflowError, UnreadableEvent) as error:
        raise UnreadableRecord(type(error).__name__) from error
