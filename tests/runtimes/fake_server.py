"""Runs the shared tools' fake server (`fake_server.py SCRIPT PORT LOG`), with a little more.

Tools with a list of commands are called, too. A request with SLOWLY in it is answered after a minute, one with
REFUSEKEY never: its key is refused. `CALL[[{"tool": …, "args": …}]]` calls the tool whose name that pattern fits;
DAWDLE counts as SLOWLY where no such call stands beside it. With USEMEMORY in it, the tool `memory_search` is called,
by whatever name.
"""

import sys
from pathlib import Path

script = sys.argv.pop(1)
source = Path(script).read_text("utf-8").replace("'array': []", "'array': [CMD]")
READ = "raw = self.rfile.read(n)\n"
MORE = """
        if b'SLOWLY' in raw: time.sleep(60)
        if b'DAWDLE' in raw and b'CALL[[' not in raw: time.sleep(60)
        if b'REFUSEKEY' in raw:
            error = {'type': 'authentication_error', 'message': 'invalid api key', 'code': 'invalid_api_key'}
            return self._json({'type': 'error', 'error': error}, 401)
"""
assert READ in source
source = source.replace(READ, READ + MORE)
WANT = "    def want(self, text, has_result, tools):\n"
LENT = """        if 'USEMEMORY' in text and not has_result:
            for n in (t['name'] for t in tools):
                if n.endswith('memory_search'): return n, {'query': 'harbour'}
"""
LENT += """        if 'CALL[[' in text and not has_result:
            asked = json.loads(text.rpartition('CALL[[')[2].partition(']]')[0].replace(chr(92), ''))
            for t in tools:
                if re.fullmatch(asked['tool'], t['name'], re.I): return t['name'], asked['args']
"""
TOLD = "for t in q.get('tools') or []]\n        w = self.want(text, res, tools); rid"
SPREAD = """for t in q.get('tools') or []]
        spaces = {u['name']: t['name'] for t in q.get('tools') or [] if t['type'] == 'namespace' for u in t['tools']}
        tools += [{'name': name, 'schema': {}} for name in spaces]
        w = self.want(text, res, tools); rid"""
assert source.count(TOLD) == 1
source = source.replace(TOLD, SPREAD)
CALLED = "'name': w[0], 'arguments': ''}\n            ev.append({'type': 'response.output_item.added'"
SPACE = "'arguments': '', **({'namespace': spaces[w[0]]} if w[0] in spaces else {})}"
SPACED = CALLED.replace("'arguments': ''}", SPACE)
assert source.count(CALLED) == 1
source = source.replace(CALLED, SPACED)
assert WANT in source
source = source.replace(WANT, WANT + LENT)
exec(compile(source, script, "exec"), {"__name__": "__main__"})
