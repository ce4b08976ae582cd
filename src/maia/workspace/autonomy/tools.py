"""All tools of the product as people read them: what each does and how much harm it can do. A row grants nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from maia.core.jsonvalue import JsonObject
from maia.core.tool import AnyTool
from maia.tools.ask_user import AskUserTool
from maia.tools.delegation import delegation_specs
from maia.tools.toolbox import built_in_tools
from maia.workspace.autonomy.categories import Kind, kind_of


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool. `description` is what a model is told of it, `schema` what its input must be."""

    name: str
    description: str
    schema: JsonObject
    kind: Kind


class Tools:
    """The tools that conversations are offered. `beside` are those that are not of the folder, as the memory's."""

    def __init__(self, beside: Callable[[], Iterable[AnyTool]]) -> None:
        self._beside = beside

    def all(self) -> Sequence[ToolRow]:
        """Each once, in the order in which a model sees them. Blocks the first time: prompts are read."""
        own = (tool.spec for tool in (*built_in_tools(), AskUserTool(), *self._beside()))
        specs = {spec.name: spec for spec in (*own, *delegation_specs())}
        return [ToolRow(spec.name, spec.description, spec.parameters, kind_of(spec.name)) for spec in specs.values()]


def chosen(
    rows: Iterable[ToolRow], names: Callable[[str], str], words: str = "", category: str = "", risk: str = ""
) -> list[ToolRow]:
    """Those that a reader looks for: by the words of name or description, by category, by risk; `names` are shown."""
    wanted = words.casefold().split()

    def fits(row: ToolRow) -> bool:
        text = f"{row.name} {names(row.name)} {row.description}".casefold()
        of_kind = category in ("", row.kind.category) and risk in ("", row.kind.risk)
        return of_kind and all(word in text for word in wanted)

    return [row for row in rows if fits(row)]
