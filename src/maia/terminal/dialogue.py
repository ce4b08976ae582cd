"""Who gets a key: an open question, a list, the history search, the completion, or the line being typed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from maia.terminal.completing import Completing
from maia.terminal.input import Editor
from maia.terminal.questions import HURRY, QUIET, SETTLE, WRITING, Picker
from maia.terminal.spans import Line, Span, clean_row, line

if TYPE_CHECKING:
    from maia.terminal.colours import Look
    from maia.terminal.completion import Sources
    from maia.terminal.history import History
    from maia.terminal.keys import Key
    from maia.terminal.words import Words
    from maia.terminal.zones import Zone

T = TypeVar("T")
Range = tuple[int, int]


class Question(Protocol[T]):
    """What is asked inside the input zone (`questions.Choices`, `secretentry.SecretEntry`)."""

    title: str
    done: tuple[T] | None

    @property
    def typing(self) -> bool:
        """True while all keys belong to it."""
        ...

    @property
    def hurried(self) -> bool: ...

    def press(self, key: Key) -> bool: ...
    def accepts(self, letter: str) -> bool: ...
    def refuses(self, letter: str) -> bool: ...
    def refuse(self) -> None: ...
    def rows(self, look: Look, most: int = 99) -> tuple[list[Line], tuple[int, int] | None]: ...
    def whole(self, look: Look) -> list[Line]: ...


class Asker(Protocol):
    """What the dialogue asks of the application."""

    def submit(self, text: str, pasted: Sequence[Range]) -> None:
        """A line was sent."""
        ...

    def interrupt(self, *, empty: bool) -> bool:
        """Ctrl+C, with nothing typed when `empty`. True when something runs and was told to stop."""
        ...

    def stop(self) -> None:
        """Escape when no line waits: stop what runs."""
        ...

    def leave(self) -> None:
        """Ctrl+D on an empty line."""
        ...

    def take_back(self) -> str | None:
        """Escape: the last waiting line, if one waits."""
        ...

    def edit(self) -> None:
        """Ctrl+G: the line in the person's own editor."""
        ...

    def expand(self) -> None:
        """Ctrl+O: the whole of the last output."""
        ...

    def show(self, rows: Sequence[Line]) -> None:
        """Rows for the log (the whole of a long question)."""
        ...

    def now(self) -> float:
        """Seconds of the loop's clock."""
        ...

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Do something after a while, and draw."""
        ...


@dataclass(slots=True)
class _Asked:
    """A question on its way through. `past` is when characters last went into the line instead, `letter` has been typed
    and answers soon, `moved` that arrows were used since.
    """

    choices: Question[Any]
    future: asyncio.Future[Any]
    stops: bool
    shown: float | None = None
    armed: bool = False
    moved: bool = False
    past: float | None = None
    letter: Key | None = None


@dataclass(slots=True)
class _Search:
    """A search in the history that is under way, with what was typed before it began."""

    query: Editor
    before: str
    place: int | None = None


class Dialogue:
    """Routes keys, and says what the zone shows because of them."""

    def __init__(self, editor: Editor, history: History, sources: Sources, asker: Asker, say: Words) -> None:
        self.editor = editor
        self.last_key = asker.now()
        self._history = history
        self._asker = asker
        self._say = say
        self._asked: deque[_Asked] = deque()
        self._picker: tuple[Picker[Any], asyncio.Future[Any]] | None = None
        self._search: _Search | None = None
        self._list = Completing(sources, say)
        self._whole: Question[Any] | None = None

    # Questions

    def ask(self, choices: Question[T], *, stops: bool = False) -> asyncio.Future[T]:
        """Ask after the questions that already wait. Ctrl+C means the refusal, or with `stops` to stop what runs.

        Cancelling the future withdraws the question.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._asked.append(_Asked(choices, future, stops))
        self._list.close()
        return future

    def pick(self, picker: Picker[T]) -> asyncio.Future[T | None]:
        """Let the person choose from a list; None when it is closed."""
        future: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self._picker = (picker, future)
        self._list.close()
        return future

    @property
    def question(self) -> Question[Any] | None:
        """The question that is on the screen."""
        while self._asked and self._asked[0].future.done():
            self._asked.popleft()
        if not self._asked:
            return None
        first = self._asked[0]
        if first.shown is None:
            first.shown = self._asker.now()
        return first.choices

    @property
    def waiting(self) -> bool:
        """Whether a person is asked something."""
        return self.question is not None or self._picker is not None

    # Keys

    def key(self, key: Key) -> None:
        """Give a key to whom it belongs."""
        quiet = self._asker.now() - self.last_key
        self.last_key = self._asker.now()
        if self.question is not None:
            self._question_key(self._asked[0], key, quiet)
        elif self._picker is not None:
            self._picker_key(*self._picker, key)
        elif self._search is not None:
            self._search_key(self._search, key)
        elif not self._list.open or not self._list_key(key):
            self._editor_key(key)

    def _question_key(self, asked: _Asked, key: Key, quiet: float) -> None:
        if key == ("key", "c-c") and asked.stops:
            self._asker.interrupt(empty=True)
        elif key == ("key", "c-o"):
            self._whole = asked.choices
        elif asked.choices.typing or key in (("key", "c-c"), ("key", "c-d")):
            self._press(asked, key)
        elif asked.letter is not None and self._after_letter(asked, asked.letter, key):
            return
        elif key[0] in ("text", "paste") or key == ("key", "backspace"):
            self._question_text(asked, key, quiet)
        else:
            self._question_move(asked, key, quiet)

    def _question_text(self, asked: _Asked, key: Key, quiet: float) -> None:
        """A lone letter after a pause answers, a moment later; all other characters are being written to the agent."""
        now = self._asker.now()
        still = QUIET if asked.past is None else WRITING
        means = key[0] == "text" and asked.choices.accepts(key[1])
        if means and now - (asked.shown or 0.0) >= QUIET and quiet >= still:
            if asked.choices.refuses(key[1]):
                self._press(asked, key)
                self._asker.later(HURRY, lambda: self._refuse(asked))
                return
            asked.letter = key
            self._asker.later(SETTLE, lambda: self._settle(asked, key))
            return
        self.editor.press(key)
        asked.past, asked.armed, asked.moved = now, False, False

    def _after_letter(self, asked: _Asked, letter: Key, key: Key) -> bool:
        """The key after a letter that has not answered yet: Enter says it was meant, more text that it was not."""
        asked.letter = None
        if key == ("key", "enter"):
            self._press(asked, letter)
        elif key[0] in ("text", "paste"):
            self._question_text(asked, letter, 0.0)
            self._question_text(asked, key, 0.0)
        else:
            return False
        return True

    def _settle(self, asked: _Asked, letter: Key) -> None:
        if asked.letter is letter and not asked.future.done():
            asked.letter = None
            self._press(asked, letter)

    def _refuse(self, asked: _Asked) -> None:
        """Nobody began to write a reason."""
        if asked.choices.hurried and not asked.future.done():
            asked.choices.refuse()
            asked.future.set_result(asked.choices.done[0] if asked.choices.done else None)

    def _question_move(self, asked: _Asked, key: Key, quiet: float) -> None:
        """Arrows, Enter and Escape. Enter after something was written needs an arrow first: it may have meant that."""
        shown = self._asker.now() - (asked.shown or 0.0)
        asked.armed = asked.armed or min(shown, quiet) >= QUIET
        if not asked.armed or (key == ("key", "enter") and asked.past is not None and not asked.moved):
            return
        asked.moved = True
        self._press(asked, key)

    def _press(self, asked: _Asked, key: Key) -> None:
        asked.choices.press(key)
        if asked.choices.done is not None:
            asked.future.set_result(asked.choices.done[0])

    def _picker_key(self, picker: Picker[Any], future: asyncio.Future[Any], key: Key) -> None:
        picker.press(key)
        if picker.done is not None:
            self._picker = None
            future.set_result(picker.done[0] if picker.done else None)

    def _list_key(self, key: Key) -> bool:
        """True when the open completion list took the key."""
        text = self.editor.text
        match key:
            case ("key", "up" | "c-p"):
                self._list.move(-1)
            case ("key", "down" | "c-n"):
                self._list.move(1)
            case ("key", "tab"):
                return self._accept(self._list.accepted(text))
            case ("key", "enter"):
                return self._accept(self._list.on_enter(text))
            case ("key", "esc"):
                self._list.close(text)
            case _:
                return False
        return True

    def _accept(self, completed: tuple[str, int] | None) -> bool:
        if completed is None:
            return False
        self.editor.set(*completed)
        self.offer()
        return True

    def offer(self) -> None:
        """The text has changed, or the sources of the completion have news."""
        self._list.follow(self.editor.text, self.editor.cursor)

    def _editor_key(self, key: Key) -> None:
        before = self.editor.text, self.editor.cursor
        asked = self.editor.press(key)
        if asked == "submit":
            self._submit()
        elif asked == "interrupt":
            self._interrupt()
        elif asked == "escape":
            self._escape()
        elif asked == "eof":
            self._asker.leave()
        elif asked == "search":
            self._search = _Search(Editor(), self.editor.text)
            self._list.close()
        elif asked == "edit":
            self._asker.edit()
        elif asked == "expand":
            self._asker.expand()
        elif asked == "complete":
            self._list.close()
            self.offer()
        elif (self.editor.text, self.editor.cursor) != before:
            if key[0] == "key" and key[1] in ("up", "down", "c-p", "c-n"):
                self._list.close(self.editor.text)  # a recalled line is not being typed
            self.offer()

    def _submit(self) -> None:
        self._list.close()
        pasted = self.editor.pasted_ranges()
        text = self.editor.take()
        if text.strip():
            self._history.add(text)
            self._asker.submit(text, pasted)

    def _interrupt(self) -> None:
        """What runs is stopped and the line stays; when nothing runs the line is cleared."""
        self._list.close()
        if not self._asker.interrupt(empty=not self.editor.text) and self.editor.text:
            self.editor.set("")

    def _escape(self) -> None:
        """The last line that waits comes back; when none does, what runs is stopped."""
        text = self._asker.take_back()
        if text is None:
            self._asker.stop()
        else:
            self.editor.set(f"{text}\n{self.editor.value}" if self.editor.text else text)

    # Searching the history

    def _search_key(self, search: _Search, key: Key) -> None:
        asked = search.query.press(key)
        if asked == "search":
            self._find(search, search.place)
        elif asked in ("escape", "interrupt", "edit", "eof"):
            self.editor.set(search.before)
            self._search = None
        elif asked in ("submit", "complete"):
            self._list.close(self.editor.text)
            self._search = None
        elif not asked:
            self._find(search, None)

    def _find(self, search: _Search, before: int | None) -> None:
        place = self._history.search(search.query.value, before) if search.query.text else None
        if place is not None or before is None:
            search.place = place
            self.editor.set(search.before if place is None else self._history.entries()[place])

    # What is seen

    def compose(self, zone: Zone, look: Look, rows: int) -> None:
        """Bring the zone's question, list and hints up to date; `rows` is the height of the screen."""
        question = self.question
        if self._whole is not None:
            self._asker.show(self._whole.whole(look))
            self._whole = None
        zone.question, zone.question_cursor = question.rows(look, max(2, rows - 5)) if question else (None, None)
        if zone.question is not None and self.editor.text:
            words = self._say("screen.draft", text=clean_row(self.editor.value, 200))
            zone.question = [*zone.question, line(Span("      " + look.text(words), "muted"))]
        zone.menu = ()
        zone.typing = None
        if question is not None:
            return
        if self._picker is not None:
            picker = self._picker[0]
            zone.menu = picker.rows(look, max(3, min(12, rows - 7)))
            zone.typing = (picker.filter, look.text(picker.hint))
        elif self._list.open:
            zone.menu = self._list.rows(look)
        if self._search is not None:
            key = "screen.search.none" if self._search.query.text and self._search.place is None else "screen.search"
            words = self._say(key, query=clean_row(self._search.query.value))
            zone.status = line(Span(look.text(words), "status"))
