"""Programs that run another command given in their arguments: which, and how far a rule for one covers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from maia.permissions.script import Barrier, Word, WrapKind
from maia.permissions.shell_inner import (
    UNKNOWN,
    Inner,
    Words,
    blind,
    leading_assignments,
    option_barriers,
    program_name,
)
from maia.permissions.shell_options import options, spec
from maia.permissions.shell_plain_wrappers import plain_wrapper
from maia.permissions.shell_remote import remote
from maia.permissions.shell_runners import RUNNERS, runner
from maia.permissions.wildcard import ANY, ONE


def unwrap(words: Words) -> Inner | None:
    """What the command runs in turn, or None for a command that runs nothing but itself."""
    if not words:
        return None
    name = program_name(words[0].text)
    reader = _READERS.get(name)
    return reader(words) if reader else plain_wrapper(words) or remote(words)


# Wrappers with a grammar of their own


def _env(words: Words) -> Inner:
    layout = spec(
        "i 0 v u: C: S: P: a: ignore-environment null debug unset= chdir= split-string= argv0= block-signal "
        "default-signal ignore-signal list-signal-handling"
    )
    parsed = options(words[1:], layout)
    rest = parsed.rest
    if rest and rest[0].text == "-":
        rest = rest[1:]
    made, rest = leading_assignments(rest)
    barriers = list(option_barriers(parsed))
    if parsed.has("S", "split-string"):
        barriers.append(blind("perm.why.env_split", words[0]))
        return Inner("clear", (), (), made, tuple(barriers))
    return Inner("clear", (rest,) if rest else (), (), made, tuple(barriers), parsed.has("C", "chdir"))


def _command(words: Words) -> Inner | None:
    parsed = options(words[1:], spec("p v V"))
    if parsed.has("v", "V"):
        return None
    return Inner("clear", (parsed.rest,) if parsed.rest else (), (), (), option_barriers(parsed))


def _xargs(words: Words) -> Inner:
    layout = spec(
        "0 o p r t x a: d: E: I: L: n: P: R: s: S: J: null open-tty interactive no-run-if-empty verbose exit "
        "show-limits"
        " arg-file= delimiter= max-lines= max-args= max-procs= max-chars= replace eof process-slot-var="
    )
    parsed = options(tuple(_attached_only(word) for word in words[1:]), layout)
    inner = parsed.rest
    mark = parsed.value("I", "J")
    name = mark.text if mark and mark.text else "{}" if parsed.has("i", "replace") else ""
    if not inner:
        return Inner("clear", (), (), (), option_barriers(parsed))
    filled = (
        tuple(replace(_filled(word, name), made=word.made or name in word.text) for word in inner)
        if name
        else (*inner, replace(UNKNOWN, made=True))
    )
    return Inner("clear", (filled,), (), (), option_barriers(parsed), fills=True)


def _attached_only(word: Word) -> Word:
    """`-i{}`, `-e`, `-l5` take a value only in the same word: seen as flags, the value is no option of its own."""
    return (
        replace(word, text="-r")
        if word.fixed and re.match(r"-[el](?:\W|\d|\Z)", word.text)
        else (replace(word, text="--replace") if word.fixed and re.match(r"-i(?:\W|\Z)", word.text) else word)
    )


def _filled(word: Word, mark: str) -> Word:
    if not mark or mark not in word.text:
        return word
    text = word.text.replace(mark, ONE)
    return replace(word, text=text, pattern=text, literal=False)


_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")


def _find(words: Words) -> Inner | None:
    commands: list[Words] = []
    at = 1
    while at < len(words):
        if words[at].text in _FIND_RUNS:
            end = at + 1
            while end < len(words) and not _find_ends(words, end):
                end += 1
            commands.append(tuple(_filled(word, "{}") for word in words[at + 1 : end]))
            at = end
        at += 1
    if not commands:
        return None
    empty = tuple(blind("perm.why.option", "-exec") for argv in commands if not argv)
    within = any(word.text in ("-execdir", "-okdir") for word in words)
    return Inner("strong", tuple(argv for argv in commands if argv), (), (), empty, within)


def _find_ends(words: Words, at: int) -> bool:
    return words[at].text == ";" or (words[at].text == "+" and words[at - 1].text == "{}")


def _fd(words: Words) -> Inner | None:
    for at, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[HIusigaLlpF01q]*[xX]|--exec(?:-batch)?", word.text):
            inner = tuple(_filled(each, "{}") for each in words[at + 1 :])
            return Inner("strong", ((*inner, UNKNOWN),) if inner else (), (), (), (), elsewhere=True)
        if re.match(r"--exec(-batch)?=|-[HIusigaLlpF01q]*[xX].", word.text):
            return Inner("strong", (), (), (), (blind("perm.why.option", word),))
    return None


_SHELLS = (
    "bash",
    "sh",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "rbash",
    "yash",
    "fish",
    "csh",
    "tcsh",
    "elvish",
    "nu",
    "xonsh",
)
_FOREIGN = frozenset({"fish", "csh", "tcsh", "elvish", "nu", "xonsh"})
_STDIN_FILES = re.compile(r"-|/dev/stdin|/dev/fd/.*|/proc/(?:self|\d+|thread-self)/fd/.*|/dev/tcp/.*|/dev/udp/.*")


def _shell(words: Words) -> Inner | None:
    """`bash -c SCRIPT`; a shell without a script reads one from its input, which nobody sees."""
    at = 1
    runs = False
    barriers: list[Barrier] = []
    while at < len(words) and re.match(r"[-+].", words[at].text):
        text = words[at].text
        if not words[at].fixed:
            barriers.append(blind("perm.why.option", words[at]))
        if text == "--":
            at += 1
            break
        if text.startswith("--"):
            barriers += _shell_long(words[at])
            at += 2 if text in ("--rcfile", "--init-file", "--init-command", "--command") else 1
            runs = runs or text.startswith("--command")
            continue
        letters = text[1:]
        runs = runs or ("c" in letters and text[0] == "-")
        if "s" in letters and text[0] == "-" and not runs:
            barriers.append(blind("perm.why.stdin_script", words[0]))
        at += 1 + sum(letters.count(letter) for letter in "oO")
    return _shell_script(words, at, barriers, runs=runs)


def _shell_long(word: Word) -> list[Barrier]:
    harmless = (
        "--login",
        "--norc",
        "--noprofile",
        "--posix",
        "--verbose",
        "--help",
        "--version",
        "--restricted",
        "--noediting",
    )
    return [] if word.text in harmless else [blind("perm.why.option", word)]


def _shell_script(words: Words, at: int, barriers: list[Barrier], *, runs: bool) -> Inner | None:
    if not runs:
        if at >= len(words) or _STDIN_FILES.fullmatch(words[at].text):
            if not any(word.text in ("--version", "--help") for word in words):
                barriers.append(blind("perm.why.stdin_script", words[0]))
        elif words[at].text.startswith((ANY, ONE)) and words[at].text == ANY:
            barriers.append(blind("perm.why.dynamic", words[at]))
        files = (words[at:],) if at < len(words) and not barriers else ()
        return Inner("runner", files, (), (), tuple(barriers)) if barriers or files else None
    script = words[at] if at < len(words) else None
    if script is None or not script.literal or script.choices:
        barriers.append(blind("perm.why.dynamic", script or words[0]))
        return Inner("clear", (), (), (), tuple(barriers))
    if program_name(words[0].text) in _FOREIGN:
        barriers.append(blind("perm.why.inline", script))
    return Inner("clear", (), (script.text,), (), tuple(barriers))


def _behind_dashes(words: Words) -> Words:
    return words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]


def _eval(words: Words) -> Inner:
    parts = _behind_dashes(words)
    if not all(word.fixed for word in parts):
        return Inner("clear", (), (), (), (blind("perm.why.dynamic", words[0]),))
    return Inner("clear", (), (" ".join(word.text for word in parts),))


def _trap(words: Words) -> Inner | None:
    """`trap 'code' EXIT` runs code at a moment that nobody chose; `trap - EXIT` and `trap '' INT` run none."""
    parts = _behind_dashes(words)
    if not parts or parts[0].text in ("", "-", "-l", "-p", "-P") or (parts[0].fixed and parts[0].text.isdigit()):
        return None
    return Inner("clear", (), (), (), (blind("perm.why.trap", parts[0]),))


def _su(words: Words) -> Inner:
    """`su USER -c SCRIPT`, `runuser -u USER PROGRAM`: options may stand anywhere."""
    layout = spec(
        "c: s: g: G: u: w: T: C: l f m p P command= session-command= shell= group= supp-group= user= "
        "whitelist-environment= login fast preserve-environment pty"
    )
    found: list[Word] = []
    rest: list[Word] = []
    words_left = tuple(words[1:])
    while words_left:
        parsed = options(words_left, layout)
        if script := parsed.value("c", "C", "command", "session-command"):
            found.append(script)
        rest += parsed.rest[:1]
        words_left = parsed.rest[1:] if not parsed.has("u", "user") else ()
        if parsed.has("u", "user"):
            return Inner("strong", (parsed.rest,) if parsed.rest else (), (), (), option_barriers(parsed))
    if not found or not found[0].literal:
        return Inner("strong", (), (), (), (blind("perm.why.stdin_script", words[0]),))
    return Inner("strong", (), (found[-1].text,), (), (), elsewhere=True)


def _sg(words: Words) -> Inner:
    parts = [word for word in words[2:] if word.text not in ("-c", "-")]
    return _scripts(words, "strong", tuple(parts))


def _scripts(words: Words, kind: WrapKind, scripts: Words) -> Inner:
    if not scripts:
        return Inner(kind, (), (), (), (blind("perm.why.stdin_script", words[0]),))
    if not all(word.literal for word in scripts):
        return Inner(kind, (), (), (), (blind("perm.why.dynamic", words[0]),))
    return Inner(kind, (), tuple(word.text for word in scripts))


def _watch(words: Words) -> Inner:
    layout = spec(
        "n: q: s: b c C d e g p t v w x r beep color differences errexit chgexit equexit= interval= precise "
        "no-title no-wrap exec no-rerun shotsdir="
    )
    parsed = options(words[1:], layout)
    if parsed.has("x", "exec"):
        return Inner("strong", (parsed.rest,) if parsed.rest else (), (), (), option_barriers(parsed))
    inner = _joined(words, "strong", parsed.rest)
    return replace(inner, barriers=inner.barriers + option_barriers(parsed))


def _joined(words: Words, kind: WrapKind, rest: Words) -> Inner:
    """Words that the program joins into one script for a shell."""
    if not all(word.literal for word in rest):
        return Inner(kind, (rest,) if rest else (), (), (), (blind("perm.why.dynamic", words[0]),))
    return Inner(kind, (), (" ".join(word.text for word in rest),) if rest else ())


def _flock(words: Words) -> Inner:
    layout = spec(
        "e: w: E: c: F n o s u x conflict-exit-code= timeout= command= exclusive shared unlock nonblock "
        "close no-fork verbose"
    )
    parsed = options(words[1:], replace(layout, short="wEc", flags="eFnosux"))
    rest = parsed.rest[1:]
    if rest and rest[0].text in ("-c", "--command"):
        return _scripts(words, "strong", rest[1:2])
    if script := parsed.value("c", "command"):
        return _scripts(words, "strong", (script,))
    return Inner("strong", (rest,) if rest else (), (), (), option_barriers(parsed))


def _script(words: Words) -> Inner:
    layout = spec(
        "a e f q c: E: I: O: B: T: m: o: t append command= echo= log-in= log-out= log-io= log-timing= "
        "logging-format= output-limit= flush force quiet return"
    )
    parsed = options(words[1:], layout)
    script = parsed.value("c", "command")
    if script is not None:
        return _scripts(words, "strong", (script,))
    if len(parsed.rest) > 1:
        tail = options(parsed.rest[1:], layout)
        late = tail.value("c", "command")
        return _scripts(words, "strong", (late,)) if late else Inner("strong", (parsed.rest[1:],))
    return Inner("strong", (), (), (), (blind("perm.why.stdin_script", words[0]),))


def _strace(words: Words) -> Inner:
    layout = spec("* a: b: e: E: I: o: O: p: P: s: S: u: U: X: output= trace= expr= env= user= attach= string-limit=")
    parsed = options(words[1:], layout)
    out = parsed.value("o", "output")
    pipes = (blind("perm.why.option", out),) if out and out.text[:1] in ("|", "!", ANY, ONE) else ()
    return Inner("strong", (parsed.rest,) if parsed.rest else (), (), (), pipes)


def _gdb(words: Words) -> Inner:
    at = next((i for i, word in enumerate(words) if word.text == "--args"), None)
    code = tuple(
        blind("perm.why.inline", w)
        for w in words
        if re.match(r"--?(?:ex|eval-command|x|command|iex|ix|init-\w+)(?:=|\Z)", w.text)
    )
    rest = words[at + 1 :] if at is not None else words[1:]
    program = next((i for i, word in enumerate(rest) if not word.text.startswith("-")), None)
    return Inner("strong", (rest[program:],) if program is not None else (), (), (), code)


def _parallel(words: Words) -> Inner:
    """GNU parallel hands its words to a shell and fills in `{}`; what it runs is never fully known."""
    rest = options(
        words[1:],
        spec(
            "* j: P: a: n: N: L: I: S: d: C: jobs= max-procs= arg-file= max-args= colsep= delimiter= results= "
            "joblog= sshlogin= tagstring= timeout= delay= retries= halt= memfree= load= workdir= tmpdir= block= "
            "recstart= recend="
        ),
    ).rest
    ends = next((i for i, word in enumerate(rest) if re.fullmatch(r":::[:+]?\+?|::::\+?", word.text)), len(rest))
    inner = tuple(_filled(word, "{}") for word in rest[:ends])
    scripts = rest[ends + 1 :] if not inner else ()
    commands: tuple[Words, ...] = ((*inner, UNKNOWN),) if inner else ()
    texts = tuple(word.text for word in (inner if len(inner) == 1 else scripts) if word.literal)
    return Inner("strong", commands, texts, (), (blind("perm.why.dynamic", words[0]),))


def _hyperfine(words: Words) -> Inner:
    layout = spec(
        "* w: m: M: r: s: p: c: S: P: D: L: n: i N u: warmup= min-runs= max-runs= runs= setup= prepare= "
        "cleanup= shell= parameter-scan= parameter-list= command-name= style= sort= time-unit= export-json= "
        "export-csv= export-markdown= output= input= reference= conclude="
    )
    parsed = options(words[1:], layout)
    extra = [
        value
        for name, value in parsed.found
        if value and name in ("s", "p", "c", "setup", "prepare", "cleanup", "conclude", "reference")
    ]
    return _scripts(words, "strong", (*parsed.rest, *extra))


_Reader: TypeAlias = Callable[[Words], "Inner | None"]
_READERS: dict[str, _Reader] = {
    "env": _env, "genv": _env, "command": _command, "xargs": _xargs, "gxargs": _xargs, "find": _find, "gfind": _find,
    "bfs": _find,
    "fd": _fd, "fdfind": _fd, "eval": _eval, "trap": _trap, "su": _su, "runuser": _su, "sg": _sg, "watch": _watch,
    "flock": _flock,
    "script": _script, "strace": _strace, "gdb": _gdb, "lldb": _gdb, "rr": _gdb, "parallel": _parallel,
    "sem": _parallel,
    "hyperfine": _hyperfine,
    **dict.fromkeys(_SHELLS, _shell), **dict.fromkeys(RUNNERS, runner),
}  # fmt: skip
