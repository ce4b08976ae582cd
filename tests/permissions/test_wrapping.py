"""Wrapping a denied command in any construct that is known, however deep, never makes it allowed."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tests.permissions.made import rules, shell

Wrap = Callable[[str], str]

PREFIXES = (
    "env", "env -i", "env A=1", "env -u A", "sudo", "sudo -u root", "sudo -E", "doas", "timeout 5",
    "timeout -k 3 -s KILL 5", "nice", "nice -n 5",
    "nohup", "setsid -f", "stdbuf -oL", "ionice -c 3", "time", "time -p", "command", "builtin", "exec", "exec -a x",
    "taskset -c 0", "chroot /",
    "strace -f", "xvfb-run -a", "unbuffer", "busybox", "flock f", "find . -exec", "xargs", "xargs -n1", "A=1",
    "A=1 B=2", "! ", "2>&1", "</dev/null",
    "uv run", "npx", "systemd-run --user", "watch -n 1", "parallel", "coproc", "caffeinate -i", "runuser -u root --",
    "unshare -r", "if", "noglob",
)  # fmt: skip
"""Words put before a simple command."""

AROUND: tuple[Wrap, ...] = (
    lambda c: f"({c})",
    lambda c: f"{{ {c}; }}",
    lambda c: f"echo $({c})",
    lambda c: f'echo "x $({c}) y"',
    lambda c: f"echo ${{x:-$({c})}}",
    lambda c: f"cat <({c})",
    lambda c: f"ls > >({c})",
    lambda c: f"if true; then {c}; fi",
    lambda c: f"if {c}; then :; fi",
    lambda c: f"while {c}; do break; done",
    lambda c: f"for i in 1; do {c}; done",
    lambda c: f"case a in a) {c};; esac",
    lambda c: f"f() {{ {c}; }}; f",
    lambda c: f"echo a && {c}",
    lambda c: f"false || {c}",
    lambda c: f"echo a; {c}; echo b",
    lambda c: f"echo a | {c}",
    lambda c: f"{c} | cat",
    lambda c: f"echo a\n{c}\n",
    lambda c: f"{c} &",
    lambda c: f"cd x && {c} > /dev/null 2>&1",
    lambda c: f"bash -c {shlex.quote(c)}",
    lambda c: f"sh -ec {shlex.quote(c)}",
    lambda c: f"eval {shlex.quote(c)}",
    lambda c: f"sudo bash -c {shlex.quote(c)}",
    lambda c: f"xargs sh -c {shlex.quote(c)}",
    lambda c: f"find . -exec sh -c {shlex.quote(c)} \\;",
    lambda c: f"watch {shlex.quote(c)}",
    lambda c: f"su -c {shlex.quote(c)}",
    lambda c: f"script -c {shlex.quote(c)} f",
    lambda c: f"flock f -c {shlex.quote(c)}",
    lambda c: f"hyperfine {shlex.quote(c)}",
    lambda c: f"env -S {shlex.quote(c)}",
    lambda c: f"trap {shlex.quote(c)} EXIT",
    lambda c: f"bash <<< {shlex.quote(c)}",
    lambda c: f"bash <<'EOF'\n{c}\nEOF",
    lambda c: f"cat <<EOF\n$({c})\nEOF",
    lambda c: c if "\n" in c else f"cat <<'EOF' && {c}\ntext\nEOF",  # its second line would be text that nobody runs
    lambda c: f"echo {shlex.quote(c)} | sh",
    lambda c: f"x={shlex.quote(c)}; eval $x",
    lambda c: f"x={shlex.quote(c)}; $x",
    lambda c: f"[[ -n $({c}) ]]",
    lambda c: f"x=$({c})",
    lambda c: f"python3 -c 'import os; os.system({c!r})'",
    lambda c: f"git -c core.pager={shlex.quote(c)} log",
    lambda c: f"git -c alias.x={shlex.quote('!' + c)} x",
    lambda c: f"awk 'BEGIN {{ system({c!r}) }}'",
    lambda c: f"tar --checkpoint-action=exec={shlex.quote(c)} -cf f .",
    lambda c: f"ssh -o ProxyCommand={shlex.quote(c)} h",
)
"""Constructs put around any script."""

SPELLINGS = (
    "touch", "/usr/bin/touch", "\\touch", "to''uch", '"touch"', "$'touch'", "$'\\x74ouch'", "'tou'ch", "t\\ouch",
    "to\\\nuch", '$"touch"',
    "$x", "${x}", "t?uch", "{touch,}", "$(echo touch)",
)  # fmt: skip
ARGUMENTS = ("x", "-c x", "'a b'", '"$HOME"', "*.py", "")

names = st.builds(
    lambda name, argument: f"{name} {argument}".strip(), st.sampled_from(SPELLINGS), st.sampled_from(ARGUMENTS)
)
simple = st.recursive(
    names, lambda inner: st.builds(lambda p, c: f"{p} {c}", st.sampled_from(PREFIXES), inner), max_leaves=4
)
scripts = st.recursive(
    simple, lambda inner: st.builds(lambda wrap, c: wrap(c), st.sampled_from(AROUND), inner), max_leaves=5
)

BARE = rules(allow=["Bash", "Redirect(**)"], deny=["Bash(touch *)"])
WIDE = rules(
    allow=[
        f"Bash({name} *)"
        for name in [
            "env",
            "sudo",
            "timeout",
            "xargs",
            "find",
            "bash",
            "sh",
            "eval",
            "echo",
            "cat",
            "ls",
            "git",
            "awk",
            "cd",
            "true",
            "nice",
        ]
    ]
    + ["Redirect(**)"],
    deny=["Bash(touch *)"],
)


@given(scripts)
def test_wrapped_however_it_is_never_allowed_beside_a_bare_allow(script: str) -> None:
    assert shell(script, BARE) != "allow"


@given(scripts)
def test_wrapped_however_it_is_never_allowed_by_rules_for_the_wrappers(script: str) -> None:
    assert shell(script, WIDE) != "allow"


@given(scripts)
def test_wrapped_however_it_is_never_allowed_where_only_echo_is(script: str) -> None:
    assert shell(script, rules(allow=["Bash(echo *)", "Bash(cat *)"])) != "allow"
