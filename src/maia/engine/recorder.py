"""Every event passes here exactly once: the journal first, then the transcript, then whoever reads."""

from __future__ import annotations

from collections.abc import Callable

from maia.core.errors import MaiaError
from maia.core.events import Event, ModelChanged, Notice, SessionStarted
from maia.core.ports import Journal
from maia.engine.transcript import Transcript

_OPENING = (SessionStarted, ModelChanged, Notice)
"""Events that alone make no session worth a file: they wait for the first real one."""


class Recorder:
    """Keeps the events of one session. The file is made with the first event that is worth one (T8.01).

    When the file cannot be made or written, the conversation goes on in memory and one notice says so.
    """

    def __init__(
        self,
        make_journal: Callable[[], Journal],
        transcript: Transcript,
        tell: Callable[[Event], None],
        *,
        saved: bool = True,
    ) -> None:
        self.transcript = transcript
        self._tell = tell
        self._make = make_journal
        self._journal: Journal | None = None
        self._waiting: list[Event] = []
        self._saved = saved
        self._failed = False
        self._told = False

    @property
    def journal(self) -> Journal | None:
        """The open file, None as long as there is nothing worth keeping."""
        return self._journal

    def adopt(self, journal: Journal) -> None:
        """Go on in a file that exists already; its events were applied by the caller."""
        self._journal = journal
        self._waiting.clear()

    def reserve(self, make_journal: Callable[[], Journal]) -> None:
        """Make the file, when its time comes, in another way (under another name)."""
        self._make = make_journal

    def emit(self, event: Event) -> None:
        """Keep an event and pass it on."""
        self._keep(event)
        self.transcript.apply(event)
        self._tell(event)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _keep(self, event: Event) -> None:
        if not self._saved or self._failed:
            return
        if self._journal is None:
            self._waiting.append(event)
            if isinstance(event, _OPENING):
                return
            try:
                self._journal = self._make()
            except MaiaError as error:
                self._give_up(error.key, error.values)
                return
            waiting, self._waiting = self._waiting, []
            for kept in waiting:
                self._journal.append(kept)
        else:
            self._journal.append(event)
        problem = self._journal.problem
        if problem and not self._told:
            self._tell(Notice("warn", "session.not_saved", {"problem": problem}))
        self._told = bool(problem)

    def _give_up(self, key: str, values: dict[str, object]) -> None:
        self._failed = True
        self._tell(Notice("warn", key, values))
