"""An agent program that gets no value from us: its task is masked, and its calls may hold no placeholder (R-2.271)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject
from maia.core.ports import Say
from maia.core.requests import ModelRequest, Section
from maia.core.results import ToolResult
from maia.core.runtime import Desk, Permit, ProgramCall, ProgramEnd, ProgramEvent, ProgramTask, Runtime
from maia.privacy.mask import Masker
from maia.privacy.placed import Placed
from maia.privacy.request import WITHHELD, mask_request
from maia.privacy.sent import PartSent, Sent
from maia.privacy.wire import Record


class MaskedRuntime:
    """Wraps a program (core.runtime.Runtime). What the program reads by itself, in files or on the web, is its affair.

    `record` hears what was done to each task before it is given.
    """

    def __init__(self, runtime: Runtime, masker: Masker, placed: Placed, say: Say, record: Record) -> None:
        self._runtime = runtime
        self._masker = masker
        self._placed = placed
        self._say = say
        self._record = record

    @property
    def name(self) -> str:
        return self._runtime.name

    async def turn(self, task: ProgramTask, desk: Desk) -> ProgramEnd:
        if not self._masker.policy.enabled:
            return await self._runtime.turn(task, desk)
        masked, sent = self._masked(task)
        if (notice := self._record(sent)) is not None:
            desk.tell(notice)
        return await self._runtime.turn(masked, _CarefulDesk(desk, self._placed, self._say, self._results(sent)))

    async def aclose(self) -> None:
        await self._runtime.aclose()

    def _results(self, sent: Sent) -> Callable[[str, str], tuple[str | None, Notice | None]]:
        """How a result of a tool of ours is masked before the program gets it; what was masked joins the record.

        None in place of the text where it cannot be looked at: then nothing of it leaves (N-10.11).
        """

        def masked(tool: str, text: str) -> tuple[str | None, Notice | None]:
            nonlocal sent
            try:
                found = self._masker.mask(text)
            except Exception:  # a defect, or a text that no pattern can read
                found = None
            if found is not None and not found.spans and not found.noticed:
                return text, None
            part = PartSent("tool", "withheld") if found is None else PartSent("tool", "masked", found.spans)
            noticed = Counter(span.kind for span in found.noticed) if found else Counter[str]()
            named = ((tool, 1),) if found and found.spans else ()
            new = Sent(sent.provider, sent.version, False, (), (part,), named, 0, noticed)
            tools = tuple(sorted((Counter(dict(sent.tools)) + Counter(dict(named))).items()))
            sent = replace(
                sent, parts=(*sent.parts, part), tools=tools, noticed=noticed + Counter(sent.noticed), new=new
            )
            self._placed.note(sent)
            return found and found.text, self._record(sent)

        return masked

    def _masked(self, task: ProgramTask) -> tuple[ProgramTask, Sent]:
        """The task as one request, of which the instructions and the text are the sections."""
        asked = (replace(each, origin="") for each in task.preface)
        sections = (Section("instructions", task.instructions), *asked, Section("request", task.text))
        masked = mask_request(ModelRequest(task.model, sections, task.history), self._masker.mask)
        version = self._masker.policy.version
        done = (masked.sections, masked.parts, masked.tools, masked.pictures, masked.noticed)
        sent = Sent(self.name, version, False, *done)
        self._placed.note(sent)
        instructions, *preface, request = masked.request.system
        clean = replace(
            task,
            text=request.text,
            history=masked.request.messages,
            instructions=instructions.text,
            preface=tuple(preface),
        )
        return clean, sent


@dataclass(frozen=True, slots=True)
class _CarefulDesk:
    """The desk, where a call with a placeholder is refused before anybody is asked."""

    desk: Desk
    placed: Placed
    say: Say
    masked: Callable[[str, str], tuple[str | None, Notice | None]]

    def tell(self, event: ProgramEvent) -> None:
        self.desk.tell(event)

    async def permit(self, call: ProgramCall) -> Permit:
        found = ", ".join(self.placed.within(call.call.arguments))
        if not found:
            return await self.desk.permit(call)
        name = call.call.name
        self.desk.tell(Notice("warn", "privacy.placeholder", {"tool": name, "placeholders": found}))
        said = self.say("privacy.placeholder", tool=name, placeholders=found)
        return Permit(False, f"{said}\n{self.say('privacy.placeholder.fix')}")

    async def use(self, name: str, arguments: JsonObject, own: str = "") -> ToolResult:
        """Its arguments are looked at by the tool itself; its result is masked like all that the program gets."""
        result = await self.desk.use(name, arguments, own)
        text, notice = self.masked(name, result.text)
        if notice is not None:
            self.desk.tell(notice)
        return ToolResult(WITHHELD, is_error=True) if text is None else replace(result, text=text)
