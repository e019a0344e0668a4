"""A person and the program in front of them.

The client knows only what it was told: a run's id comes with the answer to its
send or with the first frame.  A Stop names a run, so a Stop that is pressed
before the id is known stays latched in the client until it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from attrs import define, field

from journalsim.actors.link import Link
from journalsim.contract.events.client_events import (
    ClientAnswered,
    ClientApplied,
    ClientAttached,
    ClientDetached,
    ClientDisconnected,
    ClientReloaded,
    ClientSent,
    ClientTold,
    StopPressed,
    ViewAfter,
)
from journalsim.contract.events.event_record import EventRecord
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.engine.world import World
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step, Travel


@define
class Sent:
    """One message that the person sent.

    Attributes:
        key: idempotency key.
        text: the words.
        label: of the step.
        run: the run's id, once the client was told.
        latched: steps that stop this run as soon as it has a name.
        refused: the server said no.
    """

    key: str
    text: str
    label: str
    run: str | None = None
    latched: list[Step] = field(factory=list)
    refused: bool = False


Outcome = Literal["ok", "failed", "unknown"]
Answer = Callable[[Outcome, str | None, str], None]


class Backend(Protocol):
    """What a client can ask of the server; ``answer`` is called once, or never if the request dies with it."""

    def start(self, session: str, text: str, key: str, answer: Answer) -> None: ...

    def stop(self, session: str, run: str, step: Step, answer: Answer) -> None: ...

    def answer(self, session: str, run: str, step: Step, answer: Answer) -> None: ...

    def read(self, session: str, reason: str, answer: Callable[[tuple[Item, ...]], None]) -> None: ...

    def disconnected(self, session: str, client: str) -> None: ...


class Client:
    """One client; every method is a step that the scheduler or an author's step calls."""

    def __init__(self, world: World, spec: ClientSpec, session: str, backend: Backend) -> None:
        self.name = spec.name
        self.session = session
        self.attached = True
        self.connected = True
        self._spec = spec
        self._world = world
        self._link = Link(world, spec)
        self._backend = backend
        self._sent: list[Sent] = []
        self._seen_run: str | None = None
        self._asked: dict[str, str] = {}

    # --- what the person does

    def send(self, step: Step, key: str) -> None:
        """The person sends a message."""
        sent = Sent(key=key, text=step.text, label=step.label)
        self._sent.append(sent)
        self._submit(sent, step)

    def resubmit(self, step: Step) -> None:
        """The same request once more, under the same key, as a retrying browser does."""
        sent = self._find(step.of)
        if sent is not None:
            for _ in range(step.times):
                self._submit(sent, step)

    def stop(self, step: Step) -> None:
        """The person presses Stop, perhaps several times."""
        for _ in range(step.times):
            self._press_stop(step)

    def approve(self, step: Step) -> None:
        """The person lets a tool run."""
        self._answer(step)

    def deny(self, step: Step) -> None:
        """The person forbids a tool to run."""
        self._answer(step)

    def reload(self, step: Step) -> None:
        """The person reloads the page, perhaps several times: the view is what the journal holds then."""
        for _ in range(step.times):
            self._reload(step)

    def _reload(self, step: Step) -> None:
        point = self._before("reload")
        self.attached = self.connected = True
        self._link.request("read", "", step.travel, lambda: self._backend.read(self.session, "reload", self._reloaded))
        self._world.passed(f"{point}.after")

    def detach(self, step: Step) -> None:
        """The program stops watching: the tab is closed or the network is gone."""
        if self.attached:
            self.attached = False
            self._record(ClientDetached())
            self._link.request("detach", "", step.travel, lambda: self._backend.disconnected(self.session, self.name))

    def attach(self, step: Step) -> None:
        """The program begins to watch again, from now on."""
        if not self.attached:
            self.attached = True
            self._record(ClientAttached())

    def hide(self, step: Step) -> None:
        """The tab goes into the background, which only a client on the wire notices."""

    def show(self, step: Step) -> None:
        """The tab comes back to the front."""

    def switch(self, step: Step) -> None:
        """The person looks at another session; a client that is not on the wire has only one."""

    # --- the connection

    def lose_connection(self) -> None:
        """The server went away: nothing more arrives until the client reattaches."""
        if self.connected:
            self.connected = False
            if self.attached:
                self._record(ClientDisconnected())

    def server_is_back(self) -> None:
        """A server is up again: a client that reattaches by itself does so after its retry time."""
        if not self.connected and self._spec.kind != "cli":
            self._world.scheduler.after(self._spec.retry_ns, f"person.{self.name}", self.reattach)

    def reattach(self) -> None:
        """Connects again and shows what the journal holds."""
        if self.connected:
            return
        self.connected = True
        if self.attached:
            self._record(ClientAttached())
            self._link.request(
                "read", "", Travel(), lambda: self._backend.read(self.session, "reattach", self._reloaded)
            )

    # --- what the client is told

    def run_began(self, run: str) -> None:
        """A run has begun in the session that the client shows; its frames come by themselves."""

    def frame(self, frame: Frame) -> None:
        """The server sends a frame; it is applied when it has arrived."""
        if self.attached and self.connected:
            self._link.frame(lambda: self._apply(frame))

    def _apply(self, frame: Frame) -> None:
        if not self.attached:
            return
        self._learn(frame)
        point = self._before("apply")
        self._record_applied(frame, frame.event_id)
        self._world.passed(f"{point}.after")

    def _learn(self, frame: Frame) -> None:
        """Takes from a frame what the person can act on: the run that a Stop means, and who asks."""
        if frame.kind == "run.started":
            self._seen_run = frame.run_id
        if frame.kind == "approval.requested" and frame.call_id is not None:
            self._asked[frame.call_id] = frame.run_id

    def _record_applied(self, frame: Frame, event_id: str | None, view: ViewAfter | None = None) -> None:
        self._record(
            ClientApplied(
                run=frame.run_id,
                frame=frame.kind,
                message=frame.message_id,
                text=frame.text,
                reasoning=frame.reasoning,
                source=frame.source,
                call_id=frame.call_id,
                state=frame.state,
                event_id=event_id,
                view=view,
            )
        )

    def _reloaded(self, items: tuple[Item, ...]) -> None:
        self._link.answer(lambda: self._record(ClientReloaded(items=items)))

    def _told_start(self, sent: Sent, outcome: Outcome, run: str | None, reason: str) -> None:
        self._record(ClientTold(run=run, verb="start", key=sent.key, outcome=outcome, reason=reason))
        if run is not None:
            sent.run = run
            latched, sent.latched = sent.latched, []
            for step in latched:
                self._request_stop(step, run)
        elif outcome == "failed":
            sent.refused = True

    # --- inside

    def _submit(self, sent: Sent, step: Step) -> None:
        point = self._before(step.verb)
        self._record(ClientSent(key=sent.key, text=sent.text, session=self.session, label=sent.label))

        def answer(outcome: Outcome, run: str | None, reason: str) -> None:
            self._link.answer(lambda: self._told_start(sent, outcome, run, reason))

        def deliver() -> None:
            self._backend.start(self.session, sent.text, sent.key, answer)

        self._link.request("start", sent.key, step.travel, deliver)
        self._world.passed(f"{point}.after")

    def _press_stop(self, step: Step) -> None:
        point = self._before("stop")
        sent = self._find(step.of)
        run = sent.run if sent is not None else self._seen_run
        named = run if run is not None else (sent.key if sent is not None else None)
        self._record(StopPressed(run=run, named=named, mode=step.mode))
        if run is not None:
            self._request_stop(step, run)
        elif sent is not None and not sent.refused:
            sent.latched.append(step)
        self._world.passed(f"{point}.after")

    def _request_stop(self, step: Step, run: str) -> None:
        def answer(outcome: Outcome, run: str | None, reason: str) -> None:
            told = ClientTold(run=run, verb="stop", key="", outcome=outcome, reason=reason)
            self._link.answer(lambda: self._record(told))

        def deliver() -> None:
            self._backend.stop(self.session, run, step, answer)

        self._link.request("stop", run, step.travel, deliver)

    def _answer(self, step: Step) -> None:
        point = self._before(step.verb)
        sent = self._find(None)
        run = self._asked.get(step.call or "") or (sent.run if sent is not None else self._seen_run)
        self._record(ClientAnswered(run=run, call_id=step.call, approved=step.verb == "approve"))
        if run is not None:

            def answer(outcome: Outcome, run: str | None, reason: str) -> None:
                told = ClientTold(run=run, verb="answer", key=step.call, outcome=outcome, reason=reason)
                self._link.answer(lambda: self._record(told))

            def deliver() -> None:
                self._backend.answer(self.session, run, step, answer)

            self._link.request("answer", step.call or "", step.travel, deliver)
        self._world.passed(f"{point}.after")

    def _find(self, label: str | None) -> Sent | None:
        return next((sent for sent in reversed(self._sent) if label in (None, sent.label)), None)

    def _before(self, verb: str) -> str:
        point = f"{self.name}.{verb}#{self._world.number(f'{self.name}.{verb}')}"
        self._world.passed(f"{point}.before")
        return point

    def _record(self, data: EventRecord) -> None:
        self._world.record(self.name, data)
