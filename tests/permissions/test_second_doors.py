"""Second doors to one thing: other places, other programs for a file, folders that a line goes to and comes back."""

from __future__ import annotations

import pytest

from maia.permissions.paths import Place
from tests.permissions.made import rules, shell

ALL_BUT_TOUCH = rules(allow=["Bash"], deny=["Bash(touch *)"])


@pytest.mark.parametrize(
    "command",
    [
        "docker exec c touch x",
        "docker exec -it -u root c touch x",
        "docker run --rm -v a:b alpine sh -c 'touch x'",
        "docker compose exec web touch x",
        "docker-compose run web touch x",
        "podman exec c touch x",
        "kubectl exec -it p -c x -- touch x",
        "kubectl -n ns exec p -- sh -c 'touch x'",
        "ssh h touch x",
        "ssh -p 22 -i k u@h 'cd x && touch x'",
        "ssh -t h sudo touch x",
        "vagrant ssh -c 'touch x'",
        "gcloud compute ssh h --command='touch x'",
        "adb shell touch x",
        "lxc exec c -- touch x",
        "wsl touch x",
        "distrobox enter x -- touch x",
        "perf stat -r 3 touch x",
        "gosu root touch x",
        "faketime -f +1d touch x",
        "chronic touch x",
        "torsocks touch x",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch x",
        "lerna exec -- touch x",
    ],
)
def test_a_denied_command_is_found_where_it_runs_elsewhere(command: str) -> None:
    assert shell(command, ALL_BUT_TOUCH) == "deny"


@pytest.mark.parametrize("command", ["bwrap --bind / / touch x", "nodemon --exec 'touch x'", "sem -j1 touch x"])
def test_a_wrapper_whose_options_hide_the_command_asks_beside_a_deny(command: str) -> None:
    assert shell(command, ALL_BUT_TOUCH) in ("ask", "deny")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cp /usr/bin/touch t/foo && t/foo x", "ask"),
        ("ln -s /bin/touch foo", "ask"),
        ("install -m 755 ~/bin/touch foo", "ask"),
        ("dd if=/usr/bin/touch of=foo", "ask"),
        ("cp /usr/bin/env foo", "allow"),
        ("cp a/touch b", "allow"),
        ("mv touch bin/", "allow"),
    ],
)
def test_a_denied_program_does_not_get_another_name_unasked(command: str, expected: str) -> None:
    assert shell(command, ALL_BUT_TOUCH) == expected


@pytest.mark.parametrize(
    "command",
    [
        "ssh h 'cd /srv && ls > out.txt && echo $(date)'",
        "ssh h",
        "docker exec -it c bash",
        "docker exec c python -c 'print(1)'",
        "docker compose up -d",
        "docker run --rm alpine cat /etc/os-release",
        "kubectl exec p -- cat .env",
        "kubectl get pods -o wide",
    ],
)
def test_what_runs_elsewhere_is_covered_by_a_rule_for_the_program_that_goes_there(command: str) -> None:
    program = command.split()[0]
    beside = rules(allow=[f"Bash({program} *)"], deny=["Bash(touch *)", "Read(.env)", "Redirect(secret/**)"])
    assert shell(command, beside) == "allow"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    root = tmp_path_factory.mktemp("doors")
    for folder in ("work/secret", "work/locked", "work/sub", "work/out", "home"):
        (root / folder).mkdir(parents=True)
    for name in (".env", "secret/x", "a", "sub/a"):
        (root / "work" / name).write_text("x")
    return Place(root / "work", root / "home", fold_case=False)


FILES = rules(
    allow=["Bash", "Redirect(out/**)"],
    deny=["Redirect(.env)", "Read(.env)", "Read(secret/**)", "Edit(locked/**)", "Read(~/.ssh/**)"],
)

DENIED = (
    "cat sec*/x",
    "cat */x",
    "cat s?cret/*",
    "cat ~+/.env",
    "cat $PWD/.env",
    'cat "${PWD}/.env"',
    "cat $HOME/.ssh/id_rsa",
    "cat /proc/$$/cwd/.env",
    "cat /proc/$PPID/cwd/.env",
    "pushd secret; cat x",
    "git show HEAD:.env",
    "git show :.env",
    "git -C . show HEAD:./.env",
    "git diff --no-index /dev/null .env",
    "git hash-object -w .env",
    "git log -p -- .env",
    "git checkout HEAD -- locked/x",
    "git mv a locked/x",
    "mkdir -p locked/y/z",
    "find . -fprint .env",
    "find . -fprintf locked/x p",
    "awk '{print > \".env\"}' a",
    "sed -n 'w .env' a",
    "expand .env",
    "xargs -a .env echo",
)


@pytest.mark.parametrize("command", DENIED)
def test_a_denied_file_is_found_by_whichever_way_a_command_names_it(command: str, place: Place) -> None:
    assert shell(command, FILES, place) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "echo .env | xargs cat",
        "xargs cat <<< .env",
        'for f in .env a; do cat "$f"; done',
        "find . -name .env -exec cat {} \\;",
        "find secret -type f | xargs cat",
        "echo .env | while read f; do cp $f x; done",
    ],
)
def test_a_file_that_is_only_chosen_at_run_time_asks_where_the_line_names_a_denied_one(
    command: str, place: Place
) -> None:
    assert shell(command, FILES, place) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cat a sub/*",
        "cat */a",
        "git show HEAD:a",
        "git log --oneline -- sub",
        "find . -name '*.py' | xargs cat",
        'for f in a b; do cat "$f"; done',
        "mkdir -p out/x",
        "echo .env",
        "awk '{print \"a\"}' a",
    ],
)
def test_other_files_bring_no_question(command: str, place: Place) -> None:
    assert shell(command, FILES, place) == "allow"


LS = rules(allow=["Bash(ls *)", "Bash(git status *)", "Redirect(out/**)"])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd sub && ls && cd - && ls", "allow"),
        ("pushd sub && ls && popd", "allow"),
        ("cd - && ls", "ask"),
        ("popd && ls", "ask"),
        ("pushd / && ls", "ask"),
        ("pushd out && ls > x", "allow"),
        ("cd out && cd - && ls > x", "ask"),
        ("exec 2>&1; ls", "allow"),
        ("exec > out/x; ls", "allow"),
        ("exec > x; ls", "ask"),
        ("exec rm; ls", "ask"),
        ("git -C sub status", "allow"),
        ("git -C ../x status", "ask"),
        ("git -C sub/../.. status", "ask"),
        ('git -C "$x" status', "ask"),
    ],
)
def test_a_line_that_goes_to_a_folder_and_comes_back(command: str, expected: str, place: Place) -> None:
    assert shell(command, LS, place) == expected
