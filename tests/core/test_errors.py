import errno

import pytest

from maia.core.errors import system_words


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (OSError(errno.ENOENT, "No such file or directory", "/secret/path"), "No such file or directory"),
        (OSError("only words"), "only words"),
        (OSError(), "OSError"),
    ],
)
def test_a_refusal_of_the_system_always_has_words(problem: OSError, words: str) -> None:
    assert system_words(problem) == words
