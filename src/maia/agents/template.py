"""The commented `AGENT.md` that new agents begin with: maia's own, or the person's in `MAIA_RESSOURCES` (T7.10)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from maia.agents.document import MAX_BYTES
from maia.agents.files import FILE
from maia.core.errors import SettingsProblem, system_words
from maia.core.fileread import read_bounded


def template(lang: str, env: Mapping[str, str]) -> str:
    """The template in that language: `AGENT.<lang>.md` where it is there, else `AGENT.md`.

    Raises `SettingsProblem` where `MAIA_RESSOURCES` is set and holds no such file.
    """
    if named := env.get("MAIA_RESSOURCES"):
        return _own(Path(named).expanduser(), lang)
    folder = resources.files("maia").joinpath(".ressources")
    file = folder.joinpath(f"AGENT.{lang}.md")
    return (file if file.is_file() else folder.joinpath(FILE)).read_text("utf-8")


def _own(folder: Path, lang: str) -> str:
    named = folder / f"AGENT.{lang}.md"
    file = named if named.is_file() else folder / FILE
    try:
        return read_bounded(file, MAX_BYTES).decode("utf-8")
    except OSError as error:
        raise SettingsProblem("agents.template", file=str(file), why=system_words(error)) from error
    except UnicodeDecodeError:
        raise SettingsProblem("agents.template", file=str(file), why="UTF-8") from None
