"""A started program with everything that it started: found, signalled and waited for as one."""

from __future__ import annotations

import asyncio
import signal
from typing import Final

from maia.sandbox import tree
from maia.sandbox.start import Begun

_POLL: Final = 0.02


class Kin:
    """The processes of one program that has begun; `mark` stands in the environment of all of them."""

    def __init__(self, begun: Begun, mark: str) -> None:
        self._begun = begun
        self._mark = mark
        self._since = tree.start_of(begun.popen.pid)

    def living(self) -> list[tree.Process]:
        """All that live, the program itself first."""
        return tree.started_by(self._begun.popen.pid, self._since, self._mark)

    def signal(self, what: signal.Signals) -> None:
        """Signal them all. The wall's own process gets SIGKILL only, so that what runs behind it can end well."""
        pid, found = self._begun.popen.pid, self.living()
        spared = pid if self._begun.contained and what != signal.SIGKILL else 0
        if not spared and self._begun.popen.returncode is None:
            tree.send_group(pid, what)
        tree.signal_all([process for process in found if process.pid != spared], what)

    async def ends(self, seconds: float, *, whole: bool = False) -> bool:
        """Wait for the program's end, or for that of the `whole` kin; False when it is not over by then."""
        until = asyncio.get_running_loop().time() + seconds
        while self._begun.popen.poll() is None or (whole and self.living()):
            if asyncio.get_running_loop().time() > until:
                return False
            await asyncio.sleep(_POLL)
        return True
