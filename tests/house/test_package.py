import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import maia

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return next(target.glob("*.whl"))


def test_the_wheel_holds_compiled_words_prompts_and_nothing_of_the_workshop(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    kept = {name for name in names if not name.endswith((".py", ".md"))}
    assert {"maia/i18n/fr.mo", "maia/i18n/en.mo", "maia/py.typed"} <= kept
    assert [name for name in names if name.endswith(".po") or name.startswith(("tests/", "bench/"))] == []
    in_source = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.md")}
    assert in_source <= set(names), "prompts stand beside the tools"


def test_an_unpacked_wheel_answers_in_both_languages(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    env = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    for argv, shown in (
        (("-m", "maia", "--version"), f"maia {maia.__version__}\n"),
        (("-c", "from maia.i18n.catalogue import Catalogue as C; print(C('fr').has('launch.no_home'))"), "True\n"),
    ):
        done = subprocess.run([sys.executable, *argv], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == (shown, "")


def test_the_wheel_installs_a_command_named_maia(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        points = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert archive.read(points).decode() == "[console_scripts]\nmaia = maia.__main__:main\n"


@pytest.mark.parametrize("name", ["run", "test"])
def test_locks_have_hashes_and_no_address(name: str) -> None:
    lock = (ROOT / "requirements" / f"{name}.lock").read_text("utf-8")
    assert re.search(r"://|--(index|extra-index|find-links)|@ ", lock) is None
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        assert re.match(r"[a-z0-9-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_the_test_lock_holds_the_run_lock_in_the_same_versions() -> None:
    def pins(name: str) -> set[tuple[str, str]]:
        lock = (ROOT / "requirements" / f"{name}.lock").read_text("utf-8")
        return {(found[1], found[2]) for found in re.finditer(r"^([a-z0-9-]+)==([^\s;]+)", lock, re.MULTILINE)}

    assert pins("run") <= pins("test")


def test_what_the_source_imports_is_what_the_project_declares() -> None:
    import ast
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    declared = {re.split(r"[\[<>=]", each)[0] for each in (*project["dependencies"], *extras)}
    modules = {MODULES.get(name, name.replace("-", "_")) for name in declared - OTHERS_IMPORT}
    imported: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Import(names=names):
                    imported |= {alias.name.partition(".")[0] for alias in names}
                case ast.ImportFrom(module=str(module), level=0):
                    imported.add(module.partition(".")[0])
                case _:
                    pass
    assert imported - set(sys.stdlib_module_names) - {"maia"} == modules


MODULES = {
    "google-re2": "re2",
    "python-stdnum": "stdnum",
    "toktok-rs": "toktok",
    "markdown-it-py": "markdown_it",
    "pillow": "PIL",
    "pyyaml": "yaml",
    "argon2-cffi": "argon2",
    "pydantic-ai-slim": "pydantic_ai",
    "pyjwt": "jwt",
}
OTHERS_IMPORT = {"websockets"}
"""What only another dependency imports: uvicorn, when a line is opened."""
"""Packages whose module has another name."""


def test_every_dependency_is_in_the_lock() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = {re.split(r"[\[<>=]", each)[0].replace("_", "-").lower() for each in project["project"]["dependencies"]}
    lock = (ROOT / "requirements" / "run.lock").read_text("utf-8")
    assert [name for name in sorted(wanted) if not re.search(rf"^{name}==", lock, re.MULTILINE)] == []
