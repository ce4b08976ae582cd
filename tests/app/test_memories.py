import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from maia.app.memories import (
    agent_identity,
    checked,
    client_identity,
    memory_place,
    memory_tools,
    open_memory,
)
from maia.core.events import Notice
from maia.core.memories import PERSON
from maia.launch import Folders
from maia.llm.embeddings import EmbeddingsClient, NoEmbeddings
from maia.memory.meaning import Embedder
from maia.memory.problems import MemoryProblem
from maia.memory.sqlite import SqliteStore
from maia.settings import Settings, load_settings
from tests.llm.test_embeddings import serving


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    home, launch = tmp_path / "home", tmp_path / "work"
    (home / ".maia").mkdir(parents=True)
    launch.mkdir()
    return Folders(launch, home, launch / ".maia" / ".sessions")


def settings_with(folders: Folders, **values: object) -> Settings:
    (folders.config / "settings.json").write_text(json.dumps(values), "utf-8")
    return load_settings(folders.launch, folders.home, {})


def embedder(folders: Folders, wish: object, env: dict[str, str], **more: object) -> Embedder:
    from maia.app.memories import embedder_of

    return embedder_of(settings_with(folders, memory={"embeddings": wish}, **more), env)


def test_identities_of_different_kinds_never_meet(tmp_path: Path) -> None:
    names = [
        PERSON,
        agent_identity("person", "home", tmp_path),
        agent_identity("person", "project", tmp_path),
        agent_identity("person", "project", tmp_path / "other"),
        client_identity("person"),
    ]
    assert len(set(names)) == len(names)


def test_a_key_that_is_set_up_is_kept_masked_whatever_it_looks_like(folders: Folders) -> None:
    key, other = "local" + "-master", "sk-" + "lettersonly" * 3
    settings = settings_with(folders, LiteLLM_URL="http://127.0.0.1:9", LiteLLM_API_Key=key)

    async def work() -> None:
        memory = open_memory(settings, folders, {"OPENAI_API_KEY": other}, PERSON)
        entry = await memory.store(f"first {key}, then {other}; the master is local")
        assert entry.text == f"first …({len(key)}), then sk-…({len(other)}); the master is local"
        await memory.aclose()

    asyncio.run(work())


def test_an_agent_of_a_folder_reads_nothing_of_the_own_agent_of_that_name(folders: Folders) -> None:
    async def work() -> None:
        own = open_memory(Settings(), folders, {}, agent_identity("helper", "home", folders.launch))
        strange = open_memory(Settings(), folders, {}, agent_identity("helper", "project", folders.launch))
        await own.store("the owl is mine")
        assert await strange.search("owl") == []
        await own.aclose()
        await strange.aclose()

    asyncio.run(work())


def test_each_memory_lies_in_the_home_folder_in_a_folder_of_its_own(folders: Folders) -> None:
    place = memory_place(Settings(), folders, "agent:../été")
    assert Path(place.shown).parent.parent == folders.config / "memory"
    assert not place.is_there
    asyncio.run(_store_once(folders, "agent:../été"))
    assert memory_place(Settings(), folders, "agent:../été").is_there


async def _store_once(folders: Folders, identity: str) -> None:
    memory = open_memory(Settings(), folders, {}, identity)
    await memory.store("x")
    await memory.aclose()


def test_an_identity_that_is_none_is_refused_at_once(folders: Folders) -> None:
    with pytest.raises(MemoryProblem):
        open_memory(Settings(), folders, {}, "")


def test_keys_are_masked_before_a_text_is_kept(folders: Folders) -> None:
    key = "sk-ant-api03-" + "a1B2" * 20

    async def work() -> str:
        memory = open_memory(Settings(), folders, {}, PERSON)
        entry = await memory.store(f"use {key} here")
        await memory.aclose()
        return entry.text

    assert asyncio.run(work()) == f"use sk-ant-api03-…({len(key)}) here"
    assert key.encode() not in (Path(memory_place(Settings(), folders, PERSON).shown)).read_bytes()


def test_the_tools_are_those_two(folders: Folders) -> None:
    store = SqliteStore(folders.home, "x")
    tools = memory_tools(open_memory(Settings(), folders, {}, PERSON))
    assert [tool.spec.name for tool in tools] == ["MemoryStore", "MemorySearch"]
    store.close()


# The embeddings model -------------------------------------------------------------------------------------------------

OPENROUTER = "sk-or-v1-" + "0a1b" * 16
ANTHROPIC = "sk-ant-api03-" + "a1B2" * 20


@pytest.mark.parametrize(
    ("wish", "env", "name"),
    [
        pytest.param("openai/text-embedding-3-small", {"OPENAI_API_KEY": "sk-proj-" + "a1B2" * 8},
                     "api.openai.com/text-embedding-3-small", id="a provider with a key"),
        pytest.param("openrouter/a/b", {"OPENROUTER_API_KEY": OPENROUTER}, "openrouter.ai/a/b", id="C1.02: OpenRouter"),
        pytest.param("ollama/nomic", {}, "127.0.0.1:11434/nomic", id="a known server that nobody set up"),
        pytest.param({"url": "http://127.0.0.1:1/v1", "model": "m"}, {}, "127.0.0.1:1/m", id="an endpoint"),
    ],
)  # fmt: skip
def test_the_model_is_found(folders: Folders, wish: object, env: dict[str, str], name: str) -> None:
    found = embedder(folders, wish, env)
    assert isinstance(found, EmbeddingsClient)
    assert found.name == name


class KeepingEmbedder:
    """Keeps what it is asked."""

    name = "kept"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked += texts
        return [[1.0] for _ in texts]

    async def aclose(self) -> None: ...


AWAY = "https://api.example.com/v1"


@pytest.mark.parametrize(
    ("url", "privacy", "is_masked"),
    [
        (AWAY, "mask", True),
        (AWAY, "block", True),
        (AWAY, "off", False),
        (AWAY, {"mode": "mask", "actions": {"email": "off"}}, False),
        (AWAY, {"mode": "mask", "localHosts": ["api.example.com"]}, False),
        ("http://127.0.0.1:9/v1", "block", False),
    ],
)
def test_texts_for_a_model_elsewhere_are_masked_where_the_settings_ask_for_it(
    folders: Folders, url: str, privacy: object, is_masked: bool
) -> None:
    from maia.app.masking import wished_embedder

    kept = KeepingEmbedder()
    wish = settings_with(folders, privacy=privacy).privacy
    vectors = asyncio.run(wished_embedder(kept, url, wish).embed(["jean@exemple.fr likes tea", "tea"]))
    assert vectors == [[1.0], [1.0]]
    assert kept.asked == ["[EMAIL] likes tea" if is_masked else "jean@exemple.fr likes tea", "tea"]


def test_the_model_of_the_settings_stands_behind_the_mask(folders: Folders) -> None:
    from maia.app.masking import MaskedEmbedder

    found = embedder(folders, {"url": AWAY, "model": "m", "key_env": "K"}, {"K": "local-key"}, privacy="mask")
    assert (type(found), found.name) == (MaskedEmbedder, "api.example.com/m")


def test_a_server_of_the_settings_gives_vectors_too(folders: Folders) -> None:
    found = embedder(folders, "litellm/small", {}, LiteLLM_URL="http://127.0.0.1:4000")
    assert (type(found), found.name) == (EmbeddingsClient, "127.0.0.1:4000/small")


@pytest.mark.parametrize(
    ("wish", "env"),
    [
        pytest.param("nobody/model", {}, id="an unknown provider"),
        pytest.param("anthropic/model", {"ANTHROPIC_API_KEY": ANTHROPIC}, id="a provider without vectors"),
        pytest.param({"url": "http://127.0.0.1:1"}, {}, id="no model"),
        pytest.param({"model": "m"}, {}, id="no address"),
        pytest.param({"url": "https://api.openai.com/v1", "model": "m", "key": ANTHROPIC}, {}, id="another's key"),
    ],
)
def test_where_there_is_none_words_find_and_it_is_said(folders: Folders, wish: object, env: dict[str, str]) -> None:
    assert isinstance(embedder(folders, wish, env), NoEmbeddings)
    told: list[Notice] = []

    async def work() -> int:
        settings = settings_with(folders, memory={"embeddings": wish})
        memory = open_memory(settings, folders, env, PERSON, told.append)
        await memory.store("an owl")
        found = await memory.search("owl")
        await memory.aclose()
        return len(found)

    assert asyncio.run(work()) == 1
    assert [notice.key for notice in told] == ["memory.words_only.setting"]


# `maia doctor` --------------------------------------------------------------------------------------------------------


def test_the_doctor_tries_the_model_and_the_server(folders: Folders) -> None:
    def keys(wish: object) -> list[tuple[bool, str]]:
        found = asyncio.run(checked(settings_with(folders, memory=wish), folders, {}))
        return [(well, reason.key) for well, reason in found]

    assert keys(True) == []
    assert keys({"embeddings": "nobody/model"}) == [(False, "memory.words_only.setting")]
    silent = {"url": "http://127.0.0.1:1/v1", "model": "m"}
    assert keys({"embeddings": silent}) == [(False, "memory.words_only.silent")]
    assert keys({"url": "postgresql://u@127.0.0.1:1/d"}) == [(False, "memory.server")]
    with serving(200, {"data": [{"index": 0, "embedding": [1, 2, 3]}]}) as server:
        settings = settings_with(folders, memory={"embeddings": {"url": server.url, "model": "m"}})
        ((well, reason),) = asyncio.run(checked(settings, folders, {}))
    assert (well, reason.key, reason.values["count"]) == (True, "memory.model_ok", 3)
    assert not (folders.config / "memory").exists()
