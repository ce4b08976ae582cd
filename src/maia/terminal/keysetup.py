"""The set-up with a key (T1.11): paste it unseen, see whose it is and whether it works, keep it, go on with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from maia.core.errors import MaiaError, ModelFailed
from maia.core.secret import Secret
from maia.terminal.badges import Badge, badge_lines, detail_lines, failure_lines
from maia.terminal.endings import notice_lines
from maia.terminal.questions import Choices, Picker, yes_no
from maia.terminal.render import chosen_lines
from maia.terminal.secretentry import SecretEntry
from maia.terminal.spans import EMPTY, Line, Span, clean_row, line, spread

if TYPE_CHECKING:
    from maia.terminal.colours import Look
    from maia.terminal.ports import KeyDesk, PastedKey
    from maia.terminal.surface import Surface


class KeySetup:
    """One run through the set-up. Until the person says yes nothing is written anywhere."""

    def __init__(self, surface: Surface, desk: KeyDesk, choose_model: Callable[[str], Awaitable[None]]) -> None:
        self._on = surface
        self._desk = desk
        self._say = surface.say
        self._choose_model = choose_model

    async def offer(self) -> None:
        """Whether to paste a key, where nothing is configured; the built-in assistant answers otherwise."""
        say = self._say
        question = yes_no(say("setup.offer"), say, yes=say("setup.paste"), no=say("setup.later"), why=say("setup.why"))
        if await self._asked(question):
            await self.run()

    async def run(self) -> None:
        """Ask for a key until one is kept or the person leaves."""
        while (token := await self._on.ask_secret(SecretEntry(self._say("setup.entry"), self._say))) is not None:
            if await self._take(token):
                return
        self._tell("info", "setup.left")

    async def _take(self, token: Secret, owner: str = "") -> bool:
        """Look at one key and do what the person wants with it; False to ask for another one."""
        found = self._desk.look(token, owner)
        if found.owners and not owner:
            chosen = await self._on.pick(_owners(found.owners, self._on))
            if chosen is None:
                return False
            found = self._desk.look(token, chosen)
        self._show(found)
        if found.is_refused:
            return False
        works = await self._tried(token, found)
        if not works and found.elsewhere and await self._asked(self._elsewhere(found)):
            return await self._take(token, found.elsewhere)
        if not await self._asked(self._keep(found, works=works)):
            return False
        return await self._kept(token, found)

    def _show(self, found: PastedKey) -> None:
        """What is known of the key: never more of it than its prefix and its length."""
        say, look = self._say, self._on.look
        if found.provider:
            rows = badge_lines("info", say("setup.found", token=found.shown, provider=found.provider), look)
            rows += detail_lines(
                say("keys.row.confidence", confidence=say(f"keys.confidence.{found.confidence}")), look
            )
            if found.region:
                rows += detail_lines(say("keys.row.region", region=found.region), look)
            if found.host:
                rows += detail_lines(say("keys.row.host", host=found.host), look)
            self._block(rows)
        for notice in found.notices:
            rows = notice_lines(notice, look, say)
            if notice.level == "fail" and say.has(f"{notice.key}.fix"):
                rows += detail_lines("→ " + say(f"{notice.key}.fix", **notice.values), look)
            self._block(rows)

    async def _tried(self, token: Secret, found: PastedKey) -> bool:
        """One call with the key. Whether it was accepted; the result is shown."""
        self._tell("info", "setup.trying", host=found.host)
        try:
            count = await self._desk.attempt(token, found)
        except ModelFailed as failed:
            self._block(failure_lines(failed.failure, self._on.look, self._say))
            return False
        self._block(badge_lines("info", self._say("keys.check_ok", host=found.host, count=count), self._on.look))
        return True

    def _keep(self, found: PastedKey, *, works: bool) -> Choices[bool]:
        say = self._say
        title = say("setup.keep" if works else "setup.keep_anyway", name=found.variable)
        return yes_no(title, say, yes=say("setup.keep.yes"), no=say("setup.keep.no"))

    def _elsewhere(self, found: PastedKey) -> Choices[bool]:
        say = self._say
        title = say("setup.elsewhere", provider=found.elsewhere)
        return yes_no(title, say, yes=say("setup.elsewhere.yes"), no=say("setup.elsewhere.no"))

    async def _kept(self, token: Secret, found: PastedKey) -> bool:
        """Keep it and go on with its models; what cannot be written is told, and another try is open."""
        try:
            kept = self._desk.keep(token, found)
        except MaiaError as problem:
            self._block(badge_lines("fail", self._say(problem.key, **problem.values), self._on.look))
            return False
        self._block(notice_lines(kept, self._on.look, self._say))
        await self._choose_model(found.provider)
        return True

    async def _asked(self, question: Choices[bool]) -> bool:
        yes = await self._on.ask(question)
        self._on.show(chosen_lines(question.title, question.label_of(yes), self._on.look, self._say))
        self._on.state.family = "badge"
        return yes

    def _tell(self, badge: Badge, key: str, **values: str) -> None:
        self._block(badge_lines(badge, self._say(key, None, **values), self._on.look))

    def _block(self, rows: Sequence[Line]) -> None:
        spaced = self._on.state.family != "badge"
        self._on.show([EMPTY, *rows] if spaced else rows)
        self._on.state.family = "badge"


def _owners(names: Sequence[str], on: Surface) -> Picker[str]:
    """Whose key it is, where its shape does not tell: the likeliest first."""
    say = on.say

    def draw(shown: Sequence[str], at: int, look: Look, total: int, most: int) -> list[Line]:
        count = say("screen.list.count", shown=len(shown), total=total)
        title, many = line(Span(look.text(say("setup.owners")), "bold")), line(Span(look.text(count), "muted"))
        rows = [spread(title, many, min(look.width, 73))]
        room = max(1, most - 1)
        first = max(0, min(at - room // 2, len(shown) - room))
        for place, name in enumerate(shown[first : first + room], first):
            mark = look.text("  › ") if place == at else "    "
            rows.append(line(mark, Span(look.text(clean_row(name)), "selected" if place == at else "plain")))
        return rows

    return Picker(names, draw, lambda name: name, say, told=lambda name: name)
