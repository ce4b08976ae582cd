from __future__ import annotations

from pathlib import Path

import pytest

from maia.permissions.paths import Place
from tests.permissions.made import rules, shell, verdict
from tests.permissions.verdict_table import ALLOWED, ASKED, DENIED

ALL_BUT_TOUCH = rules(allow=["Bash(*)"], deny=["Bash(touch *)"])
ALL_BUT_ASK_TOUCH = rules(allow=["Bash"], ask=["Bash(touch *)"])
NARROW = rules(
    allow=[
        "Bash(echo *)",
        "Bash(ls *)",
        "Bash(cat *)",
        "Bash(git log *)",
        "Bash(git status)",
        "Bash(find *)",
        "Bash(true *)",
    ]
)


@pytest.mark.parametrize("command", DENIED)
def test_a_denied_command_is_found_wherever_it_hides(command: str) -> None:
    assert shell(command, ALL_BUT_TOUCH) == "deny"


@pytest.mark.parametrize("command", DENIED)
def test_an_ask_rule_finds_it_as_well(command: str) -> None:
    assert shell(command, ALL_BUT_ASK_TOUCH) == "ask"


@pytest.mark.parametrize("command", ASKED)
def test_what_cannot_be_analysed_asks_beside_a_deny_even_where_all_is_allowed(command: str) -> None:
    assert shell(command, ALL_BUT_TOUCH) == "ask"


@pytest.mark.parametrize("command", [*DENIED, *ASKED])
def test_no_narrow_allow_covers_any_of_them(command: str) -> None:
    assert shell(command, NARROW) == "ask"


@pytest.mark.parametrize("command", ALLOWED)
def test_the_word_as_data_is_no_command(command: str) -> None:
    assert shell(command, ALL_BUT_TOUCH) == "allow"


# (allow rules, command, verdict, why)
NARROW_TABLE = (
    (["ls *"], "lsx", "ask", "`ls *` is not `lsx`"),
    (["ls *"], "ls", "allow", "with or without arguments"),
    (["ls *"], "ls\t-l", "allow", "a tab separates"),
    (["ls"], "ls -l", "ask", "exact without a star"),
    (["ls*"], "lsblk", "allow", "a star against the name is any run of characters"),
    (["npm run test:*"], "npm run test:unit", "allow", "the seed's own example"),
    (["npm run test:*"], "npm run test:unit --watch", "allow", "any run of characters"),
    (["npm run test:*"], "npm run test", "allow", "as other agents read `:*`"),
    (["npm run test:*"], "npm run test --watch", "allow", "as other agents read `:*`"),
    (["npm run test:*"], "npm run testing", "ask", "not the same word"),
    (["git log *"], "git  log   -1", "allow", "blanks between words"),
    (["git log *"], "git 'log' -1", "allow", "quotes mean nothing here"),
    (["git log *"], '"git log" -1', "ask", "a program whose name has a blank"),
    (["git log *"], "git\\ log -1", "ask", "a program whose name has a blank"),
    (["git log *"], "git --no-pager log -1", "allow", "an option that changes nothing"),
    (["git log *"], "git -C /etc log", "ask", "another folder"),
    (["git log *"], "git -c core.pager=x log", "ask", "runs a program"),
    (["git log *"], "git log --output=f", "ask", "writes a file"),
    (["git log *"], "git log --ext-diff", "ask", "runs a program"),
    (["git log --output=*"], "git log --output=f", "allow", "the rule spells it out"),
    (["git *"], "git diff --output f", "ask", "writes a file"),
    (["git *"], "git -c color.ui=never diff", "allow", "a harmless key"),
    (["git *"], "git -c user.name=me commit -m x", "allow", "a harmless key"),
    (["git *"], "git config core.hooksPath t", "ask", "runs programs from now on"),
    (["git *"], "git config --get core.hooksPath", "allow", "only reads"),
    (["git *"], "git config user.name me", "allow", "a harmless key"),
    (["find *"], "find . -delete", "ask", "deletes"),
    (["find *"], "find . -fprint f", "ask", "writes a file"),
    (["find *"], "find . -exec rm {} +", "ask", "runs a program that no rule covers"),
    (["find *", "grep *"], "find . -exec grep -l x {} +", "allow", "both are covered"),
    (["find * -delete"], "find . -name x -delete", "allow", "the rule spells it out"),
    (["find *"], "find . -name '-delete'", "ask", "quotes do not change what find reads"),
    (["sort *"], "sort -o a b", "ask", "writes a file"),
    (["sort *"], "sort -uo a b", "ask", "in a cluster"),
    (["sort *"], "sort --out=a b", "ask", "a shortened long option"),
    (["sort *"], "sort -k2 -t: b", "allow", "only reads"),
    (["sort *"], "sort -- -o", "allow", "a file named -o"),
    (["sort *"], "sort -to b", "allow", "the letter o as separator"),
    (["sed *"], "sed -i s/a/b/ f", "ask", "changes files"),
    (["sed *"], "sed -ni p f", "ask", "in a cluster"),
    (["sed *"], "sed --in-place s/a/b/ f", "ask", "changes files"),
    (["sed -i *"], "sed -i s/a/b/ f", "allow", "the rule spells it out"),
    (["sed *"], "sed 's/a/b/w f' g", "ask", "writes a file"),
    (["sed *"], "sed -n '/x/w f' g", "ask", "writes a file"),
    (["sed *"], "sed 's/a/b/;s/w f/x/' g", "allow", "the letter in a pattern"),
    (["sed *"], "sed 's,[/,],x,g' g", "allow", "the delimiter in a set"),
    (["sed *"], "sed 's/a/[/;e touch' g", "ask", "a bracket in the replacement opens nothing"),
    (["sed *"], "sed '$!N;P;D' g", "allow", "plain commands"),
    (["sed *"], "sed -e '1i\\' -e 'e text' g", "ask", "not worth a guess"),
    (["awk *"], "awk '{print > \"f\"}' g", "ask", "writes a file"),
    (["awk *"], "awk '{print $1 | \"sh\"}' g", "ask", "runs a program"),
    (["awk *"], "awk '$1 > 2 && /a|b/' g", "allow", "comparison and alternation"),
    (["awk *"], "awk '{print ($1 > 2)}' g", "allow", "comparison in brackets"),
    (["awk *"], "awk '{print \"a|b > c\"}' g", "allow", "inside a text"),
    (["tree *"], "tree -o f", "ask", "writes a file"),
    (["date *"], "date -s 12:00", "ask", "sets the clock"),
    (["date *"], "date -d yesterday", "allow", "only reads"),
    (["uniq *"], "uniq a b", "ask", "the second operand is written"),
    (["uniq *"], "uniq -f 2 a", "allow", "a value of an option"),
    (["rg *"], "rg --pre sh x", "ask", "runs a program"),
    (["tar *"], "tar --checkpoint=1 --checkpoint-action=exec=sh -cf f .", "ask", "runs a program"),
    (["man *"], "man -P sh ls", "ask", "runs a program"),
    (["less *"], "less -o f g", "ask", "writes a file"),
    (["file *"], "file -C -m f", "ask", "writes a file"),
    (["jq *"], "jq -f prog.jq f", "ask", "a program nobody sees"),
    (["python *"], "python -c 'x'", "ask", "code in an argument"),
    (["python *"], "python -Wc script.py", "allow", "c is the value of -W"),
    (["python *"], "python script.py -c x", "ask", "an option of the script looks the same"),
    (["python -c *"], "python -c 'x'", "allow", "the rule spells it out"),
    (["python -c 'x'"], "python -c 'x'", "allow", "exactly this"),
    (["python *"], "python < f", "ask", "a program on standard input"),
    (["python3 *"], "python3 -m pytest -q", "allow", "a module"),
    (["node *"], "node -e x", "ask", "code in an argument"),
    (["bash *"], "bash x.sh", "allow", "a script file is a program"),
    (["bash *"], "bash -c 'rm x'", "ask", "the inner command has no rule"),
    (["ls *"], "bash -c 'ls -l'", "allow", "every part is covered"),
    (["ls *"], "bash -c 'ls; rm x'", "ask", "one part is not"),
    (["ls *"], "eval 'ls -l'", "allow", "every part is covered"),
    (["ls *"], "timeout 5 ls", "allow", "a wrapper that changes nothing"),
    (["ls *"], "env ls", "allow", "a wrapper that changes nothing"),
    (["timeout *"], "timeout 5 rm x", "ask", "the inner command has no rule"),
    (["timeout 5 rm *"], "timeout 5 rm x", "allow", "the rule names both"),
    (["ls *"], "sudo ls", "ask", "as another user"),
    (["sudo *"], "sudo rm x", "ask", "the inner command has no rule"),
    (["sudo *", "ls *"], "sudo ls", "allow", "both are covered"),
    (["sudo ls *"], "sudo ls -l", "allow", "the rule names both"),
    (["uv run *"], "uv run pytest -q", "allow", "a runner of project programs"),
    (["grep *"], "ls | xargs grep x", "ask", "ls has no rule"),
    (["ls *", "grep *"], "ls | xargs grep x", "allow", "every part is covered"),
    (["ls *"], "NODE_ENV=x ls", "allow", "a harmless variable"),
    (["ls *"], "FOO=x ls", "ask", "an unknown variable"),
    (["FOO=* ls"], "FOO=x ls", "allow", "the rule names it"),
    (["pytest *"], "PYTHONPATH=src pytest", "ask", "loads other modules"),
    (["PYTHONPATH=src pytest *"], "PYTHONPATH=src pytest -q", "allow", "the rule names it"),
    (["make *"], "make CC=clang all", "allow", "another compiler"),
    (["make *"], "make CC=./x all", "ask", "another program"),
    (["make *"], "make SHELL=./x all", "ask", "another shell"),
    (["ls *"], "LD_PRELOAD=x ls", "ask", "loads a library"),
    (["*=x ls"], "LD_PRELOAD=x ls", "ask", "no narrow rule covers it"),
    (["ls *"], "PATH=. ls", "ask", "another program of that name"),
    (["ls *"], "./ls", "ask", "another program of that name"),
    (["./ls *"], "./ls -l", "allow", "as written"),
    (["ls *"], 'ls $HOME "$x" *.py {a,b} ~', "allow", "variables and globs as arguments"),
    (["$x *"], "$x ls", "ask", "no rule names what a variable holds"),
    (["ls *"], "cd / && ls", "ask", "leaves the launch folder"),
    (["ls *", "cd *"], "cd / && ls", "allow", "a rule for cd"),
    (["ls *"], "cd $x && ls", "ask", "nobody knows where"),
    (["rm \\*"], "rm *", "allow", "a star as a character"),
    (["rm \\*"], "rm x", "ask", "not any run of characters"),
    (["echo 'a b'"], 'echo "a b"', "allow", "the same words"),
    (["echo a b"], "echo 'a b'", "ask", "other words"),
    (["ls && git status"], "ls && git status", "allow", "exactly this line"),
    (["ls && git status"], "ls && git status -s", "ask", "another line"),
    (["echo $(date)"], "echo $(date)", "ask", "no rule covers a substitution (T6.05)"),
    (["echo *"], "echo `date`", "ask", "no rule covers a substitution (T6.05)"),
    (["*"], "echo $(date)", "ask", "not even a bare one (T6.05)"),
    (["*"], "x=ls; $x", "allow", "all is allowed and nothing forbidden"),
    (["*"], "python -c x", "allow", "all is allowed and nothing forbidden"),
    (["*"], "sort -o a b", "allow", "all is allowed and nothing forbidden"),
    (["*"], "echo 'open", "ask", "a script that cannot be read"),
    (["*"], "", "allow", "nothing runs"),
    (["ls *"], "", "ask", "no rule matches"),
    (["ls *"], "# only a comment", "ask", "no rule matches"),
)


@pytest.mark.parametrize(
    ("allow", "command", "expected", "why"), NARROW_TABLE, ids=[f"{row[0][0]}: {row[1]}" for row in NARROW_TABLE]
)
def test_an_allow_covers_what_it_says_and_no_more(allow: list[str], command: str, expected: str, why: str) -> None:
    assert shell(command, rules(allow=[f"Bash({pattern})" for pattern in allow])) == expected, why


# (deny patterns, command, verdict, why) beside `allow Bash`
DENY_TABLE = (
    (["git push *"], "git push", "deny", "with or without arguments"),
    (["git push *"], "git -C x push", "deny", "options before the subcommand"),
    (["git push *"], "git --no-pager -c a.b=c push origin", "deny", "options before the subcommand"),
    (["git push *"], "git --git-dir=x --work-tree y push", "deny", "options before the subcommand"),
    (["git push *"], "git 2>&1 push", "deny", "words behind a redirection"),
    (["git push *"], "git >f push", "deny", "words behind a redirection"),
    (["git push *"], "cd x && git 2>&1 push", "deny", "words behind a redirection of a list"),
    (["git push *"], "git <<E push\nE", "deny", "words behind a here-document"),
    (["git push *"], "x=push; git $x", "deny", "a variable with one value"),
    (["git push *"], "git $x", "ask", "could be push"),
    (["git push *"], 'git "$x" origin', "ask", "could be push"),
    (["git push *"], "git {push,origin}", "deny", "braces make the words"),
    (["git push *"], "git log $x", "allow", "cannot become push"),
    (["git push *"], "git commit -m push", "allow", "a word among others"),
    (["git push *"], "git pus? origin", "ask", "a file could have that name"),
    (["rm -rf *"], 'for f in *.tmp; do rm "$f"; done', "allow", "a file name is no option"),
    (["rm -rf *"], "rm $x y", "ask", "could be -rf"),
    (["rm -rf *"], "o=-rf; rm $o y", "deny", "a variable with one value"),
    (["rm *"], "rm $x", "deny", "whatever the argument"),
    (["rm -rf *"], "rm -fr x", "deny", "the same options"),
    (["rm -rf *"], "rm -r -f x", "deny", "the same options"),
    (["rm -rf *"], "rm -rvf x", "deny", "one more option"),
    (["rm -rf *"], "rm --recursive --force x", "deny", "by their long names"),
    (["rm -rf *"], "rm -Rf x", "deny", "another letter for the same"),
    (["rm -rf *"], "rm x -rf", "ask", "behind the operand"),
    (["rm -rf *"], "rm -r x", "allow", "only one of them"),
    (["rm -rf *"], "rm -- -rf", "allow", "a file of that name"),
    (["git push --force *"], "git push -f origin", "deny", "its short name"),
    (["git push --force *"], "git push origin --force", "ask", "behind the operand"),
    (["git push --force *"], "git push origin", "allow", "without it"),
    (["./deploy.sh *"], "bash ./deploy.sh now", "deny", "run by an interpreter"),
    (["./deploy.sh *"], "bash -e ./deploy.sh now", "deny", "run by an interpreter"),
    (["./deploy.sh *"], "cat ./deploy.sh", "allow", "only read"),
    (["docker push *"], "docker --context x push y", "ask", "an unknown option before the subcommand"),
    (["curl * | sh"], "curl -s x | sh", "deny", "the whole line"),
    (["curl * | sh"], "curl -s x | cat", "allow", "another line"),
    (["*secret*"], "cat my.secret", "deny", "any run of characters"),
    (["FOO=* ls"], "FOO=1 ls", "deny", "with the variable"),
    (["npm publish *"], "npm run build && npm publish", "deny", "one part is enough"),
    (["python *"], "uv run python x.py", "deny", "what a runner runs"),
    (["touch *"], "find . -name touch", "allow", "a word among others"),
)


@pytest.mark.parametrize(
    ("deny", "command", "expected", "why"), DENY_TABLE, ids=[f"{row[0][0]}: {row[1]}" for row in DENY_TABLE]
)
def test_a_deny_meets_what_it_names(deny: list[str], command: str, expected: str, why: str) -> None:
    in_force = rules(allow=["Bash", "Redirect(**)"], deny=[f"Bash({pattern})" for pattern in deny])
    assert shell(command, in_force) == expected, why


def test_the_order_is_deny_then_ask_then_allow_whatever_the_precision() -> None:
    assert shell("aws s3 ls", rules(allow=["Bash(aws s3 ls)"], deny=["Bash(aws *)"])) == "deny"
    assert shell("aws s3 ls", rules(allow=["Bash(aws s3 ls)"], ask=["Bash(aws *)"])) == "ask"
    assert shell("aws s3 ls", rules(ask=["Bash(aws s3 ls)"], deny=["Bash(aws *)"])) == "deny"


@pytest.mark.parametrize(
    ("tool", "value", "precise", "broad"),
    [
        ("Read", "src/a.py", "Read(src/a.py)", "Read(src/**)"),
        ("Edit", "src/a.py", "Edit(src/a.py)", "Edit"),
        ("WebFetch", "docs.x.org", "WebFetch(domain:docs.x.org)", "WebFetch(domain:*.x.org)"),
        ("Skill", "pdf", "Skill(pdf)", "Skill"),
        ("Addition", "5", "Addition(5)", "Addition(*)"),
    ],
)
def test_the_order_is_the_same_for_every_kind_of_tool(tool: str, value: str, precise: str, broad: str) -> None:
    for one, other in ((precise, broad), (broad, precise)):
        assert verdict(tool, value, rules(allow=[one], deny=[other])) == "deny"
        assert verdict(tool, value, rules(allow=[one], ask=[other])) == "ask"
        assert verdict(tool, value, rules(ask=[one], deny=[other])) == "deny"
        assert verdict(tool, value, rules(allow=[one])) == "allow"


# (rules beside `allow Bash`, command, verdict, why)
REDIRECTS = (
    ({}, "echo a > f", "ask", "no rule for the file (T6.06)"),
    ({}, "echo a >> f", "ask", "append"),
    ({}, "echo a 2> f", "ask", "errors"),
    ({}, "echo a &> f", "ask", "both"),
    ({}, "echo a &>> f", "ask", "both, append"),
    ({}, "echo a >| f", "ask", "over noclobber"),
    ({}, "echo a >& f", "ask", "a file, no descriptor"),
    ({}, "echo a <> f", "ask", "opens for writing"),
    ({}, "> f", "ask", "a redirection alone"),
    ({}, "{ echo a; } > f", "ask", "of a group"),
    ({}, "(echo a) > f", "ask", "of a subshell"),
    ({}, "for i in 1; do echo $i; done > f", "ask", "of a loop"),
    ({}, "f() { ls; } > f; f", "ask", "of a function"),
    ({}, "exec > f", "ask", "of the shell"),
    ({}, "exec 3> f", "ask", "a descriptor of its own"),
    ({}, "bash -c 'echo a > f'", "ask", "in an inner script"),
    ({}, "echo a 2>&1", "allow", "no file"),
    ({}, "echo a >&2", "allow", "no file"),
    ({}, "echo a 2>&-", "allow", "closed"),
    ({}, "echo a > /dev/null", "allow", "receives nothing"),
    ({}, "echo a > /dev//./null", "allow", "receives nothing"),
    ({}, "echo a 2>/dev/null >&2", "allow", "receives nothing"),
    ({}, "echo a > /dev/stderr", "allow", "no file"),
    ({}, "echo a > /dev/tcp/h/1", "ask", "a connection"),
    ({}, "cat < /dev/tcp/h/1", "ask", "a connection"),
    ({}, "echo a > /dev/sda", "ask", "a disk"),
    ({}, "echo 'a > f'", "allow", "quoted"),
    ({}, "echo a \\> f", "allow", "quoted"),
    ({}, "[[ a > b ]]", "allow", "a comparison"),
    ({}, "cat < f", "allow", "reading"),
    ({}, "tr a b < f", "allow", "reading"),
    ({"deny": ["Redirect(/dev/null)"]}, "echo a > /dev/null", "deny", "a rule names it"),
    ({"deny": ["Redirect(.env)"]}, "echo a > .env", "deny", "the seed's own example"),
    ({"deny": ["Redirect(.env)"]}, "echo a > ./.env", "deny", "another spelling"),
    ({"deny": ["Redirect(.env)"]}, "echo a > x/../.env", "deny", "another spelling"),
    ({"deny": ["Redirect(.env)"]}, "echo a > '.e'nv", "deny", "quotes"),
    ({"deny": ["Redirect(.env)"]}, "cd x && echo a > ../.env", "deny", "from the folder it runs in"),
    ({"deny": ["Redirect(.env)"]}, "echo a | tee .env", "deny", "plainly written"),
    ({"deny": ["Redirect(.env)"]}, "cp a .env", "deny", "plainly written"),
    ({"deny": ["Redirect(.env)"]}, "echo a > $x", "ask", "nobody knows"),
    ({"deny": ["Edit(.env)"]}, "echo a > .env", "deny", "no second door"),
    ({"deny": ["Read(.env)"]}, "cat .env", "deny", "plainly read"),
    ({"deny": ["Read(.env)"]}, "cat < .env", "deny", "plainly read"),
    ({"deny": ["Read(.env)"]}, "cd x; cat ../.env", "deny", "from the folder it runs in"),
    ({"deny": ["Read(.env)"]}, "cat .en?", "ask", "could become it"),
    ({"deny": ["Read(.env)"]}, "grep -r x .", "allow", "a search of a tree is not reading that file"),
    ({"deny": ["Read(.env)"]}, "cat *", "allow", "a star leaves hidden files out"),
    ({"deny": ["Read(.env)"]}, "echo .env", "allow", "only the name"),
    ({"allow": ["Redirect(out/**)"]}, "echo a > out/x/y", "allow", "covered"),
    ({"allow": ["Redirect(out/**)"]}, "echo a > out/../f", "ask", "not below"),
    ({"allow": ["Redirect(out/**)"]}, "cd out && echo a > f", "allow", "from the folder it runs in"),
    ({"allow": ["Redirect(out/**)"]}, "cd out; echo a > f", "ask", "cd may have failed"),
    ({"allow": ["Redirect(out/**)"]}, "cd out || echo a > f", "ask", "runs where cd failed"),
    ({"allow": ["Redirect(out/**)"]}, "cd $x && echo a > out/f", "ask", "nobody knows where"),
    ({"allow": ["Redirect(out/**)"]}, "(cd out) && echo a > f", "ask", "the subshell's folder is its own"),
    ({"allow": ["Redirect(out/**)"]}, "cd out | echo a > f", "ask", "a pipeline's folder is its own"),
    ({"allow": ["Redirect(out/**)"]}, "cd out && cd .. && echo a > out/f", "allow", "there and back"),
    ({"allow": ["Redirect(out/**)"]}, "cd out && make 2>&1 > f", "allow", "behind a list"),
    ({"allow": ["Redirect(out/**)"]}, "pushd x; echo a > out/f", "ask", "nobody knows where"),
    ({"allow": ["Redirect(out/**)"]}, "eval 'cd x'; echo a > out/f", "ask", "nobody knows where"),
    ({"allow": ["Redirect(out/**)"]}, "for d in a b; do cd $d; echo a > out/f; done", "ask", "nobody knows where"),
    ({"allow": ["Redirect(**)"]}, "echo a > $x", "ask", "a variable"),
    ({"allow": ["Redirect(**)"]}, "echo a > *.x", "ask", "a glob"),
    ({"allow": ["Redirect(**)"]}, "echo a > {a,b}", "ask", "braces"),
    ({"allow": ["Redirect"]}, "echo a > /etc/passwd", "ask", "a protected place"),
    ({"allow": ["Redirect(**)"]}, "echo a > .git/hooks/pre-commit", "ask", "a protected place"),
    ({"allow": ["Redirect(.git/hooks/**)"]}, "echo a > .git/hooks/pre-commit", "allow", "the rule names it"),
    ({"allow": ["Redirect(**)"]}, "echo a > .maia/settings.json", "ask", "a protected place"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("further", "command", "expected", "why"), REDIRECTS, ids=[f"{row[0]} {row[1]}" for row in REDIRECTS]
)
def test_a_redirection_needs_a_rule_for_its_file(
    further: dict[str, list[str]], command: str, expected: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "x").mkdir()
    place = Place(tmp_path, Path("/nonexistent/home"), fold_case=False)
    allow = ["Bash", *further.get("allow", [])]
    assert shell(command, rules(allow=allow, deny=further.get("deny", [])), place) == expected, why
