"""How the effort of a request is written for each family of models: one table of controls, one of models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from maia.core.jsonvalue import JsonObject
from maia.core.requests import Effort, ModelRequest
from maia.llm.target import EffortControl, WireTarget

MIN_BUDGET: Final = 1024
"""The smallest thinking budget Anthropic accepts (docs: extended thinking)."""

BUDGETS: Final[Mapping[Effort, int]] = {
    "minimal": 1_024, "low": 4_096, "medium": 12_288, "high": 24_576, "xhigh": 36_864, "max": 49_152,
}  # fmt: skip
"""Thinking tokens for models that take a budget. `none` means no thinking."""

_OPENAI_WORDS: Final[tuple[tuple[str, Mapping[Effort, str]], ...]] = (
    # platform.openai.com/docs/guides/reasoning, 2026-11: which words each family accepts.
    (r"\bo[134](-|$)", {"none": "low", "minimal": "low", "xhigh": "high", "max": "high"}),
    (r"\bgpt-6\.\d", {"none": "low", "minimal": "low"}),
    (r"\bgpt-(6|5\.[6-9])", {"minimal": "low"}),
    (r"\bgpt-5\.1(?!-codex-max)", {"minimal": "low", "xhigh": "high", "max": "high"}),
    (r"\bgpt-5\.\d", {"minimal": "low", "max": "xhigh"}),
    (r"\bgpt-5", {"none": "minimal", "xhigh": "high", "max": "high"}),
    (r"\bgemini-", {"none": "minimal", "xhigh": "high", "max": "high"}),  # ai.google.dev/gemini-api/docs/openai
    (r"", {"none": "", "minimal": "low", "xhigh": "high", "max": "high"}),
)

_CLAUDE_CONTROLS: Final[tuple[tuple[str, EffortControl], ...]] = (
    # docs.anthropic.com, adaptive and extended thinking, 2026-11.
    (r"claude-(instant|2|3-(opus|sonnet|haiku|5))", "none"),
    (r"claude-(3-7|(opus|sonnet|haiku)-4(-[0-5])?(-20\d{6})?(-v\d|@|:|$|-latest))", "anthropic-budget"),
    (r"claude-", "anthropic-adaptive"),
)


def control_of(model: str, target: WireTarget) -> EffortControl:
    """How this model takes an effort: the target's word, else by the format, the host and the model's name."""
    if target.options.effort is not None:
        return target.options.effort
    if target.format == "openai-chat":
        return "openrouter" if "openrouter.ai" in target.base_url else "openai"
    for pattern, control in _CLAUDE_CONTROLS:
        if re.search(pattern, model):
            return control
    return "anthropic-budget"


def effort_fields(request: ModelRequest, target: WireTarget, limit: int | None) -> JsonObject:
    """The fields of the body that ask for the request's effort; empty when none was asked or the model has none.

    `limit` is the output limit that is sent: a thinking budget must leave at least half of it for the answer.
    """
    effort = request.effort
    if effort is None:
        return {}
    match control_of(request.model, target):
        case "none":
            return {}
        case "openai":
            words = next(words for pattern, words in _OPENAI_WORDS if re.search(pattern, request.model))
            word = words.get(effort, effort)
            return {"reasoning_effort": word} if word else {}
        case (
            "openrouter"
        ):  # it knows the whole ladder and gives each model its nearest: openrouter.ai/docs, ReasoningEffort
            return {"reasoning": {"enabled": False} if effort == "none" else {"effort": effort}}
        case "anthropic-budget":
            budget = min(BUDGETS.get(effort, 0), (limit or 0) // 2)
            return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= MIN_BUDGET else {}
        case "anthropic-adaptive":
            if effort == "none":
                return {"thinking": {"type": "disabled"}}
            thinking = {"type": "adaptive", "display": "summarized"}
            return {"thinking": thinking, "output_config": {"effort": _adaptive(effort, request.model)}}


def _adaptive(effort: Effort, model: str) -> Effort:
    """Claude knows no `minimal`, and the models before Opus 4.7 no `xhigh` (platform.claude.com/docs, effort)."""
    if effort == "minimal":
        return "low"
    return "high" if effort == "xhigh" and re.search(r"-4[.-]6", model) else effort
