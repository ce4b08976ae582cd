"""Asks an endpoint for the vectors of texts, in the format of OpenAI's `/embeddings`, which all servers share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, cast

from maia.core.endings import Failure
from maia.core.errors import ModelFailed
from maia.core.jsontext import read_json
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.llm.errors import failure_from_response, without
from maia.llm.target import WireTarget
from maia.llm.transport import MAX_JSON_BYTES, CallFailed, Channel, join_url

SILENCE: Final = 20.0
"""Seconds without a byte after which a server counts as silent: somebody waits for the search."""


class EmbeddingsClient:
    """One model of one endpoint. The connection is kept between calls; close it with `aclose`."""

    def __init__(self, target: WireTarget, model: str) -> None:
        self._channel = Channel(target)
        self._model = model
        self._url = join_url(target.base_url, embeddings_path(target.chat_path))

    @property
    def name(self) -> str:
        """The model with the host that runs it: another host may have another model of that name."""
        return f"{self._channel.host}/{self._model}"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vector of each text, in their order. Raises `ModelFailed`, also for an answer of another shape."""
        # No `encoding_format`: numbers are the default everywhere, and some servers refuse the field.
        body = json.dumps({"model": self._model, "input": list(texts)}).encode()
        channel = self._channel
        try:
            async with channel.exchange("POST", self._url, body, timeout=SILENCE) as reply:
                data = await reply.read(MAX_JSON_BYTES)
                vectors = _vectors(data, len(texts)) if reply.status == 200 else None
                if vectors is not None:
                    return vectors
                has_key = bool(channel.target.key)
                failure = failure_from_response(reply.status, reply.headers, data, channel.host, has_key=has_key)
        except CallFailed as failed:
            raise ModelFailed(failed.failure) from None
        raise ModelFailed(without(failure, channel.secrets))

    async def aclose(self) -> None:
        await self._channel.aclose()


def embeddings_path(chat_path: str) -> str:
    """Where the endpoint that answers chats at this path gives vectors."""
    base = chat_path.removesuffix("/").removesuffix("/chat/completions")
    return f"{base}/embeddings" if base != chat_path.removesuffix("/") else "/embeddings"


def _vectors(data: bytes, count: int) -> list[list[float]] | None:
    """The numbers of an answer in the order of the texts; None where it has another shape."""
    try:
        rows: list[JsonObject] = read_json(data)["data"]
        vectors = [_numbers(row["embedding"]) for row in sorted(rows, key=_place)]
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return vectors if len(vectors) == count else None


def _place(row: JsonObject) -> int:
    return row.get("index", 0)


def _numbers(value: JsonValue) -> list[float]:
    """A list of numbers. Raises `TypeError` for anything else."""
    if not isinstance(value, list) or not value:
        raise TypeError("no list")
    numbers = cast("list[Any]", value)
    if any(isinstance(number, bool) or not isinstance(number, (int, float)) for number in numbers):
        raise TypeError("no numbers")
    return [float(number) for number in numbers]


class NoEmbeddings:
    """Stands for a model that cannot be asked: no such endpoint, no usable key, or one of another format."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise ModelFailed(Failure("not_configured", provider_text=f"{len(texts)} texts"))

    async def aclose(self) -> None:
        return
