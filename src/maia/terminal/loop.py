"""Runs the event loop of a door to its end, without waiting for threads that are stuck in the system."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_PATIENCE = 2.0


def run_to_end(work: Coroutine[Any, Any, int]) -> int:
    """As `asyncio.run`, with one difference: a name server or a disk that does not answer cannot hold up leaving.

    Python waits for such threads when it ends; when some are still there two seconds later, the process ends at once
    with the exit code. Raises what `work` raises.
    """
    loop = asyncio.new_event_loop()
    executor = ThreadPoolExecutor(max_workers=8, thread_name_prefix="maia")
    loop.set_default_executor(executor)
    code = 1
    try:
        code = loop.run_until_complete(work)
        return code
    finally:
        _cancel_all(loop)
        loop.run_until_complete(loop.shutdown_asyncgens())
        executor.shutdown(wait=False, cancel_futures=True)
        loop.close()
        _end_without_stuck_threads(code, failed=sys.exc_info()[0] is not None)


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=_PATIENCE))


def _end_without_stuck_threads(code: int, *, failed: bool) -> None:
    end = time.monotonic() + _PATIENCE
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    for thread in others:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in others) and not failed:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
