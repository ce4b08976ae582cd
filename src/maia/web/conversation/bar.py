"""What stands above a conversation: priority, and the field bar from project to due date (R-2.019–R-2.021, R-2.135)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from maia.core.events import ContextMeasured
from maia.core.ports import Say
from maia.core.text import visible
from maia.web.drawing.picker import EffortField, Picker, effort_field, picker_of
from maia.web.drawing.words import PRIORITIES
from maia.web.entry.auth import AtDesk, Owned, Person, SignedIn
from maia.web.entry.desk import Desk
from maia.web.entry.strangers import NO_STORE
from maia.web.layout.frame import nav_parts, reader_of
from maia.workspace.colleagues import TALKED_TO, Colleague, talked_to
from maia.workspace.records import Above, Card, ConversationRow, FolderRow, Project, ProjectType, Stage

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a field; `value` empty is none."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Choices that stand together; `name` empty for those without a heading."""

    name: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is chosen from a list. `name` is that of the interface; `locked` says why it cannot be changed."""

    name: str
    label: str
    groups: tuple[Group, ...]
    locked: str = ""

    @property
    def shown(self) -> str:
        """What is chosen."""
        return next((each.label for group in self.groups for each in group.options if each.is_chosen), "")


@dataclass(frozen=True, slots=True)
class Bar:
    """Everything above a conversation. `who` is what its colleague is called, empty without one; `above` delegated it.

    `offers_own`: a conversation without folders gets a workspace of its own with its next message.
    """

    card: Card
    picker: Picker
    effort: EffortField
    priority: Field
    project: Field
    folders: tuple[FolderRow, ...]
    offers_own: bool
    agent: Field
    stage: Field
    who: str
    above: Above | None

    @property
    def fullness(self) -> ContextMeasured | None:
        """What the last turn filled of the window of who answers next (R-2.102)."""
        card = self.card
        if card.context_tokens is None:
            return None
        source = "measured" if card.context_source == "measured" else "estimated"
        return ContextMeasured(card.context_tokens, card.context_window, source)


async def bar_of(desk: Desk, person: Person, row: ConversationRow) -> Bar:
    """The bar as it stands."""
    say, workspace = person.say, desk.workspace
    above = await workspace.above(row)
    (projects, types, stages), folders, card, known, answering, colleagues = await asyncio.gather(
        workspace.planning.all(),
        workspace.folders(row),
        workspace.cards.card(person.user, row),
        workspace.models.known(),
        workspace.answering(row),
        workspace.staff.everybody(row),
    )
    return Bar(
        card=card,
        picker=picker_of(answering, known, say),
        effort=effort_field(answering, say),
        priority=_priority(card, say),
        project=Field("projectId", say("bar.project"), tuple(_projects(card, projects, types, say))),
        folders=folders,
        offers_own=bool(folders) or await workspace.work_folders.offers_own(),
        agent=_agent(row, talked_to(colleagues), _called(row.agent, colleagues), say),
        stage=_stage(card, stages, say),
        who=_called(row.agent, colleagues),
        above=next((each for each in above if not each.is_deleted), None),
    )


def _priority(card: Card, say: Say) -> Field:
    options = (Option(name, say(sign.key), name == card.priority) for name, sign in PRIORITIES.items())
    return Field("priority", say("bar.priority"), (Group("", tuple(options)),))


def _projects(card: Card, projects: Sequence[Project], types: Sequence[ProjectType], say: Say) -> Iterator[Group]:
    """By type, in the order of the types; those without one first (R-2.137). One that was archived stays chosen."""
    yield Group("", (Option("", say("bar.none_project"), card.project_id is None),))
    if card.project_id is not None and card.project_id not in {each.id for each in projects}:
        yield Group("", (Option(card.project_id, visible(card.project or ""), is_chosen=True),))
    order = {each.id: n for n, each in enumerate(types)}
    names = {each.id: visible(each.name) for each in types}
    by_type = sorted(projects, key=lambda each: order.get(each.type_id or "", -1))
    for kind, those in groupby(by_type, lambda each: each.type_id or ""):
        yield Group(names.get(kind, ""), _named(((each.id, each.name) for each in those), card.project_id))


def _stage(card: Card, stages: Sequence[Stage], say: Say) -> Field:
    none = Option("", say("bar.none_stage"), card.stage_id is None)
    offered = _named(((each.id, each.name) for each in stages), card.stage_id)
    return Field("stageId", say("bar.stage"), (Group("", (none, *offered)),))


def _agent(row: ConversationRow, colleagues: Sequence[Colleague], who: str, say: Say) -> Field:
    """The colleague, in the groups main and team; after the first message nobody changes it (R-2.007, R-2.008)."""
    none = Option("", say("bar.none_agent"), row.agent is None)
    groups = (
        Group(say(f"colleague.group.{group}"), _named(those, row.agent))
        for group in TALKED_TO
        if (those := [(each.name, each.nickname) for each in colleagues if each.definition.group == group])
    )
    unlisted = row.agent is not None and row.agent not in {each.name for each in colleagues}
    own = (Option(row.agent or "", who, is_chosen=True),) if unlisted else ()
    locked = say("card.agent_locked") if row.last_turn or row.home_of else ""
    return Field("agent", say("bar.agent"), (Group("", (none, *own)), *groups), locked)


def _named(pairs: Iterable[tuple[str, str]], chosen: str | None) -> tuple[Option, ...]:
    return tuple(Option(value, visible(name), value == chosen) for value, name in pairs)


def _called(agent: str | None, colleagues: Sequence[Colleague]) -> str:
    if agent is None:
        return ""
    return visible(next((each.nickname for each in colleagues if each.name == agent), agent))


@router.get("/ui/conversations/{conversation_id}/bar")
async def draw_bar(desk: AtDesk, person: SignedIn, row: Owned) -> Response:
    """Everything above a conversation, after a change, and what it changes in the navigation."""
    nav = await nav_parts(desk, person, f"/conversations/{row.id}")
    values: dict[str, Any] = {"row": row, "bar": await bar_of(desk, person, row), "nav": nav}
    return HTMLResponse(reader_of(desk, person).draw("bar.html", **values), headers=NO_STORE)
