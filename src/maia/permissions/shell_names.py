"""Names that matter in a shell: variables that change what programs do, harmless ones, reserved words."""

from __future__ import annotations

import re

DANGEROUS_NAME = re.compile(
    r"(?:LD_\w+|DYLD_\w+|(?:|C|CD|MAN|FPATH|INFO)PATH|BASH_\w+|ENV|IFS|SHELL|SHELLOPTS|BASHOPTS|ZDOTDIR|FPATH|PS[0-4]|\w*PROMPT\w*"
    r"|HOME|TMPDIR|GLOBIGNORE|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|TERMINFO\w*|TERMCAP|INPUTRC|HISTFILE"
    r"|GIT_(?!AUTHOR_|COMMITTER_|TERMINAL_PROMPT$|OPTIONAL_LOCKS$)\w+|(?:\w*_)?PAGER|(?:\w*_)?EDITOR|VISUAL|BROWSER|LESS(?:OPEN|CLOSE|KEY\w*)"
    r"|PYTHON(?:PATH|HOME|STARTUP|INSPECT|BREAKPOINT|USERBASE|EXECUTABLE|WARNINGS|PLATLIBDIR)|VIRTUAL_ENV|PERL\w+|RUBY\w+|GEM_\w+|BUNDLE_\w+"
    r"|NODE_(?:OPTIONS|PATH|REPL\w*|EXTRA_CA_CERTS)|NPM_\w+|npm_config_\w+|JAVA_\w+|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAVEN_\w+|GRADLE_\w+"
    r"|LUA_\w+|PHP\w*|R_\w+|TCLLIBPATH|GO(?:FLAGS|PATH|ROOT|TOOLCHAIN|ENV|PROXY|BIN)|CARGO_\w+|RUSTC\w*|RUSTFLAGS|RUSTDOC\w*|MAKE(?:FLAGS|FILES)|GNUMAKEFLAGS"
    r"|CC|CXX|CPP|LD|AR|CFLAGS|CXXFLAGS|LDFLAGS|CPPFLAGS|\w+_WRAPPER|SSH_\w+|\w*_SSH\w*|\w*ASKPASS|RSYNC_\w+|DOCKER_\w+|KUBE\w+|TAR_OPTIONS"
    r"|RIPGREP_CONFIG_PATH|\w*_PROXY|\w*_proxy|OPENSSL_\w+|CURL_HOME|WGETRC|AWS_\w+|VIMINIT|EXINIT|MYVIMRC|SYSTEMD_\w+|XDG_\w+|DBUS_\w+|COMSPEC"
    r"|PROMPT_COMMAND|MAIA_\w+)\Z"
)
"""Variables that make a program load or run something else. Sources: the manuals of the programs named in them."""

HARMLESS_NAME = re.compile(
    r"(?:CI|DEBUG|VERBOSE|NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|FLASK_ENV|FLASK_DEBUG|DJANGO_SETTINGS_MODULE|ENVIRONMENT|LANG|LANGUAGE|LC_\w+|TZ|TERM"
    r"|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|PORT|HOST|RUST_LOG|RUST_BACKTRACE|RUST_TEST_THREADS"
    r"|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|FAULTHANDLER|IOENCODING|UTF8|OPTIMIZE|NOUSERSITE|ASYNCIODEBUG|TRACEMALLOC|DEVMODE)"
    r"|PYTEST_TIMEOUT|GOOS|GOARCH|GOARM|CGO_ENABLED|GOMAXPROCS|GO111MODULE|GOTRACEBACK|DEBIAN_FRONTEND|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES|TOKENIZERS_PARALLELISM"
    r"|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|NEXT_TELEMETRY_DISABLED|DO_NOT_TRACK|HUSKY|LOG_LEVEL|LOGLEVEL|SEED)\Z"
)
"""Variables that a rule for the plain program also covers when they stand before it."""

RESERVED_WORDS = frozenset(
    [
        "!",
        "{",
        "}",
        "(",
        ")",
        "[[",
        "]]",
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "until",
        "case",
        "esac",
        "select",
        "function",
        "time",
        "coproc",
    ]
)

INPUT_NAMES = {"read": "adeinNptu", "mapfile": "dnOsuCct", "readarray": "dnOsuCct", "getopts": ""}
"""Builtins whose operands are variables to fill, with their options that take a value."""
