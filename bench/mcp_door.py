"""What `maia mcp` costs: until `initialize` is answered, against the import of the SDK; and a run over a turn's own.

CPU of a run through the door is that of the front and of the host together, from the call until its answer; "the
agent's own" is the same turn as a conversation in this process. The model's server is another process and does not
count.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import MAIA, Row, at_most, compiled, measure
from tests.fakes import fake_llm

from runs import ground, host_cpu, own

STARTS = 7
IN_A_ROW = 40
_TICK = os.sysconf("SC_CLK_TCK")
_PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


@contextmanager
def front(folder: Path | None = None) -> Generator[subprocess.Popen[str]]:
    """A front that has answered `initialize`."""
    with subprocess.Popen(
        [*MAIA, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        ask(process, "initialize", **_PARAMS)
        yield process
        assert process.stdin is not None
        process.stdin.close()


def ask(process: subprocess.Popen[str], method: str, **params: Any) -> dict[str, Any]:
    """One request and its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def cpu(pid: int) -> float:
    """CPU seconds of a process so far, without what it started."""
    fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def start_rows() -> list[Row]:
    sdk = measure([sys.executable, "-P", "-c", "import mcp"], runs=STARTS)
    used: list[float] = []
    for _ in range(STARTS + 1):
        with front() as process:
            used.append(cpu(process.pid))
    ours = statistics.median(used[1:])
    return [
        Row("import of the MCP SDK alone", round(sdk.cpu, 3), "CPU s"),
        at_most("maia mcp: initialize answered, against it", round(ours / sdk.cpu, 2), "×", 1.2, f"{ours:.3f} CPU s"),
    ]


def run_row(url: str) -> Row:
    with ground(url) as there, front(there.folders.launch) as process:

        def once() -> None:
            params = {"name": "run_agent", "arguments": {"task": "Say hello.", "model": "fake-model"}}
            answer = ask(process, "tools/call", **params)
            assert answer["result"]["structuredContent"]["outcome"] == "finished", answer

        once()
        before = cpu(process.pid) + host_cpu()
        for _ in range(IN_A_ROW):
            once()
        through = (cpu(process.pid) + host_cpu() - before) / IN_A_ROW

        async def alone() -> float:
            await own(there)
            start = time.process_time()
            for _ in range(IN_A_ROW):
                await own(there)
            return (time.process_time() - start) / IN_A_ROW

        turn = asyncio.run(alone())
    note = f"{through * 1000:.1f} ms through the door, {turn * 1000:.1f} ms alone"
    return at_most("run_agent over stdio: CPU over the turn's own", round((through - turn) * 1000, 1), "ms", 15, note)


def main() -> list[Row]:
    compiled()
    with fake_llm("text") as server:
        return [*start_rows(), run_row(server.url)]
