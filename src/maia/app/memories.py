"""Opens private memories: whose they are, where they lie, which model finds by meaning, and the tools over them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from maia.core.agent import AgentLevel
from maia.core.errors import MaiaError
from maia.core.events import Notice
from maia.core.memories import PERSON, Memory
from maia.core.reason import Reason
from maia.core.tool import AnyTool
from maia.launch import Folders
from maia.settings import Settings

if TYPE_CHECKING:
    from maia.llm.endpoint import Endpoint
    from maia.llm.endpoints import Configured
    from maia.memory.meaning import Embedder, Meaning
    from maia.memory.private import PrivateMemory
    from maia.memory.store import Store

OpenMemory: TypeAlias = Callable[[Callable[[Notice], None]], Memory]
"""Opens a memory; what it gets hears when finding by meaning does not work."""

SHORTEST_KEY: Final = 8
"""Characters. A shorter key of a server of one's own may be a word that texts are full of."""


def agent_identity(name: str, level: AgentLevel, launch: Path) -> str:
    """The identity of an agent. One that a folder brings along is another than the home folder's of the same name:
    what is cloned from strangers must not read what an own agent keeps."""
    return f"agent:{name}" if level == "home" else f"agent:{name}@{launch}"


def client_identity(name: str) -> str:
    """The identity of a program that signs in with a token of this name."""
    return f"client:{name}"


def open_memory(
    settings: Settings,
    folders: Folders,
    env: Mapping[str, str],
    identity: str,
    tell: Callable[[Notice], None] = lambda _notice: None,
) -> PrivateMemory:
    """The memory of one identity. Nothing is read or made before its first call, and close it after the last.

    `tell` hears when finding by meaning does not work. Raises `MemoryProblem` for an identity that is none.
    """
    from maia.memory.identity import checked_identity
    from maia.memory.private import PrivateMemory

    store = _store(settings, folders, checked_identity(identity))
    meaning = _meaning(embedder_of(settings, env), tell) if settings.memory.embeddings else None
    return PrivateMemory(store, _masking(settings, env), meaning)


def _masking(settings: Settings, env: Mapping[str, str]) -> Callable[[str], str]:
    """Takes out what has the shape of a key, and the keys that are set up here whatever they look like."""
    from maia.credentials.prefixes import mask
    from maia.credentials.scrub import without_keys

    @cache
    def known() -> tuple[str, ...]:
        from maia.llm.endpoints import configured

        targets = [endpoint.target for endpoint in configured(settings.plain(), env).endpoints]
        keys = {target.key.reveal() for target in targets if target is not None and target.key is not None}
        return tuple(sorted((key for key in keys if len(key) >= SHORTEST_KEY), key=len, reverse=True))

    def masked(text: str) -> str:
        for key in known():
            text = text.replace(key, mask(key))
        return without_keys(text)

    return masked


def opening(settings: Settings, folders: Folders, env: Mapping[str, str], identity: str) -> OpenMemory:
    """What `Ground.memory` holds for a session of this identity."""
    return lambda tell: open_memory(settings, folders, env, identity, tell)


async def checked(settings: Settings, folders: Folders, env: Mapping[str, str]) -> list[tuple[bool, Reason]]:
    """What `maia doctor` finds of memories: whether the server answers and the model gives vectors, where they are set.

    On a server the person's own schema is made where it is missing; no file is made.
    """
    found: list[tuple[bool, Reason]] = []
    if settings.memory.url:
        store = _store(settings, folders, PERSON)
        try:
            await asyncio.to_thread(lambda: (store.recent(1, ()), store.close()))
            found.append((True, Reason("memory.server_ok", {"place": store.place})))
        except MaiaError as problem:
            found.append((False, Reason(problem.key, problem.values)))
    if settings.memory.embeddings:
        told: list[Notice] = []
        model = embedder_of(settings, env)
        meaning = _meaning(model, told.append)
        if count := await meaning.tried():
            found.append((True, Reason("memory.model_ok", {"model": model.name, "count": count})))
        found += [(False, Reason(notice.key, notice.values)) for notice in told]
        await meaning.aclose()
    return found


def memory_tools(memory: Memory) -> tuple[AnyTool, ...]:
    """MemoryStore and MemorySearch, bound to this memory: whose it is, is no argument of theirs."""
    from maia.tools.memory_search import MemorySearchTool
    from maia.tools.memory_store import MemoryStoreTool

    return (MemoryStoreTool(memory), MemorySearchTool(memory))


def _store(settings: Settings, folders: Folders, identity: str) -> Store:
    from maia.memory.identity import place_name

    if url := settings.memory.url:
        from maia.memory.postgres import PostgresStore

        return PostgresStore(url.reveal(), identity)
    from maia.memory.sqlite import SqliteStore

    return SqliteStore(folders.config / "memory" / place_name(identity), identity)


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Where a memory lies, for a person: a file, or host and schema. Whether it is there is only known of files."""

    shown: str
    is_there: bool


def memory_place(settings: Settings, folders: Folders, identity: str) -> MemoryPlace:
    """Where the memory of an identity lies or would lie. Opens nothing."""
    place = _store(settings, folders, identity).place
    return MemoryPlace(place, Path(place).is_file())


def _meaning(model: Embedder, tell: Callable[[Notice], None]) -> Meaning:
    from maia.memory.meaning import Meaning

    return Meaning(model, tell)


def embedder_of(settings: Settings, env: Mapping[str, str]) -> Embedder:
    """The client of the embeddings model, or one that fails with the reason where the settings name none that works."""
    from maia.llm.embeddings import EmbeddingsClient, NoEmbeddings
    from maia.llm.endpoints import configured

    wish = settings.memory.embeddings
    if isinstance(wish, str):
        provider, _, model = wish.partition("/")
        plain = settings.plain()
        found = _usable(configured(plain, env), env)
        if not any(endpoint.name == provider for endpoint in found):  # a known server that nobody set up
            found = _usable(configured({"endpoints": {provider: {}}}, env), env)
    else:
        fields = dict(wish or {})
        provider, model = str(fields.pop("name", "embeddings")), str(fields.pop("model", ""))
        found = _usable(configured({"endpoints": {provider: fields}}, env), env)
    target = next((endpoint.target for endpoint in found if endpoint.name == provider), None)
    if target is None or target.format != "openai-chat" or not model:
        return NoEmbeddings(f"{provider}/{model}")
    if settings.privacy.mode == "off":
        return EmbeddingsClient(target, model)
    from maia.app.masking import wished_embedder

    return wished_embedder(EmbeddingsClient(target, model), target.base_url, settings.privacy)


def _usable(found: Configured, env: Mapping[str, str]) -> tuple[Endpoint, ...]:
    """The endpoints whose key is meant for their host."""
    from maia.app.keyguard import guarded

    return guarded(found, env, for_embeddings=True).endpoints
