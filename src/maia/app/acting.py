"""What an agent's definition means for a session: what it is told, its steps, its rules, its tools. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from maia.core.agent import OWN_RUNNER, AgentDefinition
from maia.core.delegation import DELEGATE_TO_AGENT, DELEGATING, RUN_SPECIALIST
from maia.core.events import Notice
from maia.core.permission import Rule, RuleSource, Verdict
from maia.core.requests import Effort, Section
from maia.core.text import visible
from maia.core.tool import AnyTool
from maia.permissions.rules import RuleProblem, canonical_tool, parse_rule

if TYPE_CHECKING:
    from maia.app.agentkeys import AgentKey


@dataclass(frozen=True, slots=True)
class Acting:
    """The agent as which a session acts. `runner` and `model` are the real ones where a nickname was written.

    `notices` belong to the start log. `key` pays, where the definition names one. With `is_strict` a model that is not
    there is an error (C6.03), else a warning (T7.06).
    """

    agent: AgentDefinition
    runner: str = OWN_RUNNER
    model: str = ""
    rules: tuple[Rule, ...] = ()
    notices: tuple[Notice, ...] = ()
    key: AgentKey | None = None
    is_strict: bool = False


NOBODY: Final = Acting(AgentDefinition("", "", "", ""))
"""maia itself: no model, key or runner of its own."""

STEPS: Final[Mapping[Effort, int]] = {"minimal": 10, "low": 10, "medium": 25, "high": 50}
"""T7.05. An effort that is not here leaves the settings' limit."""

_PACE: Final[Mapping[Effort, str]] = {
    "none": "Answer straight away, with no more tool calls than the task cannot do without.",
    "minimal": "Think only where you must.",
    "low": "Go the shortest way that settles the task.",
    "medium": "Work thoroughly, without side paths.",
    "high": "Work carefully and check what you claim.",
    "xhigh": "Take your time: consider alternatives where it matters, and check everything that you claim.",
    "max": "Take all the care that the task allows, consider alternatives, and check everything that you claim.",
}


def steps_of(agent: AgentDefinition, limit: int) -> int:
    """How many steps the agent has; never more than the limit in force."""
    return min(limit, STEPS[agent.effort]) if agent.effort in STEPS else limit


def section_of(agent: AgentDefinition, turns: int | None = None) -> Section:
    """What the agent is told beside what every session is told. `turns` are its own steps, where these count."""
    called = visible(agent.nickname)
    named = f'"{called}"' if called == agent.name else f'"{called}" (agent {agent.name})'
    parts = [f"# You act as {named}\n\n{agent.instructions}", *_person_of(agent)]
    if agent.missions:
        parts.append(f"# Your missions\n\n{agent.missions}")
    if agent.output:
        parts.append(f"# What you answer in the end\n\n{agent.output}")
    pace = _pace(agent, turns)
    if pace:
        parts.append(f"# Effort\n\n{pace}")
    return Section("agent", "\n\n".join(parts), agent.shown)


def _person_of(agent: AgentDefinition) -> Iterator[str]:
    """Who it is beside its instructions, as far as its definition says."""
    told = {
        "Your role": agent.role,
        "Your goal": agent.goal,
        "Your background": agent.backstory,
        "What you are good at": "\n".join(f"- {each}" for each in agent.capabilities),
        "What you keep to without exception": "\n".join(f"- {each}" for each in agent.constraints),
    }
    yield from (f"# {title}\n\n{text}" for title, text in told.items() if text)


def _pace(agent: AgentDefinition, turns: int | None) -> str:
    steps = turns or (STEPS.get(agent.effort) if agent.effort else None)
    bound = f"You have at most {steps} steps; keep the last one for the answer." if steps else ""
    return f"{_PACE[agent.effort] if agent.effort else ''} {bound}".strip()


_HELD: Final = ("Read", "Write", "Edit", "Bash", "Glob", "Grep", "WebFetch")
"""What a program does that matters; its list of tasks and the like are its own affair."""


def rules_of(agent: AgentDefinition, runner: str) -> tuple[tuple[Rule, ...], tuple[Notice, ...]]:
    """The rules that the definition adds, and what was wrong with them.

    A program works with tools of its own: those of ours that the definition leaves out are denied to it.
    """
    left_out: list[str] = []
    if runner != OWN_RUNNER and agent.tools is not None:
        kept = {canonical_tool(name) for name in agent.tools}
        left_out = [name for name in _HELD if name not in kept]
    return written_rules(agent, runner, left_out)


def written_rules(
    agent: AgentDefinition, runner: str | None = None, left_out: Sequence[str] = ()
) -> tuple[tuple[Rule, ...], tuple[Notice, ...]]:
    """The rules that stand in the definition, those tools denied, and what was wrong with them.

    `asks_nothing` is a rule that trusts the definition's program as a whole, and counts only in the person's own ones.
    """
    runner = agent.runner if runner is None else runner
    source = RuleSource(agent.shown)
    written = [
        *((text, Verdict.DENY) for text in (*agent.rules.deny, *left_out)),
        *((text, Verdict.ASK) for text in agent.rules.ask),
        *((text, Verdict.ALLOW) for text in agent.rules.allow),
    ]
    if runner != OWN_RUNNER and agent.asks_nothing and agent.level == "home":
        written.append((f"Agent({runner})", Verdict.ALLOW))
    read = [parse_rule(text, verdict, source) for text, verdict in written]
    problems = [each for each in read if isinstance(each, RuleProblem)]
    return tuple(each for each in read if isinstance(each, Rule)), tuple(_told(each, agent) for each in problems)


def restrictions(agents: Iterable[AgentDefinition]) -> tuple[Rule, ...]:
    """The denials and questions of agents that delegated; what they allow is theirs alone."""
    rules = (rule for agent in agents for rule in written_rules(agent)[0])
    return tuple(rule for rule in rules if rule.verdict is not Verdict.ALLOW)


def _told(problem: RuleProblem, agent: AgentDefinition) -> Notice:
    return Notice("warn", "agents.bad_rule", {"file": agent.shown, "rule": str(problem.values.get("rule", ""))})


_OTHER_NAMES: Final[Mapping[str, str]] = {
    "read_file": "Read",
    "write_file": "Write",
    "edit_file": "Edit",
    "run_command": "Bash",
    "web_fetch": "WebFetch",
    "ask_user": "AskUser",
    "todo_write": "TodoWrite",
    "current_model": "CurrentModel",
    "memory_store": "MemoryStore",
}
_ELSEWHERE: Final = "AskUser"
"""Asks who reads later, which a terminal has no need of: a list that names it is right there, too."""
_NOT_HERE: Final = ("memory_search", "memory_expand", *DELEGATING)
"""Tools that come beside these: whoever has a memory looks things up anyway (N-05.08), only the workspace delegates."""


def other_names(tool: str) -> tuple[str, ...]:
    """The names that other programs give to a tool of ours."""
    return tuple(name for name, ours in {**_OTHER_NAMES, DELEGATE_TO_AGENT: RUN_SPECIALIST}.items() if ours == tool)


def tools_for(
    names: Sequence[str] | None, shown: str, tools: Mapping[str, AnyTool]
) -> tuple[dict[str, AnyTool], tuple[Notice, ...]]:
    """The tools of these names, in their usual order, and a warning for names that are none; all for None.

    `shown` is the file that names them. A tool is also found by a name that other programs give it.
    """
    if names is None:
        return dict(tools), ()
    known = [name for name in names if name.casefold() not in _NOT_HERE]
    meant = {name: _OTHER_NAMES.get(name.casefold(), name) for name in known}
    by_name = {name.casefold(): name for name in tools}
    wanted = {by_name.get(name.casefold(), "") for name in meant.values()}
    unknown = [name for name, ours in meant.items() if ours.casefold() not in by_name and ours != _ELSEWHERE]
    values = {"file": shown, "n": len(unknown), "names": ", ".join(unknown)}
    notices = (Notice("warn", "agents.no_such_tool", values),) if unknown else ()
    return {name: tool for name, tool in tools.items() if name in wanted}, notices
