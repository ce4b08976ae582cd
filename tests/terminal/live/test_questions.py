from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from maia.core.events import ApprovalRequested, LimitReached
from maia.core.permission import Answer, Decision, Need, Rule, RuleSource, Verdict
from maia.core.reason import Reason
from maia.core.results import DiffBlock
from maia.engine.views import ModelChoice, Trust
from maia.i18n.catalogue import Catalogue
from maia.terminal import creating, questions
from maia.terminal.colours import Look
from maia.terminal.completion import Sources
from maia.terminal.dialogue import Dialogue, Range
from maia.terminal.history import History
from maia.terminal.input import Editor
from maia.terminal.keys import Key
from maia.terminal.spans import Line, text_of
from maia.terminal.zones import Zone

FR, EN = Catalogue("fr", strict=True), Catalogue("en", strict=True)
COMMAND = "git push origin avoirs-devise"


def asks(
    command: str = COMMAND,
    *,
    rule: Rule | None = None,
    proposed: str | None = f"Bash({COMMAND})",
    origin: str = "",
    name: str = "Bash",
    blocks: tuple[DiffBlock, ...] = (),
) -> ApprovalRequested:
    decision = Decision(Verdict.ASK, Reason("screen.list.none"), rule)
    need = Need(name, "command", command)
    return ApprovalRequested("a", "c", name, {}, (need,), decision, proposed, command, blocks, origin)


def shown(rows: Sequence[Line]) -> list[str]:
    return [text_of(row).replace("\u202f", " ").replace("\u00a0", " ") for row in rows]


def test_a_question_as_the_frame_draws_it() -> None:
    rows, cursor = questions.approval(asks(), FR).rows(Look(width=80))
    assert shown(rows) == [
        "ASK   Exécuter « git push origin avoirs-devise » ? (o/n)",
        "      rien ne correspond",
        "    › Oui, une fois",
        "      Oui, pour cette session",
        "      Oui, toujours : allow Bash(git push origin avoirs-devise)",
        "      Non",
    ]
    assert cursor is None


def test_in_english() -> None:
    rows, _ = questions.approval(asks(), EN).rows(Look(width=80))
    assert shown(rows)[0] == 'ASK   Run "git push origin avoirs-devise"? (y/n)'
    assert shown(rows)[2:] == [
        "    › Yes, once",
        "      Yes, for this session",
        "      Yes, always: allow Bash(git push origin avoirs-devise)",
        "      No",
    ]


def test_in_forty_columns_the_reason_and_the_rule_go_and_choices_never_wrap() -> None:
    rows, _ = questions.approval(asks(), FR).rows(Look(width=40))
    assert shown(rows) == [
        "ASK   Exécuter « git push origin",
        "      avoirs-devise » ? (o/n)",
        "    › Oui, une fois",
        "      Oui, pour cette session",
        "      Oui, toujours",
        "      Non",
    ]


def test_an_ask_rule_is_named_and_leaves_always_out() -> None:
    rule = Rule(Verdict.ASK, "Bash", "git push *", "Bash(git push *)", RuleSource("./.maia/settings.json", 4))
    rows = shown(questions.approval(asks(rule=rule), FR).rows(Look(width=80))[0])
    assert rows[1] == "      règle : ask Bash(git push *) — ./.maia/settings.json"
    assert not any("toujours" in row for row in rows)


def test_a_change_with_its_diff_above_says_no_reason() -> None:
    event = asks("src/a.py", name="Edit", blocks=(DiffBlock("src/a.py", "a", "b"),))
    rows = shown(questions.approval(event, FR).rows(Look(width=80))[0])
    assert rows[:2] == ["ASK   Modifier src/a.py ? (o/n)", "    › Oui, une fois"]


def test_a_sub_agent_is_named() -> None:
    rows = shown(questions.approval(asks(origin="relecteur"), FR).rows(Look(width=80))[0])
    assert rows[0].startswith("ASK   [sous-agent relecteur] Exécuter")


def test_a_very_long_command_is_bounded_and_can_be_shown_whole() -> None:
    question = questions.approval(asks("\n".join(f"echo {n}" for n in range(100))), FR)
    rows = shown(question.rows(Look(width=80))[0])
    assert len(rows) < 20
    assert any("Ctrl+O" in row for row in rows)
    assert sum("echo" in row for row in shown(question.whole(Look(width=80)))) == 100


@pytest.mark.parametrize("width", [80, 40, 24])
@pytest.mark.parametrize("most", [2, 3, 4, 5, 6, 12])
def test_on_a_low_screen_what_is_asked_and_the_current_choice_stay(width: int, most: int) -> None:
    question = questions.approval(asks(), FR)
    for _ in range(4):
        rows = shown(question.rows(Look(width=width), most)[0])
        assert len(rows) <= max(most, 2)
        assert rows[0].startswith("ASK")
        assert sum("›" in row for row in rows) == 1
        question.press(("key", "down"))


def test_control_characters_of_a_command_are_only_read() -> None:
    rows = shown(questions.approval(asks("ls \x1b[2J\u202e"), FR).rows(Look(width=80))[0])
    assert "␛[2J<U+202E>" in rows[0]


ANSWERS: list[tuple[str, list[Key], Answer]] = [
    ("o is once", [("text", "o")], Answer("once")),
    ("capital letter", [("text", "S")], Answer("session")),
    ("s is session", [("text", "s")], Answer("session")),
    ("t is always", [("text", "t")], Answer("always")),
    ("n and enter is no", [("text", "n"), ("key", "enter")], Answer("no")),
    ("n and a reason", [("text", "n"), ("text", "trop tôt"), ("key", "enter")], Answer("no", "trop tôt")),
    ("a digit", [("text", "2")], Answer("session")),
    ("enter takes the first", [("key", "enter")], Answer("once")),
    ("arrows and enter", [("key", "down"), ("key", "down"), ("key", "enter")], Answer("always")),
    ("up from the first is the last", [("key", "up"), ("key", "enter"), ("key", "enter")], Answer("no")),
    ("escape is no", [("key", "esc")], Answer("no")),
    (
        "no with a reason",
        [("key", "up"), ("key", "enter"), ("text", "pas sur main"), ("key", "enter")],
        Answer("no", "pas sur main"),
    ),
    ("escape in the reason is no", [("key", "up"), ("key", "enter"), ("text", "x"), ("key", "esc")], Answer("no")),
]


@pytest.mark.parametrize(("keys", "answer"), [case[1:] for case in ANSWERS], ids=[case[0] for case in ANSWERS])
def test_keys_answer(keys: list[Key], answer: Answer) -> None:
    question = questions.approval(asks(), FR)
    for key in keys:
        assert question.done is None
        question.press(key)
    assert question.done == (answer,)


@pytest.mark.parametrize("key", [("text", "x"), ("text", "non"), ("paste", "o"), ("key", "left")])
def test_other_keys_do_not(key: Key) -> None:
    question = questions.approval(asks(), FR)
    question.press(key)
    assert question.done is None


def test_the_words_of_the_screen_reader() -> None:
    rows = shown(questions.approval(asks(), FR).spoken(Look(width=80, screen_reader=True)))
    assert rows[0] == "Exécuter « git push origin avoirs-devise » ?"
    assert rows[-1] == "Répondez o, s, t ou n."


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("o", Answer("once")),
        ("T", Answer("always")),
        ("n trop tôt", Answer("no", "trop tôt")),
        ("2", Answer("session")),
    ],
)
def test_a_typed_line_answers(typed: str, answer: Answer) -> None:
    question = questions.approval(asks(), FR)
    assert question.reply(typed)
    assert question.done == (answer,)


def test_a_line_that_means_nothing_does_not_answer() -> None:
    assert not questions.approval(asks(), FR).reply("peut-être")


def test_a_limit_and_a_folder_are_asked_with_yes_and_no() -> None:
    limit = questions.limit(LimitReached("l", "turns", 50), FR)
    limit.press(("text", "o"))
    assert limit.done == (Answer("once"),)
    trust = questions.trust(Trust("/srv/x\x1b", ("./.maia/settings.json",)), FR)
    assert "␛" in shown(trust.rows(Look(width=80))[0])[0]
    trust.press(("key", "esc"))
    assert trust.done == (False,)


def models(count: int) -> list[ModelChoice]:
    return [ModelChoice(f"model-{n}", "litellm", 200_000, n == 3) for n in range(count)]


def test_a_list_starts_at_the_current_item_searches_and_chooses() -> None:
    picker = questions.models(models(30), FR)
    assert any(row.startswith("  › model-3 ") for row in shown(picker.rows(Look(width=80), 12)))
    assert len(picker.rows(Look(width=80), 12)) <= 12
    picker.press(("text", "/"))
    picker.press(("text", "29"))
    assert shown(picker.rows(Look(width=80), 12))[1].startswith("  › model-29")
    picker.press(("key", "enter"))
    assert picker.done == (models(30)[29],)


def test_a_list_without_a_match_stays_open_and_escape_closes_it() -> None:
    picker = questions.models(models(3), FR)
    picker.press(("text", "zzz"))
    picker.press(("key", "enter"))
    picker.press(("key", "up"))
    assert picker.done is None
    picker.press(("key", "esc"))
    assert picker.done == ()


class Person:
    """Records what the dialogue asks of the application; its clock is set by the test."""

    def __init__(self) -> None:
        self.time = 100.0
        self.busy = False
        self.due: list[tuple[float, Callable[[], None]]] = []
        self.sent: list[tuple[str, list[Range]]] = []
        self.asked: list[str] = []

    def submit(self, text: str, pasted: Sequence[Range]) -> None:
        self.sent.append((text, list(pasted)))

    def interrupt(self, *, empty: bool) -> bool:
        self.asked.append(f"interrupt {empty}")
        return self.busy

    def stop(self) -> None:
        self.asked.append("stop")

    def leave(self) -> None:
        self.asked.append("leave")

    def take_back(self) -> str | None:
        return None

    def edit(self) -> None:
        self.asked.append("edit")

    def expand(self) -> None:
        self.asked.append("expand")

    def show(self, rows: Sequence[Line]) -> None:
        self.asked.append(f"show {len(rows)}")

    def now(self) -> float:
        return self.time

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        self.due.append((self.time + seconds, what))

    def wait(self, seconds: float) -> None:
        """Time passes, and what is due happens."""
        self.time += seconds
        due = [what for when, what in self.due if when <= self.time]
        self.due = [(when, what) for when, what in self.due if when > self.time]
        for what in due:
            what()


def dialogue_for(person: Person) -> Dialogue:
    return Dialogue(Editor(), History(None), Sources(), person, FR)


def press(dialogue: Dialogue, person: Person, key: Key, after: float) -> None:
    person.wait(after)
    dialogue.key(key)


async def ask(dialogue: Dialogue, event: ApprovalRequested | None = None) -> asyncio.Future[Answer]:
    future = dialogue.ask(questions.approval(event or asks(), FR), stops=True)
    dialogue.compose(Zone(), Look(), 24)
    return future


WRITTEN: list[tuple[str, list[tuple[float, Key]], str]] = [
    ("on its way when the question appears", [(0.1, ("text", letter)) for letter in "on y va"], "on y va"),
    (
        "begun long after it appeared",
        [(1 if place == 0 else 0.15, ("text", c)) for place, c in enumerate("on y")],
        "on y",
    ),
    ("a command", [(1 if place == 0 else 0.15, ("text", c)) for place, c in enumerate("/context")], "/context"),
    ("written slowly", [(0.8, ("text", letter)) for letter in "/context"], "/context"),
    ("a burst", [(1, ("text", "oui"))], "oui"),
    ("a paste of one letter", [(1, ("paste", "o"))], "o"),
]


@pytest.mark.parametrize(("keys", "left"), [case[1:] for case in WRITTEN], ids=[case[0] for case in WRITTEN])
@pytest.mark.parametrize("pause", [0.1, 1.0])
def test_writing_never_answers_a_question_and_is_kept(keys: list[tuple[float, Key]], left: str, pause: float) -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        future = await ask(dialogue)
        for after, key in keys:
            press(dialogue, person, key, after)
        press(dialogue, person, ("key", "enter"), pause)
        person.wait(1)
        assert not future.done()
        assert (dialogue.editor.text, person.sent) == (left, [])
        press(dialogue, person, ("key", "down"), 1)
        press(dialogue, person, ("key", "enter"), 0.05)
        assert future.result() == Answer("session")

    asyncio.run(play())


def test_a_letter_answers_a_moment_later_or_with_enter() -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        first, second = await ask(dialogue), await ask(dialogue)
        press(dialogue, person, ("text", "o"), 1)
        assert not first.done()
        person.wait(0.25)
        assert first.result() == Answer("once")
        dialogue.compose(Zone(), Look(), 24)
        press(dialogue, person, ("text", "s"), 1)
        press(dialogue, person, ("key", "enter"), 0.05)
        assert second.result() == Answer("session")
        assert dialogue.editor.text == ""

    asyncio.run(play())


def test_the_letter_of_no_waits_a_little_for_a_reason() -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        plain, reasoned = await ask(dialogue), await ask(dialogue)
        press(dialogue, person, ("text", "n"), 1)
        assert not plain.done()
        person.wait(1.6)
        assert plain.result() == Answer("no")
        dialogue.compose(Zone(), Look(), 24)
        press(dialogue, person, ("text", "n"), 1)
        for letter in "use make":
            press(dialogue, person, ("text", letter), 0.05)
        person.wait(5)
        assert not reasoned.done()
        press(dialogue, person, ("key", "enter"), 1)
        assert reasoned.result() == Answer("no", "use make")
        assert dialogue.editor.text == ""

    asyncio.run(play())


def test_an_arrow_after_a_letter_takes_it_back() -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        future = await ask(dialogue)
        press(dialogue, person, ("text", "o"), 1)
        press(dialogue, person, ("key", "down"), 0.4 - 0.3)
        person.wait(1)
        assert not future.done()

    asyncio.run(play())


def test_a_letter_answers_again_when_the_writing_is_over() -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        future = await ask(dialogue)
        press(dialogue, person, ("text", "x"), 1)
        press(dialogue, person, ("text", "s"), 3)
        person.wait(0.3)
        assert future.result() == Answer("session")
        assert dialogue.editor.text == "x"

    asyncio.run(play())


def test_the_second_question_has_its_own_quiet_time() -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        first, second = await ask(dialogue), await ask(dialogue)
        press(dialogue, person, ("key", "enter"), 1)
        dialogue.compose(Zone(), Look(), 24)
        press(dialogue, person, ("key", "enter"), 0.1)
        assert first.done()
        assert not second.done()
        press(dialogue, person, ("key", "esc"), 1)
        assert second.result() == Answer("no")

    asyncio.run(play())


def test_what_is_written_under_a_question_is_seen() -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        await ask(dialogue)
        press(dialogue, person, ("text", "attends"), 0.1)
        zone = Zone()
        dialogue.compose(zone, Look(), 24)
        assert zone.question is not None
        assert shown(zone.question)[-1] == "      (brouillon : attends)"

    asyncio.run(play())


def test_a_withdrawn_question_is_gone() -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        first, second = await ask(dialogue), await ask(dialogue)
        first.cancel()
        press(dialogue, person, ("key", "enter"), 1)
        press(dialogue, person, ("key", "enter"), 1)
        assert second.result() == Answer("once")

    asyncio.run(play())


def test_ctrl_c_stops_and_ctrl_o_shows_the_whole_question() -> None:
    async def play() -> None:
        person = Person()
        dialogue = dialogue_for(person)
        future = await ask(dialogue, asks("\n".join("x" * 9 for _ in range(40))))
        press(dialogue, person, ("key", "c-o"), 0)
        dialogue.compose(Zone(), Look(), 24)
        press(dialogue, person, ("key", "c-c"), 0)
        assert person.asked == ["show 40", "interrupt True"]
        assert not future.done()

    asyncio.run(play())


def test_a_sent_line_tells_where_pastes_are() -> None:
    person = Person()
    dialogue = dialogue_for(person)
    dialogue.key(("text", "see "))
    dialogue.key(("paste", "x\n" * 20))
    dialogue.key(("key", "enter"))
    assert person.sent == [("see " + "x\n" * 20, [(4, 44)])]


def test_a_begun_command_is_completed_by_enter_and_sent_by_the_next() -> None:
    person = Person()
    dialogue = dialogue_for(person)
    dialogue.key(("text", "/cos"))
    dialogue.key(("key", "enter"))
    assert (dialogue.editor.text, person.sent) == ("/cost ", [])
    dialogue.key(("key", "enter"))
    assert person.sent == [("/cost ", [])]


def test_a_whole_command_is_sent_at_once() -> None:
    person = Person()
    dialogue = dialogue_for(person)
    dialogue.key(("text", "/clear"))
    dialogue.key(("key", "enter"))
    assert person.sent == [("/clear", [])]


@pytest.mark.parametrize(("busy", "left"), [(True, "draft"), (False, "")])
def test_ctrl_c_clears_the_line_only_when_nothing_runs(busy: bool, left: str) -> None:
    person = Person()
    person.busy = busy
    dialogue = dialogue_for(person)
    dialogue.key(("text", "draft"))
    dialogue.key(("key", "c-c"))
    assert dialogue.editor.text == left
    assert person.asked == ["interrupt False"]


def test_a_name_is_typed_at_once_and_escape_gives_none(say: Catalogue) -> None:
    asked = creating.naming(say)
    assert asked.typing
    for char in "critic":
        asked.press(("text", char))
    asked.press(("key", "enter"))
    assert (asked.done, asked.label_of("critic")) == (("critic",), "critic")
    asked = creating.naming(say)
    asked.press(("key", "esc"))
    assert asked.done == ("",)


def test_a_name_is_asked_and_answered_in_plain_lines_too(say: Catalogue) -> None:
    asked = creating.naming(say)
    rows = shown(asked.spoken(Look(width=200, screen_reader=True)))
    assert rows == [say(key).replace("\u202f", " ") for key in ("screen.agent.name", "screen.agent.name.hint")]
    assert asked.reply("critic")
    assert asked.done == ("critic",)


@pytest.mark.parametrize(("key", "level"), [(("text", "p"), "project"), (("text", "g"), "home"), (("key", "esc"), "")])
def test_an_agent_is_for_the_project_or_for_every_folder(say: Catalogue, key: Key, level: str) -> None:
    asked = creating.level("critic", say)
    asked.press(key)
    assert asked.done == (level,)
