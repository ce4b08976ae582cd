"""Settings in layers: the home file, the launch folder's file, the environment, the command line; later ones win.

Every value remembers where it was written. What is wrong becomes a WARN that names file, line and key, and only that
value is left out (T1.10). A folder may come from a stranger: its file never says where requests go or with which key,
and until the folder is trusted it can only restrict (decisions §9).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from maia.core.agent import RealModel
from maia.core.errors import UsageProblem
from maia.core.events import Notice
from maia.core.jsonvalue import JsonObject, JsonValue
from maia.core.requests import Effort
from maia.settings_file import SettingsFile, close_if_secret, read_settings_file
from maia.settings_prices import TokenPrice
from maia.settings_values import (
    DEFAULT_MAX_ITERATIONS,
    KEYS,
    MemoryWish,
    PrivacyWish,
    RunLimits,
    Sandbox,
    Security,
    Wrong,
)

_SILENT = ("$schema",)
"""Written by editors; means nothing to us."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was written: a settings file with its line, `$VARIABLE` or `--option`."""

    name: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A value in force and where it comes from. The value is not printed: headers of an endpoint may be secret."""

    value: Any = field(repr=False)
    place: Place


@dataclass(frozen=True, slots=True)
class Settings:
    """What is in force. `files` are those that were found, home first; `notices` are for the start log."""

    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    files: tuple[SettingsFile, ...] = ()
    notices: tuple[Notice, ...] = ()

    def get(self, key: str) -> Any:
        """The value of a known key, or None."""
        found = self.values.get(key)
        return None if found is None else found.value

    def place(self, key: str) -> Place | None:
        """Where it was written, or None where the default is in force."""
        found = self.values.get(key)
        return None if found is None else found.place

    def plain(self) -> dict[str, Any]:
        """Key and value of everything set, permissions left out; the key to the server stays a `Secret`."""
        return {key: found.value for key, found in self.values.items()}

    def walled_as(self, other: Settings) -> Settings:
        """These, with the sandbox at least as strict as the other's."""
        joined, place = self.sandbox.restricted(other.sandbox), other.place("sandbox")
        if joined == self.sandbox or place is None:
            return self
        return replace(self, values={**self.values, "sandbox": Value(joined, place)})

    @property
    def max_iterations(self) -> int:
        """Model calls in one turn before the person is asked (T5.08)."""
        return self.get("MaxIterations") or DEFAULT_MAX_ITERATIONS

    @property
    def max_output_tokens(self) -> int | None:
        return self.get("MaxOutputTokens")

    @property
    def model(self) -> str | None:
        return self.get("model")

    @property
    def effort(self) -> Effort | None:
        return self.get("effort")

    @property
    def nicknames(self) -> Mapping[str, RealModel]:
        """The person's own names for models (C6.03)."""
        return self.get("ModelNicknames") or {}

    @property
    def pricing(self) -> Mapping[str, TokenPrice]:
        """The person's own prices, by `provider/model` or by a model alone (R-2.458)."""
        return self.get("model.pricing") or {}

    @property
    def lang(self) -> str | None:
        return self.get("lang")

    @property
    def sandbox(self) -> Sandbox:
        return self.get("sandbox") or Sandbox()

    @property
    def runs(self) -> RunLimits:
        return self.get("runs") or RunLimits()

    @property
    def memory(self) -> MemoryWish:
        return self.get("memory") or MemoryWish()

    @property
    def privacy(self) -> PrivacyWish:
        return self.get("privacy") or PrivacyWish()

    @property
    def security(self) -> Security:
        return self.get("security") or Security()

    @property
    def notify(self) -> bool:
        """Whether the terminal is told (bell) when a question waits or a long turn ended."""
        return self.get("notify") is not False


def load_settings(
    launch: Path,
    home: Path,
    env: Mapping[str, str],
    options: Mapping[str, JsonValue] | None = None,
    *,
    folder_trusted: bool = False,
) -> Settings:
    """Read all layers. `options` holds what the command line set, by the keys of the files.

    Raises `UsageProblem` when an option's value does not fit; everything else that is wrong becomes a notice.
    """
    values: dict[str, Value] = {}
    notices: list[Notice] = []
    files: list[SettingsFile] = []
    home_path, folder_path = home / ".maia" / "settings.json", launch / ".maia" / "settings.json"
    if file := read_settings_file(home_path, "~/.maia/settings.json"):
        files.append(file)
        notices += file.problems
        values |= _read_values(file, notices)
        notices += close_if_secret(file, (value.value for value in values.values()))
    same = _is_same(home_path, folder_path)
    if not same and (file := read_settings_file(folder_path, "./.maia/settings.json")):
        files.append(file)
        notices += file.problems
        own = _read_values(file, notices)
        notices += close_if_secret(file, (value.value for value in own.values()))
        notices += _join_folder(values, own, file, folder_trusted)
    values |= _from_env(env, notices)
    values |= _from_options(options or {})
    return Settings(values, tuple(files), tuple(notices))


def _is_same(one: Path, other: Path) -> bool:
    """Started in the home folder, both names lead to one file: it is the user's own."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def _read_values(file: SettingsFile, notices: list[Notice]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, raw in file.values.items():
        line = file.line(key)
        where: JsonObject = {"file": file.shown, "line": line, "name": key}
        if key not in KEYS:
            if key not in _SILENT:
                notices.append(_unknown(where))
            continue
        try:
            value = KEYS[key].read(raw)
        except Wrong as wrong:
            name = ", ".join(f"{key}.{part}" for part in wrong.parts) or key
            notices.append(Notice("warn", f"settings.wrong.{wrong.expected}", {**where, "name": name}))
            if wrong.rest is None:
                continue
            value = wrong.rest
        if key != "permissions":  # read by their own room, with lines, from `files`
            values[key] = Value(value, Place(file.shown, line))
    return values


def _unknown(where: JsonObject) -> Notice:
    from difflib import get_close_matches  # only when something is misspelt

    by_lower = {key.lower(): key for key in KEYS}
    close = get_close_matches(str(where["name"]).lower(), by_lower, n=1, cutoff=0.7)
    if close:
        return Notice("warn", "settings.unknown_close", {**where, "close": by_lower[close[0]]})
    return Notice("warn", "settings.unknown", where)


def _join_folder(
    values: dict[str, Value], found: dict[str, Value], file: SettingsFile, trusted: bool
) -> Iterator[Notice]:
    """Lay the launch folder's values over the others as far as it may, and say what was left out."""
    waiting: list[str] = []
    for key, new in found.items():
        match KEYS[key].folder:
            case "never":
                values_of = {"file": file.shown, "line": new.place.line, "name": key}
                yield Notice("warn", "settings.not_from_folder", values_of)
            case "restrict":
                kept = _stricter(key, values.get(key), new, trusted)
                values[key] = kept
                if kept.value != new.value:
                    waiting.append(key)
            case "trusted" if not trusted:
                waiting.append(key)
            case _:
                values[key] = new
    if waiting:
        key = "settings.only_stricter" if trusted else "settings.untrusted"
        yield Notice("info", key, {"file": file.shown, "names": ", ".join(waiting)})


def _stricter(key: str, old: Value | None, new: Value, trusted: bool) -> Value:
    if isinstance(new.value, (Sandbox, PrivacyWish)):
        base: Any = old.value if old else type(new.value)()
        joined = base.restricted(new.value)
        return Value(joined, new.place if joined != base or old is None else old.place)
    limit = old.value if old else (DEFAULT_MAX_ITERATIONS if key == "MaxIterations" else new.value)
    if trusted or new.value <= limit:
        return new
    return old or Value(limit, Place("built-in"))


def _from_env(env: Mapping[str, str], notices: list[Notice]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, known in KEYS.items():
        raw = env.get(known.env, "") if known.env else ""
        if not raw.strip():
            continue
        try:
            values[key] = Value(known.read(raw), Place(f"${known.env}"))
        except Wrong as wrong:
            notices.append(Notice("warn", f"settings.env.{wrong.expected}", {"name": known.env}))
            if wrong.rest is not None:
                values[key] = Value(wrong.rest, Place(f"${known.env}"))
    return values


def _from_options(options: Mapping[str, JsonValue]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, raw in options.items():
        if raw is None:
            continue
        known = KEYS[key]
        try:
            values[key] = Value(known.read(raw), Place(known.option))
        except Wrong as wrong:
            raise UsageProblem(f"settings.option.{wrong.expected}", option=known.option, given=str(raw)) from None
    return values
