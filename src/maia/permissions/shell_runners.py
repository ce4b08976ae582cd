"""Programs that start the programs of a project (`uv run`, `npx`, `bundle exec`); one table."""

from __future__ import annotations

from maia.permissions.shell_inner import Inner, Words, blind, program_name
from maia.permissions.shell_options import options, spec

RUNNERS: dict[str, tuple[tuple[str, ...], str]] = {
    "uv": (("run", "tool run"), (
        "* p: w: with= with-editable= with-requirements= python= extra= no-extra= group= only-group= no-group= "
        "project= directory= env-file= package= index= index-url= extra-index-url= default-index= find-links= "
        "config-file= cache-dir= color= link-mode= from= isolated"
    )),
    "uvx": (("",), "* p: w: with= python= from= index= index-url="),
    "poetry": (("run",), "* C: P: directory= project="),
    "pipenv": (("run",), "*"),
    "pdm": (("run",), "* p: project="),
    "rye": (("run",), "*"),
    "hatch": (("run", "env run"), "* e: env="),
    "pixi": (("run", "exec"), "* e: s: spec= environment= manifest-path="),
    "conda": (("run",), "* n: p: name= prefix= cwd="),
    "mamba": (("run",), "* n: p: name= prefix= cwd="),
    "micromamba": (("run",), "* n: p: name= prefix= cwd="),
    "pipx": (("run",), "* spec= python= pip-args="),
    "bundle": (("exec",), "*"),
    "npm": (("exec", "x"), "* p: c: w: package= call= workspace= prefix="),
    "pnpm": (("exec", "dlx"), "* C: F: dir= filter="),
    "yarn": (("exec", "dlx"), "* cwd="),
    "bun": (("x",), "*"),
    "mise": (("exec", "x"), "* C: c: j: cd= command="),
    "asdf": (("exec",), "*"),
    "rbenv": (("exec",), "*"),
    "pyenv": (("exec",), "*"),
    "nodenv": (("exec",), "*"),
    "direnv": (("exec",), "*"),
    "nix": (("run", "develop", "shell"), "* c: command="),
    "guix": (("shell", "environment"), "*"),
    "doppler": (("run",), "* command= p: c: project= config="),
    "op": (("run",), "* env-file="),
    "aws-vault": (("exec",), "* d: duration="),
    "ip": (("netns exec",), "*"),
    "git": (("bisect run",), "*"),
    "perf": (("stat", "record", "trace"), "* e: o: p: t: F: c: C: r: G: event= output= repeat="),
    "lerna": (("exec",), "* scope= ignore= concurrency="),
    "nx": (("exec",), "* project= projects="),
    "tox": (("exec",), "* e: c:"),
}  # fmt: skip


def runner(words: Words) -> Inner | None:
    """`uv run PROGRAM …`: a rule for the runner covers what it runs, a deny still finds the inner command."""
    subcommands, layout = RUNNERS[program_name(words[0].text)]
    before = options(words[1:], spec(layout))
    for subcommand in subcommands:
        parts = subcommand.split()
        if [word.text for word in before.rest[: len(parts)]] == parts:
            after = options(before.rest[len(parts) :], spec(layout))
            rest = after.rest[1:] if program_name(words[0].text) in ("direnv", "aws-vault", "ip") else after.rest
            script = after.value("c", "call", "command")
            barriers = (blind("perm.why.inline", script),) if script and "c" in layout.replace(":", " ").split() else ()
            return Inner("runner", (rest,) if rest else (), (), (), barriers)
    return None
