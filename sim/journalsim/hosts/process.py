"""Runs the tasks of one simulated server process, which start together and die together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import trio
from trio.lowlevel import Task, current_task

from journalsim.contract.events.harness_events import AdapterRaised
from journalsim.engine.entries import Entry, Killed
from journalsim.engine.world import World


class Process:
    """Background tasks of the code under test.

    Attributes:
        alive: False once the process was killed or has ended; every port call then raises :class:`Killed`.
        unfinished: names of the tasks that have not ended.
        hung: lanes in a scripted hang, each with its reason.
    """

    def __init__(self, world: World, nursery: trio.Nursery) -> None:
        self.alive = True
        self.unfinished: dict[str, None] = {}
        self.hung: dict[str, str] = {}
        self._world = world
        self._nursery = nursery
        self._tasks: dict[Task, None] = {}
        self._scopes: dict[str, trio.CancelScope] = {}

    def spawn(self, name: str, task: Callable[[], Awaitable[None]], *, waits: bool = False) -> None:
        """Starts a task that dies with the process; a name in use gets a number.

        Args:
            name: name of the task.
            task: the function to run.
            waits: True if the task may wait for ever without being a deadlock: an open stream, a lifespan.

        Raises:
            Killed: the process is gone.
        """
        if not self.alive:
            raise Killed
        number = self._world.number(f"task {name}")
        unique = name if number == 1 else f"{name}/{number}"
        if not waits:
            self.unfinished[unique] = None
        self._nursery.start_soon(self._run, unique, task, name=unique)

    async def _run(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        with trio.CancelScope() as scope:
            self._scopes[name] = scope
            if not self.alive:
                scope.cancel()
            try:
                await task()
            except BaseException as error:
                errors = list(leaves(error))
                if any(isinstance(e, KeyboardInterrupt) for e in errors):
                    raise
                for e in errors:
                    if not isinstance(e, (Killed, trio.Cancelled)):  # SystemExit too: it must not end a case unseen
                        self._world.record("server", AdapterRaised(verb=f"task {name}", error=describe(e)))
            finally:
                del self._scopes[name]
                self.unfinished.pop(name, None)

    def kill(self) -> None:
        """Ends every task at once, in spite of shields, without letting it clean up."""
        self.alive = False
        for task in list(self._tasks):
            self._world.scheduler.kill(task)
        for scope in list(self._scopes.values()):
            scope.cancel()

    # --- waiting, on behalf of the ports

    def enter(self) -> None:
        """Registers the calling task as one of the process."""
        if not self.alive:
            raise Killed
        self._tasks[current_task()] = None

    async def point(self, name: str, touches: tuple[str, ...] = ()) -> None:
        """Passes a point in a task of the process."""
        self.enter()
        await self._world.point(name, touches)
        if not self.alive:
            raise Killed

    async def wait(self, entry: Entry) -> None:
        """Parks the calling task."""
        self.enter()
        await self._world.scheduler.wait(entry)
        if not self.alive:
            raise Killed

    async def sleep(self, duration_ns: int, lane: str) -> None:
        """Waits ``duration_ns`` nanoseconds of virtual time."""
        self.enter()
        scheduler = self._world.scheduler
        entry = scheduler.waiter()
        timer = scheduler.after(duration_ns, lane, lambda: scheduler.wake(entry))
        try:
            await self.wait(entry)
        finally:
            timer.cancel()

    async def hang(self, what: str) -> None:
        """Waits for ever, as the script demands."""
        self.enter()
        scheduler = self._world.scheduler
        lane = scheduler.lane(current_task())
        self.hung[lane] = what
        try:
            await self.wait(scheduler.waiter())
        finally:
            del self.hung[lane]


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yields the errors inside nested groups."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves(part)
    else:
        yield error


def describe(error: BaseException) -> str:
    """Returns an error as one line: its class and its first line of text."""
    text = str(error).splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
