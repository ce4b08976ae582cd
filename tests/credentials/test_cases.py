from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

import pytest

from maia.credentials.hermes import plan, write
from maia.credentials.hermes_home import agent_home
from maia.credentials.interpolate import interpolate, interpolate_json
from maia.credentials.prefixes import detect
from tests.credentials.made import codes, error, found

MADE = {"«fake 34»": "FAKE" + "0" * 30, "«fake 32»": "FAKE" * 8}
"""The bodies of the cases' tokens, put together here so that no file holds anything of a key's full length."""


def _cases() -> list[dict[str, Any]]:
    text = (Path(__file__).parents[1] / "cases" / "credentials.json").read_text("utf-8")
    for short, body in MADE.items():
        text = text.replace(short, body)
    return json.loads(text)["cases"]


CASES = _cases()


def of(*kinds: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] in kinds]


# Detection ------------------------------------------------------------------------------------------------------------

TOLD = {
    "D15": "TRUNCATED_TOKEN",
    "D20": "TOKEN_TOO_SHORT",
    "D30": "NOT_AN_API_KEY",
    "D45": "NOT_AN_API_KEY",
    "D48": "EMPTY_TOKEN",
    "D50": "TOKEN_WHITESPACE",
    "D51": "TOKEN_WHITESPACE",
    "D53": "TOKEN_WHITESPACE",
    "D54": "MISSING_ENV_VAR",
    "D55": "MASKED_TOKEN",
}
"""What a case's note asks for beside provider and confidence."""


@pytest.mark.parametrize("case", of("detect"))
def test_a_shape_gives_its_provider_and_confidence(case: dict[str, Any]) -> None:
    seen, wanted = detect(case["input"]["token"]), case["expected"]
    allowed = wanted["provider"].replace(" (not an API key)", "").split("|")
    assert seen.provider in allowed
    assert seen.confidence == wanted["confidence"]
    told = TOLD.get(case["id"])
    assert told is None or told in [problem.code for problem in seen.problems]


# Vote and passes ------------------------------------------------------------------------------------------------------

CN, GLOBAL = "https://api.minimaxi.com/anthropic", "https://api.minimax.io/anthropic"

WANTED: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    # id: provider, error, and what else the case names
    "V01": ("minimax-cn", None, {}),
    "V02": ("minimax-cn", None, {}),
    "V03": ("minimax", None, {"base_url": GLOBAL}),
    "V04": ("minimax", None, {"base_url": GLOBAL, "told": "REGION_UNVERIFIED"}),
    "V05": ("minimax-cn", None, {}),
    "V08": ("minimax-cn", None, {"base_url": CN}),
    "V09": ("minimax", None, {"base_url": GLOBAL}),
    "V10": ("minimax", None, {"told": "UNDOCUMENTED_HOST"}),
    "V11": ("minimax-cn", None, {}),
    "V12": ("minimax", None, {}),
    "V14": ("minimax-cn", None, {"told": "SWITCH_OVERRULED", "decided_by": "hint"}),
    "V15": ("minimax-cn", None, {"told": "HINT_CONFLICT"}),
    "V16": ("minimax", "TOKEN_URL_CONFLICT", {"told": "TOKEN_URL_CONFLICT", "host": ""}),
    "V17": ("minimax", "TOKEN_URL_CONFLICT", {"told": "HINT_CONFLICT", "host": ""}),
    "V18": ("minimax", "TOKEN_URL_CONFLICT", {"host": ""}),
    "V19": ("minimax-cn", None, {"told": "CUSTOM_ENDPOINT", "host": "127.0.0.1"}),
    "V21": ("minimax-cn", None, {"host": "api.minimaxi.com"}),
    "V22": ("minimax-cn", None, {}),
    "V23": ("minimax-cn", None, {}),
    "V24": ("zai", None, {"told": "HINT_CONFLICT", "hermes": "zai"}),
    "V25": ("zai", None, {}),
    "V26": ("zai", None, {"confidence": "ambiguous", "told": "AMBIGUOUS_TOKEN"}),
    "V27": ("zai", "TOKEN_URL_CONFLICT", {}),
    "V29": ("anthropic", None, {"var": "ANTHROPIC_API_KEY"}),
    "V31": ("anthropic", None, {"told": "HINT_CONFLICT", "hermes": "anthropic"}),
    "V32": ("anthropic", "TOKEN_URL_CONFLICT", {"host": ""}),
    "V33": ("openrouter", "OPENROUTER_BLOCKED", {"host": "openrouter.ai"}),
    "V34": ("openrouter", "OPENROUTER_BLOCKED", {}),
    "V35": ("openrouter", "OPENROUTER_BLOCKED", {}),
    "V36": ("openai", None, {"confidence": "ambiguous", "hermes": "openai-api"}),
    "V37": ("openai", None, {"confidence": "exact"}),
    "V40": ("unknown", "UNKNOWN_PROVIDER", {"host": ""}),
    "V42": ("openai", None, {"told": "HINT_CONFLICT", "decided_by": "url"}),
    "V43": ("mistral", None, {"base_url": "https://api.mistral.ai/v1", "decided_by": "hint"}),
    "V46": ("google", None, {"confidence": "exact"}),
    "V47": ("azure-openai", None, {"var": "AZURE_OPENAI_API_KEY", "decided_by": "url"}),
    "V48": ("minimax", None, {"host": "api.minimax.io"}),
    "R01": ("minimax-cn", None, {}),
    "R02": ("minimax-cn", None, {}),
    "R03": ("minimax-cn", None, {}),
    "R04": ("none", "MISSING_ENV_VAR", {"where": "settings_a.json: ANTHROPIC_AUTH_TOKEN", "variable": "NOT_SET_X"}),
    "R05": ("none", "MISSING_ENV_VAR", {"where": "settings_a.json: ANTHROPIC_AUTH_TOKEN"}),
    "R08": ("none", "MISSING_ENV_VAR", {}),
    "R09": ("minimax-cn", None, {"source": "MINIMAX_API_KEY", "told": "KEY_PASSED_OVER"}),
    "R10": ("minimax-cn", None, {"source": "MINIMAX_API_KEY"}),
    "R11": ("minimax-cn", None, {"source": "MINIMAX_CN_API_KEY"}),
    "R12": ("zai", None, {"source": "GLM_API_KEY"}),
    "R13": ("minimax-cn", None, {"source": "ANTHROPIC_AUTH_TOKEN"}),
    "R15": ("openrouter", "OPENROUTER_BLOCKED", {}),
    "R20": ("minimax", None, {"source": "MINIMAX_API_KEY", "host": "api.minimax.io"}),
    "R21": ("none", "NO_LLM_TOKEN", {}),
    "R22": ("minimax-cn", None, {}),
    "R23": ("zai", "TOKEN_URL_CONFLICT", {}),
    "R24": ("minimax-cn", None, {"told": "TOKEN_WHITESPACE"}),
    "R25": ("anthropic", None, {"told": "TOKEN_WHITESPACE"}),
    "R26": ("anthropic", None, {"told": "TOKEN_WHITESPACE"}),
    "R27": ("anthropic", None, {"told": "TOKEN_WHITESPACE"}),
    "R28": ("anthropic", None, {"decided_by": "url"}),
}


@pytest.mark.parametrize("case", of("vote", "resolve"))
def test_a_key_in_its_places_gets_the_wanted_result(case: dict[str, Any], tmp_path: Path) -> None:
    given = case["input"]
    seen = found(tmp_path, given["settings_env"], given["proc_env"], given.get("pre_env", ""))
    provider, problem, more = WANTED[case["id"]]
    assert (seen.provider, error(seen)) == (provider, problem), case["expected"]
    told, var = more.get("told"), more.get("var")
    assert told is None or told in codes(seen)
    assert var is None or var in seen.env_vars
    values = seen.error.values if seen.error else {}
    shown = {
        **values,
        "hermes": seen.hermes.provider if seen.hermes else None,
        **{name: getattr(seen, name) for name in ("base_url", "host", "confidence", "source", "decided_by")},
    }
    plain = {name: value for name, value in more.items() if name not in ("told", "var")}
    assert {name: shown[name] for name in plain} == plain


def test_every_published_case_has_its_wanted_result() -> None:
    assert {case["id"] for case in CASES if case["kind"] in ("vote", "resolve")} == set(WANTED)


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in CASES if c["id"] in ("R22", "R23")])
def test_a_persons_own_line_stays_in_the_agents_env(case: dict[str, Any], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".env").write_text(case["input"]["pre_env"], "utf-8")
    seen = found(tmp_path, case["input"]["settings_env"], case["input"]["proc_env"], case["input"]["pre_env"])
    write(seen, home)
    assert (home / ".env").read_text("utf-8").startswith(case["input"]["pre_env"])


def test_without_a_key_no_file_is_written(tmp_path: Path) -> None:
    seen = found(tmp_path, {"ANTHROPIC_MODEL": "m"}, {"STRIPE_API_KEY": "FAKEstripe"})
    assert write(seen, tmp_path / "home").changes == ()
    assert not (tmp_path / "home").exists()


# auth.json ------------------------------------------------------------------------------------------------------------


def auth_after(case: dict[str, Any], folder: Path) -> tuple[dict[str, Any], list[str]]:
    home = folder / "home"
    home.mkdir()
    (home / "auth.json").write_text(json.dumps(case["input"]["pre_auth"]), "utf-8")
    planned = write(found(folder, case["input"]["settings_env"], case["input"]["proc_env"]), home)
    return json.loads((home / "auth.json").read_text("utf-8")), [problem.code for problem in planned.problems]


def by_id(name: str) -> dict[str, Any]:
    return next(case for case in CASES if case["id"] == name)


def test_only_the_effective_bucket_stays_and_all_else_of_the_file(tmp_path: Path) -> None:
    case = by_id("A01")
    after, _ = auth_after(case, tmp_path)
    before = case["input"]["pre_auth"]
    pool = after.pop("credential_pool")
    assert after == {name: value for name, value in before.items() if name != "credential_pool"}
    assert list(pool) == ["minimax-cn"]
    ours, sibling = pool["minimax-cn"]
    assert sibling == before["credential_pool"]["minimax-cn"][0]
    assert (ours["source"], ours["base_url"], ours["last_status"]) == ("manual", CN, None)
    assert ours["access_token"] == case["input"]["settings_env"]["ANTHROPIC_AUTH_TOKEN"]


def test_an_unknown_version_is_left_alone(tmp_path: Path) -> None:
    case = by_id("A03")
    assert auth_after(case, tmp_path) == (case["input"]["pre_auth"], ["AUTH_VERSION"])


def test_providers_null_becomes_an_empty_object(tmp_path: Path) -> None:
    after, _ = auth_after(by_id("A04"), tmp_path)
    assert (after["providers"], list(after["credential_pool"])) == ({}, ["minimax-cn"])


# Interpolation --------------------------------------------------------------------------------------------------------

ENV = {"HOMEX": "/home/x", "REGION": "cp", "EMPTY": "", "A": "$B", "B": "two", "MY": "my", "MY_VAR": "other"}

FILLED = {
    "I01": ("/home/x", []),
    "I02": ("/home/x", []),
    "I03": ("sk-cp-x", []),
    "I04": ("", ["DOLLAR_ESCAPE"]),
    "I05": ("HOMEX", ["DOLLAR_ESCAPE"]),
    "I06": ("\\/home/x", []),  # the case names no wanted value; I07 is its twin with braces
    "I07": ("\\/home/x", []),
    "I09": ("${}", []),
    "I12": ("/home/x}", []),
    "I13": ("", ["UNRESOLVED_VAR"]),
    "I15": ("x", []),
    "I16": ("$B", []),
    "I17": ("$Btwo", []),
    "I18": ("${MISSING:-dflt}", ["UNSUPPORTED_SYNTAX"]),
    "I19": ("${HOMEX:-dflt}", ["UNSUPPORTED_SYNTAX"]),
    "I20": ("", ["UNRESOLVED_VAR"]),
    "I21": ("my_VAR", []),
    "I24": ("cost $100", []),
    "I25": ("%HOMEX%", []),
    "I26": (":HOMEX", ["UNRESOLVED_VAR"]),
    "I27": ('{"a":"two"}', []),
}


@pytest.mark.parametrize("case", of("interpolate"))
def test_a_reference_is_filled_in_once(case: dict[str, Any]) -> None:
    filled = interpolate(case["input"], ENV)
    assert (filled.text, [problem.code for problem in filled.problems]) == FILLED[case["id"]]


def test_values_of_objects_and_lists_are_filled_in_and_names_are_not() -> None:
    value = {"$B": ["$B", {"x": "${B}"}, 1, None]}
    assert interpolate_json(value, ENV)[0] == {"$B": ["two", {"x": "two"}, 1, None]}


# The home folder ------------------------------------------------------------------------------------------------------

ROOT = {"OVERMIND_AGENT_HOME": "/var/lib/overmind/hermes"}
USER = {"HOME": "/home/me"}
WINDOWS = {"LOCALAPPDATA": r"C:\Users\me\AppData\Local", "USERPROFILE": r"C:\Users\me"}
OLD = "/ws/.overmind/hermes/agent_a/.hermes"

HOMES: dict[str, tuple[str, dict[str, str], str, str | None]] = {
    # id: agent, environment, platform, wanted path
    "H01": ("a", USER, "linux", "/home/me/.overmind/hermes/agent_a/.hermes"),
    "H03": ("a", USER | ROOT, "linux", "/var/lib/overmind/hermes/agent_a/.hermes"),
    "H04": ("b", USER | ROOT, "linux", "/var/lib/overmind/hermes/agent_b/.hermes"),
    "H05": ("a", USER, "linux", OLD),
    "H06": ("a", USER | {"LOCALAPPDATA": "/mnt/c"}, "linux", "/home/me/.overmind/hermes/agent_a/.hermes"),
    "H07": ("a", USER | {"USERPROFILE": "/mnt/c"}, "linux", "/home/me/.overmind/hermes/agent_a/.hermes"),
    "H08": ("b", WINDOWS, "win32", r"C:\Users\me\AppData\Local\overmind\hermes\agent_b\.hermes"),
    "H09": (
        "b",
        {"USERPROFILE": WINDOWS["USERPROFILE"]},
        "win32",
        r"C:\Users\me\overmind\hermes\agent_b\.hermes",
    ),
    "H10": ("a", USER, "darwin", "/home/me/.overmind/hermes/agent_a/.hermes"),
    "H11": ("../../../../etc/x", USER, "linux", None),
    "H13": ("a", USER | {"OVERMIND_AGENT_HOME": "rel/dir"}, "linux", "/ws/rel/dir/agent_a/.hermes"),
}


@pytest.mark.parametrize("case", of("hermes_home"))
def test_an_agents_home_is_where_it_always_was(case: dict[str, Any]) -> None:
    agent, env, platform, wanted = HOMES[case["id"]]

    def exists(path: PurePath) -> bool:
        return case["id"] == "H05" and str(path) == OLD

    home = agent_home(agent, env, "C:\\ws" if platform == "win32" else "/ws", platform=platform, exists=exists)
    assert (str(home.path) if home.path else None) == wanted
    told = {"H05": ["LEGACY_HOME"], "H11": ["INVALID_AGENT_NAME"]}
    assert [problem.code for problem in home.problems] == told.get(case["id"], [])


def test_a_refused_key_changes_nothing_even_in_a_plan(tmp_path: Path) -> None:
    case = by_id("V16")
    planned = plan(found(tmp_path, case["input"]["settings_env"], {}), tmp_path / "home")
    assert ([p.code for p in planned.problems], planned.changes) == (["TOKEN_URL_CONFLICT"], ())
