import asyncio
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maia.core.costs import Usage
from maia.core.errors import SettingsProblem
from maia.core.events import TextDelta, ToolCallDrafted, WireAnswer, WireEvent
from maia.core.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
)
from maia.core.requests import ModelRequest, Section, ToolSpec
from maia.core.submission import Attachment
from maia.database.memories import NoteRow
from maia.engine.attached import attachment_text
from maia.i18n.catalogue import Catalogue
from maia.llm.offline import OfflineWire, open_offline, pieces
from maia.llm.offline_requests import Wish, language_of, understand
from maia.llm.offline_results import (
    Outline,
    entries,
    fenced,
    file_text,
    first_paragraph,
    is_cut,
    listed,
    matches,
    outline,
    tail_to_extend,
)
from maia.llm.window import QUESTION
from maia.workspace.remembering.moment import turn_time
from maia.workspace.remembering.recall import laid_out

SAYS = {"fr": Catalogue("fr", strict=True), "en": Catalogue("en", strict=True)}
TOOLS = tuple(
    ToolSpec(name, "", {"type": "object"})
    for name in ("Read", "Write", "Edit", "Bash", "Glob", "Grep", "TodoWrite", "WebFetch", "CurrentModel")
)
CASES = json.loads((Path(__file__).parent / "data" / "offline_requests.json").read_text("utf-8"))

Tool = Callable[[ToolCallPart], tuple[str, bool]]


# Understanding -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=[case["request"][:50] for case in CASES])
def test_a_request_becomes_wishes(case) -> None:
    assert understand(case["request"]) == tuple(Wish(**wish) for wish in case["wishes"])


def test_the_question_about_the_window_that_maia_asks_is_understood() -> None:
    assert understand(QUESTION) == (Wish("window"),)


def test_lines_are_wishes_of_their_own() -> None:
    assert [wish.path for wish in understand("lis a.py\nlis b.py\n")] == ["a.py", "b.py"]


def test_one_part_that_is_not_understood_makes_the_whole_request_one_wish() -> None:
    assert [wish.kind for wish in understand("read a.py and dance")] == ["unknown"]


@given(st.text(max_size=300) | st.text("lis a.py puis «»\"'`remplace par dans\n", max_size=200))
def test_no_request_whatever_raises(text: str) -> None:
    assert understand(text)


def test_a_very_long_request_is_understood_quickly() -> None:
    import time

    start = time.process_time()
    for text in ("a " * 50_000, "remplace " + "x " * 20_000, "«" * 5_000, "create a file x with " + "y " * 10_000):
        understand(text)
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("liste les fichiers", "fr"),
        ("list the files", "en"),
        ("README.md", "en"),
        ("l'été", "fr"),
        ("", "en"),
        ("écris-moi un poème", "fr"),
        ("write me a poem", "en"),
    ],
)
def test_the_language_of_a_request_is_told_by_its_small_words(text: str, lang: str) -> None:
    assert language_of(text, "en") == lang


# Answering -----------------------------------------------------------------------------------------------------------


def stream(request: ModelRequest, lang: str = "en") -> list[WireEvent]:
    async def collect() -> list[WireEvent]:
        return [event async for event in OfflineWire(SAYS, lang).stream(request)]

    return asyncio.run(collect())


def answer(messages: list[Message], tools: tuple[ToolSpec, ...] = TOOLS, lang: str = "en") -> AssistantMessage:
    events = stream(ModelRequest("offline", (), tuple(messages), tools), lang)
    last = events[-1]
    assert isinstance(last, WireAnswer)
    text = "".join(part.text for part in last.message.parts if isinstance(part, TextPart))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text
    drafted = [(event.name, event.index) for event in events if isinstance(event, ToolCallDrafted)]
    called = [part for part in last.message.parts if isinstance(part, ToolCallPart)]
    assert drafted == [(call.name, n) for n, call in enumerate(called)]
    assert last.stop == ("tool_calls" if called else "end")
    return last.message


def text_of(message: AssistantMessage) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, TextPart))


def calls_of(message: AssistantMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


def play(request: str, tool: Tool, lang: str = "en", before: list[Message] | None = None) -> tuple[str, list[str]]:
    """The final answer, and the calls that led to it, in short."""
    messages: list[Message] = [*(before or []), UserMessage((TextPart(request),))]
    made: list[str] = []
    for _ in range(12):
        said = answer(messages, lang=lang)
        calls = calls_of(said)
        if not calls:
            return text_of(said), made
        made += [f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}" for call in calls]
        results = tuple(ToolResultPart(call.call_id, call.name, *tool(call)) for call in calls)
        messages += [said, ToolMessage(results)]
    raise AssertionError("it never ends")


FILES = {
    "README.md": "# Cabane\n\n![badge](x)\n\nA small tool that builds huts.\n\n## Use\n",
    "pyproject.toml": "[project]\nname = 'cabane'\n",
    "src/hut.py": '"""Builds a hut.\n\nMore."""\n\nPORT = 80\n\ndef build():\n    pass\n\nclass Hut:\n    pass\n',
    "notes.txt": "one\ntwo foo foo\nthree\n",
    "empty.txt": "",
}


def tool(call: ToolCallPart) -> tuple[str, bool]:
    """Tools that answer as the real ones do, over `FILES`."""
    arguments = call.arguments
    match call.name:
        case "Read" if arguments["path"] == ".":
            return "./ is a folder with 4 entries, 4 shown:\nsrc/\nREADME.md\nnotes.txt\npyproject.toml", False
        case "Read" if arguments["path"] in FILES:
            lines = FILES[arguments["path"]].splitlines()
            if not lines:
                return "The file is empty (0 bytes).", False
            first, limit = arguments.get("offset", 1), arguments.get("limit", 9999)
            return "\n".join(f"{n}\t{line}" for n, line in enumerate(lines, 1) if first <= n < first + limit), False
        case "Read":
            return f"There is no file {arguments['path']}.", True
        case "Glob":
            return "\n".join(FILES), False
        case "Grep":
            return "notes.txt\n2:two foo foo\n\nsrc/hut.py\n5:PORT = 80", False
        case "Bash":
            return f"ran {arguments['command']}\n[exit code: 0]", False
        case _:
            return "done", False


def refusing(call: ToolCallPart) -> tuple[str, bool]:
    return f"{call.name} was refused: deny {call.name}", True


PLAYS = {
    "read": ("read notes.txt", ['Read {"path": "notes.txt"}'], "two foo foo"),
    "read lines": ("lines 2 to 3 of notes.txt", ['Read {"path": "notes.txt", "offset": 2, "limit": 2}'], "2 lines"),
    "read an empty file": ("read empty.txt", ['Read {"path": "empty.txt"}'], "is empty"),
    "read what is not there": ("read nothing.txt", ['Read {"path": "nothing.txt"}'], "There is no file nothing.txt"),
    "lines backwards": ("lines 9 to 3 of notes.txt", [], "nothing to read"),
    "list": ("list the files", ['Read {"path": "."}'], "- `src/`\n- `README.md`"),
    "find": ("find files named hut", ['Glob {"pattern": "**/*hut*"}'], "5 files found"),
    "find by language": ("find all python files", ['Glob {"pattern": "**/*.py"}'], "files found"),
    "find by suffix": ("find files .md", ['Glob {"pattern": "**/*.md"}'], "files found"),
    "find by pattern": ("find *.txt in docs", ['Glob {"pattern": "**/*.txt", "path": "docs"}'], "files found"),
    "search": (
        "search for foo.bar in src",
        ['Grep {"pattern": "foo\\\\.bar", "output_mode": "content", "path": "src"}'],
        "notes.txt:2:two foo foo\nsrc/hut.py:5:PORT = 80",
    ),
    "run": ("run `git status`", ['Bash {"command": "git status"}'], "ran git status\n[exit code: 0]"),
    "run the tests": (
        "run the tests",
        ['Read {"path": "."}', 'Bash {"command": "python -m pytest -q"}'],
        "`python -m pytest -q` answered",
    ),
    "replace once": (
        "replace 'three' with 'four' in notes.txt",
        [
            'Read {"path": "notes.txt"}',
            'Edit {"path": "notes.txt", "old_string": "three", "new_string": "four"}',
        ],
        "one place replaced",
    ),
    "replace everywhere": (
        "replace foo with bar in notes.txt",
        [
            'Read {"path": "notes.txt"}',
            'Edit {"path": "notes.txt", "old_string": "foo", "new_string": "bar", "replace_all": true}',
        ],
        "2 places replaced",
    ),
    "replace what is not there": ("replace zzz with y in notes.txt", ['Read {"path": "notes.txt"}'], "was changed"),
    "replace by the same": ("replace foo with foo in notes.txt", [], "Both texts are the same"),
    "replace without a file": ("replace foo with bar", [], "In which file?"),
    "remove text": (
        'remove "two " from notes.txt',
        ['Read {"path": "notes.txt"}', 'Edit {"path": "notes.txt", "old_string": "two ", "new_string": ""}'],
        "one place replaced",
    ),
    "append": (
        'append "four" to notes.txt',
        [
            'Read {"path": "notes.txt"}',
            'Edit {"path": "notes.txt", "old_string": "three", "new_string": "three\\nfour"}',
        ],
        "at the end of `notes.txt`",
    ),
    "append to a new file": (
        'append "four" to new.txt',
        ['Read {"path": "new.txt"}', 'Write {"path": "new.txt", "content": "four\\n"}'],
        "at the end of `new.txt`",
    ),
    "create": (
        'create a file hi.py that prints "it\'s me"',
        ['Write {"path": "hi.py", "content": "print(\\"it\'s me\\")\\n"}'],
        "`hi.py` is written",
    ),
    "create a shell script": (
        'create hi.sh that prints "a $b"',
        ['Write {"path": "hi.sh", "content": "#!/bin/sh\\necho \'a $b\'\\n"}'],
        "`hi.sh` is written",
    ),
    "create with text": ("create a.txt with hello", ['Write {"path": "a.txt", "content": "hello\\n"}'], "hello"),
    "create without text": ("create a.txt", ['Write {"path": "a.txt", "content": ""}'], "empty for now"),
    "delete": ("delete my-notes.txt", ['Bash {"command": "rm -- my-notes.txt"}'], "is deleted"),
    "delete a name with blanks": ("delete 'a b.txt'", ['Bash {"command": "rm -- \'a b.txt\'"}'], "is deleted"),
    "rename": ("rename a.txt to b.txt", ['Bash {"command": "mv -- a.txt b.txt"}'], "`a.txt` is now `b.txt`"),
    "count lines": ("how many lines are in a.py", ['Bash {"command": "wc -l -- a.py"}'], "answered"),
    "explain a file": ("explain src/hut.py", ['Read {"path": "src/hut.py"}'], "> Builds a hut.\n\nIt holds (2):"),
    "explain the project": (
        "explain this project",
        [
            'Read {"path": "."}',
            'Glob {"pattern": "**/*"}',
            'Read {"path": "README.md"}',
            'Read {"path": "pyproject.toml"}',
        ],
        "## Cabane\n\n`README.md` says:\n\n> A small tool that builds huts.",
    ),
    "fetch": ("fetch https://example.com/a.", ['WebFetch {"url": "https://example.com/a"}'], "> done"),
    "plan": (
        "plan: read, write",
        [
            'TodoWrite {"todos": [{"content": "read", "status": "in_progress", "activeForm": "read"}, '
            '{"content": "write", "status": "pending", "activeForm": "write"}]}'
        ],
        "First comes: read",
    ),
    "which model": ("which model are you?", ["CurrentModel {}"], "no language model"),
    "several wishes": (
        "read notes.txt then run `pwd`",
        ['Read {"path": "notes.txt"}', 'Bash {"command": "pwd"}'],
        "ran pwd",
    ),
    "a file that was just read": (
        "read notes.txt then replace 'two' with '2' in notes.txt",
        ['Read {"path": "notes.txt"}', 'Edit {"path": "notes.txt", "old_string": "two", "new_string": "2"}'],
        "/undo",
    ),
    "greeting": ("hello", [], "no language model"),
    "help": ("help", [], "**Search**"),
    "unknown": ("write me a poem", [], 'did not understand "write me a poem"'),
    "window": ("What is your maximum context size?", [], "100000"),
}


@pytest.mark.parametrize(("request_", "calls", "said"), PLAYS.values(), ids=PLAYS.keys())
def test_a_wish_is_carried_out_by_calls_and_told(request_: str, calls: list[str], said: str) -> None:
    text, made = play(request_, tool)
    assert made == calls
    assert said in text


@pytest.mark.parametrize("request_", [row[0] for row in PLAYS.values()], ids=PLAYS.keys())
def test_a_refused_tool_ends_in_an_answer_that_gives_the_reason(request_: str) -> None:
    text, made = play(request_, refusing)
    assert text
    if made:
        assert "was refused: deny" in text


def test_what_the_engine_reminds_of_is_no_request() -> None:
    asked = UserMessage((TextPart("read notes.txt"),))
    said = answer([asked])
    results = ToolMessage(tuple(ToolResultPart(call.call_id, call.name, *tool(call)) for call in calls_of(said)))
    reminder = UserMessage((TextPart("You made the same call as before."),), reminder=True)
    assert answer([asked, said, results, reminder]) == answer([asked, said, results])


def test_a_later_wish_is_not_tried_after_one_that_failed() -> None:
    text, made = play("read nothing.txt then run `rm -rf x`", tool)
    assert made == ['Read {"path": "nothing.txt"}']
    assert "nothing else was done" in text


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    said = answer([UserMessage((TextPart("run `ls`"),))], tools=TOOLS[:1])
    assert (calls_of(said), "Bash is not on offer" in text_of(said)) == ([], True)


def test_it_answers_in_the_language_of_the_request_whatever_the_users_is() -> None:
    assert "lignes" in play("lis notes.txt", tool, lang="en")[0]
    assert "lines" in play("read notes.txt", tool, lang="fr")[0]
    assert "lignes" in play("notes.txt", tool, lang="fr")[0]


def test_an_ambiguous_request_goes_on_in_the_language_of_the_conversation() -> None:
    before = [UserMessage((TextPart("bonjour"),)), AssistantMessage((TextPart("Bonjour !"),))]
    assert "lignes" in play("notes.txt", tool, lang="en", before=before)[0]


def test_the_first_answer_with_tools_says_that_no_language_model_wrote_it_and_later_ones_do_not() -> None:
    first, _ = play("read notes.txt", tool)
    before = [UserMessage((TextPart("hello"),)), AssistantMessage((TextPart("Hello!"),))]
    later, _ = play("read notes.txt", tool, before=before)
    assert first.endswith("no language model._")
    assert "language model" not in later


@pytest.mark.parametrize("notes", [(), ("The README is\nold", "Léa likes tests")], ids=["nothing", "notes"])
@pytest.mark.parametrize("joined", [(), ("src/hut.py",)], ids=["alone", "with a file"])
def test_what_the_workspace_puts_before_a_message_is_not_taken_for_the_request(
    notes: tuple[str, ...], joined: tuple[str, ...]
) -> None:
    kept = [
        NoteRow(f"n{n}", "global", "", text, "person", True, False, False, None, 0, 0) for n, text in enumerate(notes)
    ]
    recalled = laid_out(kept, (), 4_000, "a1b2", can_look=True).section
    before = (turn_time(datetime.now(UTC), None), *((recalled,) if recalled else ()))
    files = [attachment_text(Attachment("file", name, FILES[name])) for name in joined]
    parts = tuple(TextPart(text) for text in (*(each.text for each in before), *files, "lis notes.txt"))
    assert [call.arguments for call in calls_of(answer([UserMessage(parts)]))] == [{"path": "notes.txt"}]


def test_joined_files_are_described_and_not_taken_for_the_request() -> None:
    joined = attachment_text(Attachment("file", "src/hut.py", FILES["src/hut.py"]))
    said = answer([UserMessage((TextPart(f"{joined}\n\nwhat about this?"),))])
    assert calls_of(said) == []
    assert "`src/hut.py`: Python, 11 lines." in text_of(said)
    read = answer([UserMessage((TextPart(joined), TextPart("read notes.txt")))])
    assert [call.arguments for call in calls_of(read)] == [{"path": "notes.txt"}]


def test_it_recounts_what_was_asked() -> None:
    before = [UserMessage((TextPart("hello"),)), AssistantMessage((TextPart("Hello!"),))]
    text, _ = play("summarise the conversation", tool, before=before)
    assert "1. hello" in text


def test_the_same_conversation_gives_the_same_answer_and_ids_are_unique() -> None:
    messages: list[Message] = [UserMessage((TextPart("explain this project"),))]
    first, again = answer(messages), answer(messages)
    assert first == again
    results = tuple(ToolResultPart(call.call_id, call.name, *tool(call)) for call in calls_of(first))
    second = answer([*messages, first, ToolMessage(results)])
    ids = [call.call_id for call in (*calls_of(first), *calls_of(second))]
    assert len(ids) == len(set(ids)) == 4


def test_results_of_calls_that_another_model_made_are_passed_over() -> None:
    foreign = ToolMessage((ToolResultPart("1", "Bash", "x"), ToolResultPart("2", "Bash", "y")))
    said = answer([UserMessage((TextPart("read notes.txt"),)), AssistantMessage(()), foreign])
    assert [call.name for call in calls_of(said)] == ["Read"]


@given(st.sampled_from([row[0] for row in PLAYS.values()]), st.text(max_size=80), st.booleans())
def test_no_result_whatever_raises(request_: str, result: str, is_error: bool) -> None:
    assert play(request_, lambda _call: (result, is_error))[0]


def test_an_empty_conversation_is_answered() -> None:
    assert text_of(answer([]))


def test_usage_is_in_its_own_tokens_of_four_characters_and_costs_nothing() -> None:
    request = ModelRequest("offline", (Section("a", "x" * 8),), (UserMessage((TextPart("help"),)),), TOOLS)
    last = stream(request)[-1]
    assert isinstance(last, WireAnswer)
    assert last.usage == Usage(input=3, output=-(-len(text_of(last.message)) // 4))
    assert last.cost_usd == 0.0
    assert (last.message.model, last.message.provider) == ("offline", "offline")


def test_text_comes_in_small_pieces() -> None:
    events = stream(ModelRequest("offline", (), (UserMessage((TextPart("help"),)),)))
    deltas = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(deltas) > 20
    assert max(map(len, deltas)) <= 13


@given(st.text(max_size=200), st.integers(1, 40))
def test_pieces_joined_are_the_text(text: str, size: int) -> None:
    assert "".join(pieces(text, size)) == text


def test_a_stop_reaches_it_in_the_middle() -> None:
    async def stopped() -> int:
        wire = OfflineWire(SAYS, "en")
        seen = 0

        async def read() -> None:
            nonlocal seen
            async for _ in wire.stream(ModelRequest("offline", (), (UserMessage((TextPart("help"),)),))):
                seen += 1

        task = asyncio.create_task(read())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert asyncio.run(stopped()) < 5


@pytest.mark.parametrize("script", ["/nowhere/at/all.jsonl", "~no-such-user/a.jsonl"])
def test_opening_it_without_a_script_gives_the_rules_and_a_bad_script_is_a_clear_error(script: str) -> None:
    assert isinstance(open_offline(SAYS, "fr", {}), OfflineWire)
    with pytest.raises(SettingsProblem) as caught:
        open_offline(SAYS, "fr", {"MAIA_OFFLINE_SCRIPT": script})
    assert caught.value.key == "offline.script_unreadable"


# Results -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("1\tone\n2\t\n3\tthree", "one\n\nthree"),
        ("     1→one\n     2→two", "one\ntwo"),
        ("1\tone\n[Lines 1 to 1 of 9. To go on: offset=2]", "one"),
        ("The file is empty (0 bytes).", ""),
        ("Le fichier est vide (0 octets).", ""),
        ("plain\ntext", "plain\ntext"),
    ],
)
def test_the_file_behind_a_result_of_read(result: str, text: str) -> None:
    assert file_text(result) == text


def test_listings_are_read_without_their_notes() -> None:
    assert entries("src/ is a folder with 2 entries, 2 shown:\nb/\na.py") == ["b/", "a.py"]
    assert listed("a.py\nb.py\n[3 more files, not shown]") == ["a.py", "b.py"]
    assert listed("No file matches.") == listed("Aucun fichier ne correspond.") == []
    assert matches("a.py\n3:x\n7:y\n\nb.py\n1:z") == ["a.py:3:x", "a.py:7:y", "b.py:1:z"]
    assert matches("a.py:3:x") == ["a.py:3:x"]
    assert (is_cut("a\n[9 of 20 shown; narrow it]"), is_cut("a\nb")) == (True, False)


def test_an_outline_tells_what_a_file_is_about() -> None:
    assert outline("a.py", FILES["src/hut.py"]) == Outline("Builds a hut.", ("build", "Hut"))
    assert outline("a.rs", "// Counts.\n// More.\npub fn go() {}\nfn _hidden() {}") == Outline("Counts. More.", ("go",))
    assert outline("x.bin", "") == Outline("", ())
    assert first_paragraph("# T\n\n[![b](c)](d)\n\n***\n\nReal\ntext.") == "Real text."


@given(st.text("ab\n", max_size=60))
def test_the_tail_to_extend_names_one_place(text: str) -> None:
    tail = tail_to_extend(text)
    assert tail == "" or (text.count(tail) == 1 and text.rstrip("\n").endswith(tail))


@given(st.text("`a\n", max_size=60))
def test_a_code_block_cannot_be_closed_by_its_content(text: str) -> None:
    fence = fenced(text).split("\n")[0]
    assert re.fullmatch("`{3,}", fence)
    assert fence not in text


def test_every_sentence_of_the_assistant_is_there_in_both_languages(lang: str) -> None:
    for request_, *_ in PLAYS.values():
        assert play(request_, tool, lang=lang)[0]
