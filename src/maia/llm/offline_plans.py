"""What the `offline` model does about each kind of wish: one plan a kind, by a table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from maia.core.jsonvalue import JsonObject
from maia.llm.offline_project import TEST_COMMANDS, explain_project
from maia.llm.offline_requests import Wish, WishKind
from maia.llm.offline_results import (
    LANGUAGE_NAMES,
    entries,
    fenced,
    file_text,
    first_words,
    is_cut,
    listed,
    matches,
    outline,
    tail_to_extend,
)
from maia.llm.offline_steps import (
    Call,
    CannotGoOn,
    Known,
    Plan,
    Scene,
    bullets,
    capped,
    do,
    lines_of,
    quoted,
    read_text,
    try_calls,
    without_rereading,
)


def carry_out(wishes: Sequence[Wish], scene: Scene) -> Plan:
    """All wishes in order. The first that fails ends the turn, with the answers so far."""
    answers: list[str] = []
    known: Known = []
    for wish in wishes:
        try:
            answers.append((yield from without_rereading(_PLANS[wish.kind](wish, scene), known)))
        except CannotGoOn as end:
            answers.append(str(end))
            break
    return "\n\n".join(answers)


# Talk ---------------------------------------------------------------------------------------------------------------


def _says(key: str) -> Callable[[Wish, Scene], Plan]:
    def plan(_wish: Wish, scene: Scene) -> Plan:
        yield from ()
        return scene.say(key, window=scene.window)

    return plan


def _unknown(wish: Wish, scene: Scene) -> Plan:
    yield from ()
    if scene.joined:
        return "\n\n".join(_described(scene, source, text) for source, text in scene.joined)
    return scene.say("offline.unknown", request=first_words(wish.text.replace("\n", " "), 80))


def _recap(_wish: Wish, scene: Scene) -> Plan:
    yield from ()
    if not scene.earlier:
        return scene.say("offline.recap_empty")
    lines = [f"{n}. {first_words(request.replace(chr(10), ' '), 100)}" for n, request in enumerate(scene.earlier, 1)]
    return scene.say("offline.recap", n=len(lines)) + "\n\n" + "\n".join(lines)


def _model(_wish: Wish, scene: Scene) -> Plan:
    if "CurrentModel" not in scene.tools:
        return scene.say("offline.model")
    found = yield from do(scene, scene.say("offline.model_look"), "CurrentModel")
    return scene.say("offline.model") + "\n\n" + quoted(first_words(found, 300))


# Files: look --------------------------------------------------------------------------------------------------------

_SHOWN_LINES = 40


def _show_file(wish: Wish, scene: Scene) -> Plan:
    if wish.path.endswith("/"):
        return (yield from _list(wish, scene))
    lines = {"offset": max(1, wish.first), "limit": wish.last - max(1, wish.first) + 1} if wish.last else {}
    if lines and lines["limit"] < 1:
        return scene.say("offline.lines_backwards", first=wish.first, last=wish.last)
    text = yield from read_text(scene, wish.path, scene.say("offline.reading", path=wish.path), **lines)
    if not text.strip():
        return scene.say("offline.file_empty", path=wish.path)
    shown = "\n".join(text.splitlines()[:_SHOWN_LINES])
    answer = scene.say("offline.file_shown", n=lines_of(text), path=wish.path) + "\n\n" + fenced(shown, wish.path)
    hidden = lines_of(text) - _SHOWN_LINES
    return answer if hidden <= 0 else answer + "\n\n" + scene.say("offline.more_lines", n=hidden)


def _explain_file(wish: Wish, scene: Scene) -> Plan:
    text = yield from read_text(scene, wish.path, scene.say("offline.reading", path=wish.path))
    return _described(scene, wish.path, text)


def _described(scene: Scene, path: str, text: str) -> str:
    language = LANGUAGE_NAMES.get(PurePosixPath(path).suffix.lower(), "")
    kind = scene.say("offline.file_is", n=lines_of(text), path=path, language=language or scene.say("offline.text"))
    found = outline(path, text)
    pieces = [kind]
    if found.about:
        pieces.append(quoted(found.about))
    if found.names:
        names = "\n".join(f"- `{name}`" for name in found.names[:20])
        pieces.append(scene.say("offline.file_defines", n=len(found.names)) + "\n\n" + names)
    return "\n\n".join(pieces)


def _count_lines(wish: Wish, scene: Scene) -> Plan:
    command = f"wc -l -- {shlex.quote(wish.path)}"
    found = yield from do(scene, scene.say("offline.counting", path=wish.path), "Bash", command=command)
    number = re.match(r"\s*(\d+)", found)
    if not number:
        return _output(scene, command, found)
    return scene.say("offline.line_count", n=int(number[1]), path=wish.path)


def _list(wish: Wish, scene: Scene) -> Plan:
    folder = wish.path.rstrip("/") or "."
    found = entries((yield from do(scene, scene.say("offline.listing", path=folder), "Read", path=folder)))
    if not found:
        return scene.say("offline.folder_empty", path=folder)
    return scene.say("offline.folder_holds", path=folder) + "\n\n" + capped(scene, bullets(found))


_SUFFIXES = {name.lower(): suffix.removeprefix(".") for suffix, name in reversed(LANGUAGE_NAMES.items())}


def _find(wish: Wish, scene: Scene) -> Plan:
    pattern = _glob_of(wish.text)
    where: JsonObject = {"path": wish.path} if wish.path else {}
    text = scene.say("offline.finding", pattern=pattern)
    paths = listed((yield from do(scene, text, "Glob", pattern=pattern, **where)))
    if not paths:
        return scene.say("offline.found_none", pattern=pattern)
    return scene.say("offline.found", n=len(paths)) + "\n\n" + capped(scene, bullets(paths))


def _glob_of(name: str) -> str:
    if any(mark in name for mark in "*?[{"):
        return name if "/" in name else f"**/{name}"
    if name.startswith(".") and name.count(".") == 1:
        return f"**/*{name}"
    if suffix := _SUFFIXES.get(name.lower()):
        return f"**/*.{suffix}"
    return f"**/{name}" if "." in name else f"**/*{name}*"


def _search(wish: Wish, scene: Scene) -> Plan:
    pattern = re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", wish.text)
    where: JsonObject = {"path": wish.path} if wish.path else {}
    text = scene.say("offline.searching", text=wish.text)
    found = yield from do(scene, text, "Grep", pattern=pattern, output_mode="content", **where)
    lines = matches(found)
    if not lines:
        return scene.say("offline.search_none", text=wish.text)
    shown = "\n".join(lines[:_SHOWN_LINES])
    key = "offline.search_more" if is_cut(found) else "offline.search_found"
    answer = scene.say(key, n=len(lines), text=wish.text) + "\n\n" + fenced(shown)
    more = len(lines) - _SHOWN_LINES
    return answer if more <= 0 else answer + "\n\n" + scene.say("offline.more_lines", n=more)


# Files: change ------------------------------------------------------------------------------------------------------


def _replace(wish: Wish, scene: Scene) -> Plan:
    if not wish.path:
        return scene.say("offline.which_file", text=wish.text, new=wish.new)
    if wish.text == wish.new:
        return scene.say("offline.same_text")
    text = yield from read_text(scene, wish.path, scene.say("offline.reading_first", path=wish.path))
    times = text.count(wish.text)
    if not times:
        return scene.say("offline.nothing_to_replace", path=wish.path, text=wish.text)
    change: JsonObject = {"path": wish.path, "old_string": wish.text, "new_string": wish.new}
    if times > 1:
        change["replace_all"] = True
    yield from do(scene, scene.say("offline.editing", path=wish.path), "Edit", **change)
    return scene.say("offline.replaced", n=times, path=wish.path) + "\n\n" + scene.say("offline.undo")


def _append(wish: Wish, scene: Scene) -> Plan:
    (result,) = yield from try_calls(
        scene, scene.say("offline.reading_first", path=wish.path), Call("Read", {"path": wish.path})
    )
    tail = "" if result.is_error else tail_to_extend(file_text(result.text))
    if tail:
        change = {"path": wish.path, "old_string": tail, "new_string": f"{tail}\n{wish.text}"}
        yield from do(scene, scene.say("offline.editing", path=wish.path), "Edit", **change)
    else:
        yield from do(
            scene, scene.say("offline.writing", path=wish.path), "Write", path=wish.path, content=wish.text + "\n"
        )
    return scene.say("offline.appended", path=wish.path) + "\n\n" + scene.say("offline.undo")


_PRINTING = {
    ".py": "print({text!r})\n",
    ".js": "console.log({json});\n",
    ".mjs": "console.log({json});\n",
    ".ts": "console.log({json});\n",
    ".rb": "puts {json}\n",
    ".sh": "#!/bin/sh\necho {shell}\n",
}


def _create(wish: Wish, scene: Scene) -> Plan:
    suffix = PurePosixPath(wish.path).suffix.lower()
    content = wish.text + "\n" if wish.text and not wish.text.endswith("\n") else wish.text
    if wish.prints and suffix in _PRINTING:
        quoted = '"' + wish.text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        content = _PRINTING[suffix].format(text=wish.text, json=quoted, shell=shlex.quote(wish.text))
    elif not content and suffix == ".md":
        content = f"# {PurePosixPath(wish.path).stem}\n"
    yield from do(scene, scene.say("offline.writing", path=wish.path), "Write", path=wish.path, content=content)
    shown = fenced(content.rstrip("\n"), wish.path) if content.strip() else scene.say("offline.created_empty")
    return scene.say("offline.created", path=wish.path) + "\n\n" + shown


def _shell_change(key: str, command: Callable[[Wish], str]) -> Callable[[Wish, Scene], Plan]:
    def plan(wish: Wish, scene: Scene) -> Plan:
        text = scene.say("offline.running", command=command(wish))
        yield from do(scene, text, "Bash", command=command(wish))
        return scene.say(key, path=wish.path, new=wish.new)

    return plan


# Commands, the web, plans -------------------------------------------------------------------------------------------


def _run(wish: Wish, scene: Scene) -> Plan:
    text = scene.say("offline.running", command=wish.text)
    (result,) = yield from try_calls(scene, text, Call("Bash", {"command": wish.text}))
    return _output(scene, wish.text, result.text, failed=result.is_error)


def _output(scene: Scene, command: str, output: str, *, failed: bool = False) -> str:
    head = scene.say("offline.ran_failed" if failed else "offline.ran", command=command)
    lines = output.strip("\n").splitlines()
    if not "".join(lines).strip():
        return head + "\n\n" + scene.say("offline.ran_silent")
    return head + "\n\n" + fenced("\n".join(lines[-_SHOWN_LINES:]))


def _run_tests(_wish: Wish, scene: Scene) -> Plan:
    found = yield from do(scene, scene.say("offline.test_look"), "Read", path=".")
    names = {name.rstrip("/") for name in entries(found)}
    command = next((command for name, command in TEST_COMMANDS.items() if name in names), "")
    if not command:
        return scene.say("offline.no_tests")
    return (yield from _run(Wish("run", text=command), scene))


def _fetch(wish: Wish, scene: Scene) -> Plan:
    url = wish.text.rstrip(".,;:!?)")
    page = yield from do(scene, scene.say("offline.fetching", url=url), "WebFetch", url=url)
    shown = "\n".join(page.strip().splitlines()[:_SHOWN_LINES])
    return scene.say("offline.fetched", n=len(page), url=url) + "\n\n" + quoted(first_words(shown, 1500))


def _todo(wish: Wish, scene: Scene) -> Plan:
    tasks = [task.strip(" .-*•\t") for task in re.split(r"[,;\n]|\b\d+[.)]\s", wish.text)]
    tasks = [task for task in tasks if task][:20]
    if not tasks:
        return scene.say("offline.unknown", request=first_words(wish.text, 80))
    todos = [{"content": task, "status": "pending", "activeForm": task} for task in tasks]
    todos[0]["status"] = "in_progress"
    yield from do(scene, scene.say("offline.planning", n=len(tasks)), "TodoWrite", todos=todos)
    return scene.say("offline.planned", task=tasks[0])


_PLANS: dict[WishKind, Callable[[Wish, Scene], Plan]] = {
    "window": _says("offline.window"),
    "recap": _recap,
    "model": _model,
    "help": _says("offline.help"),
    "greet": _says("offline.greeting"),
    "thanks": _says("offline.thanks"),
    "go_on": _says("offline.go_on"),
    "explain_project": explain_project,
    "todo": _todo,
    "replace": _replace,
    "remove_text": _replace,
    "delete_file": _shell_change("offline.deleted", lambda wish: f"rm -- {shlex.quote(wish.path)}"),
    "rename": _shell_change("offline.renamed", lambda wish: f"mv -- {shlex.quote(wish.path)} {shlex.quote(wish.new)}"),
    "append": _append,
    "create": _create,
    "run_tests": _run_tests,
    "run": _run,
    "fetch": _fetch,
    "count_lines": _count_lines,
    "list": _list,
    "find": _find,
    "read": _show_file,
    "explain_file": _explain_file,
    "search": _search,
    "unknown": _unknown,
}
