"""What somebody asks of a board: the same words in the address of the page, of its stream, and of the interface."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from maia.workspace.record.board import LANE, MOST_OF_A_LANE, Asked, Filter, words_in

Wanted = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]


class BoardQuery(BaseModel):
    """Empty values want all cards. `more` is `key:count` for each lane that shows more than `limit` cards."""

    project: Wanted = ""
    stage: Wanted = ""
    priority: Literal["", "low", "normal", "high", "urgent"] = ""
    label: Wanted = ""
    state: Literal["all", "active", "done"] = "all"
    q: Wanted = ""
    messages: bool = False
    group: Literal["stage", "priority", "agent"] = "stage"
    limit: Annotated[int, Field(ge=1, le=MOST_OF_A_LANE)] = LANE
    more: Annotated[list[Wanted], Field(default_factory=list[str], max_length=100)]

    @property
    def filter(self) -> Filter:
        words = tuple(words_in(self.q))
        return Filter(self.project, self.stage, self.priority, self.label, self.state, words, self.messages)

    @property
    def asked(self) -> Asked:
        return Asked(self.filter, self.group, self.limit, dict(_sizes(self.more)))


def _sizes(more: list[str]) -> list[tuple[str, int]]:
    parts = [each.rpartition(":") for each in more]
    return [(key, int(size)) for key, _, size in parts if size.isascii() and size.isdigit() and 0 < len(size) < 6]
