import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.agent import RealModel
from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.core.secret import Secret
from maia.i18n.catalogue import Catalogue
from maia.settings import Place, Settings, Value, load_settings
from maia.settings_file import MAX_BYTES, _lines_of, read_settings_file  # pyright: ignore[reportPrivateUsage]
from maia.settings_prices import TokenPrice
from maia.settings_values import KEYS, MemoryWish, PrivacyWish, RunLimits, Sandbox, Security


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".maia").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def launch(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".maia").mkdir(parents=True)
    return tmp_path / "work"


def write(folder: Path, content: Any) -> Path:
    path = folder / ".maia" / "settings.json"
    data = content if isinstance(content, bytes) else json.dumps(content, indent=2).encode()
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def keys(settings: Settings) -> list[str]:
    return [notice.key for notice in settings.notices]


def test_every_key_of_the_home_file_is_read_with_its_line(home: Path, launch: Path) -> None:
    write(
        home,
        b'{\n  "LiteLLM_URL": "http://localhost:4000",\n  "OpenAI_EndPoint": "/v1/chat/completions",\n'
        b'  "LiteLLM_Models": "/v1/models",\n  "LiteLLM_API_Key": "sk-abc",\n  "MaxOutputTokens": 8192,\n'
        b'  "MaxIterations": 20,\n  "permissions": {"allow": ["Read(**)"]},\n  "model": "sonnet",\n'
        b'  "MaxContextTokens": "200k",\n  "ContextSizes": {"a": 1000},\n  "sandbox": {"mode": "required"},\n'
        b'  "endpoints": [], "lang": "fr", "effort": "HIGH", "notify": false,\n'
        b'  "runs": {"atOnce": 3}, "privacy": "Block",\n  "memory": {"on": true},\n'
        b'  "ModelNicknames": {"The Oracle": "a/b", "Claude": {"runner": "claude-code", "model": "opus"}},\n'
        b'  "security": {"foreignMemoryPaths": ["~/notes"]},\n'
        b'  "model.pricing": {"litellm/m": {"input": 1, "output": 2.5}},\n'
        b'  "model.cli.idleTimeoutMs": 5000, "model.cli.toolTimeoutMs": 6000\n}',
    )
    settings = load_settings(launch, home, {})
    file = "~/.maia/settings.json"
    line16 = Place(file, 16)
    assert settings.values == {
        "LiteLLM_URL": Value("http://localhost:4000", Place(file, 2)),
        "OpenAI_EndPoint": Value("/v1/chat/completions", Place(file, 3)),
        "LiteLLM_Models": Value("/v1/models", Place(file, 4)),
        "LiteLLM_API_Key": Value(Secret("sk-abc"), Place(file, 5)),
        "MaxOutputTokens": Value(8192, Place(file, 6)),
        "MaxIterations": Value(20, Place(file, 7)),
        "model": Value("sonnet", Place(file, 9)),
        "MaxContextTokens": Value("200k", Place(file, 10)),
        "ContextSizes": Value({"a": 1000}, Place(file, 11)),
        "sandbox": Value(Sandbox("required", True), Place(file, 12)),
        "endpoints": Value([], Place(file, 13)),
        "lang": Value("fr", Place(file, 13)),
        "effort": Value("high", Place(file, 13)),
        "notify": Value(False, Place(file, 13)),
        "runs": Value(RunLimits(at_once=3), Place(file, 14)),
        "memory": Value(MemoryWish(on=True), Place(file, 15)),
        "privacy": Value(PrivacyWish("block"), Place(file, 14)),
        "ModelNicknames": Value({"The Oracle": RealModel("a/b"), "Claude": RealModel("opus", "claude-code")}, line16),
        "security": Value(Security(("~/notes",)), Place(file, 17)),
        "model.pricing": Value({"litellm/m": TokenPrice(1.0, 2.5)}, Place(file, 18)),
        "model.cli.idleTimeoutMs": Value(5000, Place(file, 19)),
        "model.cli.toolTimeoutMs": Value(6000, Place(file, 19)),
    }
    assert settings.notices == ()
    assert settings.files[0].values["permissions"] == {"allow": ["Read(**)"]}
    assert settings.files[0].line("permissions", "allow", 0) == 8
    assert settings.values.keys() | {"permissions"} == KEYS.keys(), "a new key needs a line in this test"


def test_nothing_configured_gives_the_defaults_and_no_word(home: Path, launch: Path) -> None:
    settings = load_settings(launch, home, {})
    assert settings == Settings()
    assert (settings.max_iterations, settings.max_output_tokens, settings.sandbox, settings.model) == (
        50,
        None,
        Sandbox("auto", True),
        None,
    )


def test_options_win_over_the_environment_and_that_over_the_files(home: Path, launch: Path) -> None:
    write(home, {"model": "home", "MaxIterations": 9, "LiteLLM_API_Key": "from-file"})
    write(launch, {"model": "folder"})
    env = {"LITELLM_API_KEY": "from-env", "MAIA_MODEL": "env"}

    def models(env: dict[str, str], options: dict[str, Any] | None = None) -> Value:
        return load_settings(launch, home, env, options, folder_trusted=True).values["model"]

    assert models({}) == Value("folder", Place("./.maia/settings.json", 2))
    assert models(env) == Value("env", Place("$MAIA_MODEL"))
    assert models(env, {"model": "option"}) == Value("option", Place("--model"))
    assert load_settings(launch, home, env).get("LiteLLM_API_Key") == Secret("from-env")
    assert load_settings(launch, home, {"LITELLM_API_KEY": " "}).get("LiteLLM_API_Key") == Secret("from-file")


def test_the_key_of_an_endpoint_is_never_printed_either(home: Path, launch: Path) -> None:
    entry = {"name": "a", "key": "sk-hidden", "headers": {"x-key": "sk-hidden"}}
    for endpoints in ([entry, "?"], {"a": entry, "b": 3}):
        write(home, {"endpoints": endpoints})
        settings = load_settings(launch, home, {})
        assert "sk-hidden" not in repr(settings)
        assert "sk-hidden" not in str(settings.get("endpoints")).replace("{'x-key': 'sk-hidden'}", "")


def test_a_key_is_never_printed(home: Path, launch: Path) -> None:
    write(home, {"LiteLLM_API_Key": "sk-hidden", "LiteLLM_URL": "http://x"})
    settings = load_settings(launch, home, {})
    wrong = load_settings(launch, home, {"LITELLM_API_KEY": "sk-hidden\nx"})
    folder = write(launch, {"LiteLLM_API_Key": "sk-hidden"})
    other = load_settings(launch, home, {})
    for shown in (repr(settings), str(settings.plain()), repr(wrong), repr(other), repr(settings.files)):
        assert "sk-hidden" not in shown
    assert folder.exists()


@pytest.mark.parametrize(
    ("text", "key", "line", "column"),
    [
        (b'{\n "a": 1\n "b": 2}', "comma", 3, 2),
        (b'{"a" 1}', "colon", 1, 6),
        (b"{a: 1}", "name", 1, 2),
        (b'{"a": 1,\n}', "trailing", 1, 8),
        (b'{"a": [1,]}', "trailing", 1, 9),
        (b'{\n // no\n "a": 1}', "comment", 2, 2),
        (b'{"a": 1 # no\n}', "comment", 1, 9),
        (b'{"a": nope}', "value", 1, 7),
        (b'{"a": "x', "string", 1, 7),
        (b'{"a": "x\n"}', "control", 1, 9),
        (b'{"a": "\\d"}', "escape", 1, 8),
        (b'{"a": 1}}', "extra", 1, 9),
        (b"{'a': 1}", "quotes", 1, 2),
        ("{\u201ca\u201d: 1}".encode(), "quotes", 1, 2),
        (b'{"a": 1,', "end", 1, 9),
        (b'{"a":', "end", 1, 6),
    ],
)
def test_broken_json_is_a_warning_with_file_line_column_and_reason(
    home: Path, launch: Path, text: bytes, key: str, line: int, column: int
) -> None:
    write(home, {"model": "still there"})
    write(launch, text)
    settings = load_settings(launch, home, {}, folder_trusted=True)
    notice = settings.notices[0]
    assert (notice.level, notice.key, notice.values["line"]) == ("warn", f"settings.json.{key}", line)
    assert abs(notice.values["column"] - column) <= 1, "Python versions differ by one for commas"
    assert settings.model == "still there", "the rest loads (T1.10)"
    for lang in ("fr", "en"):
        said = Catalogue(lang, strict=True)(notice.key, **notice.values)
        assert "./.maia/settings.json" in said
        assert str(line) in said


@pytest.mark.parametrize(
    ("content", "key"),
    [
        pytest.param(b"[]", "settings.not_an_object", id="a list"),
        pytest.param(b"\xff\xfe{\x00}\x00", "settings.not_utf8", id="UTF-16"),
        pytest.param(b'{"a": "\xe9"}', "settings.not_utf8", id="latin-1"),
        pytest.param(b'{"model": NaN}', "settings.json.number", id="NaN"),
        pytest.param(b'{"MaxIterations": ' + b"9" * 5000 + b"}", "settings.json.number", id="giant number"),
        pytest.param(b'{"a": ' + b"[" * 100_000, "settings.json.deep", id="deep nesting"),
        pytest.param(b" " * (MAX_BYTES + 1), "settings.too_big", id="too big"),
    ],
)
def test_what_is_no_settings_file_is_a_warning(home: Path, launch: Path, content: bytes, key: str) -> None:
    write(home, content)
    settings = load_settings(launch, home, {})
    assert keys(settings) == [key]
    assert Catalogue("fr", strict=True)(key, **settings.notices[0].values)


def test_a_folder_a_fifo_a_dead_link_and_an_unreadable_file_are_warnings(home: Path, launch: Path) -> None:
    path = home / ".maia" / "settings.json"
    path.mkdir()
    assert keys(load_settings(launch, home, {})) == ["settings.not_a_file"]
    path.rmdir()
    os.mkfifo(path)
    assert keys(load_settings(launch, home, {})) == ["settings.not_a_file"]
    path.unlink()
    path.symlink_to(home / "nowhere")
    assert keys(load_settings(launch, home, {})) == ["settings.dangling"]
    path.unlink()
    path.symlink_to(path)
    assert keys(load_settings(launch, home, {})) == ["settings.unreadable"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_read_permission_is_a_warning(home: Path, launch: Path) -> None:
    write(home, {}).chmod(0)
    assert keys(load_settings(launch, home, {})) == ["settings.unreadable"]


def test_a_byte_order_mark_and_an_empty_file_are_no_problem(home: Path, launch: Path) -> None:
    write(home, b'\xef\xbb\xbf{"model": "m"}')
    write(launch, b" \n")
    settings = load_settings(launch, home, {})
    assert (settings.model, settings.notices) == ("m", ())


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("LiteLLM_URL", 3, "text"),
        ("LiteLLM_URL", "a\nb", "text"),
        ("model", "", "text"),
        ("model", "\ud800", "text"),
        ("LiteLLM_API_Key", ["x"], "secret"),
        ("MaxOutputTokens", 0, "count"),
        ("MaxOutputTokens", -5, "count"),
        ("MaxOutputTokens", "8192", "count"),
        ("MaxIterations", True, "count"),
        ("MaxIterations", 2.5, "count"),
        ("MaxIterations", None, "count"),
        ("permissions", [], "object"),
        ("MaxContextTokens", [], "tokens"),
        ("ContextSizes", {"a": None}, "sizes"),
        ("ContextSizes", "200k", "sizes"),
        ("effort", "huge", "effort"),
        ("lang", "de", "lang"),
        ("sandbox", "yes", "sandbox"),
        ("ModelNicknames", ["a/b"], "nicknames"),
        ("endpoints", "http://x", "endpoints"),
        ("model.pricing", 3, "pricing"),
        ("notify", 1, "switch"),
    ],
)
def test_a_value_of_the_wrong_kind_is_left_out_and_named(
    home: Path, launch: Path, key: str, value: Any, expected: str
) -> None:
    write(home, {"effort" if key == "lang" else "lang": "low" if key == "lang" else "fr", key: value})
    settings = load_settings(launch, home, {})
    where = {"file": "~/.maia/settings.json", "line": 3, "name": key}
    assert settings.notices == (Notice("warn", f"settings.wrong.{expected}", where),)
    assert key not in settings.values
    assert len(settings.values) == 1, "the rest loads (T1.10)"


@pytest.mark.parametrize(
    "rates",
    [
        {"input": 1},
        {"output": 1},
        {"input": -1, "output": 1},
        {"input": True, "output": 1},
        {"input": "1", "output": 1},
        {"input": 1, "output": 100_001},
        {"input": 1, "output": 1, "cached": 1},
        [],
        None,
        3,
    ],
)
def test_a_price_that_cannot_be_is_named_and_the_others_hold(home: Path, launch: Path, rates: Any) -> None:
    good = {"input": 0, "output": 2, "cacheRead": 0.1, "cacheWrite": 1.25}
    write(home, {"lang": "fr", "model.pricing": {"a/b": good, "c": rates}})
    settings = load_settings(launch, home, {})
    assert settings.pricing == {"a/b": TokenPrice(0.0, 2.0, 0.1, 1.25)}
    where = {"file": "~/.maia/settings.json", "line": 3, "name": "model.pricing.c"}
    assert settings.notices == (Notice("warn", "settings.wrong.pricing", where),)


@pytest.mark.parametrize(
    ("part", "value"),
    [("net", True), ("writable", "/srv"), ("writable", ["\0"]), ("env", [3]), ("readable", {}), ("", 1)],
)
def test_a_part_of_the_sandbox_that_does_not_fit_lifts_no_restriction(
    home: Path, launch: Path, part: str, value: Any
) -> None:
    write(home, {"lang": "fr", "sandbox": {"mode": "required", "network": False, part: value}})
    settings = load_settings(launch, home, {})
    assert settings.sandbox == Sandbox("required", network=False)
    where = {"file": "~/.maia/settings.json", "line": 3, "name": f"sandbox.{part}"}
    assert settings.notices == (Notice("warn", "settings.wrong.sandbox", where),)


@pytest.mark.parametrize(
    ("given", "wish", "wrong"),
    [
        pytest.param(True, MemoryWish(on=True), "", id="a switch"),
        pytest.param({"embeddings": "ollama/nomic"}, MemoryWish(embeddings="ollama/nomic"), "", id="a model"),
        pytest.param(
            {"embeddings": {"url": "http://x", "model": "m", "key": "k"}},
            MemoryWish(embeddings={"url": "http://x", "model": "m", "key": Secret("k")}),
            "",
            id="an endpoint",
        ),
        pytest.param(
            {"on": True, "url": "postgresql://u:pw@db/maia"},
            MemoryWish(True, Secret("postgresql://u:pw@db/maia")),
            "",
            id="a server",
        ),
        pytest.param({"on": True, "url": "mysql://db"}, MemoryWish(on=True), "memory.url", id="another server"),
        pytest.param({"on": 1, "embeddings": "nomic"}, MemoryWish(), "memory.on, memory.embeddings", id="other types"),
        pytest.param({"of": True}, MemoryWish(), "memory.of", id="an unknown part"),
        pytest.param("yes", MemoryWish(), "memory", id="a word"),
    ],
)
def test_where_memories_lie(home: Path, launch: Path, given: object, wish: MemoryWish, wrong: str) -> None:
    write(home, {"memory": given})
    settings = load_settings(launch, home, {})
    assert settings.memory == wish
    assert [notice.values["name"] for notice in settings.notices] == ([wrong] if wrong else [])
    assert "pw" not in repr(settings)


def test_a_folder_does_not_say_where_memories_lie(home: Path, launch: Path) -> None:
    write(launch, {"memory": {"url": "postgresql://stranger"}})
    assert load_settings(launch, home, {}, folder_trusted=True).memory == MemoryWish()


def test_parts_of_the_sandbox_that_do_not_fit_are_named_together(home: Path, launch: Path) -> None:
    write(home, {"lang": "fr", "sandbox": {"mode": "on", "network": "no"}})
    settings = load_settings(launch, home, {})
    assert settings.sandbox == Sandbox()
    assert settings.notices[0].values["name"] == "sandbox.mode, sandbox.network"


def test_every_kind_of_value_has_its_sentence_in_both_languages() -> None:
    for key in KEYS.values():
        for lang in ("fr", "en"):
            said = Catalogue(lang, strict=True)(f"settings.wrong.{key.expected}", file="f", line=3, name="n")
            assert "f" in said
            if key.env:
                assert Catalogue(lang, strict=True)(f"settings.env.{key.expected}", name="n")
            if key.option:
                assert Catalogue(lang, strict=True)(f"settings.option.{key.expected}", option="o", given="g")


def test_an_unknown_key_is_named_with_the_one_that_was_meant(home: Path, launch: Path) -> None:
    def close(name: str, line: int, meant: str) -> Notice:
        return Notice("warn", "settings.unknown_close", {"file": file, "line": line, "name": name, "close": meant})

    write(home, {"$schema": "x", "maxiterations": 3, "LiteLLM_Url": "x", "zzz": 1})
    file = "~/.maia/settings.json"
    assert load_settings(launch, home, {}).notices == (
        close("maxiterations", 3, "MaxIterations"),
        close("LiteLLM_Url", 4, "LiteLLM_URL"),
        Notice("warn", "settings.unknown", {"file": file, "line": 5, "name": "zzz"}),
    )


def test_a_key_written_twice_is_named_and_the_last_counts(home: Path, launch: Path) -> None:
    write(home, b'{"model": "a",\n"model": "b"}')
    settings = load_settings(launch, home, {})
    assert settings.model == "b"
    assert settings.notices == (
        Notice("warn", "settings.twice", {"file": "~/.maia/settings.json", "line": 2, "name": "model"}),
    )


def test_a_wrong_environment_value_is_a_warning_and_a_wrong_option_is_refused(home: Path, launch: Path) -> None:
    settings = load_settings(launch, home, {"MAIA_EFFORT": "huge"})
    assert settings.notices == (Notice("warn", "settings.env.effort", {"name": "MAIA_EFFORT"}),)
    with pytest.raises(UsageProblem) as caught:
        load_settings(launch, home, {}, {"MaxIterations": 0})
    assert (caught.value.key, caught.value.values) == (
        "settings.option.count",
        {"option": "--max-iterations", "given": "0"},
    )


# What a folder may do (decisions §9) --------------------------------------------------------------------------------


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("key", ["LiteLLM_URL", "OpenAI_EndPoint", "LiteLLM_Models", "LiteLLM_API_Key", "endpoints"])
def test_a_folder_never_says_where_requests_go(home: Path, launch: Path, key: str, trusted: bool) -> None:
    write(home, {"LiteLLM_URL": "http://mine"})
    write(launch, {key: {} if key == "endpoints" else "http://evil"})
    settings = load_settings(launch, home, {}, folder_trusted=trusted)
    assert settings.plain() == {"LiteLLM_URL": "http://mine"}
    assert settings.notices == (
        Notice("warn", "settings.not_from_folder", {"file": "./.maia/settings.json", "line": 2, "name": key}),
    )


def test_an_untrusted_folder_can_only_restrict(home: Path, launch: Path) -> None:
    write(home, {"MaxIterations": 30, "MaxOutputTokens": 1000})
    write(launch, {"MaxIterations": 99, "MaxOutputTokens": 500, "model": "dear", "sandbox": "required"})
    settings = load_settings(launch, home, {})
    assert settings.plain() == {"MaxIterations": 30, "MaxOutputTokens": 500, "sandbox": Sandbox("required")}
    assert settings.notices == (
        Notice("info", "settings.untrusted", {"file": "./.maia/settings.json", "names": "MaxIterations, model"}),
    )
    assert settings.place("MaxIterations") == Place("~/.maia/settings.json", 2)


def test_an_untrusted_folder_does_not_pass_the_built_in_limit_either(home: Path, launch: Path) -> None:
    write(launch, {"MaxIterations": 5000})
    assert load_settings(launch, home, {}).max_iterations == 50
    assert load_settings(launch, home, {}, folder_trusted=True).max_iterations == 5000


def test_even_a_trusted_folder_never_takes_the_wall_down(home: Path, launch: Path) -> None:
    write(home, {"sandbox": {"mode": "required", "network": False}})
    write(launch, {"sandbox": {"mode": "off", "network": True}})
    settings = load_settings(launch, home, {}, folder_trusted=True)
    assert settings.sandbox == Sandbox("required", network=False)
    assert keys(settings) == ["settings.only_stricter"]


@pytest.mark.parametrize(
    ("written", "kept", "name"),
    [
        (["~/notes"], None, "security"),
        ({"foreignMemoryPaths": ["/a", 1, "", "/b"]}, ("/a", "/b"), "security.foreignMemoryPaths"),
        ({"foreignMemoryPaths": "/a"}, (), "security.foreignMemoryPaths"),
        ({"foreignMemoryPaths": ["/a"], "other": 1}, ("/a",), "security.other"),
    ],
)
def test_a_path_to_protect_that_does_not_fit_takes_no_other_with_it(
    home: Path, launch: Path, written: Any, kept: tuple[str, ...] | None, name: str
) -> None:
    write(home, {"security": written})
    settings = load_settings(launch, home, {})
    assert settings.security == Security(kept or ())
    assert [(notice.key, notice.values["name"]) for notice in settings.notices] == [("settings.wrong.security", name)]


def test_no_folder_opens_the_wall_for_itself(home: Path, launch: Path) -> None:
    mine = {"writable": ["~/data"], "readable": ["~/.ssh"], "env": ["GITHUB_TOKEN"]}
    write(home, {"sandbox": mine})
    write(launch, {"sandbox": {"network": False, "writable": ["/"], "env": ["OPENAI_API_KEY"]}})
    settings = load_settings(launch, home, {}, folder_trusted=True)
    assert settings.sandbox == Sandbox("auto", False, ("~/data",), ("~/.ssh",), ("GITHUB_TOKEN",))
    assert keys(settings) == ["settings.only_stricter"]


def test_started_in_the_home_folder_the_one_file_is_the_users_own(home: Path) -> None:
    write(home, {"LiteLLM_URL": "http://mine"})
    settings = load_settings(home, home, {})
    assert (settings.plain(), len(settings.files), settings.notices) == ({"LiteLLM_URL": "http://mine"}, 1, ())


def test_the_parent_folder_is_not_read(home: Path, launch: Path) -> None:
    write(launch, {"MaxIterations": 3})
    (launch / "sub").mkdir()
    assert load_settings(launch / "sub", home, {}) == Settings()


# Properties ---------------------------------------------------------------------------------------------------------


@given(st.binary(max_size=300) | st.text(alphabet='{}[]",:\\/#\n a1', max_size=60).map(str.encode))
def test_no_content_whatever_raises(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.json"
        path.write_bytes(content)
        file = read_settings_file(path, "x")
    assert file is not None
    assert not file.values or not [p for p in file.problems if p.key != "settings.twice"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON, st.integers(0, 3))
def test_every_value_has_the_line_on_which_it_stands(value: Any, indent: int) -> None:
    text = json.dumps(value, indent=indent or None, ensure_ascii=False)
    lines, twice = _lines_of(text)
    assert twice == []
    paths = {(): value}
    for where in lines:
        here: Any = value
        for step in where:
            here = here[step]
        paths[where] = here
    rows = text.split("\n")
    for where, line in lines.items():
        if where and isinstance(where[-1], str):
            assert json.dumps(where[-1], ensure_ascii=False) in rows[line - 1]

    def count(node: Any) -> int:
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        return 1 + sum(map(count, children))

    assert len(lines) == count(value)


@pytest.mark.parametrize(
    ("home_says", "folder_says", "mode"),
    [
        (None, "mask", "mask"),
        ("mask", "block", "block"),
        ("block", "off", "block"),
        ("mask", {"mode": "block", "actions": {"email": "off"}}, "block"),
    ],
)
def test_a_folder_may_only_ask_for_more_privacy(
    launch: Path, home: Path, home_says: str | None, folder_says: object, mode: str
) -> None:
    if home_says:
        write(home, json.dumps({"privacy": home_says}).encode())
    write(launch, json.dumps({"privacy": folder_says}).encode())
    for trusted in (False, True):
        wish = load_settings(launch, home, {}, folder_trusted=trusted).privacy
        assert wish == PrivacyWish(mode)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("value", ["mazk", 1, ["mask"], {"mode": None}, {"mode": ["block"]}])
def test_a_mode_of_privacy_that_is_not_known_masks(launch: Path, home: Path, value: object) -> None:
    write(home, json.dumps({"privacy": value}).encode())
    settings = load_settings(launch, home, {})
    assert settings.privacy == PrivacyWish("mask")
    assert [notice.key for notice in settings.notices] == ["settings.wrong.privacy"]


@pytest.mark.parametrize(
    ("content", "mode", "told"),
    [
        ({"LiteLLM_API_Key": "a-key"}, 0o644, ["settings.closed"]),
        ({"endpoints": [{"name": "a", "url": "http://127.0.0.1:1", "key": "a-key"}]}, 0o640, ["settings.closed"]),
        ({"LiteLLM_API_Key": "a-key"}, 0o600, []),
        ({"endpoints": [{"name": "a", "url": "http://127.0.0.1:1", "keyEnv": "A_KEY"}]}, 0o644, []),
    ],
    ids=["key", "endpoint", "closed", "named"],
)
@pytest.mark.parametrize("place", ["home", "launch"])
def test_a_settings_file_with_a_key_is_closed_to_others(
    home: Path, launch: Path, place: str, content: Any, mode: int, told: list[str]
) -> None:
    file = write(home if place == "home" else launch, content)
    file.chmod(mode)
    settings = load_settings(launch, home, {}, folder_trusted=True)
    closed = [notice for notice in settings.notices if notice.key == "settings.closed"]
    assert [notice.key for notice in closed] == told
    assert stat.S_IMODE(file.stat().st_mode) == (mode & 0o700 if told else mode)
