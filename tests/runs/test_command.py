from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.program import Place, Ran
from tests.fakes import FakeLlm, fake_llm
from tests.runs.hosted import wait_for


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def started(place: Place, server: FakeLlm, task: str) -> str:
    place.settings(LiteLLM_URL=server.url, model="fake-model", permissions={"allow": ["Bash(sleep *)"]})
    ran = place.run("runs", "start", task)
    assert (ran.code, ran.err) == (0, "")
    return ran.out.strip()


def shown(place: Place, run_id: str) -> dict[str, object]:
    return place.run("runs", "show", run_id, "--json").json


def until(place: Place, run_id: str, state: str) -> None:
    wait_for(lambda: shown(place, run_id)["state"] == state)


def asking(command: str) -> dict[str, str]:
    return {"tool_name": "Bash", "tool_args": json.dumps({"command": command})}


def test_a_task_goes_on_by_itself_and_is_looked_at_from_a_terminal(place: Place) -> None:
    with fake_llm(text="All done.") as server:
        run_id = started(place, server, "Tidy up")
        followed = place.run("runs", "follow", "last")
        assert (followed.code, followed.err) == (0, "")
        assert "Tidy up" in followed.out
        assert "All done." in followed.out
        until(place, run_id, "ended")
        listed = place.run("runs", "list").out
        assert [part in listed for part in (run_id, "finished", "fake-model", "Tidy up")] == [True] * 4
        assert [row["runId"] for row in json.loads(place.run("runs", "list", "--json").out)] == [run_id]
        told = place.run("runs", "show", run_id[-6:]).out
        session = str(shown(place, run_id)["session"])
        assert [part in told for part in ("State: finished", f"maia --resume {session}", "All done.")] == [True] * 3
        assert place.run("-p", "And now?", "--resume", session).code == 0
        notes = place.run("runs", "follow", run_id, "--json").events
        assert [note["seq"] for note in notes] == list(range(1, len(notes) + 1))
        assert notes[-1]["event"]["type"] == "TurnEnded"


@pytest.mark.parametrize(("words", "status"), [(("once",), "succeeded"), (("no", "not", "now"), "refused")])
def test_a_run_that_waits_says_how_it_is_answered(place: Place, words: tuple[str, ...], status: str) -> None:
    with fake_llm("tool", **asking("touch made")) as server:
        run_id = started(place, server, "Make it")
        until(place, run_id, "waiting")
        assert f"maia runs answer {run_id} once|session|always|no" in place.run("runs", "show", run_id).out
        assert place.run("runs", "answer", run_id, *words).code == 0
        notes = place.run("runs", "follow", run_id, "--json").events
        ends = [note["event"] for note in notes if note["event"]["type"] == "ToolCallFinished"]
        assert [end["status"] for end in ends] == [status]
        assert " ".join(words[1:]) in ends[0]["text"]
        again = place.run("runs", "answer", run_id, "once")
        assert (again.code, run_id in again.err) == (1, True)
    assert (place.folder / "made").exists() == (status == "succeeded")


def test_a_run_is_stopped_and_its_end_is_the_exit_code_of_who_followed_it(place: Place) -> None:
    with fake_llm("tool", **asking("sleep 305")) as server:
        run_id = started(place, server, "Sleep")
        following = place.start("runs", "follow", run_id)
        until(place, run_id, "running")
        assert place.run("runs", "stop", run_id).out == "stopped\n"
        out, err = following.communicate(timeout=60)
        assert (following.returncode, err) == (130, "")
        assert "Sleep" in out


def test_what_cannot_begin_is_told_by_who_follows(place: Place) -> None:
    place.settings()
    run_id = place.run("runs", "start", "hi", "--lang", "en").out.strip()
    ran = place.run("runs", "follow", run_id)
    assert (ran.code, "[FAIL]" in ran.err) == (1, True)


def test_what_cannot_begin_is_shown_with_its_remedy(place: Place) -> None:
    with fake_llm() as server:
        place.settings(LiteLLM_URL=server.url)
        run_id = place.run("runs", "start", "hi", "--model", "nope").out.strip()
        until(place, run_id, "ended")
        told = place.run("runs", "show", run_id, "--lang", "en").out
    assert 'There is no model "nope".\n→ The closest: ' in told


WRONG: list[tuple[tuple[str, ...], int, Callable[[Ran], bool]]] = [
    (("runs",), 2, lambda ran: "maia runs list" in ran.err),
    (("runs", "dance"), 2, lambda ran: "maia runs list" in ran.err),
    (("runs", "start"), 2, lambda ran: "maia runs list" in ran.err),
    (("runs", "show"), 2, lambda ran: "maia runs list" in ran.err),
    (("runs", "show", "abcdef"), 1, lambda ran: "maia runs list" in ran.err),
    (("runs", "stop", "../../etc"), 1, lambda ran: "../../etc" in ran.err),
    (("runs", "answer", "last"), 2, lambda ran: "maia runs list" in ran.err),
    (("runs", "answer", "last", "perhaps"), 2, lambda ran: "once, session, always, no" in ran.err),
    (("runs", "list"), 0, lambda ran: ran.out == "" and ran.err != ""),
    (("runs", "list", "--json"), 0, lambda ran: json.loads(ran.out) == []),
]


@pytest.mark.parametrize(("words", "code", "fits"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_words_are_told(place: Place, words: tuple[str, ...], code: int, fits: Callable[[Ran], bool]) -> None:
    ran = place.run(*words)
    assert (ran.code, fits(ran)) == (code, True), (ran.out, ran.err)


def test_no_run_is_started_by_looking(place: Place) -> None:
    place.run("runs", "list")
    assert not (place.home / ".maia" / "runs").exists()
