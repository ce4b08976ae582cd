"""The built-in model `offline`: a deterministic assistant of rules, no LLM, that answers through the real tools.

It makes the main job run on a fresh machine, and it is the model of demos, of the documentation and of tests. Its whole
state is the request: it plays its plan again over the results in the messages and takes the next step. A script
(`offline_script`) can take its place.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from maia.core.costs import Usage
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
from maia.core.ports import Say, Wire
from maia.core.requests import ModelRequest
from maia.llm.count import compact_json
from maia.llm.endpoint import OFFLINE, OFFLINE_WINDOW
from maia.llm.offline_plans import carry_out
from maia.llm.offline_requests import Lang, language_of, understand
from maia.llm.offline_script import ScriptedWire, read_script
from maia.llm.offline_steps import Scene, Step

SCRIPT_VARIABLE: Final = "MAIA_OFFLINE_SCRIPT"

_CHARS_PER_TOKEN = 4
_DELTA_CHARS = 12


def open_offline(says: Mapping[Lang, Say], default_lang: Lang, env: Mapping[str, str]) -> Wire:
    """The offline model, or the script that `MAIA_OFFLINE_SCRIPT` names (a path, or the JSON lines themselves).

    `says` has the words of both languages: it answers in the language of the request, whatever the user's is. Raises
    `SettingsProblem` when the script cannot be read.
    """
    if script := env.get(SCRIPT_VARIABLE, "").strip():
        return ScriptedWire(read_script(script))
    return OfflineWire(says, default_lang)


@dataclass(frozen=True, slots=True)
class OfflineWire:
    """The rules as a `Wire`. It never fails, waits for nothing and costs nothing; its tokens are four characters."""

    says: Mapping[Lang, Say]
    default_lang: Lang = "en"

    @property
    def provider(self) -> str:
        return OFFLINE

    async def stream(self, request: ModelRequest) -> AsyncIterator[WireEvent]:
        text, calls = next_step(request, self.says, self.default_lang)
        for delta in pieces(text):
            await asyncio.sleep(0)  # a place at which a stop can reach us
            yield TextDelta(delta)
        for index, call in enumerate(calls):
            yield ToolCallDrafted(index, call.name, len(compact_json(call.arguments)))
        yield WireAnswer(
            AssistantMessage((*((TextPart(text),) if text else ()), *calls), OFFLINE, OFFLINE),
            stop="tool_calls" if calls else "end",
            raw_stop="tool_calls" if calls else "end",
            usage=Usage(input=_size(request), output=_tokens(len(text) + sum(_call_size(call) for call in calls))),
            cost_usd=0.0,
        )


def next_step(
    request: ModelRequest, says: Mapping[Lang, Say], default_lang: Lang
) -> tuple[str, tuple[ToolCallPart, ...]]:
    """What to say, and the calls to make, given everything that was said and done so far. Pure."""
    conversation = _Conversation.of(request.messages)
    lang = _language(conversation, default_lang)
    scene = Scene(
        says[lang],
        frozenset(tool.name for tool in request.tools),
        OFFLINE_WINDOW,
        conversation.joined,
        conversation.earlier,
    )
    plan = carry_out(understand(conversation.asked), scene)
    try:
        step = next(plan)
        for results in conversation.results:
            if [result.name for result in results] == [call.name for call in step.calls]:
                step = plan.send(results)  # other results are of calls that another model made
    except StopIteration as end:
        return _labelled(str(end.value), conversation, scene), ()
    return step.text, _calls(step, len(request.messages))


def pieces(text: str, size: int = _DELTA_CHARS) -> list[str]:
    """The text in deltas of a word or a few, that joined give the text again."""
    return re.findall(rf"[\s\S]{{1,{size}}}(?:\s|\b|\Z)|[\s\S]", text)


def _calls(step: Step, position: int) -> tuple[ToolCallPart, ...]:
    """Ids are unique in the conversation, and the same when it is played again."""
    return tuple(ToolCallPart(f"offline_{position}_{n}", c.name, c.arguments) for n, c in enumerate(step.calls, 1))


def _labelled(answer: str, conversation: _Conversation, scene: Scene) -> str:
    """The first answer of a conversation says that no language model wrote it."""
    if conversation.earlier or not conversation.results:
        return answer  # what it says about itself without tools says so anyway
    return f"{answer}\n\n{scene.say('offline.label')}"


def _language(conversation: _Conversation, default: Lang) -> Lang:
    for wish in understand(conversation.asked):
        if wish.lang:
            return wish.lang
    for earlier in conversation.earlier:
        default = language_of(earlier, default)
    return language_of(conversation.asked, default)


# The conversation so far --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Conversation:
    """The newest request with what was joined to it, the results since, step by step, and the requests before it."""

    asked: str
    joined: tuple[tuple[str, str], ...]
    results: tuple[Sequence[ToolResultPart], ...]
    earlier: tuple[str, ...]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> _Conversation:
        asked: list[tuple[str, tuple[tuple[str, str], ...]]] = []
        results: list[Sequence[ToolResultPart]] = []
        for message in messages:
            match message:
                case UserMessage(reminder=True):
                    pass
                case UserMessage():
                    asked.append(_request_in(message))
                    results = []
                case ToolMessage():
                    results.append(message.results)
                case AssistantMessage():
                    pass
        newest, joined = asked[-1] if asked else ("", ())
        return cls(newest, joined, tuple(results), tuple(text for text, _ in asked[:-1]))


_JOINED = re.compile(r"[^\n]*?: ([^\n]*)\n<(data-[0-9a-f]{8})>\n([\s\S]*?)\n?</\2>\n*")
"""How the engine puts joined files and results before a model (`engine/attached.py`); the source is in the sentence."""

_RIDING = re.compile(
    r"(?:Current date and time: [^\n]*\n*)?"
    r"(?:What is remembered [^\n]*\n<(memory-[^>\n]*)>\n[\s\S]*?\n</\1>\n*)?"
)
"""What the web workspace puts in front of a message for a model (`workspace/remembering`)."""


def _request_in(message: UserMessage) -> tuple[str, tuple[tuple[str, str], ...]]:
    text = "\n".join(part.text for part in message.parts if isinstance(part, TextPart))
    text = text[riding.end() :] if (riding := _RIDING.match(text)) else text
    joined = tuple((found[1].split(". It is")[0].split(" (")[0], found[3]) for found in _JOINED.finditer(text))
    return _JOINED.sub("", text).strip(), joined


# Usage --------------------------------------------------------------------------------------------------------------


def _tokens(chars: int) -> int:
    return -(-chars // _CHARS_PER_TOKEN)


def _call_size(call: ToolCallPart) -> int:
    return len(call.name) + len(compact_json(call.arguments))


def _size(request: ModelRequest) -> int:
    chars = sum(len(section.text) for section in request.system)
    for message in request.messages:
        match message:
            case ToolMessage():
                chars += sum(len(result.text) for result in message.results)
            case UserMessage() | AssistantMessage():
                for part in message.parts:
                    if isinstance(part, TextPart):
                        chars += len(part.text)
                    elif isinstance(part, ToolCallPart):
                        chars += _call_size(part)
    return _tokens(chars)
