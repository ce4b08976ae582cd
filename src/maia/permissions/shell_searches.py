"""Which folders a command walks through as a whole, by its words: searches, listings, copies and archives of trees.

Sources: the manuals of the programs named here. What is left out of a walk narrows nothing (N-09.07): only what it
includes does, and how deep it goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from maia.core.permission import Sweep
from maia.permissions.script import Command, Folders, Word
from maia.permissions.shell_folders import path_of
from maia.permissions.shell_inner import Words, program_name
from maia.permissions.shell_options import Options, every_option, spec
from maia.permissions.wildcard import ANY, ONE

EVERYTHING: Final = Sweep()
WIDE: Final = 2
"""A shell glob with wildcards in more folders than these, or with `**`, is a walk."""

_FEEDERS: Final = ("xargs", "gxargs", "parallel", "sem")
"""What these read becomes the folder of a search (N-09.07)."""

_WILD: Final = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Search:
    """One walk: `root` as written, None where it is only known when the command runs; `folders` it may start from."""

    root: str | None
    folders: Folders
    sweep: Sweep = EVERYTHING


@dataclass(frozen=True, slots=True)
class _Walks:
    """How a program is read. `layout` are its options (`shell_options.spec`).

    It walks with one of the options `deep`, always where there are none, and never with one of `flat`. The first
    `skipped` operands are no folders, unless one of `instead` is there; with `sources` the last one is not, either.
    `globs`, `ending` and `levels` name options: included names, included endings, and how deep it goes; `further` those
    whose value is one more folder.
    """

    layout: str
    deep: tuple[str, ...] = ()
    flat: tuple[str, ...] = ()
    skipped: int = 0
    instead: tuple[str, ...] = ()
    sources: bool = False
    globs: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    further: tuple[str, ...] = ()


_GREP: Final = (
    "* A: B: C: D: d: e: f: m: after-context= before-context= context= regexp= file= max-count= directories= devices= "
    "include= exclude= exclude-from= exclude-dir= label= group-separator="
)
_RG: Final = (
    "* A: B: C: E: e: f: g: t: T: m: M: j: r: d: glob= iglob= type= type-not= regexp= file= max-depth= context= "
    "after-context= before-context= max-count= max-columns= threads= replace= encoding= sort= sortr= colors= engine= "
    "pre= pre-glob= ignore-file= type-add= type-clear= max-filesize="
)
_AG: Final = "* A: B: C: G: g: m: p: W: depth= file-search-regex= ignore= ignore-dir= path-to-ignore= max-count= type="
_FD: Final = (
    "* e: E: d: t: x: X: c: j: S: o: extension= exclude= max-depth= exact-depth= min-depth= type= exec= exec-batch= "
    "search-path= base-directory= size= changed-within= changed-before= owner= threads= max-results= ignore-file="
)
_COPY: Final = ("r", "R", "a", "recursive", "archive")
_TO: Final = "* S: t: suffix= target-directory="

_GREPS: Final = _Walks(
    _GREP,
    deep=("r", "R", "recursive", "dereference-recursive", "d", "directories"),
    skipped=1,
    instead=("e", "f", "regexp", "file"),
    globs=("include",),
)
_RGS: Final = _Walks(
    _RG,
    skipped=1,
    instead=("e", "f", "regexp", "file", "files"),
    globs=("g", "glob", "iglob"),
    levels=("d", "max-depth"),
)
_FDS: Final = _Walks(
    _FD,
    skipped=1,
    ending=("e", "extension"),
    levels=("d", "max-depth"),
    further=("search-path", "base-directory"),
)
_LISTS: Final = _Walks("* I: w: T: ignore= hide= width= tabsize= block-size=", deep=("R", "recursive"))
_AGS: Final = _Walks(_AG, skipped=1, instead=("g", "f"), levels=("depth",))

WALKERS: Final[Mapping[str, _Walks]] = {
    "grep": _GREPS,
    "egrep": _GREPS,
    "fgrep": _GREPS,
    "ggrep": _GREPS,
    "rgrep": replace(_GREPS, deep=()),
    "ugrep": replace(_GREPS, deep=()),
    "ug": replace(_GREPS, deep=()),
    "rg": _RGS,
    "ag": _AGS,
    "ack": _AGS,
    "ack-grep": _AGS,
    "fd": _FDS,
    "fdfind": _FDS,
    "tree": _Walks("* L: P: I: o: H: T: charset= filelimit= timefmt= sort= gitfile= infofile=", levels=("L",)),
    "ls": _LISTS,
    "dir": _LISTS,
    "vdir": _LISTS,
    "gls": _LISTS,
    "du": _Walks(
        "* B: d: t: X: max-depth= exclude= exclude-from= threshold= block-size= time-style= files0-from=",
        flat=("s", "summarize"),
        levels=("d", "max-depth"),
    ),
    "diff": _Walks("* x: X: I: F: U: C: W: L: S: exclude= exclude-from= label=", deep=("r", "recursive")),
    "cp": _Walks(_TO, deep=_COPY, sources=True),
    "mv": _Walks(_TO, sources=True),
    "scp": _Walks("* c: F: i: J: l: o: P: S: X: D:", deep=("r",), sources=True),
    "rsync": _Walks(
        "* e: f: B: T: M: rsh= filter= exclude= exclude-from= include= include-from= files-from= log-file= max-size= "
        "min-size= port= temp-dir= compare-dest= copy-dest= link-dest= password-file= bwlimit= timeout= out-format=",
        deep=_COPY,
        sources=True,
    ),
    "zip": _Walks("* b: n: t: tt: P: s: O:", deep=("r", "R", "recurse-paths"), skipped=1),
    "7z": _Walks("*", skipped=2),
    "7za": _Walks("*", skipped=2),
}
"""Programs that walk, and how they are read; `find`, `tar` and `locate` are read by functions of their own."""


def searches(command: Command) -> Iterator[Search]:
    """The walks of a command and of those that it runs, each with the folder in which it starts. Never raises."""
    yield from _searches(command, fed=False, found=False)


def _searches(command: Command, *, fed: bool, found: bool) -> Iterator[Search]:
    if command.words and command.folders != frozenset():
        for search in (*_own(command), *_globbed(command)):
            is_below = found and search.root in (ANY, ONE)
            if fed:
                yield Search("/", command.folders)
            elif not is_below:  # what `find` found lies in the folder that it was judged by
                yield replace(search, root=_known(search.root))
    if command.wrap == "remote":
        return
    name = program_name(command.program)
    fed, found = fed or name in _FEEDERS, found or name in ("find", "gfind", "bfs", "fd", "fdfind")
    for child in command.children:
        yield from _searches(child, fed=fed, found=found)


def _known(root: str | None) -> str | None:
    return None if root is None or ANY in root or ONE in root else root


def _own(command: Command) -> Iterator[Search]:
    name, words = program_name(command.program), command.words[1:]
    if (read := _READERS.get(name)) is not None:
        roots, sweep = read(words)
    elif (walks := WALKERS.get(name)) is not None:
        roots, sweep = _walked(walks, every_option(words, spec(walks.layout)))
    else:
        return
    for root in roots:
        yield Search(root, command.folders, sweep)


def _walked(walks: _Walks, given: Options) -> tuple[Sequence[str], Sweep]:
    if (walks.deep and not _is_deep(walks, given)) or given.has(*walks.flat):
        return (), EVERYTHING
    operands = given.rest[0 if given.has(*walks.instead) else walks.skipped :]
    if walks.sources:
        operands = operands if given.has("t", "target-directory") else operands[:-1]
        operands = tuple(word for word in operands if not re.match(r"[^/]+:", word.text))
    further = [value for name, value in given.found if name in walks.further and value is not None]
    roots = [root for word in (*operands, *further) for root in _roots(word)]
    is_bare = not roots and not walks.sources
    return (["."] if is_bare else roots), Sweep(_included(walks, given), _levels(given.value(*walks.levels)))


def _is_deep(walks: _Walks, given: Options) -> bool:
    """`-d` and `--directories` of grep are deep by their value."""
    for name, value in given.found:
        if name in ("d", "directories") and value is not None:
            if value.text == "recurse" or not value.literal:
                return True
        elif name in walks.deep:
            return True
    return False


def _included(walks: _Walks, given: Options) -> tuple[str, ...]:
    """Globs of what is looked at; none where one of them cannot be known, or only exclusions are given."""
    globs: list[str] = []
    for name, value in given.found:
        if name in walks.globs and value is not None and not value.text.startswith("!"):
            globs.append(value.text)
        elif name in walks.ending and value is not None:
            globs.append(f"*.{value.text.removeprefix('.')}")
    return () if any(_known(text) is None for text in globs) else tuple(globs)


def _levels(value: Word | None) -> int | None:
    return int(value.text) if value is not None and re.fullmatch(r"\d{1,6}", value.text) else None


def _roots(word: Word) -> Iterator[str]:
    """The folders that a word names; of one with a glob that which all of them lie in."""
    for text in (path_of(word), *word.choices):
        yield _before_wildcards(text)[0] if word.glob else text


def _before_wildcards(text: str) -> tuple[str, str]:
    """The folder before the first name with a wildcard, and the rest."""
    names = text.split("/")
    at = next((i for i, name in enumerate(names) if _WILD.search(name)), len(names))
    folder = "/".join(names[:at])
    return folder or ("/" if text.startswith("/") else "."), "/".join(names[at:])


def _globbed(command: Command) -> Iterator[Search]:
    """Globs that the shell itself walks for, whatever the program does with the names."""
    for word in command.words[1:]:
        for text in (word.text, *word.choices) if word.glob else ():
            folder, rest = _before_wildcards(text)
            names = rest.split("/")
            if "**" in names:
                yield Search(folder, command.folders, Sweep((rest,)))
            elif sum(bool(_WILD.search(name)) for name in names) > WIDE:
                yield Search(folder, command.folders, Sweep((rest,), len(names)))


# Programs with a grammar of their own -------------------------------------------------------------------------------


def _find(words: Words) -> tuple[Sequence[str], Sweep]:
    at = 0
    while at < len(words) and re.fullmatch(r"-[HLP]|-O\d*|-D", words[at].text):
        at += 2 if words[at].text == "-D" else 1
    end = next((i for i in range(at, len(words)) if re.match(r"-|\(|!|,", words[i].text)), len(words))
    roots = [root for word in words[at:end] for root in _roots(word)]
    tests = words[end:]
    if any(word.text == "-files0-from" for word in tests):
        return ("/",), EVERYTHING
    named = [after for word, after in pairwise(tests) if word.text in ("-name", "-iname")]
    is_plain = not any(word.text in ("-o", "-or", "!", "-not", ",") for word in tests)
    globs = tuple(word.text for word in named[:1] if is_plain and _known(word.text) is not None)
    depth = next((b for a, b in pairwise(tests) if a.text == "-maxdepth"), None)
    return roots or ["."], Sweep(globs, _levels(depth))


_TAR: Final = spec(
    "* f: C: T: X: b: g: H: I: K: L: N: V: F: file= directory= files-from= exclude= exclude-from= transform= format= "
    "owner= group= mode= mtime= newer= use-compress-program= listed-incremental= strip-components= label="
)


def _tar(words: Words) -> tuple[Sequence[str], Sweep]:
    """Where it makes an archive: from the folder of `-C`, if there is one."""
    if words and not words[0].text.startswith("-"):
        words = _without_old_style(words)
    given = every_option(words, _TAR)
    if not given.has("c", "r", "u", "A", "create", "append", "update"):
        return (), EVERYTHING
    if given.has("T", "files-from"):
        return ("/",), EVERYTHING
    start = given.value("C", "directory")
    roots = [root for word in given.rest for root in _roots(word)]
    if start is None:
        return roots, EVERYTHING
    return [root if root.startswith("/") else f"{path_of(start)}/{root}" for root in roots], EVERYTHING


def _without_old_style(words: Words) -> Words:
    """`cfz out.tgz dir` as `-c -f out.tgz -z dir`."""
    values = iter(words[1:])
    made: list[Word] = []
    for letter in words[0].text:
        made.append(Word(f"-{letter}", f"-{letter}"))
        if letter in _TAR.short and (value := next(values, None)) is not None:
            made.append(value)
    return (*made, *values)


def _locate(_words: Words) -> tuple[Sequence[str], Sweep]:
    return ("/",), EVERYTHING


_Read = Callable[[Words], "tuple[Sequence[str], Sweep]"]
_READERS: Final[Mapping[str, _Read]] = {
    **dict.fromkeys(("find", "gfind", "bfs"), _find),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    **dict.fromkeys(("locate", "mlocate", "plocate", "slocate"), _locate),
}
