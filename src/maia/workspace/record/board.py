"""The board and Home of a person: which cards, in which lanes, and what is pressing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from maia.database import board, cards, projects
from maia.database.board import Filter, Grouping, Lane, Spent
from maia.database.cards import Card
from maia.database.database import Database
from maia.database.folders import owned_among
from maia.database.projects import Project, ProjectType, Stage
from maia.database.search import asked_for
from maia.database.users import User
from maia.workspace.approvals import may_decide
from maia.workspace.news import EVERYTHING, News

LANE, MOST_OF_A_LANE, MOST_PRESSING, RECENT = 20, 2_000, 20, 8
"""Cards that a lane begins with, and the most that it shows when a person asks for more."""


EVERYONE = Filter()
"""All cards."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A board as somebody wants to see it: `size` cards of each lane, but what `sizes` says of some."""

    wanted: Filter = EVERYONE
    group: Grouping = "stage"
    size: int = LANE
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Board:
    """Everything that a board is drawn from; lanes without cards are not among the `lanes`."""

    lanes: Sequence[Lane]
    stages: Sequence[Stage]
    projects: Sequence[Project]
    types: Sequence[ProjectType]
    labels: Sequence[str]


@dataclass(frozen=True, slots=True)
class Today:
    """What Home shows. `lanes` are counts of open cards by stage; `needs` and `works` count what is not shown, too."""

    pressing: Sequence[Card]
    needs: int
    running: Sequence[Card]
    works: int
    recent: Sequence[Card]
    lanes: Mapping[str, int]
    stages: Sequence[Stage]
    spent: Spent


def words_in(said: str) -> Sequence[str]:
    """The words that somebody looks for."""
    return asked_for(said)


class Boards:
    """Reads boards, and tells when one has to be read again."""

    def __init__(self, database: Database, news: News) -> None:
        self._database = database
        self._news = news

    async def board(self, user: User, asked: Asked) -> Board:
        """The lanes that have cards, and what stands around them."""
        sizes = {key: min(size, MOST_OF_A_LANE) for key, size in asked.sizes.items()}
        return await self._read(user, lambda c: board.lanes(c, user.id, asked.wanted, asked.group, sizes, asked.size))

    async def listing(self, user: User, wanted: Filter, limit: int) -> Board:
        """As `board`, with all cards in one lane, the last changed first."""
        limit = max(1, min(limit, MOST_OF_A_LANE))
        return await self._read(user, lambda c: [board.listed(c, user.id, wanted, limit)])

    async def _read(self, user: User, lanes: Callable[[Connection], Sequence[Lane]]) -> Board:
        def find(connection: Connection) -> Board:
            return Board(
                lanes(connection),
                projects.stages(connection),
                projects.projects(connection),
                projects.project_types(connection),
                cards.labels_in_use(connection, user.id),
            )

        return await self._database.read(find)

    async def today(self, user: User, day: str, since: int) -> Today:
        """What is pressing on `day`, what runs, and what was spent since `since`."""

        def find(connection: Connection) -> Today:
            counted = board.lanes(connection, user.id, Filter(state="active"), "stage", {}, 0)
            return Today(
                *board.pressing(connection, user.id, day, MOST_PRESSING),
                *board.latest(connection, user.id, MOST_PRESSING, "running"),
                board.latest(connection, user.id, RECENT)[0],
                {lane.key: lane.count for lane in counted},
                projects.stages(connection),
                board.spent(connection, user.id, since),
            )

        return await self._database.read(find)

    @property
    def number(self) -> int:
        """The number of the last change, to be taken before something is read."""
        return self._news.number

    @property
    def closed(self) -> bool:
        """Whether the server is about to end."""
        return self._news.closed

    async def next(self, user: User, number: int, patience: float) -> tuple[int, bool]:
        """Wait for a change after `number`: the number that was reached, and whether this person may see it."""
        reached, told = await self._news.after(number, patience)
        if EVERYTHING in told or (told and may_decide(user)):
            return reached, True  # whoever may decide sees what waits in everybody's conversations
        return reached, bool(told and await self._database.read(lambda c: owned_among(c, user.id, told)))
