"""Values that a script makes for itself: none of them becomes an option that writes or runs behind a narrow rule."""

from __future__ import annotations

import pytest

from tests.permissions.made import rules, shell

READERS = ("echo", "ls", "cat", "find", "sort", "sed", "awk", "rg", "git log", "grep", "wc", "head")
NARROW = rules(allow=[f"Bash({name} *)" for name in READERS])
ALL_BUT_TOUCH = rules(allow=["Bash"], deny=["Bash(touch *)"])

BECOME_OPTIONS = (
    'set -- -delete; find . -name V "$@"',
    "set -- -delete; find . -name V $1",
    'f() { find . -name V "$@"; }; f -delete',
    "read X <<< -delete; find . -name V $X",
    'read -r X <<< -delete; find . -name V "$X"',
    "echo -delete | while read X; do find . -name V $X; done",
    'mapfile -t X <<< -delete; find . -name V "${X[@]}"',
    "printf -v X %s -delete; find . -name V $X",
    ": ${X:=-delete}; find . -name V $X",
    "find . -name V ${X:--delete}",
    'find . -name V "${X:--delete}"',
    'X=(-delete); find . -name V "${X[@]}"',
    "X=(-delete); find . -name V ${X[0]}",
    "X=-del; X+=ete; find . -name V $X",
    "X=y-delete; find . -name V ${X#y}",
    "X=y-delete; find . -name V ${X:1}",
    "X=ydelete; find . -name V ${X/y/-}",
    "X=-DELETE; find . -name V ${X,,}",
    "X=-delete; Y=$X; find . -name V $Y",
    "for i in 1 2; do find . -name V $Y; Y=$X; X=-delete; done",
    "for X in a -delete; do find . -name V $X; done",
    "for X in {-delete,-print}; do find . -name V $X; done",
    "set -- -delete; for X; do find . -name V $X; done",
    "bash -c 'find . -name V \"$1\"' _ -delete",
    "true -delete; find . -name V $_",
    "bash -c 'find . -name V $0' -delete",
    "bash -c 'find . -name V ${10}' _ 1 2 3 4 5 6 7 8 9 -delete",
    "LANG=-delete bash -c 'find . -name V $LANG'",
    "export LANG=-delete; bash -c 'find . -name V $LANG'",
    "eval X=-delete; find . -name V $X",
    'for i in 1 2; do find . -name V "${X[@]}"; eval X=-delete; done',
    "find . -name V $NOPE-delete",
    "X=$Y'delete'; find . -name V -\"$X\"",
    "sort -$X a",
    "sort --$X a",
    'find . -name V "$NOPE"-delete',
    "find . -name V ${NOPE}''-delete",
    "find . -name V ${NOPE:-}-delete",
    "find . -name V ${HOME/*/-delete}",
    'X=(delete); find . -name V "${X[@]/#/-}"',
    "for X in delete b; do find . -name V ${X/#/-}; done",
    "for X in a-delete b; do find . -name V ${X:1}; done",
    "declare -A X=([a]=-delete); find . -name V ${X[a]}",
    "find . -name V -de*",
    "sort -[o]x a",
    "find . {-exec,touch,x,\\;}",
    "find . {'-exec',touch,x,';'}",
    "find . -name V {-'delete',-print}",
    "sort {$X,-ox} a",
    "sort a{,} {-o$Y,x}",
    "sort {-o${Y:-x},a}",
    "read X <<< '1w x'; sed -n \"$X\" a",
    'read X <<< \'BEGIN{system("touch x")}\'; awk "$X"',
    "echo -delete | xargs find . -name V",
    "echo -ox | xargs sort a",
    "echo '--pre=./x' | xargs rg a",
    "echo 1wx | xargs sed -n -e",
    "echo --output=x | xargs git log",
    "echo -delete | xargs -I{} find . -name V {}",
)


@pytest.mark.parametrize("command", BECOME_OPTIONS)
def test_a_value_that_may_become_an_option_asks(command: str) -> None:
    assert shell(command, NARROW) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "set -- -exec touch x ';'; find . \"$@\"",
        "read X <<< '-exec touch x ;'; find . $X",
        "find . {-exec,touch,x,\\;}",
        "echo '-exec touch x ;' | xargs find .",
        "echo '--pre touch' | xargs rg a",
    ],
)
def test_a_denied_program_does_not_come_in_by_such_a_value(command: str) -> None:
    assert shell(command, ALL_BUT_TOUCH) != "allow"


@pytest.mark.parametrize(
    "command",
    [
        'find "$HOME" -name x',
        "find $DIR -name x",
        'DIR=src; find "$DIR" -name x',
        'ROOT=$PWD; find "$ROOT/src" -name x',
        'for f in *.py; do sed -n 1p "$f"; done',
        'for f in a b c; do sort "$f"; done',
        'for f in src/*.ts; do echo "${f%.ts}"; sort "${f%.ts}.js"; done',
        'for i in 1 2 3; do sed -n "${i}p" a; done',
        'start=10; end=20; sed -n "${start},${end}p" a',
        "sort {a,b}.txt",
        'sort "${FILE:-default.txt}"',
        'F=(a b); sort "${F[@]}"',
        "rg --glob=*.py x",
        "sort -k$N a",
        'rg --glob="$G" x',
        'while IFS= read -r line; do echo "$line"; done < a',
        'while IFS=, read -ra f; do echo "${f[0]}"; done < a',
        'sort "$DIR/a-b"',
        'for f in a b; do sort "$f-x"; done',
        "bash -c 'wc -l \"$1\"' _ a",
        "find . -name '*.py' -print0 | xargs -0 sed -n 1p",
        "grep -rl foo src | xargs sed -n 1p",
        "rg -l foo src/ | xargs sort",
        "ls | xargs wc -l",
        'while read -r f; do wc -l "$f"; done < a',
        "echo a | xargs sort --",
    ],
)
def test_a_value_that_is_no_option_brings_no_question(command: str) -> None:
    assert shell(command, NARROW) == "allow"


@pytest.mark.parametrize("command", ["ls | xargs npx eslint", "ls | xargs -n1 python3 x.py", 'read f; node x.js "$f"'])
def test_behind_the_program_that_an_interpreter_runs_no_option_is_its_own(command: str) -> None:
    assert shell(command, rules(allow=["Bash(ls *)", "Bash(npx *)", "Bash(python3 *)", "Bash(node *)"])) == "allow"


def test_a_variable_that_only_sets_a_size_is_harmless() -> None:
    beside = rules(allow=["Bash(npm *)"])
    asked = {line: shell(line, beside) for line in (
        "NODE_OPTIONS=--max-old-space-size=4096 npm t", "NODE_OPTIONS='--require ./x' npm t", "IFS=x npm t"
    )}  # fmt: skip
    assert list(asked.values()) == ["allow", "ask", "ask"]


def test_a_rule_that_names_xargs_with_its_command_says_that_it_may_add_words() -> None:
    named = rules(allow=["Bash(echo *)", "Bash(xargs rg *)"])
    assert shell("echo a | xargs rg x", named) == "allow"
    any_command = rules(allow=["Bash(echo *)", "Bash(rg *)", "Bash(xargs *)"])
    assert shell("echo a | xargs rg x", any_command) == "ask"


# Builtins and arithmetic that change which program a name means.
CHANGES_PROGRAMS = (
    "unset PATH; ls",
    "unset -v LANG 'PATH'; ls",
    "let PATH=1; ls",
    "let 'a=PATH=1'; ls",
    "((PATH=1)); ls",
    "(( x = 1, PATH += 1 )); ls",
    "echo $((PATH=1)); ls",
    "for ((PATH=1;;)); do ls; break; done",
    "[[ PATH=1 -eq 1 ]]; ls",
    "echo ${a[PATH=1]}; ls",
    "set -k; ls LD_PRELOAD=./e.so",
    "set -ek; ls PATH=.",
    "set -eo keyword; ls PATH=.",
    "shopt -so keyword; ls PATH=.",
    "builtin set -k; ls PATH=.",
)


@pytest.mark.parametrize("command", CHANGES_PROGRAMS)
def test_a_builtin_that_changes_which_program_runs_asks(command: str) -> None:
    assert shell(command, NARROW) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "set -euo pipefail; ls",
        "[[ $PATH == *bin* ]] && ls",
        "unset FOO; ls",
        "echo $((1+2)); ls",
        '[ "$PATH" = x ] || ls',
    ],
)
def test_a_builtin_that_changes_no_program_brings_no_question(command: str) -> None:
    assert shell(command, NARROW) == "allow"


# (rule, command, verdict, why)
OPTIONS = (
    ("sort *", "sort --ou=x a", "ask", "GNU takes any unambiguous beginning"),
    ("date *", "date --se=12:00", "ask", "GNU takes any unambiguous beginning"),
    ("date *", "date 010100002020", "ask", "an operand sets the clock"),
    ("date *", "date -u 010100002020", "ask", "an operand sets the clock"),
    ("date *", "date -d '1 day ago' +%F", "allow", "shows another day"),
    ("date *", "date -u +%s", "allow", "a format"),
    ("date *", "date -r f +%s", "allow", "a file's day"),
    ("date *", "date -j -f %Y 2020 +%s", "allow", "BSD's way not to set"),
    ("uniq *", "uniq -c a b", "ask", "-c takes no value: b is written"),
    ("xxd *", "xxd -c 4 a", "allow", "-c takes a value"),
    ("yq *", "yq -i .a=1 f", "ask", "changes the file"),
    ("curl *", "curl -o f http://h", "ask", "writes a file"),
    ("curl *", "curl -sSLo f http://h", "ask", "in a cluster"),
    ("curl *", "curl http://h -O", "ask", "behind the operand"),
    ("curl *", "curl -K f", "ask", "options nobody sees"),
    ("curl *", "curl -s -o /dev/null -w '%{http_code}' http://h", "allow", "receives nothing"),
    ("curl *", "curl -sX POST -d 'a=1' http://h -o -", "allow", "the screen"),
    ("curl -o *", "curl -o f http://h", "allow", "the rule spells it out"),
    ("man *", "man -C f ls", "ask", "settings that name a pager"),
    ("bat *", "bat --pager ./x f", "ask", "runs a program"),
    ("make *", "make -E x", "ask", "code in an argument"),
    ("fd *", "fd -Hx rm", "ask", "in a cluster"),
    ("gawk *", "gawk -o 'BEGIN{system(\"x\")}'", "ask", "-o takes no value apart"),
    ("awk *", 'awk \'BEGIN{x = 4 / 2; print "a" | "sh"; y = 1 / 2}\'', "ask", "a division is no pattern"),
    ("awk *", "awk '{print a / system(\"x\") / 2}' f", "ask", "a division is no pattern"),
    ("awk *", 'awk \'{ if (1) /"/; system("x"); "y" }\' f', "ask", "a slash behind a bracket may open a pattern"),
    ("awk *", "awk 'BEGIN{ x++ / 2; system(\"x\"); y = 1 /2 }'", "ask", "a slash behind `++` divides"),
    ("awk *", "awk 'BEGIN{ x = a \\\n / 2; system(\"x\"); y = 1 / 2}'", "ask", "a line goes on behind a backslash"),
    ("awk *", "awk '{ if ($1 ~ /a/) print (1) / 2 }' f", "allow", "either reading only prints"),
    ("awk *", "awk '/a|b/ && $2 ~ /c > d/ {print}' f", "allow", "patterns"),
    ("awk *", "awk '{print $1 / 2, $2 / 4}' f", "allow", "divisions"),
    ("awk *", 'awk \'{print "x" > "/dev/stderr"}\' f', "allow", "the screen"),
    ("awk *", 'awk \'{print "x" > "/dev/stderr" ".x"}\' f', "ask", "another name"),
    ("sed *", "sed 's/[[:alpha:]/]/x/w f' g", "ask", "a class within a set"),
    ("sed *", "sed 's/[[:space:]]*$//' g", "allow", "a class within a set"),
    ("sed *", "sed 'y/[/]/;w f' g", "ask", "`y` knows no sets"),
    ("sed *", "sed 's/[^]/]/x/w f' g", "ask", "a bracket at the start of a set"),
    ("git grep *", "git grep -nO./x a", "ask", "-n takes no value: -O runs a program"),
    ("git grep *", "git grep -n -C3 a", "allow", "only reads"),
    ("ls *", "/usr/bin/time -o f ls", "ask", "the program time writes a file"),
    ("ls *", "command time -ao f ls", "ask", "the program time writes a file"),
    ("grep *", "/usr/bin/time -f %e grep -o x f", "allow", "an option of what it runs"),
    ("git log *", "GIT_PAGER=cat git log -3", "allow", "switches the pager off"),
    ("git log *", "GIT_PAGER=./x git log -3", "ask", "another pager"),
)


@pytest.mark.parametrize(("rule", "command", "expected"), [row[:3] for row in OPTIONS])
def test_options_that_write_or_run_are_found_as_the_program_reads_them(rule: str, command: str, expected: str) -> None:
    assert shell(command, rules(allow=[f"Bash({rule})"])) == expected
