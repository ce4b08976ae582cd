import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FILE = 700
"""Lines. The aim is 400 (style); beyond this a file has more than one duty."""

_IMPORTS = (
    "import sys; sys.argv[1:] = ['--no-cache']; from importlinter.cli import lint_imports_command as main; main()"
)


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(("-m", "ruff", "check", "--quiet", "."), id="lint"),
        pytest.param(("-m", "ruff", "format", "--check", "--quiet", "."), id="format"),
        pytest.param(("-m", "pyright", "--pythonpath", sys.executable), id="strict types"),
        pytest.param(("-c", _IMPORTS), id="imports go one way"),
    ],
)
def test_the_code_is_clean(argv: tuple[str, ...]) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *argv], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout[-8000:]}{done.stderr[-2000:]}"


def test_no_file_has_grown_beyond_reading() -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / "src").rglob("*.py")
        if (lines := path.read_text("utf-8").count("\n")) > LONGEST_FILE
    }
    assert too_long == {}, "split by duty"


def test_every_module_says_in_one_sentence_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        if not path.read_text("utf-8").lstrip().startswith('"""')
    ]
    assert silent == []
