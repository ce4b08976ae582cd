"""The command line as a value: one table of options, errors that say what to write instead (decisions §11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from maia.core.errors import UsageProblem
from maia.core.text import whole_number

OutputFormat: TypeAlias = Literal["text", "json", "stream-json"]
FORMATS: tuple[OutputFormat, ...] = ("text", "json", "stream-json")
Transport: TypeAlias = Literal["stdio", "http"]
TRANSPORTS: tuple[Transport, ...] = ("stdio", "http")


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for. `prompt` is None without `-p`, empty when it comes from standard input.

    `command` holds the words of a sub-command and what follows them, options excepted. `stdin` is True when a lone `-`
    joins standard input to the prompt.
    """

    prompt: str | None = None
    command: tuple[str, ...] = ()
    model: str | None = None
    runtime: str | None = None
    agent: str | None = None
    output_format: OutputFormat = "text"
    max_iterations: int | None = None
    continue_last: bool = False
    resume: str | None = None
    add_dirs: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    lang: str | None = None
    cwd: str | None = None
    settings: tuple[str, ...] = ()
    as_json: bool = False
    base_url: str | None = None
    transport: Transport | None = None
    host: str | None = None
    port: str | None = None
    acting_as: str | None = None
    hint: str | None = None
    dry_run: bool = False
    fields: tuple[str, ...] = ()
    everywhere: bool = False
    tags: tuple[str, ...] = ()
    database: str | None = None
    replace: bool = False
    stdin: bool = False
    help: bool = False
    version: bool = False


Takes: TypeAlias = Literal["flag", "text", "list", "count", "format", "transport", "prompt"]


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option: its spellings, the field of `Options` it fills, what it takes, and its value's name in the help."""

    spellings: tuple[str, ...]
    field: str
    takes: Takes
    value: str = ""


TABLE: tuple[OptionRow, ...] = (
    OptionRow(("-p", "--print"), "prompt", "prompt", "PROMPT"),
    OptionRow(("--model", "-m"), "model", "text", "MODEL"),
    OptionRow(("--runtime",), "runtime", "text", "NAME"),
    OptionRow(("--agent",), "agent", "text", "NAME"),
    OptionRow(("--output-format",), "output_format", "format", "text|json|stream-json"),
    OptionRow(("--max-iterations",), "max_iterations", "count", "N"),
    OptionRow(("--continue", "-c"), "continue_last", "flag"),
    OptionRow(("--resume", "-r"), "resume", "text", "NAME"),
    OptionRow(("--add-dir",), "add_dirs", "list", "DIR"),
    OptionRow(("--allow",), "allow", "list", "RULE"),
    OptionRow(("--deny",), "deny", "list", "RULE"),
    OptionRow(("--lang",), "lang", "text", "fr|en"),
    OptionRow(("--cwd",), "cwd", "text", "DIR"),
    OptionRow(("--settings",), "settings", "list", "FILE"),
    OptionRow(("--json",), "as_json", "flag"),
    OptionRow(("--base-url",), "base_url", "text", "URL"),
    OptionRow(("--hint",), "hint", "text", "PROVIDER"),
    OptionRow(("--dry-run",), "dry_run", "flag"),
    OptionRow(("--set",), "fields", "list", "FIELD=VALUE"),
    OptionRow(("--global",), "everywhere", "flag"),
    OptionRow(("--transport",), "transport", "transport", "stdio|http"),
    OptionRow(("--host",), "host", "text", "HOST"),
    OptionRow(("--port",), "port", "text", "PORT"),
    OptionRow(("--as",), "acting_as", "text", "AGENT"),
    OptionRow(("--tag",), "tags", "list", "TAG"),
    OptionRow(("--database",), "database", "text", "URL"),
    OptionRow(("--replace",), "replace", "flag"),
    OptionRow(("--help", "-h"), "help", "flag"),
    OptionRow(("--version", "-V"), "version", "flag"),
)

_BY_SPELLING = {spelling: row for row in TABLE for spelling in row.spellings}


@dataclass(slots=True)
class _Words:
    """The words not read yet."""

    rest: list[str]
    filled: dict[str, Any] = field(default_factory=dict[str, Any])
    command: list[str] = field(default_factory=list[str])

    def take(self) -> str | None:
        return self.rest.pop(0) if self.rest else None


def parse(argv: Sequence[str]) -> Options:
    """The options of a command line without the program's name. Raises `UsageProblem`.

    `--name=value` and `--name value` are the same; `--` ends the options; a lone `-` is a word. Words that are no
    options belong to a sub-command, or, after `-p`, to the prompt.
    """
    words = _Words(list(argv))
    while (word := words.take()) is not None:
        if word == "--":
            words.command += words.rest
            break
        if word.startswith("-") and word != "-":
            _option(word, words)
        else:
            words.command.append(word)
    options = replace(Options(), **words.filled, command=tuple(words.command))
    return _with_prompt(options)


def _with_prompt(options: Options) -> Options:
    """With `-p`, loose words are the prompt (`maia -p --model m hi`), but not beside one that `-p` took.

    A lone `-` joins standard input to the prompt.
    """
    words = tuple(word for word in options.command if word != "-")
    if options.prompt is None:
        return options
    if options.prompt and words:
        raise UsageProblem("cli.stray_words", words=" ".join(words))
    return replace(options, prompt=options.prompt or " ".join(words), command=(), stdin="-" in options.command)


def _option(word: str, words: _Words) -> None:
    spelling, joined, value = word.partition("=")
    row = _BY_SPELLING.get(spelling)
    if row is None:
        raise _unknown(spelling)
    if row.takes == "flag":
        if joined:
            raise UsageProblem("cli.flag_value", option=spelling)
        words.filled[row.field] = True
        return
    given = value if joined else _following(row, words)
    if given is None:
        raise UsageProblem("cli.missing_value", option=spelling, value=row.value)
    words.filled[row.field] = _read(row, spelling, given, words.filled.get(row.field))


def _following(row: OptionRow, words: _Words) -> str | None:
    """The next word as the value. `-p` may stand without one: the prompt then comes from standard input."""
    if row.takes == "prompt" and (not words.rest or _is_option(words.rest[0])):
        return ""
    return words.take()


def _is_option(word: str) -> bool:
    """Only what the table knows, so that `-p "- a list"` is a prompt."""
    return word in ("-", "--") or word.partition("=")[0] in _BY_SPELLING


def _read(row: OptionRow, spelling: str, given: str, before: Any) -> Any:
    match row.takes:
        case "list":
            return (*(before or ()), given)
        case "count":
            count = whole_number(given)
            if not count:
                raise UsageProblem("cli.not_a_count", option=spelling, given=given)
            return count
        case "format" | "transport":
            known = FORMATS if row.takes == "format" else TRANSPORTS
            if given not in known:
                raise UsageProblem(f"cli.unknown_{row.takes}", given=given, known=", ".join(known))
            return given
        case _:
            return given


def _unknown(spelling: str) -> UsageProblem:
    import difflib

    near = difflib.get_close_matches(spelling, _BY_SPELLING, n=1)
    return (
        UsageProblem("cli.option_near", given=spelling, near=near[0])
        if near
        else UsageProblem("cli.unknown_option", given=spelling)
    )
