import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from maia.core.errors import SessionProblem
from maia.core.events import UserSaid
from maia.engine.export import write_markdown
from maia.engine.transcript import Transcript


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file may grow beyond a few bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.usefixtures("full_disk")
def test_an_export_that_does_not_fit_on_the_disk_leaves_no_half_of_it(tmp_path: Path) -> None:
    with pytest.raises(SessionProblem) as problem:
        write_markdown(Transcript.of([UserSaid("words")]), "talk", tmp_path, "talk.md")
    assert problem.value.key == "session.export_failed"
    assert list(tmp_path.iterdir()) == []


def test_a_free_name_is_found_and_a_given_one_is_never_written_over(tmp_path: Path) -> None:
    talk = Transcript.of([UserSaid("words")])
    assert [write_markdown(talk, "talk", tmp_path, "").name for _ in range(3)] == ["talk.md", "talk_2.md", "talk_3.md"]
    with pytest.raises(SessionProblem) as problem:
        write_markdown(talk, "talk", tmp_path, "talk.md")
    assert problem.value.key == "session.export_exists"
    assert (tmp_path / "talk.md").read_text("utf-8") == "# talk\n\n## User\n\nwords\n"
