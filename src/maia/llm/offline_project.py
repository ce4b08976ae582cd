"""What the `offline` model tells of a project: its README, its languages, its folders, how its tests run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import PurePosixPath

from maia.llm.offline_requests import Wish
from maia.llm.offline_results import LANGUAGE_NAMES, entries, file_text, first_paragraph, is_cut, listed, outline
from maia.llm.offline_steps import Call, Plan, Results, Scene, Step, bullets, capped, checked, quoted, try_calls

TEST_COMMANDS = {
    "pyproject.toml": "python -m pytest -q",
    "pytest.ini": "python -m pytest -q",
    "setup.py": "python -m pytest -q",
    "tests": "python -m pytest -q",
    "package.json": "npm test",
    "Cargo.toml": "cargo test",
    "go.mod": "go test ./...",
    "Makefile": "make test",
}
"""What lies in a folder and how such a project runs its tests; the first that is there counts."""


_MANIFESTS = (
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "composer.json",
    "pom.xml",
    "Gemfile",
    "Makefile",
)


_UNTOLD = (
    ".git/",
    ".maia/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".venv/",
    "__pycache__/",
    "node_modules/",
)
"""Folders of a project that say nothing about it."""


def explain_project(_wish: Wish, scene: Scene) -> Plan:
    look = scene.say("offline.project_look")
    folder, files = yield from try_calls(scene, look, Call("Read", {"path": "."}), Call("Glob", {"pattern": "**/*"}))
    names = [name for name in entries(checked(scene, folder)) if name not in _UNTOLD]
    every = listed(checked(scene, files))
    readme = next((name for name in sorted(names, key=len) if name.lower().startswith("readme")), "")
    manifests = [name for name in _MANIFESTS if name in names][:2]
    texts = yield from _read_all(scene, [readme, *manifests] if readme else manifests)
    return _project_answer(scene, names, _languages(every, is_cut(files.text)), texts, readme)


def _read_all(scene: Scene, paths: Sequence[str]) -> Generator[Step, Results, dict[str, str]]:
    """The files that could be read, in one step; a file that cannot be read is left out."""
    if not paths or "Read" not in scene.tools:
        return {}
    calls = [Call("Read", {"path": path}) for path in paths]
    results = yield from try_calls(scene, scene.say("offline.project_read", files=", ".join(paths)), *calls)
    return {path: file_text(result.text) for path, result in zip(paths, results, strict=False) if not result.is_error}


def _project_answer(scene: Scene, names: Sequence[str], languages: str, texts: dict[str, str], readme: str) -> str:
    if not names:
        return scene.say("offline.project_empty")
    about = outline(readme, texts.get(readme, ""))
    pieces = [f"## {about.names[0]}" if about.names else scene.say("offline.project_title")]
    if said := first_paragraph(texts.get(readme, "")):
        pieces.append(scene.say("offline.project_says", file=readme) + "\n\n" + quoted(said))
    elif not readme:
        pieces.append(scene.say("offline.project_no_readme"))
    if languages:
        pieces.append(scene.say("offline.project_languages", languages=languages))
    pieces.append(scene.say("offline.folder_holds", path=".") + "\n\n" + capped(scene, bullets(names)))
    for name in texts:
        if name in TEST_COMMANDS:
            pieces.append(scene.say("offline.project_tests", file=name, command=TEST_COMMANDS[name]))
            break
    pieces.append(scene.say("offline.project_next"))
    return "\n\n".join(pieces)


def _languages(paths: Sequence[str], cut: bool) -> str:
    """The commonest kinds of files; with numbers where the whole listing was seen."""
    kinds = Counter(LANGUAGE_NAMES.get(PurePosixPath(path).suffix.lower(), "") for path in paths)
    return ", ".join(name if cut else f"{name} ({n})" for name, n in kinds.most_common(6) if name)
