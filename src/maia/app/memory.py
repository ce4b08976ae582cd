"""What maia remembers of models between two runs: the one chosen last, and the names each server listed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from maia.core.fileread import read_bounded
from maia.core.filewrite import keep_private
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject
from maia.llm.endpoint import Endpoint
from maia.llm.models import ModelInfo, described

_LISTED_AT_MOST = 500
_MAX_BYTES = 4_000_000


class Remembered:
    """A small file, `~/.maia/models.json`. Losing it costs one request at the next start, so nothing here fails."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._data: JsonObject | None = None

    @property
    def model(self) -> str | None:
        """The model that a person chose last, as `provider/id`."""
        chosen = self._read().get("model")
        return chosen if isinstance(chosen, str) and chosen else None

    def keep_model(self, full_name: str) -> None:
        self._write({**self._read(), "model": full_name})

    def models_of(self, endpoint: Endpoint) -> list[ModelInfo]:
        """The models that this endpoint listed last, known by their names only."""
        if endpoint.target is None or endpoint.models:
            return [described(name, endpoint) for name in endpoint.models]
        lists = self._read().get("lists")
        names = cast(JsonObject, lists).get(_address(endpoint)) if isinstance(lists, dict) else None
        if not isinstance(names, list):
            return []
        return [described(name, endpoint) for name in cast("list[Any]", names) if isinstance(name, str)]

    def keep_lists(self, lists: Sequence[tuple[Endpoint, list[str]]]) -> None:
        """What each endpoint listed just now; the file is written only where that changes something."""
        before = self._read().get("lists")
        kept = cast(JsonObject, before) if isinstance(before, dict) else {}
        fresh = {_address(endpoint): names[:_LISTED_AT_MOST] for endpoint, names in lists}
        if any(kept.get(address) != names for address, names in fresh.items()):
            self._write({**self._read(), "lists": {**kept, **fresh}})

    def _read(self) -> JsonObject:
        if self._data is None:
            self._data = {}
            with suppress(OSError, ValueError):
                found = read_json(read_bounded(self._path, _MAX_BYTES))
                self._data = cast(JsonObject, found) if isinstance(found, dict) else {}
        return self._data

    def _write(self, data: JsonObject) -> None:
        self._data = data
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            keep_private(self._path, json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _address(endpoint: Endpoint) -> str:
    return f"{endpoint.name} {endpoint.target.base_url if endpoint.target else ''}"
