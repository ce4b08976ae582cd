"""`Bash(…)` patterns held against one command: does a deny or ask meet it, does an allow cover it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from maia.core.permission import Rule
from maia.permissions import wildcard
from maia.permissions.rules import is_bare, literal_words
from maia.permissions.script import Barrier, Command, Word
from maia.permissions.shell_git import without_global_options
from maia.permissions.shell_inner import program_name
from maia.permissions.wildcard import SEP, Segments

MAX_DROPPED = 6


@dataclass(frozen=True, slots=True)
class Pattern:
    """A `Bash(…)` pattern: `raw` is held against the source, `words` against the unquoted words joined by `SEP`."""

    raw: tuple[Segments, ...]
    words: tuple[Segments, ...]
    exact: bool
    whole_line: bool
    head: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()


@lru_cache(maxsize=2048)
def pattern_of(text: str) -> Pattern:
    """`cmd *` also covers `cmd`; `cmd:*` covers `cmd:x`, `cmd` and `cmd x` (T6.03)."""
    forms = [text]
    if text.endswith(":*"):
        forms += [text[:-2], text[:-2] + " *"]
    while forms[-1].endswith(" *") and not forms[-1].endswith("\\ *"):
        forms.append(forms[-1][:-2].rstrip())
    forms = [form for form in forms if form]
    raw = tuple(wildcard.segments(form) for form in forms)
    words = tuple(wildcard.segments(joined) for joined in (_joined(form) for form in forms) if joined)
    head, found = _head_and_options(text)
    line = re.search(r"[|;&<>\n]", text) is not None
    return Pattern(raw, words, all(len(form) == 1 for form in raw), line, head, found)


def _head_and_options(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Of `program subcommand -x --long *`: the names, and the options; nothing for any other shape."""
    found = re.fullmatch(r"((?:[\w./+]+ )+)(-[\w-]+(?: -[\w-]+)*)(?: \*)?", text)
    if not found:
        return (), frozenset()
    named = {name for option in found.group(2).split() for name in _option_names(option)}
    return tuple(found.group(1).split()), frozenset(named)


_PIECE = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|(\\\*)|\\(.)|([^'\"\\]+)", re.DOTALL)


def _joined(form: str) -> str | None:
    """The pattern's words without their quotes, joined by `SEP`; None when its quotes do not close."""
    out: list[str] = []
    at = 0
    text = form.strip()
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            return None
        single, double, star, escape, plain = found.groups()
        if plain is not None:
            out.append(re.sub(r"[ \t]+", SEP, plain))
        elif double is not None:
            out.append(re.sub(r'\\(["\\$`])', r"\1", double))
        else:
            out.append(star or escape or single or "")
        at = found.end()
    return "".join(out)


def first_words(command: Command, *, fold_case: bool) -> set[str]:
    """The words by which a rule may name the command: as written, unquoted, without its folder."""
    words = {command.program, command.source.partition(" ")[0], command.shown.partition(" ")[0]}
    if command.words:
        name = program_name(command.program)
        words |= {name, name.lower()} if fold_case else {name}
    return words


def covers(rule: Rule, command: Command) -> bool:
    """Whether an allow rule's pattern fits the command, whatever barriers it has."""
    if rule.pattern is None:
        return True
    pattern = pattern_of(rule.pattern)
    subject = command.pattern
    if any(wildcard.matches(form, subject) for form in pattern.words) and wildcard.ESCAPED_STAR not in rule.pattern:
        return True
    source = command.source
    if any(wildcard.matches(form, source) for form in pattern.raw):
        return True
    if command.assignments and any(wildcard.matches(form, command.shown) for form in pattern.raw):
        return True
    if command.program == "git":
        words, harmless = without_global_options(command.words)
        plain = SEP.join(word.pattern for word in words)
        return harmless and any(wildcard.matches(form, plain) for form in pattern.words)
    return False


def lifts(rule: Rule, barrier: Barrier, command: Command, *, restricted: bool) -> bool:
    """Whether an allow rule that fits the command also reaches over a barrier."""
    bare = is_bare(rule)
    if barrier.kind == "firm":
        return False
    if barrier.kind == "flag":
        return bare or _spells(rule, barrier.token) or _is_exactly(rule, command)
    if bare:
        return not restricted
    return barrier.kind == "inline" and (
        _is_exactly(rule, command) or (not restricted and _spells(rule, barrier.token))
    )


def _is_exactly(rule: Rule, command: Command) -> bool:
    if rule.pattern is None:
        return False
    pattern = pattern_of(rule.pattern)
    return pattern.exact and any(form[0] in (command.source, command.shown) for form in pattern.raw)


def _spells(rule: Rule, token: str) -> bool:
    """Whether the pattern has the very word that raises the barrier (`Bash(sed -i *)`, `Bash(FOO=* npm test)`)."""
    wanted = token.strip("\"'")
    words = literal_words(rule)
    if wanted.endswith("="):
        return any(word.startswith(wanted) for word in words)
    return any(word == wanted or word.startswith(f"{wanted}=") for word in words)


def spells_program(rule: Rule, command: Command) -> bool:
    """Whether a rule for a wrapper also names the inner program: `Bash(sudo apt-get *)`."""
    return command.program in literal_words(rule)


def meets(rule: Rule, command: Command, *, fold_case: bool) -> bool:
    """Whether a deny or ask rule names the command, however it is written."""
    if rule.pattern is None:
        return True
    pattern = pattern_of(rule.pattern)
    return (
        any(wildcard.matches(form, text) for text in _forms(command, fold_case) for form in pattern.words)
        or any(wildcard.matches(form, text) for text in (command.source, command.shown) for form in pattern.raw)
        or any(_same_options(pattern, words, anywhere=False) for words in _spellings(command.words, fold_case))
    )


def may_meet(rule: Rule, command: Command, *, fold_case: bool) -> bool:
    """Whether a deny or ask rule could name the command, for what is only known when it runs."""
    if rule.pattern is None or not command.words:
        return False
    pattern = pattern_of(rule.pattern)
    if wildcard.ANY in command.pattern or wildcard.ONE in command.pattern:
        subjects = [SEP.join(w.pattern for w in words) for words in _spellings(command.words, fold_case)]
        if any(wildcard.may_match(form, subject) for subject in subjects for form in pattern.words):
            return True
    return any(wildcard.matches(form, text) for text in _shortened(command.words) for form in pattern.words) or any(
        _same_options(pattern, words, anywhere=True) for words in _spellings(command.words, fold_case)
    )


_COPIERS = frozenset({"cp", "ln", "mv", "install", "link", "rsync", "dd"})
_PROGRAM_FILE = re.compile(r"(?:if=)?(?:/|~/|\./|\.\./)(?:[^/]+/)*s?bin/([^/]+)\Z")


def copied_programs(command: Command) -> list[Command]:
    """The programs that a command takes to another name (`cp /usr/bin/rm x`), as if they ran."""
    if program_name(command.program) not in _COPIERS:
        return []
    names = [found.group(1) for word in command.words[1:] if (found := _PROGRAM_FILE.match(word.text))]
    return [Command((Word(name, name, pattern=name),)) for name in names]


def _same_options(pattern: Pattern, words: tuple[Word, ...], *, anywhere: bool) -> bool:
    """Whether a pattern like `rm -rf *` names the same options in another order or spelling: `rm -f --recursive x`.

    With `anywhere` options behind operands count as well, where some programs no longer read them.
    """
    if not pattern.options or not words:
        return False
    names = [word.text for word in words[: len(pattern.head)]]
    if names != list(pattern.head):
        return False
    found: set[str] = set()
    for word in words[len(pattern.head) :]:
        if word.text == "--" or (not word.text.startswith("-") and not anywhere):
            break
        found |= _option_names(word.text)
    return pattern.options <= found


_LONG_NAMES = {"recursive": "r", "force": "f", "R": "r", "interactive": "i", "verbose": "v", "all": "a"}


def _option_names(text: str) -> set[str]:
    """`-rf` as its letters; a long name as the letter that usually says the same, else as itself."""
    if text.startswith("--"):
        name = text[2:].partition("=")[0]
        return {_LONG_NAMES.get(name, name)}
    return {_LONG_NAMES.get(letter, letter) for letter in text[1:]} if text.startswith("-") else set()


def meets_line(rule: Rule, line: str) -> bool:
    """Whether a deny or ask rule with an operator in it (`Bash(curl * | sh)`) meets the whole command line."""
    if rule.pattern is None or not pattern_of(rule.pattern).whole_line:
        return False
    text = re.sub(r"[ \t]+", " ", line.strip())
    return any(wildcard.matches(form, text) for form in pattern_of(rule.pattern).raw)


def _spellings(words: tuple[Word, ...], fold_case: bool) -> list[tuple[Word, ...]]:
    """The words with the program by its bare name, and without options that stand before a subcommand."""
    if not words:
        return []
    name = program_name(words[0].text)
    if fold_case:
        name = name.lower()
    found = [words]
    if name != words[0].text:
        found.append((Word(name, name, pattern=name), *words[1:]))
    if name == "git" and len(words) > 1 and words[1].text.startswith("-"):
        found.append((Word(name, name, pattern=name), *without_global_options(words)[0][1:]))
    return found


def _forms(command: Command, fold_case: bool) -> list[str]:
    return [SEP.join(word.text for word in words) for words in _spellings(command.words, fold_case)]


def _shortened(words: tuple[Word, ...]) -> list[str]:
    """Without the first words, where the first is an option: nobody knows which options take a value."""
    if len(words) < 2 or not words[1].text.startswith("-") or program_name(words[0].text) == "git":
        return []
    texts = [word.text for word in words[1:]]
    name = program_name(words[0].text)
    return [SEP.join([name, *texts[n:]]) for n in range(1, min(len(texts), MAX_DROPPED + 1)) if texts[n][:1] != "-"]
