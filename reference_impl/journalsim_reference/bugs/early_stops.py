"""Seeded bugs of a stop that comes before a run is under way, or for the second time."""

from __future__ import annotations

from journalsim.contract.capabilities import StopMode
from journalsim.contract.ports import Ports
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.server import Server
from journalsim_reference.state import Run
from journalsim_reference.stores.base import Store
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer

LOADING_NS = 50_000_000


class _MissesSomeStops(Server):
    """Answers some stops as if they were carried out."""

    async def stop(
        self, session_id: str, run_id: str, mode: StopMode = "interrupt", cause: str = "stopped", by: str = "person"
    ) -> str:
        run = self.state.runs.get(run_id)
        if run is not None and cause == "stopped" and self.misses(run):
            return "stopping"
        return await super().stop(session_id, run_id, mode, cause, by)

    def misses(self, run: Run) -> bool:
        """Returns True if a stop of this run has no effect."""
        raise NotImplementedError


class _StopsOnlyWhatHasStarted(_MissesSomeStops):
    def misses(self, run: Run) -> bool:
        return run.state == "accepted"


class _HasHandles(Writer):
    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.handles: dict[str, bool] = {}


class _LoadsExtensionsFirst(Worker):
    async def work(self) -> None:
        assert isinstance(self.writer, _HasHandles)
        await self.writer.ports.sleep(LOADING_NS)
        self.writer.handles[self.run_state.run_id] = True
        await super().work()


class _StopsByHandle(_MissesSomeStops):
    def misses(self, run: Run) -> bool:
        assert isinstance(self.writer, _HasHandles)
        return not run.ended and run.run_id not in self.writer.handles


class _RefusesASecondStop(Server):
    async def stop(
        self, session_id: str, run_id: str, mode: StopMode = "interrupt", cause: str = "stopped", by: str = "person"
    ) -> str:
        run = self.state.runs.get(run_id)
        if run is not None and run.state == "cancelling":
            return "unknown"  # it is on no list of runs that can be stopped
        return await super().stop(session_id, run_id, mode, cause, by)


EARLY_STOPS = (
    Bug(
        name="stop-before-start-ignored",
        summary="A stop between the acceptance of a run and its start changes nothing.",
        failure_mode="DF-29",
        trips=("stop-ends-run",),
        build=with_parts(server=_StopsOnlyWhatHasStarted),
    ),
    Bug(
        name="stop-without-handle-ignored",
        summary="A run gets its handle for stopping when its extensions are loaded, and an earlier stop does nothing.",
        failure_mode="GO-12",
        trips=("stop-ends-run",),
        build=with_parts(server=_StopsByHandle, writer=_HasHandles, worker=_LoadsExtensionsFirst),
    ),
    Bug(
        name="second-stop-refused",
        summary="A stop of a run that is already being stopped is answered as if no such run existed.",
        failure_mode="DF-28",
        trips=("stop-ends-run",),
        build=with_parts(server=_RefusesASecondStop),
    ),
)
