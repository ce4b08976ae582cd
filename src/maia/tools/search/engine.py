"""Runs one search in a child process, ripgrep or our own worker, and reads what it writes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from maia.core.errors import ToolProblem
from maia.tools.search.globs import compile_glob
from maia.tools.search.query import Cut, Found, Line, Mode, Query
from maia.tools.search.worker import MAX_LINE_BYTES, compile_hunt
from maia.tools.threads import in_thread

SECONDS: Final = 20.0
MAX_LIST_BYTES: Final = 64 * 1024 * 1024
MAX_MATCH_BYTES: Final = 8 * 1024 * 1024
"""What is read from a search at most; then it is stopped and the result says so."""
_MAX_STDERR: Final = 256 * 1024

_RG_MODES: Final[dict[Mode, tuple[str, ...]]] = {
    "list": ("--files",),
    "files": ("--files-with-matches",),
    "count": ("--count",),
    "content": ("--line-number", "--no-heading", "--with-filename", "--no-context-separator"),
}
_RG_ALWAYS: Final = (
    "--no-config", "--color=never", "--null", "--hidden", "--crlf", "--no-require-git", "--no-ignore-global",
    "--no-ignore-exclude", "--no-ignore-dot", f"--max-columns={MAX_LINE_BYTES}", "--max-columns-preview",
    "--glob=!.git", "--glob=!.hg", "--glob=!.svn", "--glob=!.jj", "--glob=!**/.maia/.*",
)  # fmt: skip
"""The same view of the tree as the worker has: `.gitignore` only, hidden files too, no configuration of the user."""

_SIMPLE_NAME: Final = re.compile(r"[\w.*?\-+@ ,{}]+")
_ROW: Final = re.compile(rb"^([^\0\n]*)\0(\d+)([:-])(.*)$", re.MULTILINE)
_COUNT: Final = re.compile(rb"^([^\0]*)\0(\d+)\r?$", re.MULTILINE)  # --crlf ends ripgrep's own lines too
_BINARY: Final = re.compile(
    rb"^([^\0\n]*): (?:WARNING: stopped searching binary file|binary file matches)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class _Run:
    """What a child wrote. `code` is None when it was stopped."""

    out: bytes
    err: bytes
    code: int | None
    cut: Cut


async def search(query: Query, *, rg: str | None, seconds: float = SECONDS) -> Found:
    """The result of a query, by the program `rg`, or by the worker when it is None or cannot read the pattern.

    Raises `ToolProblem` for a pattern that neither understands. Cancelled, the child is gone before this raises.
    """
    problem = pattern_problem(query)
    if rg is not None:
        run = await _run([rg, *rg_arguments(query)], query, seconds)
        if run.code in (0, 1, None) or _os_errors(run.err):
            return await in_thread(lambda: _read(query, run, "rg"))
        if problem:
            problem = _last_line(run.err) or problem
    if problem:
        raise ToolProblem("tool.grep.bad_pattern", pattern=query.pattern, reason=problem)
    run = await _run(worker_command(query), query, seconds)
    return await in_thread(lambda: _read(query, run, "python"))


def find_rg(forbidden: Path) -> str | None:
    """The path of a trustworthy `rg`: on PATH or beside our Python, and never from below `forbidden`.

    A repository that brings its own `rg` and a PATH with `.` in it must not get a program run without a question.
    """
    for candidate in (shutil.which("rg", path=_absolute_path()), os.path.join(os.path.dirname(sys.executable), "rg")):
        if candidate and os.access(candidate, os.X_OK):
            real = Path(os.path.realpath(candidate))
            if not real.is_relative_to(forbidden) or real.is_relative_to(sys.prefix):
                return str(real)
    return None


def pattern_problem(query: Query) -> str:
    """Why Python cannot read the pattern, empty when it can."""
    import warnings

    if not query.pattern:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a nested set is only a hint to the author of the pattern
            compile_hunt(query)
    except (re.error, RecursionError, OverflowError) as problem:
        return str(problem)
    return ""


def rg_arguments(query: Query) -> list[str]:
    """The command line after `rg`. What comes from outside stands after `--regexp=` or `--`, never as an option."""
    arguments = [*_RG_ALWAYS, *_RG_MODES[query.mode]]
    if name := _name_filter(query.glob):
        arguments += ["--type-add", f"maia:{name}", "--type=maia"]
    if query.pattern:
        arguments.append(f"--regexp={query.pattern}")
    if query.ignore_case:
        arguments.append("--ignore-case")
    if query.multiline:
        arguments += ["--multiline", "--multiline-dotall"]
    if query.context and query.mode == "content":
        arguments.append(f"--context={query.context}")
    return [*arguments, "--", f"./{query.start}"]


def worker_command(query: Query) -> list[str]:
    """The command line of the worker: this Python, isolated, without site packages."""
    source = str(Path(__file__).parents[3])
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from maia.tools.search.worker import main; main(sys.argv[1:])"
    )
    return [sys.executable, "-I", "-S", "-W", "ignore", "-c", code, source, json.dumps(asdict(query))]


def _name_filter(glob: str) -> str:
    """The last part of a glob when ripgrep surely understands it as we do, to spare it the other files.

    As a type and not as `--glob`, because a wanted glob would override `.gitignore` there.
    """
    name = glob.rpartition("/")[2]
    balanced = name.count("{") == name.count("}") <= 1
    usable = balanced and _SIMPLE_NAME.fullmatch(name) and "**" not in name
    return name if usable else ""


def _absolute_path() -> str:
    """PATH without relative folders."""
    return os.pathsep.join(part for part in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(part))


async def _run(command: list[str], query: Query, seconds: float) -> _Run:
    environment = {name: value for name, value in os.environ.items() if name != "RIPGREP_CONFIG_PATH"}
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            cwd=query.root,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise ToolProblem("tool.search.failed", reason=str(problem)) from None
    try:
        return await _collect(child, MAX_LIST_BYTES if query.mode == "list" else MAX_MATCH_BYTES, seconds)
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()


async def _collect(child: asyncio.subprocess.Process, max_bytes: int, seconds: float) -> _Run:
    assert child.stdout
    assert child.stderr
    out: list[bytes] = []
    errors = asyncio.create_task(_drain(child.stderr))
    cut: Cut = ""
    try:
        async with asyncio.timeout(seconds):
            size = 0
            while chunk := await child.stdout.read(1 << 18):
                out.append(chunk)
                size += len(chunk)
                if size > max_bytes:
                    cut = "size"
                    break
    except TimeoutError:
        cut = "time"
    except BaseException:
        errors.cancel()
        raise
    if cut:
        with suppress(ProcessLookupError):
            child.kill()
    err = await errors
    code = await child.wait()
    return _Run(b"".join(out), err, None if cut else code, cut)


async def _drain(stream: asyncio.StreamReader) -> bytes:
    """Everything that comes, so that the child is never held up; only the beginning is kept."""
    kept = b""
    while chunk := await stream.read(1 << 16):
        if len(kept) < _MAX_STDERR:
            kept += chunk
    return kept


def _read(query: Query, run: _Run, engine: Literal["rg", "python"]) -> Found:
    found = Found(engine, unreadable=_os_errors(run.err), cut=run.cut)
    if engine == "python" and run.code not in (0, None):
        raise ToolProblem("tool.search.failed", reason=_last_line(run.err))
    wanted = compile_glob(query.glob).matches if query.glob else None
    if query.mode in ("list", "files"):
        whole = run.out[: run.out.rfind(b"\0") + 1].decode("utf-8", "surrogateescape")
        paths = [path.removeprefix("./") for path in whole.split("\0")[:-1]]
        if query.glob:
            paths = compile_glob(query.glob).filter(paths)
        return replace(found, paths=sorted(paths))
    binary = {_path(hit[1]) for hit in _BINARY.finditer(run.out)}
    whole = run.out[: run.out.rfind(b"\n") + 1]
    if query.mode == "count":
        counts = {_path(hit[1]): int(hit[2]) for hit in _COUNT.finditer(whole)}
        kept = sorted(path for path in counts if path not in binary and (wanted is None or wanted(path)))
        return replace(found, paths=kept, counts={path: counts[path] for path in kept})
    lines = _lines(whole)
    kept = sorted(path for path in lines if path not in binary and (wanted is None or wanted(path)))
    return replace(found, paths=kept, lines={path: lines[path] for path in kept})


def _lines(out: bytes) -> dict[str, list[Line]]:
    lines: dict[str, list[Line]] = {}
    for hit in _ROW.finditer(out):
        text = hit[4].removesuffix(b"\r")
        lines.setdefault(_path(hit[1]), []).append(Line(int(hit[2]), _shown(text), hit[3] == b":"))
    return lines


def _shown(text: bytes) -> str:
    """A line as text. It may be cut within a character; what is no UTF-8 is shown as cp1252."""
    if len(text) >= MAX_LINE_BYTES:
        return text.decode("utf-8", "ignore")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("cp1252", "replace")


def _path(name: bytes) -> str:
    return os.fsdecode(name.removeprefix(b"./"))


def _os_errors(err: bytes) -> int:
    """How many files or folders could not be read."""
    return err.count(b"(os error ")


def _last_line(err: bytes) -> str:
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else ""
