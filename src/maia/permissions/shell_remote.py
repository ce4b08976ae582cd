"""Programs that run a command somewhere else: in a container, a virtual machine or on another host; one table."""

from __future__ import annotations

from dataclasses import dataclass

from maia.permissions.script import Word
from maia.permissions.shell_inner import Inner, Words, program_name
from maia.permissions.shell_options import options, spec


@dataclass(frozen=True, slots=True)
class _Row:
    """Behind one of the `subcommands`, options and `operands` stands the command; `joins` for a shell over there."""

    subcommands: tuple[str, ...] = ("",)
    layout: str = "*"
    operands: int = 1
    joins: bool = False


_CONTAINER = _Row(
    ("exec", "run", "container exec", "container run", "compose exec", "compose run"),
    "* e: u: w: v: p: m: h: l: f: c: H: env= env-file= user= workdir= volume= publish= name= network= entrypoint= "
    "mount= platform= memory= cpus= hostname= label= add-host= file= project-directory= project-name= profile= index= "
    "gpus= restart= pull= ulimit= cap-add= cap-drop= security-opt= device= dns= ip= shm-size= tmpfs= volumes-from= "
    "context= host= log-level= config=",
)
_CLUSTER = _Row(("exec",), "* n: c: f: s: namespace= container= context= kubeconfig= cluster= user= filename=")
_SSH = _Row(("",), "* b: B: c: D: E: e: F: I: i: J: L: l: m: O: o: p: P: Q: R: S: W: w:", joins=True)
_TABLE = {
    "docker": _CONTAINER, "podman": _CONTAINER, "nerdctl": _CONTAINER,
    "docker-compose": _Row(("exec", "run"), _CONTAINER.layout),
    "podman-compose": _Row(("exec", "run"), _CONTAINER.layout),
    "kubectl": _CLUSTER, "oc": _CLUSTER, "k3s": _Row(("kubectl exec",), _CLUSTER.layout),
    "ssh": _SSH, "autossh": _SSH, "mosh": _Row(("",), "* p: ssh= port=", joins=True),
    "sshpass": _Row(("",), "p: f: d: e v", operands=0),
    "lxc": _Row(("exec",), "* cwd= env= mode= user= group="), "incus": _Row(("exec",), "* cwd= env= user= group="),
    "multipass": _Row(("exec",), "* d: working-directory="), "machinectl": _Row(("shell",), "* E: uid= setenv="),
    "adb": _Row(("shell",), "* s: t: H: P: L:", operands=0, joins=True),
    "wsl": _Row(("",), "* d: u: e distribution= user= cd= exec", operands=0),
    "distrobox": _Row(("enter",), "* n: name="), "toolbox": _Row(("run",), "* c: container=", operands=0),
    "flatpak-spawn": _Row(("",), "* directory= env=", operands=0),
}  # fmt: skip
_SCRIPT_OPTIONS = {"vagrant": ("ssh", "c"), "gcloud": ("compute ssh", "command")}
"""Programs that take the command as the value of an option."""


def remote(words: Words) -> Inner | None:
    """What is run elsewhere; None for other programs. A rule for the program covers it, a deny still finds it."""
    name = program_name(words[0].text)
    if name in _SCRIPT_OPTIONS:
        return _from_option(words, *_SCRIPT_OPTIONS[name])
    row = _TABLE.get(name)
    if row is None:
        return None
    layout = spec(row.layout)
    before = options(words[1:], layout)
    for subcommand in row.subcommands:
        parts = subcommand.split()
        if [word.text for word in before.rest[: len(parts)]] == parts:
            return _behind(options(before.rest[len(parts) :], layout).rest, row)
    return None


def _behind(rest: Words, row: _Row) -> Inner | None:
    texts = [word.text for word in rest]
    command = rest[texts.index("--") + 1 :] if "--" in texts else rest[row.operands :]
    if not command:
        return None
    if row.joins and all(word.literal for word in command):
        return Inner("remote", (), (" ".join(word.text for word in command),))
    return Inner("remote", (command,))


def _from_option(words: Words, subcommand: str, name: str) -> Inner | None:
    parts = subcommand.split()
    if [word.text for word in words[1 : len(parts) + 1]] != parts:
        return None
    layout = spec(f"* {name}{':' if len(name) == 1 else '='}")
    rest: tuple[Word, ...] = words[len(parts) + 1 :]
    while rest:
        parsed = options(rest, layout)
        script = parsed.value(name)
        if script is not None and script.literal:
            return Inner("remote", (), (script.text,))
        rest = parsed.rest[1:]
    return None
