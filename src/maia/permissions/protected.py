"""Places that no broad allow opens: where content runs or unlocks something, and where maia keeps its secrets."""

from __future__ import annotations

from maia.core.permission import Rule, RuleSource, Verdict
from maia.permissions import globs
from maia.permissions.paths import Place, Target

BUILT_IN = "built-in"
"""The place of rules that nobody wrote: a deny or ask rule of the person's wins over them as over any allow."""

FOLDERS = (".git", ".maia", ".claude", ".codex", ".vscode", ".idea", ".husky", ".ssh", ".gnupg", ".devcontainer")
"""Names of folders, at any depth, in which everything is protected."""

FILES = (
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".envrc",
    ".gitconfig", ".gitmodules", ".netrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".mcp.json",
    ".pam_environment",
    ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pythonrc", ".pdbrc", ".gdbinit", ".lldbinit", ".vimrc",
    ".exrc",
    ".pre-commit-config.yaml",
)  # fmt: skip
"""Names of files, at any depth, that programs run or trust by themselves."""

HOME_FOLDERS = (
    ".config/git", ".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d", ".config/nvim",
    ".config/pip", ".config/gh", ".local/bin", "bin", ".local/share/systemd", ".local/share/applications", ".aws",
    ".kube",
    ".docker", ".cargo/bin", ".cargo/config.toml", ".emacs.d", ".vim", "Library/LaunchAgents", "Library/LaunchDaemons",
)  # fmt: skip
"""Folders of the home folder."""

SYSTEM_FOLDERS = (
    "/etc", "/bin", "/sbin", "/usr", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys", "/root", "/opt",
    "/var/spool", "/var/lib", "/private/etc", "/System", "/Library",
)  # fmt: skip

PRIVATE = (
    ".maia/settings.json", ".maia/keys", ".maia/memory", ".maia/runs", ".maia/runtimes", ".maia/mcp-tokens.json",
    ".overmind/hermes",
)  # fmt: skip
"""Of the home folder: keys, sign-ins, and what other agents keep and do (C5.02, C6.04). Commands behind the wall do not
see them; reading and searching asks even under a broad allow, and a search of a whole tree leaves them out."""

_FOLDERS = frozenset(FOLDERS)
_FILES = frozenset(FILES)


def protected_by(path: Target, place: Place) -> str | None:
    """The protected place that a path lies in, as an absolute path, or None."""
    return _of(path.given, place) or _of(path.resolved, place)


def private_to(path: Target, place: Place) -> Rule | None:
    """The rule that nobody wrote by which reading this path asks, or None."""
    for name in PRIVATE:
        private = f"{place.home}/{name}"
        if any(form == private or form.startswith(private + "/") for form in (path.given, path.resolved)):
            return Rule(Verdict.ASK, "Read", f"~/{name}", f"Read(~/{name})", RuleSource(BUILT_IN))
    return None


def names_exactly(rule: Rule, protected: str, place: Place) -> bool:
    """Whether a rule means the protected place itself: it names this path, or its literal folder lies in the place."""
    if rule.pattern is None:
        return False
    pattern = rule.pattern if not rule.pattern.startswith("~/") else f"{place.home}/{rule.pattern[2:]}"
    literal = globs.literal_folder(pattern).rstrip("/")
    while literal.startswith("./"):
        literal = literal[2:]
    absolute = literal if literal.startswith("/") else f"{place.launch}/{literal}"
    if globs.is_literal(pattern):
        return True
    return absolute == protected or absolute.startswith(protected + "/")


def _of(path: str, place: Place) -> str | None:
    names = path.split("/")
    launch = str(place.launch)
    start = launch.count("/") + 1 if path.startswith(launch + "/") else 1
    for i in range(start, len(names)):
        name = names[i].casefold()
        if name in _FOLDERS or (name in _FILES and i == len(names) - 1):
            return "/".join(names[: i + 1])
    return _of_home_or_system(path, place)


def _of_home_or_system(path: str, place: Place) -> str | None:
    launch = str(place.launch)
    if path == launch or path.startswith(launch + "/"):
        return None
    home = str(place.home)
    for folder in [f"{home}/{name}" for name in HOME_FOLDERS] + list(SYSTEM_FOLDERS):
        if path == folder or path.startswith(folder + "/"):
            return folder if not home.startswith(folder + "/") and folder != home else None
    return None
