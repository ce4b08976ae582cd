"""Builtins of the shell that make code out of data or change which program a name means."""

from __future__ import annotations

import re

from maia.permissions.script import Barrier
from maia.permissions.shell_inner import Reader, Words, always_runs
from maia.permissions.shell_names import DANGEROUS_NAME, INPUT_NAMES
from maia.permissions.shell_options import has_flag, options, spec


def _alias(words: Words) -> list[Barrier]:
    return (
        [Barrier("blind", "perm.why.alias", words[0].source)]
        if any("=" in word.text or not word.literal for word in words[1:])
        else []
    )


def _source(words: Words) -> list[Barrier]:
    return [Barrier("inline", "perm.why.source", words[0].source)]


def _shopt(words: Words) -> list[Barrier]:
    names = ("expand_aliases", "extdebug", "lastpipe", "execfail", "compat31", "keyword")
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


def _set(words: Words) -> list[Barrier]:
    """`set -k` takes assignments among the arguments of every later command for its environment."""
    found = next((w for w in words[1:] if w.text == "keyword" or re.match(r"-[a-zA-Z]*k", w.text)), None)
    return [Barrier("blind", "perm.why.assignment", found.source)] if found else []


def _unset(words: Words) -> list[Barrier]:
    """Without `PATH` the shell looks for programs in the folder where it stands."""
    found = next((word for word in words[1:] if word.text == "PATH"), None)
    return ([Barrier("blind", "perm.why.assignment", found.source)] if found else []) + _evaluates(words)


def _evaluates(words: Words) -> list[Barrier]:
    """`let`, `[`, `test`, `unset`, `declare` evaluate subscripts, in which a substitution given as data runs."""
    found = next((word for word in words[1:] if re.search(r"\[.*(?:\$\(|`)", word.text)), None)
    return [Barrier("blind", "perm.why.dynamic", found.source)] if found else []


def _declares(words: Words) -> list[Barrier]:
    reference = has_flag(words[1:], "-n")
    found = [Barrier("blind", "perm.why.dynamic", reference.source)] if reference and words[0].text != "export" else []
    return found + _evaluates(words)


BUILTINS: dict[str, Reader] = {
    "alias": _alias, "source": _source, ".": _source, "shopt": _shopt, "read": _fills, "mapfile": _fills,
    "readarray": _fills, "getopts": _fills, "printf": _fills, "let": _evaluates, "test": _evaluates, "[": _evaluates,
    "unset": _unset, "set": _set, "export": _declares, "declare": _declares, "typeset": _declares, "local": _declares,
    "readonly": _declares, "enable": always_runs, "bind": always_runs, "fc": always_runs,
}  # fmt: skip
"""Builtin -> what its arguments raise."""
