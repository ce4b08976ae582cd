"""Files that a command plainly reads or writes by its operands: file rules meet them there too (T6.08)."""

from __future__ import annotations

import re

from maia.core.types import DecisionPart, Reason, Rule, Verdict
from maia.permissions import globs
from maia.permissions.decide_path import restricting
from maia.permissions.paths import Place, target
from maia.permissions.reasons import by_rule
from maia.permissions.rules import RuleSet
from maia.permissions.script import Command, Word
from maia.permissions.shell_inner import program_name

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
_PREFIXED = re.compile(r"(?:if|of|--?[\w-]+)=(.+)|@(.+)|-[A-Za-z](?=[./~])(.+)", re.DOTALL)


def operand_parts(command: Command, rules: RuleSet, place: Place) -> list[DecisionPart]:
    """Deny and ask parts for operands that name a file under such a rule; empty where no file rule is in force."""
    strict = [
        rule for rule in rules.rules
        if rule.verdict is not Verdict.ALLOW and rule.pattern and rule.tool in ("Read", "Write", "Edit", "Redirect")
    ]  # fmt: skip
    if not strict or not command.words:
        return []
    name = program_name(command.program)
    tools = [tool for tool, names in (("Read", READERS), ("Redirect", WRITERS)) if name in names]
    if not tools:
        return []
    for word in command.words[1:]:
        part = _operand(command, word, tools, strict, place)
        if part is not None:
            return [part]
    return []


def _operand(command: Command, word: Word, tools: list[str], strict: list[Rule], place: Place) -> DecisionPart | None:
    text = _path_in(word.text)
    if not text:
        return None
    for folder in sorted(command.folders or {""}):
        path = target(text, place, folder)
        for tool in tools:
            ordered = sorted(strict, key=lambda rule: -rule.verdict)
            if rule := restricting(tool, path, ordered, place):
                return DecisionPart(command.shown, rule.verdict, rule, by_rule(rule))
        if word.glob and (rule := _globbed(word.text, folder, strict, place)):
            return DecisionPart(command.shown, Verdict.ASK, rule, Reason("perm.may_match", {"rule": rule.text}))
    return None


def _path_in(text: str) -> str:
    found = _PREFIXED.match(text)
    if found:
        return next(group for group in found.groups() if group)
    return "" if text.startswith("-") else text


def _globbed(text: str, folder: str, strict: list[Rule], place: Place) -> Rule | None:
    """A rule for one file that a shell glob could expand to; a leading star leaves out hidden ones, as in the shell."""
    glob = globs.compiled(target(text, place, folder).given, fold_case=place.fold_case)
    for rule in strict:
        pattern = rule.pattern or ""
        if not globs.is_literal(pattern):
            continue
        named = target(globs.literal_folder(pattern), place).given
        hidden = named.rpartition("/")[2].startswith(".") and text.rpartition("/")[2][:1] in "*?["
        if not hidden and glob.match(named):
            return rule
    return None
