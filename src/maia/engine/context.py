"""What a request is made of: system sections, tools and messages, assembled in one stable order and counted (T3.02)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, TypeAlias

from maia.core.errors import system_words
from maia.core.events import Notice
from maia.core.messages import Message, TextPart, UserMessage
from maia.core.ports import ContextPart, ContextView, WindowSource
from maia.core.requests import Effort, ModelRequest, Section, ToolSpec
from maia.core.submission import Attachment, Submission
from maia.core.text import cut_middle, visible
from maia.core.tool import AnyTool
from maia.engine.attached import attachment_text

START_FILES = ("MAIA.md", "CLAUDE.md", "AGENTS.md")
"""Start context, the first that exists (T1.07); AGENTS.md is the open standard that other agents read."""
_START_CHARS = 60_000
_START_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class StartContext:
    """The start context of a folder: its section, if any, and the notices that say what was or was not found."""

    section: Section | None
    notices: tuple[Notice, ...]


def read_start_context(launch: Path) -> StartContext:
    """Read MAIA.md, else CLAUDE.md, of the launch folder only (T1.07). Never fails: what is wrong is a notice."""
    for name in START_FILES:
        path = launch / name
        try:
            if not path.is_file():
                continue
            with path.open("rb") as file:
                data = file.read(_START_BYTES)
        except OSError as error:
            problem = system_words(error)
            return StartContext(None, (Notice("warn", "start.context_unreadable", {"file": name, "problem": problem}),))
        cut = cut_middle(data.decode("utf-8-sig", "replace"), _START_CHARS)
        notices = [Notice("info", "start.context", {"file": name})]
        if cut.cut_chars:
            notices.append(Notice("warn", "start.context_cut", {"file": name, "chars": cut.cut_chars}))
        return StartContext(Section("project", cut.text, name, cut.cut_chars), tuple(notices))
    return StartContext(None, (Notice("warn", "start.no_context"),))


Door: TypeAlias = Literal["terminal", "workspace"]


@cache
def fixed_words(door: Door) -> tuple[str, str]:
    """Who the agent is, and its rules: nobody changes them (N-12.01)."""
    prompts = resources.files("maia.engine.prompts")
    return prompts.joinpath(f"identity_{door}.md").read_text("utf-8"), prompts.joinpath("rules.md").read_text("utf-8")


def base_sections(
    launch: Path, folders: Sequence[Path], *, door: Door = "terminal", today: date | None = None
) -> tuple[Section, ...]:
    """The sections that do not come from the folder's own files: who the agent is, its rules, where it works.

    Without `today` the clock rides on each message, so that these are the same for ever (N-12.04).
    """
    identity, rules = fixed_words(door)
    more = "".join(f"\nAlso writable: {visible(str(folder))}" for folder in folders)
    where = f"Working folder: {visible(str(launch))}{more}\nRelative paths start at the working folder."
    machine = f"Platform: {sys.platform}" + (f"\nToday: {today.isoformat()}" if today else "")
    told = (("identity", identity), ("rules", rules), ("working-folders", where), ("runtime", machine))
    return tuple(Section(name, text.strip(), "maia") for name, text in told)


def project_section(section: Section) -> Section:
    """The start context as the model reads it, with its origin named."""
    head = f"# Instructions for this project, from {section.origin}\n\n"
    return Section(section.name, head + section.text, section.origin, section.cut_chars)


@dataclass(frozen=True, slots=True)
class Assembler:
    """Builds requests whose bytes are stable as far as the conversation is the same."""

    system: tuple[Section, ...]
    tools: Mapping[str, AnyTool]
    max_output_tokens: int | None = None
    effort: Effort | None = None

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told of the tools; one that is there under several names is told once."""
        return tuple({tool.spec.name: tool.spec for tool in self.tools.values()}.values())

    def request(self, model: str, messages: tuple[Message, ...]) -> ModelRequest:
        return ModelRequest(model, self.system, messages, self.specs(), self.max_output_tokens, self.effort)


@dataclass(frozen=True, slots=True)
class Tally:
    """How tokens are counted; the counting itself belongs to the llm room. `warm` loads what it needs and blocks."""

    warm: Callable[[], None]
    messages: Callable[[Sequence[Message]], int]
    sections: Callable[[Sequence[Section]], int]
    tools: Callable[[Sequence[ToolSpec]], int]


@dataclass(frozen=True, slots=True)
class Window:
    """The model's maximum context in tokens and who said so (T3.01)."""

    tokens: int | None = None
    source: WindowSource = "unknown"


def view_context(
    assembler: Assembler,
    messages: tuple[Message, ...],
    pending: Sequence[Attachment],
    draft: Submission | None,
    window: Window,
    tally: Tally,
) -> ContextView:
    """Everything the next request would hold, part by part."""
    specs = assembler.specs()
    waiting = [*pending, *(draft.attachments if draft else ())]
    texts = [attachment_text(item) for item in waiting] + ([draft.text] if draft and draft.text else [])
    joined = (UserMessage(tuple(TextPart(text) for text in texts)),) if texts else ()
    return ContextView(
        parts=(
            ContextPart("system", tally.sections(assembler.system), len(assembler.system)),
            ContextPart("tools", tally.tools(specs), len(specs)),
            ContextPart("messages", tally.messages(messages), len(messages)),
            ContextPart("pending", sum(tally.messages((message,)) for message in joined), len(waiting)),
        ),
        window=window.tokens,
        window_source=window.source,
        system=assembler.system,
        tools=specs,
        messages=messages,
    )
