"""Opens private memories: whose they are, where they lie, which model finds by meaning, and the tools over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from maia.core.agent import AgentLevel
from maia.core.events import Notice
from maia.core.memories import Memory
from maia.core.tool import AnyTool
from maia.launch import Folders
from maia.settings import Settings

if TYPE_CHECKING:
    from maia.memory.meaning import Embedder, Meaning
    from maia.memory.private import PrivateMemory
    from maia.memory.store import Store

OpenMemory: TypeAlias = Callable[[Callable[[Notice], None]], Memory]
"""Opens a memory; what it gets hears when finding by meaning does not work."""

PERSON: Final = "person"
"""The identity of whoever sits at the terminal."""


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
    from maia.credentials.scrub import without_keys
    from maia.memory.identity import checked_identity
    from maia.memory.private import PrivateMemory

    wish = settings.memory
    store = _store(wish.url.reveal() if wish.url else "", folders, checked_identity(identity))
    return PrivateMemory(store, without_keys, _meaning(settings, env, tell) if wish.embeddings else None)


def opening(settings: Settings, folders: Folders, env: Mapping[str, str], identity: str) -> OpenMemory:
    """What `Ground.memory` holds for a session of this identity."""
    return lambda tell: open_memory(settings, folders, env, identity, tell)


def memory_tools(memory: Memory) -> tuple[AnyTool, ...]:
    """MemoryStore and MemorySearch, bound to this memory: whose it is, is no argument of theirs."""
    from maia.tools.memory_search import MemorySearchTool
    from maia.tools.memory_store import MemoryStoreTool

    return (MemoryStoreTool(memory), MemorySearchTool(memory))


def _store(url: str, folders: Folders, identity: str) -> Store:
    from maia.memory.identity import place_name

    if url:
        from maia.memory.postgres import PostgresStore

        return PostgresStore(url, identity)
    from maia.memory.sqlite import SqliteStore

    return SqliteStore(memory_folder(folders) / place_name(identity), identity)


def memory_folder(folders: Folders) -> Path:
    """Where the files of all memories lie, a folder each."""
    return folders.config / "memory"


def _meaning(settings: Settings, env: Mapping[str, str], tell: Callable[[Notice], None]) -> Meaning:
    from maia.memory.meaning import Meaning

    return Meaning(_embedder(settings, env), tell)


def _embedder(settings: Settings, env: Mapping[str, str]) -> Embedder:
    """The client of the embeddings model, or one that fails with the reason where the settings name none that works."""
    from maia.app.keyguard import guarded
    from maia.llm.embeddings import EmbeddingsClient, NoEmbeddings
    from maia.llm.endpoints import configured

    wish = settings.memory.embeddings
    if isinstance(wish, str):
        provider, _, model = wish.partition("/")
        plain = settings.plain()
        found = guarded(configured(plain, env), env).endpoints or ()
        if not any(endpoint.name == provider for endpoint in found):  # a known server that nobody set up
            found = guarded(configured({"endpoints": {provider: {}}}, env), env).endpoints
    else:
        fields = dict(wish or {})
        provider, model = str(fields.pop("name", "embeddings")), str(fields.pop("model", ""))
        found = guarded(configured({"endpoints": {provider: fields}}, env), env).endpoints
    target = next((endpoint.target for endpoint in found if endpoint.name == provider), None)
    if target is None or target.format != "openai-chat" or not model:
        return NoEmbeddings(f"{provider}/{model}")
    return EmbeddingsClient(target, model)
