"""What a program's new session is told before the request: the folder's instructions and what was said before."""

from __future__ import annotations

from maia.core.messages import AssistantMessage, Message, TextPart, ToolMessage, UserMessage
from maia.core.runtime import ProgramTask
from maia.core.text import cut_middle

_HISTORY_CHARS = 40_000


def first_prompt(task: ProgramTask, *, is_instructed: bool = False) -> str:
    """The request for a session that knows nothing yet, but for its instructions where it `is_instructed`."""
    parts = [task.instructions] if task.instructions and not is_instructed else []
    if task.history:
        earlier = cut_middle("\n\n".join(filter(None, map(_told, task.history))), _HISTORY_CHARS).text
        parts.append(f"<earlier_conversation>\n{earlier}\n</earlier_conversation>")
    return "\n\n".join([*parts, task.request])


def _told(message: Message) -> str:
    match message:
        case UserMessage():
            return "User: " + "\n".join(part.text for part in message.parts if isinstance(part, TextPart))
        case AssistantMessage():
            text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
            return f"Assistant: {text}" if text else ""
        case ToolMessage():
            return ""
