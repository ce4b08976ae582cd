import asyncio
import os
from pathlib import Path

import pytest

from maia.core.submission import Attachment
from maia.i18n.catalogue import Catalogue
from maia.sandbox.bang import SECONDS, BangEnd, command_of, run_bang
from tests.sandbox.running import living, processes

FRENCH = Catalogue("fr", strict=True)


def bang(folder: Path, typed: str, stop_at: str = "", environment: dict[str, str] | None = None) -> tuple[BangEnd, str]:
    shown: list[str] = []
    env = {**os.environ, **(environment or {})}

    async def go() -> BangEnd:
        stop = asyncio.Event()

        def show(text: str) -> None:
            shown.append(text)
            if stop_at and stop_at in text:
                stop.set()

        runner = processes(folder, environment=env)
        return await run_bang(
            typed, processes=runner, cwd=folder, say=FRENCH, on_output=show, stop=stop, environment=env
        )

    return asyncio.run(go()), "".join(shown)


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("ls -l", "ls -l"),
        ("  git log ", "git log"),
        ("'git log --oneline'", "git log --oneline"),
        (r"'echo l\'été'", "echo l'été"),
        ("'a' 'b'", "'a' 'b'"),
        ("echo 'x'", "echo 'x'"),
        ("'", "'"),
        ("''", "''"),
    ],
)
def test_quotes_around_the_whole_command_are_taken_off(typed: str, command: str) -> None:
    assert command_of(typed) == command


def test_the_output_is_shown_in_order_and_goes_with_the_next_request(tmp_path: Path) -> None:
    end, shown = bang(tmp_path, "'echo a; echo b >&2'")
    assert (shown, end.shown, end.state) == ("a\nb\n", "a\nb", "")
    assert end.attachment == Attachment("command", "echo a; echo b >&2", "a\nb\n[code de sortie : 0]")


def test_a_failure_shows_its_exit_code(tmp_path: Path) -> None:
    end, _ = bang(tmp_path, "exit 3")
    assert end.shown == ""
    assert (end.state, end.attachment.text) == ("code de sortie : 3", "[code de sortie : 3]")


def test_ctrl_c_stops_the_tree_and_keeps_what_was_printed(tmp_path: Path) -> None:
    end, _ = bang(tmp_path, "setsid sleep 41.7 & echo before; sleep 41.7", stop_at="before")
    assert (end.state, end.attachment.text) == ("interrompu", "before\n[interrompu]")
    assert living("sleep 41.7") == []


def test_two_minutes_are_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SECONDS == 120
    monkeypatch.setattr("maia.sandbox.bang.SECONDS", 0.3)
    end, _ = bang(tmp_path, "sleep 42.7")
    assert (end.state, end.end.state) == ("délai dépassé après 0.3 s", "timed_out")


def test_a_long_result_loses_its_middle_and_says_how_much(tmp_path: Path) -> None:
    end, _ = bang(tmp_path, "seq 100000")
    text = end.attachment.text.removesuffix("\n[code de sortie : 0]")
    assert (len(text) <= 30_000, text[:4], text[-6:]) == (True, "1\n2\n", "100000")
    assert end.attachment.cut_chars == 588_895 - 30_000
    assert end.end.saved is None


def test_no_sandbox_stands_in_the_way_of_a_person(tmp_path: Path) -> None:
    async def go() -> BangEnd:
        runner = processes(tmp_path, lambda: pytest.fail("a wall was looked for"))
        return await run_bang("true", processes=runner, cwd=tmp_path, say=FRENCH, on_output=print, stop=asyncio.Event())

    assert asyncio.run(go()).state == ""


def test_a_person_has_the_keys_and_the_model_does_not_read_them(tmp_path: Path) -> None:
    end, shown = bang(tmp_path, 'echo "$OPENAI_API_KEY"', environment={"OPENAI_API_KEY": "sk-very-secret"})
    assert (shown, end.attachment.text.splitlines()[0]) == ("sk-very-secret\n", "[OPENAI_API_KEY]")


def test_what_a_person_leaves_in_the_background_goes_on_and_may_print(tmp_path: Path) -> None:
    async def go() -> BangEnd:
        end = await run_bang(
            "(sleep 0.6; echo a broken pipe would end me here; echo alive > new; mv new mark) & echo up",
            processes=processes(tmp_path),
            cwd=tmp_path,
            say=FRENCH,
            on_output=print,
            stop=asyncio.Event(),
        )
        for _ in range(300):
            if not (tmp_path / "mark").exists():
                await asyncio.sleep(0.1)
        return end

    end = asyncio.run(go())
    assert end.attachment.text.splitlines()[0] == "up"
    assert "arrière-plan" in end.attachment.text
    assert (tmp_path / "mark").read_text() == "alive\n"
