"""Names that matter in a shell: variables that change what programs do, harmless ones, reserved words."""

from __future__ import annotations

import re

DANGEROUS_NAME = re.compile(
    r"(?:LD_\w+|DYLD_\w+|PATH|CDPATH|MANPATH|INFOPATH|FPATH|BASH_\w+|ENV|IFS|SHELL|SHELLOPTS|BASHOPTS|ZDOTDIR|PS[0-4]"
    r"|\w*PROMPT\w*|HOME|GLOBIGNORE|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|TERMINFO\w*|TERMCAP|INPUTRC"
    r"|GIT_(?!AUTHOR_|COMMITTER_|TERMINAL_PROMPT$|OPTIONAL_LOCKS$)\w+|(?:\w*_)?PAGER|(?:\w*_)?EDITOR|VISUAL|BROWSER"
    r"|LESS(?:OPEN|CLOSE|KEY\w*)?|PYTHON(?:HOME|STARTUP|INSPECT|BREAKPOINT|EXECUTABLE)|PERL5?\w+|RUBY\w+"
    r"|NODE_REPL\w*|NPM_\w+|npm_config_\w+|GO(?:FLAGS|TOOLCHAIN|ENV|ROOT)|CARGO_(?!TERM_|TARGET_DIR$|NET_)\w+|RUSTC\w*"
    r"|RUSTFLAGS|RUSTDOC\w*|MAKE(?:FLAGS|FILES)|GNUMAKEFLAGS|CC|CXX|CPP|LD|AR|\w+_WRAPPER|SSH_\w+|\w*_SSH\w*|\w*ASKPASS"
    r"|RSYNC_\w+|TAR_OPTIONS|RIPGREP_CONFIG_PATH|OPENSSL_\w+|CURL_HOME|WGETRC|VIMINIT|EXINIT|MYVIMRC|SYSTEMD_\w+|DBUS_\w+"
    r"|COMSPEC|MAIA_\w+)\Z"
)
"""Variables that make a program load or run another one. Sources: the manuals of the programs named in them."""

HARMLESS_VALUE = re.compile(
    r"(?:\w+_)?(?:PAGER=(?:cat)?|EDITOR=(?:true|:))\Z|NODE_OPTIONS=['\"]?--max[-_]old[-_]space[-_]size=\d+['\"]?\Z"
)
"""Settings of dangerous names that switch something off, or only set a size."""

PATH_SET = re.compile(r"(?<![$\w{-])(?:CD)?PATH\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))")
"""A search path that arithmetic sets: `((PATH=1))` makes the folder `1` the place of programs."""

HARMLESS_NAME = re.compile(
    r"(?:CI|DEBUG|VERBOSE|NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|FLASK_ENV|FLASK_DEBUG|ENVIRONMENT|LANG|LANGUAGE|LC_\w+|TZ|TERM"
    r"|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|PORT|HOST|RUST_LOG|RUST_BACKTRACE"
    r"|RUST_TEST_THREADS|CARGO_TERM_\w+|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|FAULTHANDLER|IOENCODING|UTF8|OPTIMIZE"
    r"|NOUSERSITE|ASYNCIODEBUG|TRACEMALLOC|DEVMODE)|PYTEST_TIMEOUT|GOOS|GOARCH|GOARM|CGO_ENABLED|GOMAXPROCS|GO111MODULE"
    r"|GOTRACEBACK|DEBIAN_FRONTEND|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES|TOKENIZERS_PARALLELISM"
    r"|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|NEXT_TELEMETRY_DISABLED"
    r"|DO_NOT_TRACK|HUSKY|LOG_LEVEL|LOGLEVEL|SEED)\Z"
)
"""Variables that a rule for the plain program also covers when they stand before it. All others need to be named."""

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
