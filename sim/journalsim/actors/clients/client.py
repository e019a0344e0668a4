"""A person and the program in front of them: what all clients do.

The client knows only what has reached it: a run's id comes with the answer to its send or with
the first frame.  A Stop names a run, so a Stop that is pressed before the id is
known stays latched in the client until then.

How frames reach the client, and what it does when its server goes away, is left to
:class:`~journalsim.actors.clients.direct_client.DirectClient` and
:class:`~journalsim.actors.clients.wire_client.WireClient`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from attrs import define, field

from journalsim.actors.clients.backend import Answer, Backend
from journalsim.actors.clients.client_log import ClientLog
from journalsim.actors.clients.link import Link
from journalsim.contract.events.client_events import (
    ClientAnswered,
    ClientSent,
    ClientTold,
    Outcome,
    StopPressed,
)
from journalsim.contract.frames import Frame
from journalsim.engine.world import World
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step


@define
class Sent:
    """One message that the person sent.

    Attributes:
        key: idempotency key.
        text: the words.
        label: of the step.
        run: the run's id, once an answer has named it.
        latched: steps that stop this run as soon as it has a name.
        refused: the server said no.
    """

    key: str
    text: str
    label: str
    run: str | None = None
    latched: list[Step] = field(factory=list)
    refused: bool = False


class Client(ABC):
    """One client; every method is a step that the scheduler or an author's step calls.

    Attributes:
        name: by which steps call it.
        session: the conversation that it displays.
    """

    def __init__(self, world: World, spec: ClientSpec, session: str, backend: Backend) -> None:
        self.name = spec.name
        self.session = session
        self._spec = spec
        self._world = world
        self._log = ClientLog(world, spec.name)
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
        """The same request is sent again under the same key, as by a browser that retries."""
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
        """The person reloads the page, perhaps several times."""
        for _ in range(step.times):
            with self._log.act("reload"):
                self._reload(step)

    @abstractmethod
    def _reload(self, step: Step) -> None: ...

    @abstractmethod
    def detach(self, step: Step) -> None:
        """The program stops watching: the person closes the tab, or the network is gone."""

    @abstractmethod
    def attach(self, step: Step) -> None:
        """The program begins to watch again."""

    @abstractmethod
    def hide(self, step: Step) -> None:
        """The tab goes into the background."""

    @abstractmethod
    def show(self, step: Step) -> None:
        """The tab comes back to the front."""

    @abstractmethod
    def switch(self, step: Step) -> None:
        """The person looks at another session for a while."""

    # --- the server comes and goes

    @property
    @abstractmethod
    def connected(self) -> bool:
        """Returns False while the person sees that the program is broken and has not reattached it."""

    @abstractmethod
    def lose_connection(self) -> None:
        """The server went away under every open connection."""

    @abstractmethod
    def server_is_back(self) -> None:
        """A server process is up again."""

    @abstractmethod
    def reattach(self) -> None:
        """The person connects the program again."""

    # --- what reaches the client

    @abstractmethod
    def run_began(self, run: str) -> None:
        """A run has begun in the session that the client displays."""

    @abstractmethod
    def frame(self, frame: Frame) -> None:
        """The server publishes a frame of the session that the client displays."""

    def _learn(self, frame: Frame) -> None:
        """Takes from a frame what the person can act on: the run that a Stop means, and the run of a question."""
        if frame.kind == "run.started":
            self._seen_run = frame.run_id
        if frame.kind == "approval.requested" and frame.call_id is not None:
            self._asked[frame.call_id] = frame.run_id

    def _start_answered(self, sent: Sent, outcome: Outcome, run: str | None, reason: str) -> None:
        self._log.record(ClientTold(run=run, verb="start", key=sent.key, outcome=outcome, reason=reason))
        if run is not None:
            sent.run = run
            latched, sent.latched = sent.latched, []
            for step in latched:
                self._request_stop(step, run)
        elif outcome == "failed":
            sent.refused = True

    # --- inside

    def _submit(self, sent: Sent, step: Step) -> None:
        with self._log.act(step.verb):
            self._log.record(ClientSent(key=sent.key, text=sent.text, session=self.session, label=sent.label))
            self._post(sent, step)

    def _post(self, sent: Sent, step: Step) -> None:
        """Sends the request of a message, whose answer is told on its own."""

        def answer(outcome: Outcome, run: str | None, reason: str) -> None:
            self._link.answer(lambda: self._start_answered(sent, outcome, run, reason))

        def deliver() -> None:
            self._backend.start(self.session, sent.text, sent.key, answer)

        self._link.request("start", sent.key, step.travel, deliver)

    def _press_stop(self, step: Step) -> None:
        with self._log.act("stop"):
            sent = self._find(step.of)
            run = sent.run if sent is not None else self._seen_run
            named = run if run is not None else (sent.key if sent is not None else None)
            self._log.record(StopPressed(run=run, named=named, mode=step.mode))
            if run is not None:
                self._request_stop(step, run)
            elif sent is not None and not sent.refused:
                sent.latched.append(step)

    def _request_stop(self, step: Step, run: str) -> None:
        def deliver() -> None:
            self._backend.stop(self.session, run, step, self._record_answer("stop", ""))

        self._link.request("stop", run, step.travel, deliver)

    def _answer(self, step: Step) -> None:
        with self._log.act(step.verb):
            sent = self._find(None)
            run = self._asked.get(step.call or "") or (sent.run if sent is not None else self._seen_run)
            self._log.record(ClientAnswered(run=run, call_id=step.call, approved=step.verb == "approve"))
            if run is not None:
                self._request_answer(step, run)

    def _request_answer(self, step: Step, run: str) -> None:
        def deliver() -> None:
            self._backend.answer(self.session, run, step, self._record_answer("answer", step.call))

        self._link.request("answer", step.call or "", step.travel, deliver)

    def _record_answer(self, verb: str, key: str | None) -> Answer:
        """Returns what takes the answer to a request about a run: it is recorded when it arrives."""

        def answer(outcome: Outcome, run: str | None, reason: str) -> None:
            told = ClientTold(run=run, verb=verb, key=key, outcome=outcome, reason=reason)
            self._link.answer(lambda: self._log.record(told))

        return answer

    def _find(self, label: str | None) -> Sent | None:
        return next((sent for sent in reversed(self._sent) if label in (None, sent.label)), None)
