"""git's own ways to run a program or write a file, and its command line without the options that stand before it."""

from __future__ import annotations

import re

from maia.permissions.script import Barrier, Word
from maia.permissions.shell_options import has_flag, options, spec

Words = tuple[Word, ...]

_GLOBAL = spec(
    "C: c: p P v h git-dir= work-tree= namespace= exec-path= config-env= super-prefix= list-cmds= attr-source="
    " paginate no-pager no-replace-objects bare literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs"
    " no-optional-locks no-advice no-lazy-fetch html-path man-path info-path version help"
)
_HARMLESS_CONFIG = re.compile(
    r"(?i)(?:color\.\w+|column\.\w+|user\.(?:name|email)|author\.\w+|committer\.\w+|core\.(?:quotepath|autocrlf|abbrev|ignorecase|filemode|safecrlf|precomposeunicode|longpaths|pager=(?:cat|)\Z)"
    r"|init\.defaultbranch|advice\.\w+|commit\.(?:gpgsign|verbose)|tag\.gpgsign|log\.\w+|diff\.(?:renames|algorithm|context|noprefix|mnemonicprefix|renamelimit|wserrorhighlight)"
    r"|merge\.(?:conflictstyle|ff|renames)|rebase\.(?:autosquash|autostash)|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.(?:prune|parallel)|gc\.auto|grep\.\w+|status\.\w+|branch\.sort"
    r"|http\.(?:version|postbuffer|lowspeedlimit|lowspeedtime)|protocol\.version|safe\.directory|submodule\.recurse|feature\.\w+|index\.\w+|pack\.\w+|core\.(?:preloadindex|untrackedcache))(?:=|\Z)"
)
_RUNS = {
    "clone": "-u --upload-pack -c --config --template", "fetch": "--upload-pack", "pull": "--upload-pack",
    "ls-remote": "--upload-pack --exec",
    "push": "--receive-pack --exec", "fetch-pack": "--upload-pack --exec", "send-pack": "--receive-pack --exec",
    "archive": "--exec --remote",
    "rebase": "-x --exec", "grep": "-O --open-files-in-pager", "difftool": "-x --extcmd -t --tool",
    "mergetool": "-t --tool",
    "init": "--template", "send-email": "--smtp-server --to-cmd --cc-cmd --sendmail-cmd",
    "log": "--ext-diff --textconv", "show": "--ext-diff --textconv",
    "diff": "--ext-diff --textconv", "submodule": "", "instaweb": "-d --httpd -b --browser", "help": "",
    "cat-file": "--textconv --filters",
    "blame": "", "format-patch": "--ext-diff", "diff-tree": "--ext-diff --textconv",
    "diff-index": "--ext-diff --textconv", "diff-files": "--ext-diff --textconv",
    "whatchanged": "--ext-diff --textconv", "reflog": "--ext-diff --textconv", "stash": "--ext-diff --textconv",
}  # fmt: skip
_WRITES = frozenset(
    {
        "log",
        "diff",
        "show",
        "whatchanged",
        "reflog",
        "diff-tree",
        "diff-index",
        "diff-files",
        "shortlog",
        "range-diff",
        "stash",
    }
)
_ALWAYS = frozenset(
    {
        "filter-branch",
        "daemon",
        "gui",
        "citool",
        "instaweb",
        "hook",
        "bisect run",
        "submodule foreach",
        "maintenance",
        "remote-ext",
    }
)


def git_hazards(words: Words) -> list[Barrier]:
    """Barriers of a git command line."""
    parsed = options(words[1:], _GLOBAL)
    found: list[Barrier] = []
    for name, value in parsed.found:
        if name == "c" and (value is None or not value.literal or not _HARMLESS_CONFIG.match(value.text)):
            found.append(Barrier("blind", "perm.why.runs", "-c"))
        elif name in ("config-env", "exec-path", "git-dir", "work-tree", "super-prefix") and value is not None:
            found.append(Barrier("blind", "perm.why.runs", f"--{name}"))
        elif name in ("p", "paginate"):
            found.append(Barrier("flag", "perm.why.runs", "--paginate" if name != "p" else "-p"))
    if parsed.unknown is not None:
        found.append(Barrier("blind", "perm.why.option", parsed.unknown.source))
    return found + _subcommand_hazards(parsed.rest)


def _subcommand_hazards(rest: Words) -> list[Barrier]:
    if not rest:
        return []
    name = rest[0].text
    two = " ".join(word.text for word in rest[:2])
    found: list[Barrier] = []
    if name in _ALWAYS or two in _ALWAYS:
        found.append(Barrier("blind", "perm.why.runs", two if two in _ALWAYS else name))
    if name in _RUNS and (
        word := has_flag(rest[1:], *_RUNS[name].split(), values="ABCefm" if name == "grep" else "mCbLnSGUF")
    ):
        found.append(Barrier("blind", "perm.why.runs", word.source.partition("=")[0]))
    if name in _WRITES and (word := has_flag(rest[1:], "--output", values="mCbLnSGU")):
        found.append(Barrier("flag", "perm.why.writes", word.source.partition("=")[0]))
    if any(word.text.startswith("ext::") or word.text.startswith("--upload-pack") for word in rest[1:]):
        found.append(Barrier("blind", "perm.why.runs", "ext::"))
    return found + (_config_hazards(rest[1:]) if name == "config" else [])


_CONFIG_READS = (
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--list",
    "-l",
    "get",
    "list",
    "--get-color",
    "--get-colorbool",
)


def _config_hazards(rest: Words) -> list[Barrier]:
    """Reading is harmless; writing a key that later runs a program is not."""
    if any(word.text in _CONFIG_READS for word in rest):
        return []
    operands = [word for word in rest if not word.text.startswith("-") and word.text not in ("set", "unset")]
    if len(operands) < 2 or _HARMLESS_CONFIG.match(operands[0].text):
        return []
    return [Barrier("blind", "perm.why.runs", operands[0].source)]


def without_global_options(words: Words) -> tuple[Words, bool]:
    """`git -C dir --no-pager push` as `git push`; the flag says that nothing but harmless options were left out."""
    parsed = options(words[1:], _GLOBAL)
    quiet = all(name in _QUIET or (name == "C" and _below(value)) for name, value in parsed.found)
    harmless = quiet and parsed.unknown is None
    return (words[0], *parsed.rest), harmless


def _below(folder: Word | None) -> bool:
    """Whether `-C` goes no further than `cd` may without a rule."""
    return folder is not None and folder.fixed and not folder.text.startswith(("/", "~")) and ".." not in folder.text


_QUIET = frozenset(
    {
        "no-pager",
        "P",
        "literal-pathspecs",
        "no-optional-locks",
        "no-advice",
        "no-replace-objects",
        "glob-pathspecs",
        "noglob-pathspecs",
    }
)
