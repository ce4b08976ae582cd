"""Wrappers whose inner command stands behind their options and a fixed number of operands; one table."""

from __future__ import annotations

from dataclasses import dataclass

from maia.permissions.script import WrapKind
from maia.permissions.shell_inner import Inner, Words, blind, leading_assignments, option_barriers, program_name
from maia.permissions.shell_options import options, spec


@dataclass(frozen=True, slots=True)
class _Row:
    """A wrapper whose inner command stands behind its options and a fixed number of operands."""

    kind: WrapKind
    layout: str = ""
    operands: int = 0
    assigns: bool = False
    needs_inner: bool = False
    moves: str = ""


_SUDO = (
    "A b B E H K k n P S s i l v V C: D: g: h: p: R: r: T: t: U: u: askpass background bell preserve-env "
    "set-home login non-interactive shell stdin remove-timestamp reset-timestamp validate list version "
    "close-from= chdir= group= host= prompt= chroot= role= command-timeout= type= other-user= user="
)

_PLAIN: dict[str, _Row] = {
    "timeout": _Row("clear", "k: s: v f p kill-after= signal= verbose foreground preserve-status", 1),
    "gtimeout": _Row("clear", "k: s: v f p kill-after= signal= verbose foreground preserve-status", 1),
    "nice": _Row("clear", "n: 0 1 2 3 4 5 6 7 8 9 - adjustment="),
    "nohup": _Row("clear"),
    "setsid": _Row("clear", "c f w ctty fork wait"),
    "stdbuf": _Row("clear", "i: o: e: input= output= error="),
    "ionice": _Row("clear", "c: n: p: P: u: t class= classdata= pid= pgid= uid= ignore"),
    "time": _Row("clear", "p a v q f: o: portability append verbose quiet format= output="),
    "gtime": _Row("clear", "p a v q f: o: portability append verbose quiet format= output="),
    "coproc": _Row("clear"),
    "builtin": _Row("clear"),
    "exec": _Row("clear", "c l a:"),
    "noglob": _Row("clear"),
    "nocorrect": _Row("clear"),
    "chrt": _Row("clear", "a b d f i m o p r v R T: P: D: G pid batch deadline fifo idle max other rr verbose", 1),
    "taskset": _Row("clear", "a p c all-tasks pid cpu-list", 1),
    "numactl": _Row("clear", "* C: N: m: i: p: l"),
    "cpulimit": _Row("strong", "* l: p: e: P: c: limit= pid= exe= path= cpu="),
    "unbuffer": _Row("clear", "p"),
    "catchsegv": _Row("clear"),
    "caffeinate": _Row("clear", "d i m s u t: w:"),
    "sudo": _Row("strong", _SUDO, assigns=True, needs_inner=True, moves="D R chdir chroot i login"),
    "doas": _Row("strong", "C: u: L n s", needs_inner=True),
    "pkexec": _Row("strong", "user= disable-internal-agent keep-cwd", needs_inner=True, moves="*"),
    "chroot": _Row("strong", "userspec= groups= skip-chdir", 1, needs_inner=True, moves="*"),
    "unshare": _Row("strong", "* S: G: R: w: setuid= setgid= root= wd=", moves="R w root wd"),
    "nsenter": _Row("strong", "* t: S: G: target= setuid= setgid=", moves="*"),
    "setpriv": _Row("strong", (
        "* ruid= euid= rgid= egid= reuid= regid= groups= inh-caps= ambient-caps= bounding-set= securebits= "
        "pdeathsig="
    )),
    "setarch": _Row("clear", "*", 1),
    "linux32": _Row("clear", "*"),
    "linux64": _Row("clear", "*"),
    "prlimit": _Row("clear", "*"),
    "fakeroot": _Row("strong", "* l: s: i: b: lib= faked="),
    "firejail": _Row("strong", "*"),
    "bwrap": _Row("strong"),
    "proot": _Row("strong", "* r: b: w: q:", moves="*"),
    "ltrace": _Row("strong", "* a: A: D: e: F: l: n: o: p: s: u: w: x:"),
    "valgrind": _Row("strong", "*"),
    "rlwrap": _Row("clear", "* a: b: C: D: f: g: H: l: M: O: p: P: q: s: S: t: w: z:"),
    "xvfb-run": _Row("clear", (
        "* e: f: n: p: s: w: error-file= auth-file= server-num= xauth-protocol= server-args= wait="
    )),
    "dbus-run-session": _Row("clear", "* config-file= dbus-daemon="),
    "dbus-launch": _Row("clear", "*"),
    "systemd-run": _Row("strong", (
        "* E: H: M: p: u: t: property= unit= slice= uid= gid= nice= setenv= working-directory= description= "
        "host= machine= on-active= on-calendar= service-type= timer-property="
    ), needs_inner=True, moves="*"),
    "systemd-inhibit": _Row("clear", "* what= who= why= mode="),
    "start-stop-daemon": _Row("strong", "*"),
    "busybox": _Row("strong", "", needs_inner=False),
    "toybox": _Row("strong", ""),
    "arch": _Row("clear", "*"),
    "gnome-terminal": _Row("strong", "*"),
    "xterm": _Row("strong", "* T: geometry= title="),
    "entr": _Row("strong", "a c d n p r s x z"),
    "watchexec": _Row("strong", "* w: e: i: f:"),
    "run0": _Row("strong", "* u: g: D: user= group= chdir= unit=", needs_inner=True, moves="*"),
    "setuidgid": _Row("strong", "", 1),
    "chpst": _Row("strong", "* u: U: e: n: l: L: m: o: p: f: c: t:"),
    "tini": _Row("clear", "*"),
    "dumb-init": _Row("clear", "*"),
    "retry": _Row("strong", "* t: d: times= delay="),
    "ts": _Row("strong", "*"),
    "npx": _Row("runner", "* p: c: package= call= y yes", 0),
    "bunx": _Row("runner", "* p: package="),
    "pnpx": _Row("runner", "*"),
    "dotenv": _Row("runner", "* f: e: c: v: p:"),
    "dotenvx": _Row("runner", "*"),
    "cross-env": _Row("strong", "*", assigns=True),
    "proxychains": _Row("clear", "* f:"),
    "proxychains4": _Row("clear", "* f:"),
    "torsocks": _Row("clear", "*"),
    "torify": _Row("clear", "*"),
    "faketime": _Row("clear", "*", 1),
    "chronic": _Row("clear", "v e"),
    "gosu": _Row("strong", "", 1),
    "su-exec": _Row("strong", "", 1),
    "s6-setuidgid": _Row("strong", "", 1),
    "softlimit": _Row("clear", "* m: d: s: l: a: o: p: f: c: r: t:"),
    "cgexec": _Row("strong", "* g:"),
    "daemonize": _Row("strong", "* c: e: E: o: p: l: u:"),
    "openvt": _Row("strong", "* c:"),
    "setlock": _Row("clear", "*", 1),
    "catatonit": _Row("clear", "*"),
    "multitime": _Row("clear", "* n: s: I: i: r:"),
    "ld.so": _Row("clear", "* library-path= preload= audit= argv0="),
    "ld-linux-x86-64.so.2": _Row("clear", "* library-path= preload= audit= argv0="),
    "ld-linux-aarch64.so.1": _Row("clear", "* library-path= preload= audit= argv0="),
    "ld-linux.so.2": _Row("clear", "* library-path= preload= audit= argv0="),
    "ld-musl-x86_64.so.1": _Row("clear", "* library-path= preload= argv0="),
    "qemu-x86_64": _Row("strong", "* E: L: U: cpu="),
    "qemu-aarch64": _Row("strong", "* E: L: U: cpu="),
    "xcrun": _Row("runner", "* sdk= toolchain="),
}  # fmt: skip


def plain_wrapper(words: Words) -> Inner | None:
    """What a wrapper of the table runs; None for every other program."""
    row = _PLAIN.get(program_name(words[0].text))
    return _plain(row, words) if row else None


def _plain(row: _Row, words: Words) -> Inner:
    parsed = options(words[1:], spec(row.layout))
    rest = parsed.rest[row.operands :]
    assignments, rest = leading_assignments(rest) if row.assigns else ((), rest)
    barriers = list(option_barriers(parsed))
    if words[0].text == "coproc":
        barriers.append(blind("perm.why.dynamic", words[0]))
    if not rest and row.needs_inner and not parsed.has("l", "v", "V", "k", "K", "list", "validate", "version"):
        barriers.append(blind("perm.why.stdin_script", words[0]))
    moved = row.moves == "*" or (bool(row.moves) and parsed.has(*row.moves.split()))
    return Inner(row.kind, (rest,) if rest else (), (), assignments, tuple(barriers), moved)
