"""Seeded bugs of prompts, which must be stored once, at once, and be part of the model's context."""

from __future__ import annotations

from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.bugs.views import cut_short
from journalsim_reference.events import Event
from journalsim_reference.server import Server
from journalsim_reference.stores.base import Store
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer

LOADING_NS = 50_000_000


class _ForgetsTheKey(Server):
    async def start(self, session_id: str, text: str, key: str) -> str:
        known = self.state.session(session_id).keys.get(key)
        if known is not None and self.state.runs[known].ended:
            key = f"{key} again"  # keys are those of active runs
        return await super().start(session_id, text, key)


class _StoresTheTurn(Writer):
    """Stores a prompt together with the first words of its answer."""

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(item for item in super().shown(session_id) if item.kind != "user" or self._stored(item))

    def _stored(self, item: Item) -> bool:
        run = self.state.runs[item.run_id or ""]
        return run.ended or len(run.messages) > 1 or run.state == "cancelling"


class _ForgetsThePendingPrompt(Writer):
    """Holds a prompt in memory until its worker stores it, and lets a stop clear it."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.stored: dict[str, bool] = {}
        self.cleared: dict[str, bool] = {}

    def _committed(self, event: Event) -> None:
        if event.kind == "run.stop_requested" and event.run_id not in self.stored:
            self.cleared[event.run_id] = True
        super()._committed(event)

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return self._stored(super().shown(session_id))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return self._stored(super().given(session_id))

    def _stored(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(item for item in items if item.kind != "user" or item.run_id not in self.cleared)


class _StoresWhenItWorks(Worker):
    """Loads extensions first, and then stores the prompt."""

    async def work(self) -> None:
        assert isinstance(self.writer, _ForgetsThePendingPrompt)
        await self.writer.ports.sleep(LOADING_NS)
        self.writer.stored[self.run_state.run_id] = True
        await super().work()


class _ShowsPartialsOnly(Writer):
    """Writes interrupted text to the store of the page, which is not that of the model."""

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(item for item in super().given(session_id) if not cut_short(item))


class _RestoresForThePage(Writer):
    """Restores the prompt of a crashed run only for people."""

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(item for item in super().given(session_id) if item.kind != "user" or not self._restored(item))

    def _restored(self, item: Item) -> bool:
        return self.state.runs[item.run_id or ""].cause == "crashed"


PROMPTS = (
    Bug(
        name="repeated-submit-runs-twice",
        summary="A submit that is repeated after its run has ended begins a second run.",
        failure_mode="HW-5",
        trips=("one-request-one-effect",),
        build=with_parts(server=_ForgetsTheKey),
    ),
    Bug(
        name="prompt-stored-with-the-answer",
        summary="A prompt is stored with the first words of the answer, after the model was called.",
        failure_mode="HW-1",
        trips=("prompt-first",),
        build=with_parts(writer=_StoresTheTurn),
    ),
    Bug(
        name="stop-clears-the-pending-prompt",
        summary="A stop before the worker has stored the prompt clears it.",
        failure_mode="HW-6",
        trips=("no-lost-completed-message",),
        build=with_parts(writer=_ForgetsThePendingPrompt, worker=_StoresWhenItWorks),
    ),
    Bug(
        name="partial-unknown-to-model",
        summary="People see an interrupted message that the model's context never holds.",
        failure_mode="DF-15",
        trips=("store-equals-context",),
        build=with_parts(writer=_ShowsPartialsOnly),
    ),
    Bug(
        name="restored-prompt-unknown-to-model",
        summary="After a crash people see a prompt that the model's context never holds.",
        failure_mode="HW-23",
        trips=("store-equals-context",),
        build=with_parts(writer=_RestoresForThePage),
    ),
)
