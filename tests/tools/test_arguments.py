import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.errors import ArgumentProblem, ToolProblem
from maia.tools.arguments import PATH_ALIASES, Parameter, Parameters, received_parameters
from maia.tools.toolbox import built_in_tools
from maia.tools.write import WriteTool
from tests.tools.doubles import ENGLISH, FRENCH

ITEM = Parameters((Parameter("content", "string", required=True), Parameter("state", "string", choices=("a_b", "c"))))
TABLE = Parameters(
    (
        Parameter("path", "string", required=True, aliases=PATH_ALIASES),
        Parameter("limit", "integer", minimum=1),
        Parameter("ratio", "number"),
        Parameter("all", "boolean", aliases=("-a",)),
        Parameter("body", "text"),
        Parameter("items", "list", items=ITEM),
    )
)
NOTHING: dict[str, Any] = {"path": "f", "limit": None, "ratio": None, "all": None, "body": None, "items": None}


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        pytest.param({"path": "f"}, {}, id="only what is required"),
        pytest.param({"file_path": "f"}, {}, id="an alias"),
        pytest.param({"filePath": "f"}, {}, id="an alias in camel case"),
        pytest.param({"filename": "f"}, {}, id="another alias"),
        pytest.param({"path": "f", "file": "g"}, {}, id="its own name wins over an alias"),
        pytest.param({"path": "f", "limit": "12"}, {"limit": 12}, id="a number as a string"),
        pytest.param({"path": "f", "limit": 12.0}, {"limit": 12}, id="an integer as a float"),
        pytest.param({"path": "f", "limit": None}, {}, id="null is absent"),
        pytest.param({"path": "f", "limit": ""}, {}, id="an empty string is absent where it is no text"),
        pytest.param({"path": "f", "ratio": "0.5"}, {"ratio": 0.5}, id="a float as a string"),
        pytest.param({"path": "f", "all": "true"}, {"all": True}, id="true as a string"),
        pytest.param({"path": "f", "all": "False"}, {"all": False}, id="False as Python writes it"),
        pytest.param({"path": "f", "all": 1}, {"all": True}, id="one is true"),
        pytest.param({"path": "f", "-a": True}, {"all": True}, id="an alias that looks like an option"),
        pytest.param({"path": "f", "body": {"é": [1]}}, {"body": '{\n  "é": [\n    1\n  ]\n}\n'}, id="a JSON document"),
        pytest.param({"path": "f", "unknown": 3}, {}, id="an unknown parameter is left out"),
        pytest.param({"arguments": {"path": "f"}}, {}, id="wrapped"),
        pytest.param({"input": '{"path": "f"}'}, {}, id="wrapped as a string"),
        pytest.param('{"path": "f"}', {}, id="the whole object as a string"),
        pytest.param({"path": 5}, {"path": "5"}, id="a number where a string is wanted"),
        pytest.param(
            {"path": "f", "items": '[{"content": "x", "state": "A B"}]'},
            {"items": [{"content": "x", "state": "a_b"}]},
            id="a list as a string, a choice spelled otherwise",
        ),
    ],
)
def test_what_models_clearly_mean_is_read(sent: Any, read: dict[str, Any]) -> None:
    assert TABLE.read(sent) == NOTHING | read


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({}, "missing(received='{}', name='path')"),
        (
            {"pth": "abc", "limit": 3},
            "missing(received='{pth: string(3), limit: integer}', name='path')",
        ),
        (
            {"path": "f", "limit": "many"},
            "type(received='{path: string(1), limit: string(4)}', name='limit', expected='integer', got='string(4)')",
        ),
        (
            {"path": "f", "limit": 1.5},
            "type(received='{path: string(1), limit: number}', name='limit', expected='integer', got='number')",
        ),
        (
            {"path": "f", "limit": True},
            "type(received='{path: string(1), limit: boolean}', name='limit', expected='integer', got='boolean')",
        ),
        (
            {"path": "f", "limit": 0},
            "minimum(received='{path: string(1), limit: integer}', name='limit', minimum=1, got=0)",
        ),
        (
            {"path": ["f"]},
            "type(received='{path: array(1)}', name='path', expected='string', got='array(1)')",
        ),
        (
            {"path": "f", "items": [{"content": "x"}, {"content": "y", "state": "z"}]},
            "choice(received='{path: string(1), items: array(2)}', name='items[1].state', got='z', choices='a_b, c')",
        ),
        (
            {"path": "f", "items": ["x"]},
            "type(received='{path: string(1), items: array(1)}', name='items[0]', expected='object', got='string(1)')",
        ),
        ([1, 2], "not_object(received='array(2)')"),
        ("no json", "not_object(received='string(7)')"),
        ("[" * 5_000, "not_object(received='string(5000)')"),
    ],
)
def test_an_error_lists_the_parameters_received(sent: Any, problem: str) -> None:
    with pytest.raises(ArgumentProblem) as raised:
        TABLE.read(sent)
    assert str(raised.value) == f"tool.argument.{problem}"
    for say in (FRENCH, ENGLISH):
        assert raised.value.values["received"] in say(raised.value.key, **raised.value.values)


def test_the_schema_says_what_is_required_and_no_more_than_needed() -> None:
    assert Parameters((Parameter("path", "string", required=True), Parameter("n", "integer", "how many"))).schema() == {
        "type": "object",
        "properties": {"path": {"type": "string"}, "n": {"type": "integer", "description": "how many"}},
        "required": ["path"],
    }


@pytest.mark.parametrize(
    "alias", ["content", "text", "contents", "file_text", "data", "body", "fileContent", "file_contents", "code"]
)
def test_write_accepts_aliases_of_content(alias: str) -> None:
    assert WriteTool().parse({"path": "f", alias: "x"}).content == "x"


def test_writes_argument_error_advises_to_write_in_several_pieces() -> None:
    with pytest.raises(ArgumentProblem) as raised:
        WriteTool().parse({"path": "f"})
    assert raised.value.values["received"] == "{path: string(1)}"
    assert "in several pieces" in ENGLISH(raised.value.key + ".fix")
    assert "plusieurs morceaux" in FRENCH(raised.value.key + ".fix")


@pytest.mark.parametrize("tool", built_in_tools(), ids=lambda tool: tool.spec.name)
def test_every_tools_argument_error_lists_what_was_received(tool: Any) -> None:
    if not tool.spec.parameters.get("required"):
        return
    with pytest.raises(ArgumentProblem) as raised:
        tool.parse({"nonsense": "four"})
    assert raised.value.values["received"] == "{nonsense: string(4)}"


def test_values_never_stand_in_the_list_of_what_was_received() -> None:
    assert (
        received_parameters({"key": "sk-secret", "n": None, "o": {"a": 1}}) == "{key: string(9), n: null, o: object(1)}"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["path", "offset", "limit", "content", "todos", "old_string", "new_string", "pattern", "context"]
)


@given(st.dictionaries(NAMES | st.text(max_size=6), JSON, max_size=6))
def test_no_arguments_raise_anything_but_a_tool_problem(arguments: dict[str, Any]) -> None:
    for tool in built_in_tools():
        try:
            tool.preview(tool.parse(arguments))
        except ToolProblem:
            continue


def test_every_key_of_the_file_tools_has_words_in_both_languages() -> None:
    source = Path(__file__).parents[2] / "src" / "maia"
    code = [*(source / "tools").rglob("*.py"), source / "core" / "filetext.py", source / "store" / "changes.py"]
    used = {key for file in code for key in re.findall(r'"((?:tool|change)\.[a-z_.]+[a-z])"', file.read_text("utf-8"))}
    for say in (FRENCH, ENGLISH):
        assert sorted(key for key in used - {"tool.argument", "tool.write_argument"} if not say.has(key)) == []
