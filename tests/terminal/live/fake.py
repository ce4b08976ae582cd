"""A conversation that plays scripts; run as a program it is the real prompt on it, for tests in a terminal."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from maia.core.agent import AgentLevel
from maia.core.costs import Cost, Usage
from maia.core.endings import Outcome
from maia.core.errors import NotConfigured
from maia.core.events import (
    Answered,
    ApprovalAnswered,
    ApprovalRequested,
    ContextCleared,
    ContextMeasured,
    Event,
    LimitReached,
    ModelChanged,
    Notice,
    PendingAdded,
    SessionRenamed,
    SessionStarted,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutput,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from maia.core.messages import AssistantMessage, TextPart, ToolCallPart
from maia.core.permission import Answer, Decision, Need, Rule, RuleSource, Verdict
from maia.core.ports import ContextPart, ContextView
from maia.core.reason import Reason
from maia.core.results import DiffBlock
from maia.core.submission import Attachment, Submission
from maia.engine.views import (
    AgentList,
    AgentRow,
    Change,
    ModelChoice,
    ModelCost,
    RuleFile,
    SessionChoice,
    ToolRow,
    Trust,
)

STEP = 0.01
ALLOWED = Rule(Verdict.ALLOW, "Read", "**", "Read(**)", RuleSource("~/.maia/settings.json", 3))


class FakeConversation:
    """Answers by what the request says: see `_SCRIPTS`. Everything asked of it is in `asked`."""

    def __init__(self, launch: Path, *, model: str = "sonnet", trust: bool = False, window: int = 200_000) -> None:
        self.name = "session_2026-11-30_10_02_11"
        self.is_kept = True
        self.model = model
        self.launch = launch
        self.asked: list[Any] = []
        self._trust = Trust(str(launch), ("./.maia/settings.json",)) if trust else None
        self._window = window
        self._tokens = int(os.environ.get("FAKE_TOKENS", "45700"))
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._stopped = asyncio.Event()
        self._news: asyncio.Queue[Event | None] = asyncio.Queue()
        self._turns = 0

    def trust_needed(self) -> Trust | None:
        return self._trust

    def trust(self, yes: bool) -> None:
        self.asked.append(("trust", yes))

    async def open(self) -> AsyncIterator[Event]:
        await asyncio.sleep(float(os.environ.get("FAKE_OPEN", "0")))
        if os.environ.get("FAKE_OPEN_FAILS"):
            raise NotConfigured("screen.no_models")
        yield SessionStarted(self.name, str(self.launch), "0.1")
        yield Notice("info", "screen.exported", {"path": str(self.launch)})
        if self.model:
            yield ModelChanged(self.model, "litellm", "settings")
        yield ContextMeasured(self._tokens, self._window)

    async def news(self) -> AsyncIterator[Event]:
        if late := os.environ.get("FAKE_NEWS"):
            await asyncio.sleep(0.3)
            yield Notice("info", "screen.exported", {"path": late})
        while (event := await self._news.get()) is not None:
            yield event

    async def close(self) -> None:
        self._news.put_nowait(None)

    async def turn(self, submission: Submission) -> AsyncIterator[Event]:
        self.asked.append(submission)
        self._turns += 1
        self._stopped.clear()
        yield TurnStarted(self._turns, self.model, "litellm")
        yield UserSaid(submission.text, submission.attachments)
        yield StepStarted(1)
        script = next((play for word, play in _SCRIPTS.items() if word in submission.text), _say)
        outcome: Outcome = "finished"
        async for event in script(self, submission.text):
            yield event
            if self._stopped.is_set():
                outcome = "stopped"
                break
        for call_id in tuple(self._answers):
            self._answers.pop(call_id)
            yield ApprovalAnswered(call_id, Answer("no"), "stop")
            yield ToolCallFinished(call_id, "Bash", "refused", "stopped")
        self._tokens += 600
        yield ContextMeasured(self._tokens, self._window)
        yield TurnEnded(
            outcome, "end", "stop", Usage(1200, 64), Cost(0.01, "reported"), self.model, "litellm", 1, 0, 0, 0.4
        )

    async def pause(self, seconds: float = STEP) -> None:
        try:
            await asyncio.wait_for(self._stopped.wait(), seconds)
        except TimeoutError:
            return

    async def shell(self, command: str) -> AsyncIterator[Event]:
        self.asked.append(("shell", command))
        self._stopped.clear()
        yield ToolCallStarted("bang", "!", {"command": command}, command)
        text = ""
        for place in range(200 if "long" in command else 3):
            text += f"line {place}\n"
            yield ToolOutput("bang", f"line {place}\n")
            await self.pause(0.02)
            if self._stopped.is_set():
                yield ToolCallFinished("bang", "!", "unknown", "interrupted")
                return
        yield ToolCallFinished("bang", "!", "succeeded", text, "3 lignes", duration=0.1)
        yield PendingAdded(Attachment("command", command, text))

    def stop(self) -> None:
        self.asked.append("stop")
        self._stopped.set()
        for future in self._answers.values():
            if not future.done():
                future.cancel()

    def answer(self, approval_id: str, answer: Answer) -> None:
        self.asked.append((approval_id, answer))
        future = self._answers.get(approval_id)
        if future is not None and not future.done():
            future.set_result(answer)

    async def answered(self, approval_id: str) -> Answer:
        future = self._answers[approval_id] = asyncio.get_running_loop().create_future()
        try:
            return await future
        finally:
            if future.done() and not future.cancelled():
                self._answers.pop(approval_id, None)

    async def measure(self, draft: Submission | None = None) -> ContextMeasured:
        self.asked.append(("measure", draft))
        return ContextMeasured(self._tokens, self._window)

    async def models(self) -> Sequence[ModelChoice]:
        names = ("sonnet", "qwen3-coder:30b", "mistral-small", "offline")
        return [ModelChoice(name, "litellm", 200_000, name == self.model) for name in names]

    async def set_model(self, name: str) -> AsyncIterator[Event]:
        self.model = name
        yield ModelChanged(name, "litellm", "command")

    async def clear(self) -> AsyncIterator[Event]:
        yield ContextCleared()

    async def new(self) -> AsyncIterator[Event]:
        yield SessionStarted("session_new", str(self.launch), "0.1")

    async def sessions(self) -> Sequence[SessionChoice]:
        return [SessionChoice(f"session_{n}", 1_790_000_000.0 - 90_000 * n, 21_400 + n, "arrondi") for n in range(37)]

    async def load(self, name: str) -> AsyncIterator[Event]:
        self.name = name
        yield SessionStarted(name, str(self.launch), "0.1")
        yield TurnStarted(1, self.model, "litellm")
        yield UserSaid("loaded request")
        yield Answered(AssistantMessage((TextPart("loaded **answer**"),)), "end", "stop", None, Cost())
        yield TurnEnded("finished", "end", "stop", None, Cost(), self.model, "litellm", 1, 0, 0, 0.4)
        if "cut" in name:
            yield TurnStarted(2, self.model, "litellm")
            yield UserSaid("cut request")
            yield StepStarted(1)
            async for event in _ask(self, "ask"):
                yield event
                if isinstance(event, ApprovalRequested):
                    return

    def rename(self, name: str) -> Event:
        self.name = name
        return SessionRenamed(name)

    async def context(self) -> ContextView:
        return ContextView((ContextPart("system", 6_200), ContextPart("messages", 31_100, 42)), 200_000, "catalogue")

    def cost(self) -> Sequence[ModelCost]:
        return [ModelCost("sonnet", Usage(412_208, 18_402), Cost(2.184, "reported"))]

    def rules(self) -> Sequence[RuleFile]:
        return [RuleFile("~/.maia/settings.json", (ALLOWED,))]

    def tools(self) -> Sequence[ToolRow]:
        return [ToolRow("Read", "Reads a file.")]

    def agents(self) -> AgentList:
        return AgentList((AgentRow("critic", "Zed", "Finds what breaks.", "maia sonnet", "./.maia/agents/critic"),))

    def create_agent(self, name: str, level: AgentLevel) -> str:
        return f"{'.' if level == 'project' else '~'}/.maia/agents/{name}/AGENT.md"

    def undo(self) -> Sequence[Change]:
        return [Change("src/a.py", "restored")]

    def redo(self) -> Sequence[Change]:
        return []

    def diff(self) -> Sequence[DiffBlock]:
        return [DiffBlock("src/a.py", "a\n", "b\n")]

    def export(self, path: str) -> Path:
        return self.launch / (path or "session.md")


def _answer(text: str, *calls: ToolCallPart) -> Answered:
    return Answered(AssistantMessage((TextPart(text), *calls)), "end", "stop", Usage(1200, 64), Cost())


async def _say(talk: FakeConversation, _: str) -> AsyncIterator[Event]:
    said = "L'arrondi est figé à deux décimales dans `LigneAvoir.tva`. Je le fais **suivre**.\n\n- un\n- deux\n"
    for place in range(0, len(said), 4):
        yield TextDelta(said[place : place + 4])
        await talk.pause()
    yield _answer(said)


async def _slow(talk: FakeConversation, _: str) -> AsyncIterator[Event]:
    for place in range(3_000):
        yield TextDelta(f"word{place} ")
        await talk.pause(0.02)
    yield _answer("done")


async def _ask(talk: FakeConversation, text: str) -> AsyncIterator[Event]:
    command = "git push origin avoirs-devise"
    decision = Decision(Verdict.ASK, Reason("screen.list.none"))
    count = text.count("ask")
    calls = [ToolCallPart(f"c{n}", "Bash", {"command": command}) for n in range(count)]
    yield _answer("", *calls)
    for n in range(count):
        need = Need("Bash", "command", command)
        yield ApprovalRequested(
            f"c{n}", f"c{n}", "Bash", {"command": command}, (need,), decision, f"Bash({command})", command
        )
    for n in range(count):
        try:
            answer = await talk.answered(f"c{n}")
        except asyncio.CancelledError:
            if talk._stopped.is_set():
                yield ToolOutput(f"c{n}", "")
                return
            raise
        yield ApprovalAnswered(f"c{n}", answer)
        if answer.scope == "no":
            yield ToolCallFinished(f"c{n}", "Bash", "refused", "no")
            continue
        yield ToolCallStarted(f"c{n}", "Bash", {"command": command}, command)
        await talk.pause(0.05)
        yield ToolCallFinished(f"c{n}", "Bash", "succeeded", "pushed\n", duration=3.1)


async def _big_output(talk: FakeConversation, _: str) -> AsyncIterator[Event]:
    output = "".join(f"row {n} {'x' * 60}\n" for n in range(3_000))
    yield _answer("", ToolCallPart("c", "Bash", {"command": "big"}))
    yield ToolCallStarted("c", "Bash", {"command": "big"}, "big")
    for start in range(0, len(output), 2_000):
        yield ToolOutput("c", output[start : start + 2_000])
        await talk.pause(0.001)
    yield ToolCallFinished("c", "Bash", "succeeded", output, duration=0.5)


async def _big_answer(talk: FakeConversation, _: str) -> AsyncIterator[Event]:
    said = "".join(f"{n}. the line **{n}** of `{n * 7}`\n" for n in range(10_000))
    for start in range(0, len(said), 400):
        yield TextDelta(said[start : start + 400])
        await talk.pause(0.001)
    yield _answer(said)


async def _limit(talk: FakeConversation, _: str) -> AsyncIterator[Event]:
    yield LimitReached("limit", "turns", 50)
    answer = await talk.answered("limit")
    yield ApprovalAnswered("limit", answer)


async def _crash(talk: FakeConversation, _: str) -> AsyncIterator[Event]:
    await talk.pause()
    yield TextDelta("about to fail")
    raise RuntimeError("crash")


async def _refused(talk: FakeConversation, _: str) -> AsyncIterator[Event]:
    await talk.pause()
    yield ToolCallStarted("c", "Bash", {"command": "x"}, "x")
    raise NotConfigured("screen.no_models")


async def _stuck(_talk: FakeConversation, _: str) -> AsyncIterator[Event]:
    yield TextDelta("waiting for a name server")
    await asyncio.to_thread(time.sleep, 600)


_SCRIPTS: dict[str, Callable[[FakeConversation, str], AsyncIterator[Event]]] = {
    "slow": _slow,
    "ask": _ask,
    "bigout": _big_output,
    "bigans": _big_answer,
    "limit": _limit,
    "crash": _crash,
    "stuck": _stuck,
    "refused": _refused,
}


def main() -> int:
    """Run the prompt; `FAKE_…` variables choose language, history file, trust, model, tokens and how long it loads.

    That is seconds (`FAKE_LOAD`), or until a file is there (`FAKE_LOAD_UNTIL`).
    """
    from maia.i18n.catalogue import Catalogue
    from maia.terminal.start import interactive

    lang = "en" if os.environ.get("FAKE_LANG") == "en" else "fr"

    def load() -> Any:
        from maia.terminal.ports import ScreenOptions

        time.sleep(float(os.environ.get("FAKE_LOAD", "0")))
        until = os.environ.get("FAKE_LOAD_UNTIL")
        while until and not Path(until).exists():
            time.sleep(0.02)
        talk = FakeConversation(
            Path(os.environ.get("FAKE_LAUNCH", "/srv/code/facturation")),
            trust=bool(os.environ.get("FAKE_TRUST")),
            model=os.environ.get("FAKE_MODEL", "sonnet"),
        )
        history = os.environ.get("FAKE_HISTORY")
        return talk, ScreenOptions(Path(history) if history else None, Path.home())

    return interactive(os.environ, Catalogue(lang), "0.1", load)


if __name__ == "__main__":
    sys.exit(main())
