"""Programs that run another command given in their arguments: which, and how far a rule for one covers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from maia.permissions.script import Assignment, Barrier, Word, WrapKind
from maia.permissions.shell_options import Options, options, spec
from maia.permissions.wildcard import ANY, ONE

Words: TypeAlias = tuple[Word, ...]

UNKNOWN = Word(ANY, "…", literal=False, pattern=ANY)


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper runs: commands as words, scripts as text. `elsewhere` means in a folder that is not known."""

    kind: WrapKind
    commands: tuple[Words, ...] = ()
    scripts: tuple[str, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    elsewhere: bool = False


def blind(key: str, word: Word | str = "") -> Barrier:
    return Barrier("blind", key, word if isinstance(word, str) else word.source)


def unwrap(words: Words) -> Inner | None:
    """What the command runs in turn, or None for a command that runs nothing but itself."""
    if not words:
        return None
    name = program_name(words[0].text)
    row = _PLAIN.get(name)
    if row is not None:
        return _plain(row, words)
    reader = _READERS.get(name)
    return reader(words) if reader else None


def program_name(text: str) -> str:
    """The name of a program without its folder, and without `.exe`."""
    name = text.rpartition("/")[2]
    return name.removesuffix(".exe") if name.endswith(".exe") else name


@dataclass(frozen=True, slots=True)
class _Row:
    """A wrapper whose inner command stands behind its options and a fixed number of operands."""

    kind: WrapKind
    layout: str = ""
    operands: int = 0
    assigns: bool = False
    needs_inner: bool = False
    moves: str = ""


_SUDO = (
    "A b B E H K k n P S s i l v V C: D: g: h: p: R: r: T: t: U: u: askpass background bell preserve-env "
    "set-home login non-interactive shell stdin remove-timestamp reset-timestamp validate list version "
    "close-from= chdir= group= host= prompt= chroot= role= command-timeout= type= other-user= user="
)

_PLAIN: dict[str, _Row] = {
    "timeout": _Row("clear", "k: s: v f p kill-after= signal= verbose foreground preserve-status", 1),
    "gtimeout": _Row("clear", "k: s: v f p kill-after= signal= verbose foreground preserve-status", 1),
    "nice": _Row("clear", "n: 0 1 2 3 4 5 6 7 8 9 - adjustment="),
    "nohup": _Row("clear"),
    "setsid": _Row("clear", "c f w ctty fork wait"),
    "stdbuf": _Row("clear", "i: o: e: input= output= error="),
    "ionice": _Row("clear", "c: n: p: P: u: t class= classdata= pid= pgid= uid= ignore"),
    "time": _Row("clear", "p a v q f: o: portability append verbose quiet format= output="),
    "gtime": _Row("clear", "p a v q f: o: portability append verbose quiet format= output="),
    "coproc": _Row("clear"),
    "builtin": _Row("clear"),
    "exec": _Row("clear", "c l a:"),
    "noglob": _Row("clear"),
    "nocorrect": _Row("clear"),
    "chrt": _Row("clear", "a b d f i m o p r v R T: P: D: G pid batch deadline fifo idle max other rr verbose", 1),
    "taskset": _Row("clear", "a p c all-tasks pid cpu-list", 1),
    "numactl": _Row("clear", "* C: N: m: i: p: l"),
    "cpulimit": _Row("strong", "* l: p: e: P: c: limit= pid= exe= path= cpu="),
    "unbuffer": _Row("clear", "p"),
    "catchsegv": _Row("clear"),
    "caffeinate": _Row("clear", "d i m s u t: w:"),
    "sudo": _Row("strong", _SUDO, assigns=True, needs_inner=True, moves="D R chdir chroot i login"),
    "doas": _Row("strong", "C: u: L n s", needs_inner=True),
    "pkexec": _Row("strong", "user= disable-internal-agent keep-cwd", needs_inner=True, moves="*"),
    "chroot": _Row("strong", "userspec= groups= skip-chdir", 1, needs_inner=True, moves="*"),
    "unshare": _Row("strong", "* S: G: R: w: setuid= setgid= root= wd=", moves="R w root wd"),
    "nsenter": _Row("strong", "* t: S: G: target= setuid= setgid=", moves="*"),
    "setpriv": _Row("strong", (
        "* ruid= euid= rgid= egid= reuid= regid= groups= inh-caps= ambient-caps= bounding-set= securebits= "
        "pdeathsig="
    )),
    "setarch": _Row("clear", "*", 1),
    "linux32": _Row("clear", "*"),
    "linux64": _Row("clear", "*"),
    "prlimit": _Row("clear", "*"),
    "fakeroot": _Row("strong", "* l: s: i: b: lib= faked="),
    "firejail": _Row("strong", "*"),
    "bwrap": _Row("strong", "*"),
    "proot": _Row("strong", "* r: b: w: q:", moves="*"),
    "ltrace": _Row("strong", "* a: A: D: e: F: l: n: o: p: s: u: w: x:"),
    "valgrind": _Row("strong", "*"),
    "rlwrap": _Row("clear", "* a: b: C: D: f: g: H: l: M: O: p: P: q: s: S: t: w: z:"),
    "xvfb-run": _Row("clear", (
        "* e: f: n: p: s: w: error-file= auth-file= server-num= xauth-protocol= server-args= wait="
    )),
    "dbus-run-session": _Row("clear", "* config-file= dbus-daemon="),
    "dbus-launch": _Row("clear", "*"),
    "systemd-run": _Row("strong", (
        "* E: H: M: p: u: t: property= unit= slice= uid= gid= nice= setenv= working-directory= description= "
        "host= machine= on-active= on-calendar= service-type= timer-property="
    ), needs_inner=True, moves="*"),
    "systemd-inhibit": _Row("clear", "* what= who= why= mode="),
    "start-stop-daemon": _Row("strong", "*"),
    "busybox": _Row("strong", "", needs_inner=False),
    "toybox": _Row("strong", ""),
    "arch": _Row("clear", "*"),
    "gnome-terminal": _Row("strong", "*"),
    "xterm": _Row("strong", "* T: geometry= title="),
    "entr": _Row("strong", "a c d n p r s x z"),
    "watchexec": _Row("strong", "* w: e: i: f:"),
    "run0": _Row("strong", "* u: g: D: user= group= chdir= unit=", needs_inner=True, moves="*"),
    "setuidgid": _Row("strong", "", 1),
    "chpst": _Row("strong", "* u: U: e: n: l: L: m: o: p: f: c: t:"),
    "tini": _Row("clear", "*"),
    "dumb-init": _Row("clear", "*"),
    "retry": _Row("strong", "* t: d: times= delay="),
    "ts": _Row("strong", "*"),
    "npx": _Row("runner", "* p: c: package= call= y yes", 0),
    "bunx": _Row("runner", "* p: package="),
    "pnpx": _Row("runner", "*"),
    "dotenv": _Row("runner", "* f: e: c: v: p:"),
    "dotenvx": _Row("runner", "*"),
    "cross-env": _Row("strong", "*", assigns=True),
    "xcrun": _Row("runner", "* sdk= toolchain="),
}  # fmt: skip


def _plain(row: _Row, words: Words) -> Inner:
    parsed = options(words[1:], spec(row.layout))
    rest = parsed.rest[row.operands :]
    assignments, rest = _assignments(rest) if row.assigns else ((), rest)
    barriers = list(_option_barriers(parsed))
    if words[0].text == "coproc":
        barriers.append(blind("perm.why.dynamic", words[0]))
    if not rest and row.needs_inner and not parsed.has("l", "v", "V", "k", "K", "list", "validate", "version"):
        barriers.append(blind("perm.why.stdin_script", words[0]))
    moved = row.moves == "*" or (bool(row.moves) and parsed.has(*row.moves.split()))
    return Inner(row.kind, (rest,) if rest else (), (), assignments, tuple(barriers), moved)


def _option_barriers(parsed: Options) -> tuple[Barrier, ...]:
    return (blind("perm.why.option", parsed.unknown),) if parsed.unknown else ()


def _assignments(words: Words) -> tuple[tuple[Assignment, ...], Words]:
    made: list[Assignment] = []
    at = 0
    while at < len(words) and "=" in words[at].text[1:]:
        made.append(Assignment(words[at].text.partition("=")[0], words[at].source, exported=True))
        at += 1
    return tuple(made), words[at:]


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
    made, rest = _assignments(rest)
    barriers = list(_option_barriers(parsed))
    if parsed.has("S", "split-string"):
        barriers.append(blind("perm.why.env_split", words[0]))
        return Inner("clear", (), (), made, tuple(barriers))
    return Inner("clear", (rest,) if rest else (), (), made, tuple(barriers), parsed.has("C", "chdir"))


def _command(words: Words) -> Inner | None:
    parsed = options(words[1:], spec("p v V"))
    if parsed.has("v", "V"):
        return None
    return Inner("clear", (parsed.rest,) if parsed.rest else (), (), (), _option_barriers(parsed))


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
        return Inner("clear", (), (), (), _option_barriers(parsed))
    filled = tuple(_filled(word, name) for word in inner) if name else (*inner, UNKNOWN)
    return Inner("clear", (filled,), (), (), _option_barriers(parsed))


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
        if word.text in ("-x", "-X", "--exec", "--exec-batch"):
            inner = tuple(_filled(each, "{}") for each in words[at + 1 :])
            return Inner("strong", ((*inner, UNKNOWN),) if inner else (), (), (), (), elsewhere=True)
        if re.match(r"--exec(-batch)?=|-[xX].", word.text):
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
        return Inner("strong", (), (), (), tuple(barriers)) if barriers else None
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
            return Inner("strong", (parsed.rest,) if parsed.rest else (), (), (), _option_barriers(parsed))
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
        return Inner("strong", (parsed.rest,) if parsed.rest else (), (), (), _option_barriers(parsed))
    inner = _joined(words, "strong", parsed.rest)
    return replace(inner, barriers=inner.barriers + _option_barriers(parsed))


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
    return Inner("strong", (rest,) if rest else (), (), (), _option_barriers(parsed))


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


_RUNNERS: dict[str, tuple[tuple[str, ...], str]] = {
    "uv": (("run", "tool run"), (
        "* p: w: with= with-editable= with-requirements= python= extra= no-extra= group= only-group= no-group= "
        "project= directory= env-file= package= index= index-url= extra-index-url= default-index= find-links= "
        "config-file= cache-dir= color= link-mode= from= isolated"
    )),
    "uvx": (("",), "* p: w: with= python= from= index= index-url="),
    "poetry": (("run",), "* C: P: directory= project="),
    "pipenv": (("run",), "*"),
    "pdm": (("run",), "* p: project="),
    "rye": (("run",), "*"),
    "hatch": (("run", "env run"), "* e: env="),
    "pixi": (("run", "exec"), "* e: s: spec= environment= manifest-path="),
    "conda": (("run",), "* n: p: name= prefix= cwd="),
    "mamba": (("run",), "* n: p: name= prefix= cwd="),
    "micromamba": (("run",), "* n: p: name= prefix= cwd="),
    "pipx": (("run",), "* spec= python= pip-args="),
    "bundle": (("exec",), "*"),
    "npm": (("exec", "x"), "* p: c: w: package= call= workspace= prefix="),
    "pnpm": (("exec", "dlx"), "* C: F: dir= filter="),
    "yarn": (("exec", "dlx"), "* cwd="),
    "bun": (("x",), "*"),
    "mise": (("exec", "x"), "* C: c: j: cd= command="),
    "asdf": (("exec",), "*"),
    "rbenv": (("exec",), "*"),
    "pyenv": (("exec",), "*"),
    "nodenv": (("exec",), "*"),
    "direnv": (("exec",), "*"),
    "nix": (("run", "develop", "shell"), "* c: command="),
    "guix": (("shell", "environment"), "*"),
    "doppler": (("run",), "* command= p: c: project= config="),
    "op": (("run",), "* env-file="),
    "aws-vault": (("exec",), "* d: duration="),
    "ip": (("netns exec",), "*"),
    "git": (("bisect run",), "*"),
}  # fmt: skip


def _runner(words: Words) -> Inner | None:
    """`uv run PROGRAM …`: a rule for the runner covers what it runs, a deny still finds the inner command."""
    subcommands, layout = _RUNNERS[program_name(words[0].text)]
    before = options(words[1:], spec(layout))
    for subcommand in subcommands:
        parts = subcommand.split()
        if [word.text for word in before.rest[: len(parts)]] == parts:
            after = options(before.rest[len(parts) :], spec(layout))
            rest = after.rest[1:] if program_name(words[0].text) in ("direnv", "aws-vault", "ip") else after.rest
            script = after.value("c", "call", "command")
            barriers = (blind("perm.why.inline", script),) if script and "c" in layout.replace(":", " ").split() else ()
            return Inner("runner", (rest,) if rest else (), (), (), barriers)
    return None


_Reader: TypeAlias = Callable[[Words], "Inner | None"]
_READERS: dict[str, _Reader] = {
    "env": _env, "genv": _env, "command": _command, "xargs": _xargs, "gxargs": _xargs, "find": _find, "gfind": _find,
    "bfs": _find,
    "fd": _fd, "fdfind": _fd, "eval": _eval, "trap": _trap, "su": _su, "runuser": _su, "sg": _sg, "watch": _watch,
    "flock": _flock,
    "script": _script, "strace": _strace, "gdb": _gdb, "lldb": _gdb, "rr": _gdb, "parallel": _parallel,
    "hyperfine": _hyperfine,
    **dict.fromkeys(_SHELLS, _shell), **dict.fromkeys(_RUNNERS, _runner),
}  # fmt: skip
