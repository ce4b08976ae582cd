"""Runs the shared tools' fake server (`fake_server.py SCRIPT PORT LOG`), also for tools with a list of commands."""

import sys
from pathlib import Path

script = sys.argv.pop(1)
source = Path(script).read_text("utf-8").replace("'array': []", "'array': [CMD]")
exec(compile(source, script, "exec"), {"__name__": "__main__"})
