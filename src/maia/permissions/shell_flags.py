"""Options that make a harmless program write a file or run another one (anchors-cli §5); one table, a row a program."""

from __future__ import annotations

import re
from dataclasses import dataclass

from maia.permissions.script import Barrier, BarrierKind
from maia.permissions.shell_builtins import BUILTINS
from maia.permissions.shell_inner import Words, program_name
from maia.permissions.shell_options import has_flag
from maia.permissions.shell_programs import PROGRAMS
from maia.permissions.wildcard import ANY, ONE


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
    "date": _Row(writes="-s --set", values="dfrv", attached="I"),
    "hwclock": _Row(writes="-w --set --systohc -s --hctosys"),
    "hostname": _Row(writes="-F --file -b --boot"),
    "less": _Row(writes="-o -O --log-file --LOG-FILE", runs="-k --lesskey-file --lesskey-src", values="bhjPpTtxyz"),
    "base64": _Row(writes="-o --output", values="wbi"),
    "file": _Row(writes="-C --compile", values="FPefm"),
    "man": _Row(runs="-P --pager -H --html --gxditview -X -T -Z -C --config-file", values="LMSErRes"),
    "bat": _Row(runs="--pager", values="lrHm"), "ag": _Row(runs="--pager", values="ABCGgmp"),
    "delta": _Row(runs="--pager"),
    "yq": _Row(writes="-i --inplace --in-place", values="IoP"),
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
    "make": _Row(runs="--eval -E -f --file --makefile", values="CIWjlo"),
    "gmake": _Row(runs="--eval -E -f --file --makefile", values="CIWjlo"),
    "gcc": _Row(runs="-wrapper"), "g++": _Row(runs="-wrapper"),
    "go": _Row(runs="-toolexec -exec -vettool --toolexec --exec --vettool"),
    "cargo": _Row(runs="--config"), "npm": _Row(runs="--script-shell -c --call"), "npx": _Row(codes="-c --call"),
    "nc": _Row(runs="-e -c --exec --sh-exec", values="Iiqpswx"),
    "ncat": _Row(runs="-e -c --exec --sh-exec --lua-exec", values="Iiqpswx"),
    "at": _Row(runs="-f"), "tmux": _Row(), "mapfile": _Row(codes="-C"), "readarray": _Row(codes="-C"),
    "hash": _Row(runs="-p"), "compgen": _Row(runs="-C -F"), "complete": _Row(runs="-C -F"),
    "nodemon": _Row(runs="-x --exec", values="ewi"), "watchmedo": _Row(runs="-c --command", values="pi"),
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


_CODE_OPERANDS = frozenset({"sed", "awk"})
"""Programs whose operand is a program, in which a value may stand anywhere."""
_PROGRAM_FIRST = frozenset(
    {
        "python",
        "perl",
        "ruby",
        "node",
        "nodejs",
        "php",
        "lua",
        "Rscript",
        "julia",
        "npx",
        "npm",
        "bun",
        "ssh",
        "nc",
        "ncat",
    }
)
"""Programs whose options stand before their first operand: what follows belongs to the script or program it names."""
_NOT_ONLY_ROWS = frozenset({"find", "fd", "fdfind"})
"""Programs of `shell_wrappers.py` whose options are looked for anywhere."""


def made_options(words: Words) -> tuple[Barrier, ...]:
    """A barrier where a value that the script itself makes may become an option that writes or runs something."""
    if not words or not any(word.made for word in words):
        return ()
    name = _family(program_name(words[0].text))
    row, special = _TABLE.get(name), (PROGRAMS.get(name) or BUILTINS.get(name))
    if name in BUILTINS or not (row or special or name in _NOT_ONLY_ROWS):
        return ()
    for word in words[1:]:
        if word.text == "--" and name not in _CODE_OPERANDS:
            break
        if name in _PROGRAM_FIRST and word.fixed and not word.made and not word.text.startswith("-"):
            break
        if word.made and (name in _CODE_OPERANDS or word.text[:1] in (ANY, ONE, "-")):
            runs = special is not None or row is None or bool(row.runs or row.codes)
            return (Barrier("inline" if runs else "flag", "perm.why.made", word.source),)
    return ()


def hazards(words: Words) -> tuple[Barrier, ...]:
    """Barriers that a command's own arguments raise; empty for most commands."""
    if not words:
        return ()
    name = _family(program_name(words[0].text))
    rest = words[1:]
    row = _TABLE.get(name)
    special = PROGRAMS.get(name) or BUILTINS.get(name)
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
