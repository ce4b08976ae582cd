"""Runs the shared tools' fake server (`fake_server.py SCRIPT PORT LOG`), with a little more.

Tools with a list of commands are called, too. A request with SLOWLY in it is answered after a minute, one with
REFUSEKEY never: its key is refused.
"""

import sys
from pathlib import Path

script = sys.argv.pop(1)
source = Path(script).read_text("utf-8").replace("'array': []", "'array': [CMD]")
READ = "raw = self.rfile.read(n)\n"
MORE = """
        if b'SLOWLY' in raw: time.sleep(60)
        if b'REFUSEKEY' in raw:
            error = {'type': 'authentication_error', 'message': 'invalid api key', 'code': 'invalid_api_key'}
            return self._json({'type': 'error', 'error': error}, 401)
"""
assert READ in source
source = source.replace(READ, READ + MORE)
exec(compile(source, script, "exec"), {"__name__": "__main__"})
