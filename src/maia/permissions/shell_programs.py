"""Programs whose own arguments need to be read to see whether they write a file or run another program."""

from __future__ import annotations

import re

from maia.permissions.script import Barrier, Word
from maia.permissions.shell_code import awk_effect, sed_effect
from maia.permissions.shell_git import git_hazards
from maia.permissions.shell_inner import Reader, Words, always_runs, program_name
from maia.permissions.shell_options import has_flag, options, spec
from maia.permissions.wildcard import ANY, ONE


def _sed(words: Words) -> list[Barrier]:
    layout = spec(
        "* e: f: l: n r E s u z i b expression= file= line-length= in-place quiet silent posix "
        "regexp-extended separate unbuffered null-data debug sandbox follow-symlinks"
    )
    rest, scripts, found = words[1:], list[Word](), list[Barrier]()
    operands: list[Word] = []
    given = False
    while rest:
        parsed = options(rest, layout)
        for name, value in parsed.found:
            if name in ("e", "expression") and value:
                scripts.append(value)
                given = True
            elif name in ("f", "file"):
                given = True
                found.append(Barrier("flag", "perm.why.runs", "-f"))
        operands += parsed.rest[:1]
        rest = parsed.rest[1:]
    if edits := has_flag(words[1:], "-i", "-I", "--in-place", values="efl"):
        found.append(
            Barrier("flag", "perm.why.writes", edits.source[:2] if not edits.source.startswith("--") else "--in-place")
        )
    if not given:
        scripts += operands[:1]
    for script in scripts:
        effect = (
            "none"
            if not script.literal and not _sed_risk(script)
            else sed_effect(script.text.replace(ANY, "x").replace(ONE, "x"))
        )
        if effect != "none":
            found.append(Barrier("flag" if effect == "write" else "blind", f"perm.why.{effect}s", script.source))
    return found


def _sed_risk(script: Word) -> bool:
    return sed_effect(script.text.replace(ANY, "x").replace(ONE, "x")) != "none" or script.text[:1] in (ANY,)


def _awk(words: Words) -> list[Barrier]:
    layout = spec(
        "* F: v: f: e: i: l: E: o p d D assign= field-separator= file= source= include= load= exec= "
        "pretty-print profile dump-variables debug"
    )
    parsed = options(words[1:], layout)
    found = [
        Barrier("flag", "perm.why.runs", "-f")
        for name, _ in parsed.found
        if name in ("f", "file", "E", "exec", "i", "include", "l", "load", "D", "debug")
    ]
    found += [
        Barrier("flag", "perm.why.writes", f"-{name[:1]}")
        for name, _ in parsed.found
        if name in ("o", "p", "d", "pretty-print", "profile", "dump-variables")
    ]
    programs = [value for name, value in parsed.found if name in ("e", "source") and value]
    if not programs and all(barrier.key != "perm.why.runs" for barrier in found):
        programs = list(parsed.rest[:1])
    for program in programs:
        effect = awk_effect(program.text)
        if program.text.startswith(ANY):
            effect = "run"
        if effect != "none":
            found.append(Barrier("flag" if effect == "write" else "blind", f"perm.why.{effect}s", program.source))
    return found


_FIND_WRITES = ("-delete", "-fls", "-fprint", "-fprint0", "-fprintf")


def _find(words: Words) -> list[Barrier]:
    return [Barrier("flag", "perm.why.writes", word.text) for word in words[1:] if word.text in _FIND_WRITES][:1]


def _uniq(words: Words) -> list[Barrier]:
    """`uniq IN OUT` and `xxd IN OUT` write their second operand."""
    operands = _operands(words[1:], "fsw" if program_name(words[0].text) != "xxd" else "oclgsRn")
    return [Barrier("flag", "perm.why.writes", operands[1].source)] if len(operands) > 1 else []


def _date(words: Words) -> list[Barrier]:
    """`date MMDDhhmm` sets the clock; only `+FORMAT` and BSD's `-j` do not."""
    parsed = options(words[1:], spec("* d: f: r: s: v: date= file= reference= set="))
    sets = [word for word in _operands(words[1:], "dfrsv") if not word.text.startswith("+")]
    return [Barrier("flag", "perm.why.writes", sets[0].source)] if sets and not parsed.has("j") else []


def _time(words: Words) -> list[Barrier]:
    """The program `time`, which a path or a backslash calls, writes its figures where it is told."""
    parsed = options(words[1:], spec("p a v q f: o: portability append verbose quiet format= output="))
    return [Barrier("flag", "perm.why.writes", "-o")] if parsed.has("o", "output") else []


def _logs(words: Words) -> list[Barrier]:
    """`xvfb-run -e FILE` and `rlwrap -l FILE` write beside what they run."""
    parsed = options(words[1:], spec("* e: f: n: s: l: H: error-file= logfile= history-filename= server-args="))
    written = parsed.has("e", "error-file", "l", "logfile", "H", "history-filename")
    return [Barrier("flag", "perm.why.writes", words[0].source)] if written else []


_CURL_FILES = (
    "o", "output", "D", "dump-header", "c", "cookie-jar", "trace", "trace-ascii", "stderr", "libcurl", "etag-save",
    "hsts", "alt-svc",
)  # fmt: skip
_SCREEN_FILES = ("-", "/dev/null", "/dev/stdout", "/dev/stderr")


def _curl(words: Words) -> list[Barrier]:
    """A download into a file writes it as a redirection would."""
    layout = spec(
        "* A: b: c: C: d: D: e: E: F: h: H: K: m: o: P: Q: r: t: T: u: U: w: x: X: y: Y: z: O J "
        "a B f g G i I j k l L M n N p q R s S v V Z 0 1 2 3 4 6 # output= dump-header= "
        "cookie-jar= trace= trace-ascii= stderr= libcurl= etag-save= hsts= alt-svc= config= remote-name "
        "remote-name-all remote-header-name output-dir= data= header= request= user= url= write-out= max-time="
    )
    found: list[Barrier] = []
    rest = words[1:]
    while rest:
        parsed = options(rest, layout)
        for name, value in parsed.found:
            shown = f"-{name}" if len(name) == 1 else f"--{name}"
            to_file = name in _CURL_FILES and (value is None or value.text not in _SCREEN_FILES)
            if to_file or name in ("O", "remote-name", "remote-name-all"):
                found.append(Barrier("flag", "perm.why.writes", shown))
            elif name in ("K", "config"):
                found.append(Barrier("flag", "perm.why.runs", shown))
        rest = parsed.rest[1:]
    return found[:1]


def _operands(rest: Words, values: str) -> list[Word]:
    layout = spec(
        "* " + " ".join(f"{letter}:" for letter in values) + " skip-fields= skip-chars= check-chars= date= reference="
    )
    found: list[Word] = []
    while rest:
        parsed = options(rest, layout)
        found += parsed.rest[:1]
        rest = parsed.rest[1:]
    return found


def _ssh_options(words: Words) -> list[Barrier]:
    """`-o ProxyCommand=…` and its like run a program on this machine."""
    text = " ".join(word.text for word in words[1:])
    runs = re.search(
        r"(?i)(?:Proxy|Local|KnownHosts|AuthorizedKeys|Match\s+exec)\w*Command|PermitLocalCommand|PKCS11Provider|SecurityKeyProvider",
        text,
    )
    return [Barrier("blind", "perm.why.runs", "-o")] if runs else []


def _editor(words: Words) -> list[Barrier]:
    plus = next(
        (word for word in words[1:] if word.text.startswith("+") and not word.text[1:].isdigit() and word.text != "+"),
        None,
    )
    return [Barrier("inline", "perm.why.inline", plus.source)] if plus else []


def _less(words: Words) -> list[Barrier]:
    plus = next((word for word in words[1:] if re.match(r"\+.*!", word.text)), None)
    return [Barrier("blind", "perm.why.runs", plus.source)] if plus else []


def _database(words: Words) -> list[Barrier]:
    """Clients whose statements can leave for the shell: `\\!`, `\\copy … program`, `.shell`, `system`."""
    escape = (
        r"(?i)\\!|\\o\s*\||\\g\s*\||\bprogram\s+'|^\s*\.(?:shell|system|load|output|once|excel|open|read|import)\b"
        r"|;\s*\.(?:shell|system)\b|\bload_extension\s*\(|^\s*(?:system|source|\\\.)\s"
    )
    found = next((word for word in words[1:] if re.search(escape, word.text)), None)
    return [Barrier("blind", "perm.why.runs", found.source)] if found else []


_MAKE_RUNS = (
    r"(?:SHELL|\.SHELLFLAGS|MAKEFILES|MAKE)[:?+]*="
    r"|(?:CC|CXX|LD|AR)[:?+]*=(?![\w./-]*(?:gcc|g\+\+|clang|cc|c\+\+|ld|ar)\b)"
)


def _make(words: Words) -> list[Barrier]:
    shell = next(
        (word for word in words[1:] if re.match(_MAKE_RUNS, word.text)),
        None,
    )
    return [Barrier("blind", "perm.why.assignment", shell.source.partition("=")[0])] if shell else []


def _socat(words: Words) -> list[Barrier]:
    found = next((word for word in words[1:] if re.match(r"(?i)(?:exec|system|shell)\b", word.text)), None)
    return [Barrier("blind", "perm.why.runs", found.source)] if found else []


def _terminal(words: Words) -> list[Barrier]:
    harmless = (
        "ls",
        "list-sessions",
        "list-windows",
        "list-panes",
        "has-session",
        "capture-pane",
        "-V",
        "-ls",
        "-list",
        "display-message",
        "kill-session",
    )
    subcommand = next((word.text for word in words[1:]), "")
    return [] if subcommand in harmless else [Barrier("blind", "perm.why.runs", words[0].source)]


def _deno(words: Words) -> list[Barrier]:
    subcommand = next((word for word in words[1:]), None)
    return (
        [Barrier("inline", "perm.why.inline", "eval")]
        if subcommand and subcommand.text in ("eval", "repl", "-")
        else []
    )


PROGRAMS: dict[str, Reader] = {
    "time": _time, "gtime": _time, "xvfb-run": _logs, "rlwrap": _logs,
    "sed": _sed, "awk": _awk, "find": _find, "uniq": _uniq, "xxd": _uniq, "ssh": _ssh_options, "scp": _ssh_options,
    "sftp": _ssh_options, "rsync": _ssh_options, "vim": _editor, "less": _less, "more": _less, "psql": _database,
    "mysql": _database, "mariadb": _database, "sqlite3": _database, "make": _make, "gmake": _make, "socat": _socat,
    "tmux": _terminal, "screen": _terminal, "zellij": _terminal, "at": always_runs, "batch": always_runs,
    "crontab": always_runs, "date": _date, "curl": _curl, "deno": _deno, "git": git_hazards, "ed": always_runs,
    "run-parts": always_runs,
}  # fmt: skip
"""Program -> what its arguments raise."""
