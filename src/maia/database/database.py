"""An open database: many readers, and one writer that commits what came together in one go (decisions §7)."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Table
from sqlalchemy.exc import OperationalError

from maia.database.connect import hold, hold_up_nobody, of_one_state, open_engine
from maia.database.known import Known
from maia.database.migrate import bring_up
from maia.database.problems import DatabaseProblem

T = TypeVar("T")
_READERS = 4
_TOGETHER = 256
"""Most writes that share one commit."""


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[Connection], Any]
    done: Future[Any]


class Database:
    """One database of one server. Made by `open_database`; the tables are there."""

    def __init__(self, url: URL) -> None:
        """Open it and bring its tables up to date; blocks. Raises `DatabaseProblem`."""
        self._engine = open_engine(url)
        held = hold(self._engine, lambda: self._known.forget())
        self._writes, self._release = held.writes, held.release
        self._known = Known(self._writes)
        try:
            bring_up(self._engine)
        except BaseException:
            self._release()
            self._engine.dispose()
            raise
        self._readers = ThreadPoolExecutor(_READERS, "maia-read")
        self._near: Connection | None = None
        self._here: Connection | None = None
        self._counting = threading.Lock()
        self._left = 0
        self._reads = of_one_state(self._engine)
        self._is_closed = False
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_all, name="maia-write", daemon=True)
        self._writer.start()

    @property
    def kind(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` finds, in one transaction that sees one state of the database."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)

    async def look(self, work: Callable[[Connection], T]) -> T:
        """As `read`, for a few rows that a key finds: on a file they are found before another thread is awake."""
        return self._look(work) if self.kind == "sqlite" else await self.read(work)

    async def known(self, key: Hashable, tables: Iterable[Table], work: Callable[[Connection], T]) -> T:
        """As `look`, for what changes seldom: the answer under `key` is kept until one of these tables is written."""
        mark = self._known.mark(tables)
        if (kept := self._known.get(key, mark)) is not None:
            return kept[0]
        answer = await self.look(work)
        self._known.keep(key, mark, answer)
        return answer

    async def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` gives once it is committed. Cancelling does not take it back: what was asked for is done."""
        return await asyncio.shield(asyncio.wrap_future(self.write_soon(work)))

    def write_soon(self, work: Callable[[Connection], T]) -> Future[T]:
        """As `write`, from any thread and without waiting. Writes happen in the order in which they were given.

        `work` may run twice and must change nothing but the database. An error of it undoes this one write only.
        After `close` there is a `DatabaseProblem` at once.
        """
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()  # who stops waiting for it takes nothing back, here or in the writer
        with self._counting:
            if not self._is_closed:
                self._left += 1
                self._jobs.put(_Job(work, done))
                return done
        done.set_exception(DatabaseProblem("database.closed"))
        return done

    def write_here(self, work: Callable[[Connection], T]) -> Future[T]:
        """As `write_soon`, from the loop, for a few rows that somebody waits for: on a file they are written by now.

        To wake another thread costs more than to write them. Where others write, or somebody else holds the file, it
        is their turn first, and nobody's stream waits meanwhile.
        """
        with self._counting:
            is_free = self._left == 0 and self.kind == "sqlite"
            self._left += is_free
        if not is_free:
            return self.write_soon(work)
        try:
            return self._write_here(work)
        finally:
            with self._counting:
                self._left -= 1

    async def write_at_once(self, work: Callable[[Connection], T]) -> T:
        """As `write`, by `write_here`; who is cancelled meanwhile hears of it at their next `await`.

        So what was written is never left to nobody: they have it, and can do first what has to follow.
        """
        done = self.write_here(work)
        return done.result() if done.done() else await _to_its_end(done)

    def close(self) -> None:
        """Do what was asked for, then close. Blocks; may be called twice."""
        if self._writer.is_alive():
            with self._counting:
                self._left += 1  # nothing is written beside the queue any more, and nothing comes behind this
                self._is_closed = True
                self._jobs.put(None)
            self._writer.join()
            self._readers.shutdown()
            self._look_no_more()
            self._write_here_no_more()
            self._engine.dispose()
            self._release()

    # Inside

    def _read(self, work: Callable[[Connection], T]) -> T:
        with self._reads.connect() as connection:
            return work(connection)

    def _look(self, work: Callable[[Connection], T]) -> T:
        """On a connection of its own that stays: to begin and to end a transaction costs as much as to find a row."""
        if self._near is None:
            self._near = self._engine.connect().execution_options(maia_looks=True)
        try:
            return work(self._near)
        except BaseException:
            self._look_no_more()
            raise

    def _look_no_more(self) -> None:
        near, self._near = self._near, None
        if near is not None:
            near.close()

    def _write_here(self, work: Callable[[Connection], T]) -> Future[T]:
        done: Future[T] = Future()
        try:
            if self._here is None:
                self._here = self._writes.connect()
                hold_up_nobody(self._here)
            with self._here.begin():
                value = work(self._here)
            self._known.committed()
            done.set_result(value)
        except OperationalError:  # the file is held, or full, or gone: who waits for it tells
            self._write_here_no_more()
            return self.write_soon(work)
        except BaseException as error:
            self._write_here_no_more()
            done.set_exception(error)
        return done

    def _write_here_no_more(self) -> None:
        here, self._here = self._here, None
        if here is not None:
            here.invalidate()  # no connection for others: it waits for nobody
            here.close()

    def _write_all(self) -> None:
        while (job := self._jobs.get()) is not None:
            jobs, last = self._together(job)
            try:
                with self._writes.begin() as connection:
                    alone = len(jobs) == 1  # the whole transaction is its savepoint
                    results = [(job.work(connection), None)] if alone else [_run(each, connection) for each in jobs]
            except BaseException as error:
                self._known.committed()
                for each in jobs:
                    each.done.set_exception(error)
            else:
                self._known.committed()
                for each, (value, error) in zip(jobs, results, strict=True):
                    each.done.set_exception(error) if error is not None else each.done.set_result(value)
            with self._counting:
                self._left -= len(jobs)
            if last:
                return

    def _together(self, first: _Job) -> tuple[list[_Job], bool]:
        """The writes that wait now, and whether the end was among them."""
        jobs = [first]
        while len(jobs) < _TOGETHER:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                return jobs, True
            jobs.append(job)
        return jobs, False


async def _to_its_end(done: Future[T]) -> T:
    waiting, task, cancels = asyncio.wrap_future(done), asyncio.current_task(), 0
    assert task is not None, "whoever waits is a task"
    while not waiting.done():
        try:
            await asyncio.wait({waiting})
        except asyncio.CancelledError:
            cancels += 1
            task.uncancel()
    for _ in range(cancels):
        task.cancel()
    return waiting.result()


def _run(job: _Job, connection: Connection) -> tuple[Any, Exception | None]:
    """One write on its own savepoint: when it fails, its neighbours stay."""
    try:
        with connection.begin_nested():
            return job.work(connection), None
    except Exception as error:
        if not connection.in_transaction() or connection.invalidated:
            raise
        return None, error
