"""Questions asked inside the input zone, and lists to choose from: state moved by keys, drawn as rows; pure.

A question must never be answered by keys that were meant for something else. It listens only after `QUIET` seconds
without any key, counted from its appearance. A letter answers after another `SETTLE` seconds without text, or with
Enter; that of the refusal asks for a reason, and what is written goes there. Pastes and running text go into the line;
after that a letter needs a pause of `WRITING` seconds, and Enter an arrow before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from maia.core.events import ApprovalRequested
from maia.core.permission import Answer
from maia.core.text import whole_number
from maia.terminal.asking import choice_text, question_reason, question_title, scopes
from maia.terminal.badges import badge_lines, detail_lines
from maia.terminal.contextbar import window_tokens
from maia.terminal.input import Editor
from maia.terminal.spans import Line, Span, cell_width, clean, clean_row, clip, line, prefix, spread, wrap
from maia.terminal.zones import wrap_typed

if TYPE_CHECKING:
    from maia.core.events import LimitReached
    from maia.terminal.colours import Look
    from maia.terminal.keys import Key
    from maia.terminal.ports import ModelChoice, Trust
    from maia.terminal.words import Words

QUIET, SETTLE, WRITING, HURRY = 0.3, 0.2, 2.0, 1.5
TITLE_ROWS = 8
_WIDE = 60
"""From this width on the reason row and the rule's text are shown (§7)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """One choice. `letter` answers at once; `short` is shown where there is no room for `text`."""

    value: T
    text: str
    letter: str = ""
    short: str = ""


class Choices(Generic[T]):
    """A question with a few answers. `done` holds the chosen value in a tuple, None while it is open.

    `refusal` is the option that Escape means, at once. Where `reasoned` is given, choosing it asks for a reason first,
    and `reasoned(text)` makes the value; `label` stands above what is typed. After its letter the question is
    `hurried`: whoever shows it refuses without a reason when nothing is typed for `HURRY` seconds, so that a plain no
    needs no second key. With one option alone a text is
    asked for, and the option is none.
    """

    def __init__(
        self,
        title: str,
        options: Sequence[Option[T]],
        say: Words,
        *,
        refusal: T,
        why: str = "",
        reasoned: Callable[[str], T] | None = None,
        label: str = "",
    ) -> None:
        self.title = title
        self.done: tuple[T] | None = None
        self._options = options
        self._say = say
        self._refusal = refusal
        self._why = why
        self._reasoned = reasoned
        self._label = label or say("screen.reason")
        self._asks_text = len(options) == 1 and reasoned is not None
        self._reason: Editor | None = Editor() if self._asks_text else None
        self._at = 0
        self.hurried = False

    @property
    def typing(self) -> bool:
        """True while a reason is being typed: all keys belong to it then."""
        return self._reason is not None

    def label_of(self, value: T) -> str:
        """The words of the option with that value; what was typed is its own."""
        return next((option.text for option in self._options if option.value == value), str(value))

    def press(self, key: Key) -> bool:
        """Apply a key; False when it means nothing here, and then belongs to nobody."""
        kind, value = key
        if self._reason is not None:
            return self._press_reason(self._reason, key)
        if kind == "text":
            return len(value) == 1 and self._press_letter(value)
        if kind != "key":
            return False
        if value in ("up", "c-p", "s-tab"):
            self._at = (self._at - 1) % len(self._options)
        elif value in ("down", "c-n"):
            self._at = (self._at + 1) % len(self._options)
        elif value in ("enter", "tab"):
            self._choose(self._options[self._at].value, explain=True)
        elif value in ("esc", "c-c", "c-d"):
            self._choose(self._refusal, explain=False)
        else:
            return False
        return True

    def _press_letter(self, letter: str) -> bool:
        for place, option in enumerate(self._options):
            if letter.lower() == option.letter or letter == str(place + 1):
                self._at = place
                self._choose(option.value, explain=True)
                self.hurried = self.typing
                return True
        return False

    def _choose(self, value: T, *, explain: bool) -> None:
        if explain and value == self._refusal and self._reasoned is not None:
            self._reason = Editor()
        else:
            self.done = (value,)

    def _press_reason(self, editor: Editor, key: Key) -> bool:
        self.hurried = False
        asked = editor.press(key)
        if asked == "submit" and self._reasoned is not None:
            text = editor.value.strip()
            self.done = (self._reasoned(text) if text else self._refusal,)
        elif asked in ("escape", "interrupt", "eof"):
            self.done = (self._refusal,)
        return True

    def rows(self, look: Look, most: int = 99) -> tuple[list[Line], tuple[int, int] | None]:
        """The rows of the input zone, and the cursor while a reason is typed.

        Where the screen has room for `most` rows only, the reason goes first, then choices that are not current, then
        rows of the title: what is asked is always seen.
        """
        choices = [self._option_rows(option, place == self._at, look) for place, option in enumerate(self._options)]
        rows = self._title_rows(look, max(1, min(TITLE_ROWS, most - len(choices[self._at]))))
        if self._reason is not None:
            rows += [clip(row, look.width) for row in detail_lines(self._label, look, "muted")]
            typed, (row, column) = wrap_typed(self._reason, max(2, look.width - 6), look, self._say)
            first = max(0, row - 3)
            mark = line(Span(look.text("    › ")))
            shown = typed[first : first + 4]
            spot = (len(rows) + row - first, column + 6)
            return rows + prefix([part or line(" ") for part in shown], mark, line(" " * 6)), spot
        why = detail_lines(self._why, look, "muted") if self._why and look.width >= _WIDE else []
        if len(rows) + len(why) + sum(map(len, choices)) <= most:
            rows += why
        first = last = self._at
        room = most - len(rows) - len(choices[self._at])
        while first > 0 or last < len(choices) - 1:
            other = last + 1 if last < len(choices) - 1 else first - 1
            room -= len(choices[other])
            if room < 0:
                break
            first, last = min(first, other), max(last, other)
        return [*rows, *(row for choice in choices[first : last + 1] for row in choice)], None

    def spoken(self, look: Look) -> list[Line]:
        """The question in sentences, with what can be answered (§15), for a door without an input zone."""
        letters = [option.letter for option in self._options]
        reply = self._say("screen.reply", letters=", ".join(letters[:-1]), last=letters[-1])
        texts = [*(f"{option.letter}  {option.text}" for option in self._options), reply]
        told = [self._label] if self._asks_text else texts
        why = [self._why] if self._why else []
        return [row for text in (self.title, *why, *told) for row in wrap(line(look.text(clean(text))), look.width)]

    def reply(self, typed: str) -> bool:
        """Answer with a typed line: a letter, a number or the words; after a refusal may follow its reason."""
        if self._asks_text and self._reasoned is not None:
            self.done = (self._reasoned(typed.strip()),)
            return True
        word, _, reason = typed.strip().partition(" ")
        for place, option in enumerate(self._options):
            if typed.strip().lower() in (option.letter, str(place + 1), option.text.lower(), option.short.lower()):
                self.done = (option.value,)
            elif word.lower() == option.letter and option.value == self._refusal and self._reasoned is not None:
                self.done = (self._reasoned(reason.strip()),)
        return self.done is not None

    def refuses(self, letter: str) -> bool:
        """Whether this character is the refusal, which asks for a reason: no harm can come of it."""
        return self._reasoned is not None and letter.lower() in (
            option.letter for option in self._options if option.value == self._refusal
        )

    def accepts(self, letter: str) -> bool:
        """Whether this character is an answer."""
        places = map(str, range(1, len(self._options) + 1))
        return len(letter) == 1 and letter.lower() in (*(option.letter for option in self._options), *places)

    def refuse(self) -> None:
        """Answer as Escape does."""
        self.done = (self._refusal,)

    def whole(self, look: Look) -> list[Line]:
        """The title in full, for the log, when it is longer than what the zone shows."""
        return badge_lines("ask", self._asked(), look)

    def _asked(self) -> str:
        if self._asks_text:
            return self.title
        letters = "/".join(option.letter for option in (self._options[0], self._options[-1]))
        return f"{self.title} ({letters})"

    def _title_rows(self, look: Look, most: int) -> list[Line]:
        rows = self.whole(look)
        if len(rows) <= most:
            return rows
        if most < 3:
            return [*rows[: most - 1], (*clip(rows[most - 1], look.width - 2), Span(look.text(" …")))]
        more = self._say("screen.question.more", n=len(rows) - most + 1)
        return [*rows[: most - 2], *detail_lines(more, look, "muted")[:1], rows[-1]]

    def _option_rows(self, option: Option[T], current: bool, look: Look) -> list[Line]:
        mark = look.text("    › ") if current else " " * 6
        narrow = look.width < _WIDE
        text = clean_row(option.short if narrow and option.short else option.text)
        body = line(Span(look.text(text), "bold" if current else "plain"))
        if narrow:
            return [clip(line(mark, *body), look.width)]
        return prefix(wrap(body, look.width - 6)[:3], line(mark), line(" " * 6))


def approval(event: ApprovalRequested, say: Words) -> Choices[Answer]:
    """The question of a call (§7, §9, §12)."""
    options = [
        Option(
            Answer(scope),
            choice_text(scope, event, say),
            say(f"screen.letter.{scope}"),
            choice_text(scope, event, say, with_rule=False),
        )
        for scope in scopes(event)
    ]
    return Choices(
        question_title(event, say),
        options,
        say,
        refusal=Answer("no"),
        why=_why(event, say),
        reasoned=lambda reason: Answer("no", reason),
    )


def _why(event: ApprovalRequested, say: Words) -> str:
    """The diff above already says why a change asks (§9); a command says which rule, or that there is none."""
    return "" if event.blocks and event.decision.rule is None else question_reason(event, say)


def yes_no(title: str, say: Words, *, yes: str, no: str, why: str = "") -> Choices[bool]:
    """A question with two answers; Escape means no."""
    options = (Option(True, yes, say("screen.letter.once")), Option(False, no, say("screen.letter.no")))
    return Choices(title, options, say, refusal=False, why=why)


def limit(event: LimitReached, say: Words) -> Choices[Answer]:
    """Whether to go on after the last allowed step (T5.08)."""
    options = (
        Option(Answer("once"), say("term.choice.go_on"), say("screen.letter.once")),
        Option(Answer("no"), say("term.choice.no"), say("screen.letter.no")),
    )
    return Choices(question_title(event, say), options, say, refusal=Answer("no"))


def trust(asked: Trust, say: Words) -> Choices[bool]:
    """Whether this folder may bring its own rules, tools and servers (decisions §9)."""
    key = "screen.trust.changed" if asked.changed else "screen.trust"
    names = ", ".join(map(clean_row, asked.contents))
    title = say(key, folder=clean_row(asked.folder), contents=names)
    return yes_no(title, say, yes=say("screen.trust.yes"), no=say("screen.trust.no"))


Draw = Callable[[Sequence[T], int, "Look", int, int], list[Line]]
"""The rows of a list: the items that match, which of them is current, the look, how many there are, rows at most."""


class Picker(Generic[T]):
    """A list with search. `done` holds the chosen item in a tuple, is empty when the list was closed, None while open.

    `text` is what a search looks at; `filter` holds what is searched for, and is shown in the input zone. `told` is an
    item in words, where the list is told in lines.
    """

    def __init__(
        self,
        items: Sequence[T],
        draw: Draw[T],
        text: Callable[[T], str],
        say: Words,
        *,
        told: Callable[[T], str],
        current: int = 0,
    ) -> None:
        self.done: tuple[T] | tuple[()] | None = None
        self.filter = Editor()
        self.hint = say("screen.list.search")
        self._all = items
        self._shown = list(items)
        self._draw = draw
        self._text = text
        self._told = told
        self._say = say
        self._at = current if current < len(self._shown) else 0

    def press(self, key: Key) -> None:
        """Move, search, choose or close."""
        kind, value = key
        if kind == "key" and value in _STEPS:
            self._move(_STEPS[value])
            return
        if key == ("text", "/") and not self.filter.text:
            return
        asked = self.filter.press(key)
        if asked == "submit":
            self.done = (self._shown[self._at],) if self._shown else None
        elif asked in ("escape", "interrupt", "eof"):
            self.done = ()
        elif not asked:
            self._search()

    def _move(self, step: int) -> None:
        last = len(self._shown) - 1
        if last < 0:
            return
        at = self._at + step
        self._at = at % (last + 1) if abs(step) == 1 else min(max(0, at), last)

    def _search(self) -> None:
        words = self.filter.value.lower().split()
        self._shown = [item for item in self._all if all(word in self._text(item).lower() for word in words)]
        self._at = min(self._at, max(0, len(self._shown) - 1))

    def rows(self, look: Look, most: int) -> list[Line]:
        """The list around the current item, at most `most` rows where it can be so small."""
        return [clip(row, look.width) for row in self._draw(self._shown, self._at, look, len(self._all), most)]

    def spoken(self, look: Look) -> list[Line]:
        """The list in lines, numbered, with how to answer, for a door without an input zone."""
        items = [f"{place}. {clean_row(self._told(item))}" for place, item in enumerate(self._all[:200], 1)]
        return [
            row for text in (*items, self._say("screen.list.reply")) for row in wrap(line(look.text(text)), look.width)
        ]

    def reply(self, typed: str) -> T | None:
        """The item that a typed line means: its number, or the only one that holds these words; None otherwise."""
        words = typed.strip().lower()
        number = whole_number(words)
        if number is not None and 1 <= number <= len(self._all):
            return self._all[number - 1]
        matching = [item for item in self._all if words and words in self._text(item).lower()]
        return matching[0] if len(matching) == 1 else None


_STEPS = {"up": -1, "c-p": -1, "down": 1, "c-n": 1, "tab": 1, "s-tab": -1, "pageup": -5, "pagedown": 5}


def models(choices: Sequence[ModelChoice], say: Words) -> Picker[ModelChoice]:
    """The list of models (T1.06), on the one that answers now."""
    current = next((place for place, choice in enumerate(choices) if choice.current), 0)

    def draw(shown: Sequence[ModelChoice], at: int, look: Look, total: int, most: int) -> list[Line]:
        count = say("screen.list.count", shown=len(shown), total=total)
        title = Span(look.text(say("screen.models")), "bold")
        rows = [spread(line(title), line(Span(look.text(count), "muted")), min(look.width, 73))]
        room = max(1, most - 2)
        first = max(0, min(at - room // 2, len(shown) - room))
        names = max((cell_width(clean_row(choice.name)) for choice in shown[first : first + room]), default=0)
        for place, choice in enumerate(shown[first : first + room], first):
            rows.append(_model_row(choice, names, look, on=place == at))
        if not shown:
            rows.append(line(Span("    " + look.text(say("screen.list.none")), "muted")))
        return rows + wrap(line(Span(look.text(say("screen.models.keys")), "muted")), look.width)

    def told(choice: ModelChoice) -> str:
        return ", ".join([choice.name, choice.provider, *([window_tokens(choice.window)] if choice.window else [])])

    return Picker(choices, draw, lambda choice: f"{choice.name} {choice.provider}", say, told=told, current=current)


def _model_row(choice: ModelChoice, cells: int, look: Look, *, on: bool) -> Line:
    name = look.text(clean_row(choice.name))
    known = look.text(clean_row(choice.provider)) + (f"   {window_tokens(choice.window)}" if choice.window else "")
    gap = " " * max(0, cells - cell_width(name) + 3)
    mark = look.text("  › ") if on else "    "
    return line(
        Span(mark, "plain"), Span(name + gap, "selected" if on else "plain"), Span(known, "selected" if on else "muted")
    )
