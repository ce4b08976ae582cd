"""Files that a command plainly reads or writes by its operands: file rules meet them there too (T6.08)."""

from __future__ import annotations

import glob
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from maia.core.permission import DecisionPart, Rule, Verdict
from maia.core.reason import Reason
from maia.permissions import globs
from maia.permissions.decide_path import closing, restricting
from maia.permissions.paths import Place, Target, target
from maia.permissions.reasons import by_rule
from maia.permissions.rules import RuleSet
from maia.permissions.script import Command, Word
from maia.permissions.shell_git import without_global_options
from maia.permissions.shell_inner import program_name

MAX_FOUND = 500
MAX_GLOB_FOLDERS = 2
"""A glob over more folders than these, or more files than those, is not followed on the disk."""

READERS = frozenset(
    [
        "cat",
        "tac",
        "head",
        "tail",
        "less",
        "more",
        "bat",
        "batcat",
        "nl",
        "od",
        "xxd",
        "hexdump",
        "strings",
        "base64",
        "base32",
        "grep",
        "egrep",
        "fgrep",
        "zgrep",
        "rg",
        "sed",
        "awk",
        "gawk",
        "mawk",
        "sort",
        "uniq",
        "wc",
        "cut",
        "tr",
        "paste",
        "join",
        "comm",
        "diff",
        "cmp",
        "colordiff",
        "sdiff",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "cksum",
        "file",
        "cp",
        "mv",
        "ln",
        "install",
        "rsync",
        "scp",
        "dd",
        "tar",
        "zip",
        "gzip",
        "xz",
        "bzip2",
        "zcat",
        "jq",
        "yq",
        "xmllint",
        "column",
        "fold",
        "fmt",
        "pr",
        "rev",
        "shuf",
        "split",
        "csplit",
        "iconv",
        "view",
        "vim",
        "vi",
        "nano",
        "emacs",
        "source",
        ".",
        "tee",
        "openssl",
        "gpg",
        "curl",
        "python",
        "python3",
        "node",
        "perl",
        "ruby",
        "php",
        "bash",
        "sh",
        "zsh",
        "dash",
        "look",
        "strings",
        "hd",
        "expand",
        "unexpand",
        "zstd",
        "lz4",
        "basenc",
        "uuencode",
        "ar",
        "7z",
        "code",
        "most",
        "xargs",
        "ed",
        "pbcopy",
        "xclip",
        "wl-copy",
    ]
)
WRITERS = frozenset(
    [
        "tee",
        "cp",
        "mv",
        "ln",
        "install",
        "rsync",
        "scp",
        "dd",
        "touch",
        "truncate",
        "rm",
        "unlink",
        "shred",
        "rmdir",
        "mkdir",
        "chmod",
        "chown",
        "chgrp",
        "sed",
        "sponge",
        "split",
        "csplit",
        "patch",
        "vim",
        "vi",
        "nano",
        "ed",
        "emacs",
        "curl",
        "wget",
        "tar",
        "unzip",
        "mkfifo",
        "mktemp",
        "sort",
        "uniq",
        "xxd",
        "gzip",
        "gunzip",
    ]
)
LISTERS = frozenset({"ls", "dir", "vdir", "tree", "find", "fd", "du", "stat", "cd", "pushd", "readlink", "realpath"})
"""Programs that show what lies in a folder, or go there: no file rule speaks of them, but a fence does."""

_GIT_READS = frozenset(
    {"show", "diff", "blame", "annotate", "cat-file", "hash-object", "log", "grep", "difftool", "add", "archive"}
)
_GIT_WRITES = frozenset({"checkout", "restore", "rm", "mv", "clean", "apply"})
_PREFIXED = re.compile(r"(?:if|of|--?[\w-]+)=(.+)|@(.+)|-[A-Za-z](?=[./~])(.+)", re.DOTALL)


def operand_parts(command: Command, line: str, rules: RuleSet, place: Place) -> list[DecisionPart]:
    """Deny and ask parts for operands that name a file under such a rule; empty where no file rule is in force.

    An operand that only exists at run time asks where the `line` names such a file anywhere (`echo .env | xargs cat`).
    """
    strict = [
        rule for rule in rules.rules
        if rule.verdict is not Verdict.ALLOW and rule.pattern and rule.tool in ("Read", "Write", "Edit", "Redirect")
    ]  # fmt: skip
    if not (strict or rules.fence) or not command.words:
        return []
    tools, words = _tools_of(command)
    if not tools and not (rules.fence and program_name(command.program) in LISTERS):
        return []
    for word in words:
        part = _operand(command, word, tools, strict, rules, place)
        if part is not None:
            return [part]
    if command.folders and not all(word.literal for word in words):
        return _named_elsewhere(command, line, tools, strict, rules, place)
    return []


_NAME_IN_LINE = re.compile(r"[^\s'\"=;|&<>(){}]+")


def _named_elsewhere(
    command: Command, line: str, tools: list[str], strict: list[Rule], rules: RuleSet, place: Place
) -> list[DecisionPart]:
    for name in dict.fromkeys(_NAME_IN_LINE.findall(line)):
        path = target(name, place)
        if (closed := closing("Bash", path, rules)) is not None:
            return [replace(closed, text=command.shown, verdict=Verdict.ASK)]
        for tool in tools:
            if rule := restricting(tool, path, strict, place):
                reason = Reason("perm.may_match", {"rule": rule.text})
                return [DecisionPart(command.shown, Verdict.ASK, rule, reason)]
    return []


def _tools_of(command: Command) -> tuple[list[str], tuple[Word, ...]]:
    """As which tools the command uses its operands, and these."""
    name, words = program_name(command.program), command.words[1:]
    reads, writes = name in READERS, name in WRITERS
    if name == "git":
        words = without_global_options(command.words)[0][1:]
        subcommand = words[0].text if words else ""
        reads, writes, words = subcommand in _GIT_READS, subcommand in _GIT_WRITES, words[1:]
        words = tuple(_without_revision(word) for word in words)
    elif code := _written_by_code(name, words):
        writes, words = True, (*words, *code)
    return [tool for tool, used in (("Read", reads), ("Redirect", writes)) if used], words


_FIND_WRITES = ("-fprint", "-fprint0", "-fprintf", "-fls")


def _written_by_code(name: str, words: tuple[Word, ...]) -> list[Word]:
    """Files that a program given as an argument names: each text of awk's, what stands behind sed's `w`."""
    if name == "find":
        return [after for word, after in pairwise(words) if word.text in _FIND_WRITES]
    pattern = {"awk": r'"([^"]+)"', "sed": r"w[ \t]+([^\n]+)"}.get(name.removeprefix("g").removeprefix("m"))
    names = [found for word in words for found in re.findall(pattern, word.text)] if pattern else []
    return [Word(found, found, pattern=found) for found in names]


def _without_revision(word: Word) -> Word:
    """`HEAD:a/b` and `:a/b` name the file `a/b`."""
    revision, colon, path = word.text.partition(":")
    return replace(word, text=path) if colon and "/" not in revision[:1] and path else word


def _operand(
    command: Command, word: Word, tools: list[str], strict: list[Rule], rules: RuleSet, place: Place
) -> DecisionPart | None:
    text = _path_in(word.text)
    if not text:
        return None
    for folder in sorted({""} if command.folders is None else command.folders):
        path = target(text, place, folder)
        ordered = sorted(strict, key=lambda rule: -rule.verdict)
        meant = (path, *_found(text, path, place)) if word.glob else (path,)
        for one in meant:
            if (closed := closing("Bash", one, rules)) is not None:
                return replace(closed, text=command.shown)
        for tool in tools:
            for one in meant:
                if rule := restricting(tool, one, ordered, place):
                    return DecisionPart(command.shown, rule.verdict, rule, by_rule(rule))
        if word.glob and (rule := _globbed(word.text, folder, strict, place)):
            return DecisionPart(command.shown, Verdict.ASK, rule, Reason("perm.may_match", {"rule": rule.text}))
    return None


def _found(text: str, path: Target, place: Place) -> Iterator[Target]:
    """What a shell glob finds on the disk now. One with wildcards in many folders is not followed."""
    if sum(any(char in name for char in "*?[") for name in text.split("/")) > MAX_GLOB_FOLDERS:
        return
    for found in itertools.islice(glob.iglob(path.given), MAX_FOUND):
        yield target(found, place)


def _path_in(text: str) -> str:
    found = _PREFIXED.match(text)
    if found:
        return next(group for group in found.groups() if group)
    return "" if text.startswith("-") else text


def _globbed(text: str, folder: str, strict: list[Rule], place: Place) -> Rule | None:
    """A rule for one file that a shell glob could expand to; a leading star leaves out hidden ones, as in the shell."""
    pattern = globs.compiled(target(text, place, folder).given, fold_case=place.fold_case)
    for rule in strict:
        written = rule.pattern or ""
        if not globs.is_literal(written):
            continue
        named = target(globs.literal_folder(written), place).given
        hidden = named.rpartition("/")[2].startswith(".") and text.rpartition("/")[2][:1] in "*?["
        if not hidden and pattern.match(named):
            return rule
    return None
