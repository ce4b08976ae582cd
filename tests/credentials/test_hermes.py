from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.providers import PROVIDERS
from maia.credentials import all_or_none
from maia.credentials.all_or_none import JOURNAL, locked, recover, replace_all
from maia.credentials.hermes import Plan, child_environment, finish, launch_options, plan, write
from maia.credentials.hermes_files import BEGIN, END, env_text, masked_auth, masked_env, person_values
from maia.credentials.hermes_home import agent_home, agent_name
from maia.credentials.providers import NO_PLUGIN, hermes_of
from maia.credentials.vote import Resolution
from tests.credentials.made import ANTHROPIC, MINIMAX, ZAI, fake, found, hex_key, vote


def env_of(home: Path) -> dict[str, str]:
    """`.env` as a reader of it sees it: the last assignment wins."""
    rows = [line.partition("=") for line in (home / ".env").read_text("utf-8").splitlines() if "=" in line]
    return {name: value.strip("'") for name, _, value in rows if not name.startswith("#")}


def pool_of(home: Path) -> dict[str, list[dict[str, Any]]]:
    return json.loads((home / "auth.json").read_text("utf-8"))["credential_pool"]


def told(planned: Plan) -> list[str]:
    return [problem.code for problem in planned.problems]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# .env -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "hermes", "wanted"),
    [
        pytest.param(
            vote(MINIMAX, "https://api.minimax.io/anthropic"),
            "minimax",
            {"MINIMAX_API_KEY": MINIMAX, "MINIMAX_BASE_URL": "https://api.minimax.io/anthropic"},
            id="minimax",
        ),
        pytest.param(
            vote(MINIMAX),
            "minimax-cn",
            {"MINIMAX_CN_API_KEY": MINIMAX, "MINIMAX_CN_BASE_URL": "https://api.minimaxi.com/anthropic"},
            id="minimax-cn",
        ),
        pytest.param(
            vote(ZAI),
            "zai",
            {
                "GLM_API_KEY": ZAI,
                "ZAI_ANTHROPIC_FALLBACK_KEY": ZAI,
                "GLM_BASE_URL": "https://api.z.ai/api/paas/v4",
            },
            id="zai",
        ),
        pytest.param(
            vote(fake("sk-proj-", 100)),
            "openai-api",
            {"OPENAI_API_KEY": fake("sk-proj-", 100), "OPENAI_BASE_URL": "https://api.openai.com/v1"},
            id="openai",
        ),
        pytest.param(vote(ANTHROPIC), "anthropic", {"ANTHROPIC_API_KEY": ANTHROPIC}, id="anthropic"),
        pytest.param(
            vote(fake("sk-ant-oat01-", 60)),
            "anthropic",
            {"CLAUDE_CODE_OAUTH_TOKEN": fake("sk-ant-oat01-", 60)},
            id="anthropic OAuth",
        ),
        pytest.param(
            vote(fake("AIza", 39)),
            "gemini",
            {
                "GOOGLE_API_KEY": fake("AIza", 39),
                "GEMINI_API_KEY": fake("AIza", 39),
                "GEMINI_BASE_URL": "https://generativelanguage.googleapis.com/v1beta",
            },
            id="google, whose plugin speaks the native format",
        ),
        pytest.param(
            vote("FAKE-gateway-key", "http://127.0.0.1:4000/v1"),
            "openai-api",
            {"OPENAI_API_KEY": "FAKE-gateway-key", "OPENAI_BASE_URL": "http://127.0.0.1:4000/v1"},
            id="custom",
        ),
        pytest.param(
            vote(fake("gsk_", 56)),
            "custom",
            {"GROQ_API_KEY": fake("gsk_", 56), "CUSTOM_BASE_URL": "https://api.groq.com/openai/v1"},
            id="a provider without a plugin",
        ),
        pytest.param(
            vote(fake("gsk_", 56), "http://127.0.0.1:4000/v1"),
            "openai-api",
            {
                "GROQ_API_KEY": fake("gsk_", 56),
                "OPENAI_API_KEY": fake("gsk_", 56),
                "OPENAI_BASE_URL": "http://127.0.0.1:4000/v1",
            },
            id="a provider without a plugin behind a proxy",
        ),
    ],
)
def test_env_holds_the_canonical_fields_and_what_the_plugin_reads(
    seen: Resolution, hermes: str, wanted: dict[str, str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert told(write(seen, home, "some/model-1")) == []
    assert seen.key is not None
    canonical = {
        "ANTHROPIC_MODEL": "some/model-1",
        "ANTHROPIC_AUTH_TOKEN": seen.key.reveal(),
        "ANTHROPIC_PROVIDER": seen.provider,
        "ANTHROPIC_BASE_URL": seen.base_url,
    }
    assert env_of(home) == canonical | wanted
    assert launch_options(seen, "m") == ("--provider", hermes, "--model", "m")
    assert list(pool_of(home)) == [hermes]


def test_without_a_plugin_hermes_makes_the_variables_name_of_the_host() -> None:
    for provider in PROVIDERS:
        theirs = hermes_of(provider)
        if theirs.provider == NO_PLUGIN and provider.base_url:
            label = provider.base_url.split("/")[2].split(".")[-2]
            assert f"{label.upper().replace('-', '_')}_API_KEY" in theirs.key_vars


def test_nothing_else_of_the_environment_is_written(tmp_path: Path) -> None:
    env = {"MINIMAX_API_KEY": MINIMAX, "STRIPE_API_KEY": "FAKEstripe", "DATABASE_URL": "FAKEpw", "PATH": "/bin"}
    write(found(tmp_path, None, env), tmp_path / "home")
    text = (tmp_path / "home" / ".env").read_text("utf-8")
    assert not any(word in text for word in ("STRIPE", "FAKE", "DATABASE", "PATH="))


def test_a_persons_lines_and_comments_stay_byte_for_byte(tmp_path: Path) -> None:
    before = "\ufeff# mine\r\nMY_CUSTOM='keep me' # why\r\n\r\nexport X=1\r\nlatin=\udce9\r\nlast=no line end"
    (tmp_path / ".env").write_bytes(before.encode("utf-8", "surrogateescape"))
    for _ in range(3):
        write(vote(MINIMAX), tmp_path)
    after = (tmp_path / ".env").read_bytes().decode("utf-8", "surrogateescape")
    assert after.startswith(before + "\r\n" + BEGIN + "\r\n")
    assert after.count(BEGIN) == after.count(END) == 1


def test_what_we_wrote_before_is_no_signal_at_the_next_run(tmp_path: Path) -> None:
    write(vote(MINIMAX), tmp_path, "MiniMax-M3")
    assert person_values((tmp_path / ".env").read_text("utf-8")) == {}
    write(vote(ZAI), tmp_path)
    assert "MINIMAX_CN_API_KEY" not in env_of(tmp_path)
    assert env_of(tmp_path)["ANTHROPIC_PROVIDER"] == "zai"


def test_a_line_end_in_a_value_sets_no_variable(tmp_path: Path) -> None:
    assert told(write(vote(MINIMAX), tmp_path / "home", "m\nEVIL=1")) == ["INVALID_VALUE"]
    assert not (tmp_path / "home").exists()


@given(st.text("abcABC0189_-./$#'\"\\ =é", min_size=1))
def test_a_written_value_is_read_back_as_it_was(value: str) -> None:
    assert person_values(env_text("", {"NAME": value}).replace(BEGIN, "#").replace(END, "#"))["NAME"] == value


@given(st.text(), st.text("abc\n=#"))
def test_any_file_keeps_its_lines(before: str, value: str) -> None:
    once = env_text(before, {"A": "x"})
    assert env_text(once, {"A": "y"}) == env_text(before, {"A": "y"})
    person_values(before + value)


# auth.json ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{broken", id="no JSON"),
        pytest.param("[1]", id="a list"),
        pytest.param("[" * 100_000, id="endlessly nested"),
        pytest.param(
            '{"version": 1, "credential_pool": [1], "providers": {"nous": {"k": 1}}}', id="a pool that is none"
        ),
    ],
)
def test_a_malformed_file_is_kept_beside_with_a_warning(text: str, tmp_path: Path) -> None:
    for n in range(2):
        (tmp_path / "auth.json").write_text(text + " " * n, "utf-8")
        assert "CORRUPT_KEPT" in told(write(vote(MINIMAX), tmp_path))
    assert (tmp_path / "auth.json.corrupt").read_text("utf-8") == text
    assert mode(tmp_path / "auth.json.corrupt") == 0o600
    assert (tmp_path / "auth.json.corrupt.1").exists()
    assert list(pool_of(tmp_path)) == ["minimax-cn"]
    if "nous" in text:
        assert json.loads((tmp_path / "auth.json").read_text("utf-8"))["providers"] == {"nous": {"k": 1}}


def test_the_pool_is_seeded_anew_at_each_run_and_siblings_stay(tmp_path: Path) -> None:
    write(vote(MINIMAX), tmp_path)
    store = json.loads((tmp_path / "auth.json").read_text("utf-8"))
    store["credential_pool"]["minimax-cn"][0]["last_status"] = "exhausted"
    store["credential_pool"]["minimax-cn"] += [
        {"id": "k2", "access_token": "FAKE-2"},
        {"id": "k3", "access_token": MINIMAX},
        7,
    ]
    store["credential_pool"]["zai"] = [{"id": "old"}]
    (tmp_path / "auth.json").write_text(json.dumps(store), "utf-8")
    write(vote(MINIMAX), tmp_path)
    pool = pool_of(tmp_path)
    assert list(pool) == ["minimax-cn"]
    assert [(e["id"], e.get("last_status")) for e in pool["minimax-cn"]] == [("maia", None), ("k2", None)]


def test_texts_that_utf8_cannot_hold_stay_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_bytes(b'{"label": "\\ud800 \xe9 \xc3\xa9"}')
    write(vote(MINIMAX), tmp_path)
    assert json.loads((tmp_path / "auth.json").read_text("utf-8"))["label"] == "\ud800 \udce9 é"


@pytest.mark.parametrize("version", [2, "1", None, True, 1.5])
def test_an_unknown_version_changes_nothing(version: object, tmp_path: Path) -> None:
    text = json.dumps({"version": version})
    (tmp_path / "auth.json").write_text(text, "utf-8")
    assert told(write(vote(MINIMAX), tmp_path)) == ["AUTH_VERSION"]
    assert (tmp_path / "auth.json").read_text("utf-8") == text
    assert not (tmp_path / ".env").exists()


# Files ----------------------------------------------------------------------------------------------------------------


def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    home = tmp_path / "a" / "agent_x" / ".hermes"
    before = os.umask(0)
    try:
        write(vote(MINIMAX), home)
    finally:
        os.umask(before)
    assert {mode(home / name) for name in (".env", "auth.json", ".maia.lock", "auth.lock")} == {0o600}
    assert {mode(folder) for folder in (home, home.parent, home.parent.parent)} == {0o700}


def test_files_that_others_could_read_are_closed_and_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\n")
    (tmp_path / ".env").chmod(0o644)
    tmp_path.chmod(0o755)
    assert told(write(vote(MINIMAX), tmp_path)) == ["FILE_EXPOSED"]
    assert (mode(tmp_path / ".env"), mode(tmp_path)) == (0o600, 0o700)


def test_files_that_need_no_change_are_closed_too(tmp_path: Path) -> None:
    write(vote(MINIMAX), tmp_path)
    (tmp_path / "auth.json").chmod(0o640)
    assert told(write(vote(MINIMAX), tmp_path)) == ["FILE_EXPOSED"]
    assert mode(tmp_path / "auth.json") == 0o600


@pytest.mark.parametrize("name", [".env", "auth.json"])
def test_a_link_is_not_written_through(name: str, tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.write_text("mine")
    (home / name).symlink_to(elsewhere)
    assert told(write(vote(MINIMAX), home)) == ["UNSAFE_LINK"]
    assert elsewhere.read_text() == "mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_somebody_elses_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\n")
    os.chown(tmp_path / ".env", 12345, 12345)
    assert told(write(vote(MINIMAX), tmp_path)) == ["FOREIGN_OWNER"]


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    done: list[Plan] = []
    with locked(tmp_path / ".maia.lock"):
        thread = threading.Thread(target=lambda: done.append(write(vote(MINIMAX), tmp_path)))
        thread.start()
        thread.join(0.3)
        assert done == []
    thread.join(10)
    assert told(done[0]) == []


def test_a_lock_that_is_never_given_back_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_or_none.time, "monotonic", iter([0.0, 100.0, 200.0, 300.0]).__next__)
    fd = os.open(tmp_path / "auth.lock", os.O_CREAT | os.O_RDWR)
    try:
        all_or_none.fcntl.flock(fd, all_or_none.fcntl.LOCK_EX)
        assert told(write(vote(MINIMAX), tmp_path)) == ["HOME_LOCKED"]
    finally:
        os.close(fd)


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vote(ZAI), tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in (".env", "auth.json")}
    calls = iter(range(100))

    def full(_fd: int) -> None:
        if next(calls) == 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(all_or_none.os, "fsync", full)
    assert told(write(vote(MINIMAX), tmp_path)) == ["WRITE_FAILED"]
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert [path.name for path in tmp_path.glob(".*maia-new*")] == []


_KILLED = """
import os, signal, sys
from pathlib import Path
from maia.credentials import all_or_none
at, seen = int(sys.argv[2]), [0]
def counted(original):
    def call(*args, **options):
        if seen[0] == at:
            os.kill(os.getpid(), signal.SIGKILL)
        seen[0] += 1
        return original(*args, **options)
    return call
for name in ("replace", "open", "unlink"):
    setattr(all_or_none.os, name, counted(getattr(os, name)))
all_or_none.replace_all(Path(sys.argv[1]), {".env": b"new env", "auth.json": b"new auth"})
print("done")
"""


def test_a_kill_at_any_moment_leaves_both_old_or_both_new(tmp_path: Path) -> None:
    results: list[tuple[str, str]] = []
    src = str(Path(all_or_none.__file__).parents[2])
    for at in range(60):
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / ".env").write_text("old env")
        (folder / "auth.json").write_text("old auth")
        done = subprocess.run(
            [sys.executable, "-c", _KILLED, str(folder), str(at)], capture_output=True, env={"PYTHONPATH": src}
        )
        recover(folder)
        results.append(((folder / ".env").read_text(), (folder / "auth.json").read_text()))
        assert sorted(path.name for path in folder.iterdir()) == [".env", "auth.json"]
        if done.stdout:
            break
        assert done.returncode == -9, done.stderr
    else:
        pytest.fail("it never came to its end")
    assert set(results) == {("old env", "old auth"), ("new env", "new auth")}
    assert len(results) > 8


def test_an_interrupted_write_is_finished_before_a_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "auth.json").write_text("old")
    monkeypatch.setattr(all_or_none, "recover", lambda _: None)
    replace_all(tmp_path, {".env": b"new", "auth.json": b"new"})
    assert ((tmp_path / JOURNAL).exists(), (tmp_path / "auth.json").read_text()) == (True, "old")
    monkeypatch.undo()
    finish(tmp_path)
    assert ((tmp_path / JOURNAL).exists(), (tmp_path / "auth.json").read_text()) == (False, "new")


def test_nothing_to_change_writes_nothing(tmp_path: Path) -> None:
    write(vote(MINIMAX), tmp_path)
    before = [(tmp_path / name).stat().st_ino for name in (".env", "auth.json")]
    assert [change.is_needed for change in write(vote(MINIMAX), tmp_path).changes] == [False, False]
    assert [(tmp_path / name).stat().st_ino for name in (".env", "auth.json")] == before


# Shown without keys ---------------------------------------------------------------------------------------------------


def test_a_plan_shows_the_change_with_keys_masked(tmp_path: Path) -> None:
    write(vote(ZAI), tmp_path)
    planned = plan(vote(MINIMAX), tmp_path, "m1")
    shown = [line for change in planned.changes for line in change.shown()]
    assert f"+MINIMAX_CN_API_KEY=sk-cp-…({len(MINIMAX)})" in shown
    assert f"-GLM_API_KEY=…({len(ZAI)})" in shown
    assert "+ANTHROPIC_MODEL=m1" in shown
    assert not any(token in "\n".join(shown) + repr(planned) for token in (MINIMAX, ZAI))


def test_secrets_that_are_not_ours_are_masked_too() -> None:
    other = fake("", 30)
    env, auth = (
        f"STRIPE_API_KEY={other}\nDB_PASSWORD='{other}'\nPLAIN=shown",
        {"providers": {"n": {"refresh_token": other}}},
    )
    assert other not in "\n".join([*masked_env(env), *masked_auth(json.dumps(auth))])
    assert masked_env("PLAIN=shown") == ["PLAIN=shown"]
    assert masked_auth("{broken " + other) == ["…(38)"]


# Names and launch -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("", "central"),
        ("  ", "central"),
        ("a", "a"),
        ("sniperbot_analyst", "sniperbot_analyst"),
        ("v1.2-b", "v1.2-b"),
        ("développeur", "développeur"),
        (".", None),
        ("..", None),
        ("a/b", None),
        ("a\\b", None),
        ("a..b", None),
        (".hidden", None),
        ("a.", None),
        ("a b", None),
        ("a\x00", None),
        ("a\nb", None),
        ("-rf", None),
        ("CON", None),
        ("nul.txt", None),
        ("x" * 65, None),
        ("~root", None),
        ("$HOME", None),
    ],
)
def test_a_name_that_could_lead_elsewhere_is_refused(given: str, name: str | None) -> None:
    assert agent_name(given) == name


def test_two_names_never_share_a_home() -> None:
    env = {"HOME": "/h"}
    homes = [
        agent_home(name, env, "/ws", platform="linux", exists=lambda _: False).path for name in ("", "a", "b", "ab")
    ]
    assert len(set(homes)) == 4


def test_without_a_home_folder_there_is_none() -> None:
    home = agent_home("a", {}, "/ws", platform="linux", exists=lambda _: False)
    assert (home.path, [p.code for p in home.problems]) == (None, ["NO_HOME"])


def test_the_child_gets_allow_listed_names_and_only_the_chosen_key(tmp_path: Path) -> None:
    env = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "HTTPS_PROXY": "http://p",
        "ANTHROPIC_AUTH_TOKEN": ANTHROPIC,
        "OPENAI_API_KEY": fake("sk-proj-"),
        "STRIPE_API_KEY": "FAKE",
        "AWS_SECRET_ACCESS_KEY": "FAKE",
        "LD_PRELOAD": "x.so",
        "PYTHONPATH": "/x",
    }
    assert child_environment(vote(MINIMAX, hint="zai"), tmp_path, env) == {
        "PATH": "/bin",
        "LC_ALL": "C",
        "HTTPS_PROXY": "http://p",
        "MINIMAX_CN_API_KEY": MINIMAX,
        "MINIMAX_CN_BASE_URL": "https://api.minimaxi.com/anthropic",
        "HERMES_HOME": str(tmp_path),
        "HERMES_DISABLE_LAZY_INSTALLS": "1",
    }
    assert launch_options(vote(MINIMAX, hint="zai"))[1] == "minimax-cn", "the winner, never the hint"


def test_a_refused_key_is_not_launched_with() -> None:
    assert launch_options(vote(MINIMAX, "https://api.z.ai")) == ()
    assert launch_options(vote(hex_key(20))) == ()
