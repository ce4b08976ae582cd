"""Options that make a harmless program write a file or run another one (anchors-cli §5); one table, a row a program."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from maia.permissions.script import Barrier, BarrierKind, Word
from maia.permissions.shell_code import awk_effect, sed_effect
from maia.permissions.shell_git import git_hazards
from maia.permissions.shell_inner import program_name
from maia.permissions.shell_names import DANGEROUS_NAME, INPUT_NAMES
from maia.permissions.shell_options import has_flag, options, spec
from maia.permissions.wildcard import ANY, ONE

Words: TypeAlias = tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """Options of one program: `writes` change files, `runs` start programs, `codes` carry code.

    `values` and `attached` as in `has_flag`.
    """

    writes: str = ""
    runs: str = ""
    codes: str = ""
    values: str = ""
    attached: str = ""


_SSH = _Row(runs="-F --proxy-command")
_PYTHON = _Row(codes="-c", values="WXm")
_TABLE: dict[str, _Row] = {
    "sort": _Row(writes="-o --output -T --temporary-directory", runs="--compress-program --files0-from", values="kStT"),
    "rg": _Row(runs="--pre --hostname-bin -z --search-zip", values="ABCEMTefgjmrt"),
    "tree": _Row(writes="-o", values="LPIHT"),
    "date": _Row(writes="-s --set", values="dfrI"),
    "hwclock": _Row(writes="-w --set --systohc -s --hctosys"),
    "hostname": _Row(writes="-F --file -b --boot"),
    "less": _Row(writes="-o -O --log-file --LOG-FILE", runs="-k --lesskey-file --lesskey-src", values="bhjPpTtxyz"),
    "base64": _Row(writes="-o --output", values="wbi"),
    "file": _Row(writes="-C --compile", values="FPefm"),
    "man": _Row(runs="-P --pager -H --html --gxditview -X -T -Z", values="CLMSErRes"),
    "tar": _Row(runs= (
        "--checkpoint-action --to-command -I --use-compress-program --rsh-command --rmt-command --info-script -F "
        "--new-volume-script"
    ), values="CTXbfgLHVKN"),
    "zip": _Row(runs="-TT --unzip-command", values="btni"),
    "split": _Row(runs="--filter"),
    "rsync": _Row(runs="-e --rsh --rsync-path", values="fBMT"),
    "ssh": _SSH, "scp": _Row(runs="-S -F", values="Pcilo"), "sftp": _Row(runs="-S -F -b", values="Pcilo"),
    "jq": _Row(runs="-f --from-file", values=""),
    "diff": _Row(), "wget": _Row(runs="--use-askpass"),
    "install": _Row(runs="--strip-program"),
    "python": _PYTHON, "perl": _Row(codes="-e -E", values="I", attached="0CDFMVdilmx"),
    "ruby": _Row(codes="-e", values="CEFIKr", attached="0TWxi"),
    "node": _Row(codes="-e -p --eval --print", values="rC"), "nodejs": _Row(codes="-e -p --eval --print", values="rC"),
    "bun": _Row(codes="-e -p --eval --print"), "php": _Row(codes="-r -R -B -E --run --process-code", values="Sctdfz"),
    "lua": _Row(codes="-e"), "luajit": _Row(codes="-e"), "Rscript": _Row(codes="-e"), "R": _Row(codes="-e"),
    "julia": _Row(codes="-e -E --eval --print"),
    "osascript": _Row(codes="-e"), "elixir": _Row(codes="-e --eval"), "erl": _Row(codes="-eval"),
    "raku": _Row(codes="-e"), "scala": _Row(codes="-e"),
    "groovy": _Row(codes="-e"), "ghc": _Row(codes="-e"), "runghc": _Row(codes="-e"), "racket": _Row(codes="-e"),
    "guile": _Row(codes="-c"), "sbcl": _Row(codes="--eval"),
    "pwsh": _Row(codes="-c -Command -EncodedCommand -e"), "powershell": _Row(codes="-c -Command -EncodedCommand -e"),
    "expect": _Row(codes="-c"),
    "vim": _Row(codes="-c --cmd -S -s", values="uTirtw"),
    "emacs": _Row(codes="--eval --execute -f --funcall -l --load"),
    "gnuplot": _Row(codes="-e"), "dc": _Row(codes="-e -f --expression --file"),
    "make": _Row(runs="--eval -f --file --makefile", values="CIWjlo"), "gmake": _Row(runs="--eval", values="CIWjlo"),
    "gcc": _Row(runs="-wrapper"), "g++": _Row(runs="-wrapper"),
    "go": _Row(runs="-toolexec -exec -vettool --toolexec --exec --vettool"),
    "cargo": _Row(runs="--config"), "npm": _Row(runs="--script-shell -c --call"), "npx": _Row(codes="-c --call"),
    "nc": _Row(runs="-e -c --exec --sh-exec", values="Iiqpswx"),
    "ncat": _Row(runs="-e -c --exec --sh-exec --lua-exec", values="Iiqpswx"),
    "at": _Row(runs="-f"), "tmux": _Row(), "mapfile": _Row(codes="-C"), "readarray": _Row(codes="-C"),
    "hash": _Row(runs="-p"), "compgen": _Row(runs="-C -F"), "complete": _Row(runs="-C -F"),
    "enable": _Row(runs="-f -n -d"),
}  # fmt: skip

_SAME = {
    "gsort": "sort", "gdate": "date", "gtar": "tar", "bsdtar": "tar", "gbase64": "base64", "gsplit": "split",
    "vi": "vim", "nvim": "vim", "view": "vim",
    "ex": "vim", "vimdiff": "vim", "netcat": "nc", "clang": "gcc", "clang++": "g++", "cc": "gcc", "c++": "g++",
    "ripgrep": "rg",
    "gsed": "sed", "gawk": "awk", "mawk": "awk", "nawk": "awk", "original-awk": "awk", "gfind": "find", "bfs": "find",
    "pypy": "python", "ipython": "python", "bpython": "python", "batcat": "bat",
}  # fmt: skip

_INTERPRETERS = frozenset(
    [
        "python",
        "perl",
        "ruby",
        "node",
        "nodejs",
        "php",
        "lua",
        "luajit",
        "Rscript",
        "tclsh",
        "wish",
        "raku",
        "guile",
        "racket",
        "osascript",
        "ed",
        "ex",
        "bc",
        "dc",
        "m4",
        "at",
        "batch",
    ]
) - {"bc"}
"""Programs that read their program from standard input when no file is given."""


def hazards(words: Words) -> tuple[Barrier, ...]:
    """Barriers that a command's own arguments raise; empty for most commands."""
    if not words:
        return ()
    name = _family(program_name(words[0].text))
    rest = words[1:]
    row = _TABLE.get(name)
    special = _SPECIAL.get(name)
    if row is None and special is None:
        return ()
    found = list(_from_row(row, rest)) if row else []
    if special:
        found += special(words)
    if name in _INTERPRETERS and not found and _reads_stdin(name, rest):
        found.append(Barrier("blind", "perm.why.stdin_script", words[0].source))
    return tuple(found)


def _family(name: str) -> str:
    name = _SAME.get(name, name)
    if re.fullmatch(r"(?:python|pypy|perl|ruby|php|lua|node|tclsh|gcc|clang|g\+\+)w?-?[\d.]+", name):
        base = re.sub(r"w?-?[\d.]+\Z", "", name)
        return _SAME.get(base, base)
    return name


def _from_row(row: _Row, rest: Words) -> list[Barrier]:
    kinds: tuple[tuple[str, BarrierKind, str], ...] = (
        (row.writes, "flag", "perm.why.writes"),
        (row.runs, "blind", "perm.why.runs"),
        (row.codes, "inline", "perm.why.inline"),
    )
    found: list[Barrier] = []
    for flags, kind, key in kinds:
        word = has_flag(rest, *flags.split(), values=row.values, attached=row.attached) if flags else None
        if word is not None:
            found.append(Barrier(kind, key, word.source.partition("=")[0]))
    return found


_HARMLESS_ALONE = ("--version", "-V", "-v", "--help", "-h", "-m")


def _reads_stdin(name: str, rest: Words) -> bool:
    if name in ("ed", "at", "batch", "m4", "ex"):
        return True
    if any(word.text in _HARMLESS_ALONE or word.text.startswith("-m") for word in rest):
        return False
    operands = [word for word in rest if not word.text.startswith("-")]
    first = operands[0].text if operands else "-"
    if any(word.text == "-" for word in rest) and first == "-":
        return True
    return first in ("-", "/dev/stdin", ANY) or first.startswith(("/dev/fd/", "/proc/self/fd/")) or not operands


# Programs whose arguments need to be read


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
    layout = spec("* F: v: f: e: i: l: E: o: p: d: assign= field-separator= file= source= include= load= exec=")
    parsed = options(words[1:], layout)
    found = [
        Barrier("flag", "perm.why.runs", "-f")
        for name, _ in parsed.found
        if name in ("f", "file", "E", "exec", "i", "include", "l", "load")
    ]
    programs = [value for name, value in parsed.found if name in ("e", "source") and value]
    if not programs and not found:
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
    operands = _operands(words[1:], "fswoclgSR")
    return [Barrier("flag", "perm.why.writes", operands[1].source)] if len(operands) > 1 else []


def _operands(rest: Words, values: str) -> list[Word]:
    layout = spec("* " + " ".join(f"{letter}:" for letter in values) + " skip-fields= skip-chars= check-chars=")
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


def _always_runs(words: Words) -> list[Barrier]:
    return [Barrier("blind", "perm.why.runs", words[0].source)]


def _alias(words: Words) -> list[Barrier]:
    return (
        [Barrier("blind", "perm.why.alias", words[0].source)]
        if any("=" in word.text or not word.literal for word in words[1:])
        else []
    )


def _source(words: Words) -> list[Barrier]:
    return [Barrier("inline", "perm.why.source", words[0].source)]


def _shopt(words: Words) -> list[Barrier]:
    names = ("expand_aliases", "extdebug", "lastpipe", "execfail", "compat31")
    found = next((word for word in words[1:] if word.text in names or not word.literal), None)
    return [Barrier("blind", "perm.why.alias", found.source)] if found else []


def _fills(words: Words) -> list[Barrier]:
    """`read`, `mapfile`, `getopts`, `printf -v`: a variable gets a value that is data."""
    name = words[0].text
    if name == "printf":
        parsed = options(words[1:], spec("* v:"))
        targets = [value for option, value in parsed.found if option == "v" and value]
    else:
        targets = list(options(words[1:], spec("* " + " ".join(f"{c}:" for c in INPUT_NAMES[name]))).rest)
    for target in targets:
        if DANGEROUS_NAME.match(target.text.partition("[")[0]) or "$(" in target.text or "`" in target.text:
            return [Barrier("blind", "perm.why.assignment", target.text)]
    return []


def _evaluates(words: Words) -> list[Barrier]:
    """`let`, `[`, `test`, `unset`, `declare` evaluate subscripts, in which a substitution given as data runs."""
    found = next((word for word in words[1:] if re.search(r"\[.*(?:\$\(|`)", word.text)), None)
    return [Barrier("blind", "perm.why.dynamic", found.source)] if found else []


def _declares(words: Words) -> list[Barrier]:
    reference = has_flag(words[1:], "-n")
    found = [Barrier("blind", "perm.why.dynamic", reference.source)] if reference and words[0].text != "export" else []
    return found + _evaluates(words)


def _deno(words: Words) -> list[Barrier]:
    subcommand = next((word for word in words[1:]), None)
    return (
        [Barrier("inline", "perm.why.inline", "eval")]
        if subcommand and subcommand.text in ("eval", "repl", "-")
        else []
    )


_Special: TypeAlias = Callable[[Words], list[Barrier]]
_SPECIAL: dict[str, _Special] = {
    "sed": _sed, "awk": _awk, "find": _find, "uniq": _uniq, "xxd": _uniq, "ssh": _ssh_options, "scp": _ssh_options,
    "sftp": _ssh_options,
    "rsync": _ssh_options, "vim": _editor, "less": _less, "more": _less, "psql": _database, "mysql": _database,
    "mariadb": _database, "sqlite3": _database,
    "make": _make, "gmake": _make, "socat": _socat, "tmux": _terminal, "screen": _terminal, "zellij": _terminal,
    "at": _always_runs, "batch": _always_runs, "crontab": _always_runs, "alias": _alias, "source": _source,
    ".": _source, "shopt": _shopt,
    "read": _fills, "mapfile": _fills, "readarray": _fills, "getopts": _fills, "printf": _fills, "let": _evaluates,
    "test": _evaluates, "[": _evaluates,
    "unset": _evaluates, "export": _declares, "declare": _declares, "typeset": _declares, "local": _declares,
    "readonly": _declares,
    "deno": _deno, "git": git_hazards, "enable": _always_runs, "bind": _always_runs, "ed": _always_runs,
    "run-parts": _always_runs, "fc": _always_runs,
}  # fmt: skip
