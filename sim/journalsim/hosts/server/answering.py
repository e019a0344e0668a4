"""Requests of clients about runs: start, stop, and the answer to an approval."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from journalsim.actors.clients.backend import Answer
from journalsim.contract.adapters import OutcomeUnknown, RunBusy
from journalsim.contract.events.server_events import (
    AnswerAnswered,
    AnswerDelivered,
    RunAccepted,
    RunRefused,
    StopAnswered,
    StopDelivered,
)
from journalsim.engine.world import World
from journalsim.hosts.checks import checked_run, checked_stop_answer
from journalsim.hosts.process import describe
from journalsim.hosts.server.lives import Lives
from journalsim.hosts.server.relay import Relay
from journalsim.hosts.server.verbs import Verbs
from journalsim.scenario.values.moves import Step


class Requests:
    """The requests to one server.

    Args:
        world: the case's world.
        lives: of the server.
        verbs: calls its adapter.
        relay: to its clients.
    """

    def __init__(self, world: World, lives: Lives, verbs: Verbs, relay: Relay) -> None:
        self._record = partial(world.record, "server")
        self._lives = lives
        self._verbs = verbs
        self._runs = relay.runs
        self._relay = relay

    def start(self, session: str, text: str, key: str, answer: Answer) -> None:
        """A client's message has arrived."""
        self._serve("start", answer, partial(self.submit, session, text, key))

    def stop(self, session: str, run: str, step: Step, answer: Answer) -> None:
        """A client's stop has arrived."""
        self._serve("stop", answer, partial(self._stop, session, run, step))

    def answer(self, session: str, run: str, step: Step, answer: Answer) -> None:
        """A client's approval or denial has arrived."""
        self._serve("answer", answer, partial(self._answer, session, run, step))

    async def submit(self, session: str, text: str, key: str, answer: Answer) -> None:
        """Submits a message to the system; ``answer`` is not called if the process is killed meanwhile."""
        adapter, process = self._lives.adapter, self._lives.process
        if adapter is None or process is None:
            answer("failed", None, "the server is starting")
            return
        try:
            run = checked_run(await self._verbs.attempt("start", adapter.start, session, text, key))
        except RunBusy as error:
            self._record(RunRefused(key=key, reason=str(error) or "busy", session=session))
            answer("failed", None, "busy")
        except OutcomeUnknown as error:
            answer("unknown", None, str(error))
        except Exception as error:
            self._verbs.raised("start", error)
            answer("failed", None, describe(error))
        else:
            if process.alive:
                self._accept(run, session, text, key)
                answer("ok", run, "")

    # --- inside

    def _serve(self, verb: str, answer: Answer, work: Callable[[Answer], Awaitable[None]]) -> None:
        """Does a request in a task of the process; it is answered once, whatever becomes of the process."""
        process = self._lives.process
        if process is None:
            answer("failed", None, "the server is down")
            return
        answer_once = self._relay.once(answer)

        async def serve() -> None:
            await work(answer_once)

        process.spawn(f"serve.{verb}", serve)

    def _accept(self, run: str, session: str, text: str, key: str) -> None:
        again = self._runs.accept(run, session)
        self._record(RunAccepted(run=run, key=key, text=text, session=session, again=again))
        if not again:
            self._relay.run_began(session, run)

    async def _stop(self, session: str, run: str, step: Step, answer: Answer) -> None:
        adapter = self._lives.adapter
        if adapter is None:
            answer("failed", run, "the server is starting")
            return
        self._record(StopDelivered(run=run, named=run, mode=step.mode, active=tuple(self._runs.active)))
        try:
            said = checked_stop_answer(await self._verbs.attempt("stop", adapter.stop, session, run, step.mode))
        except Exception as error:
            self._record(StopAnswered(run=run, named=run, answer="error"))
            self._verbs.raised("stop", error)
            answer("failed", run, describe(error))
        else:
            self._record(StopAnswered(run=run, named=run, answer=said))
            answer("ok", run, said)

    async def _answer(self, session: str, run: str, step: Step, answer: Answer) -> None:
        verb = getattr(self._lives.adapter, "answer", None)
        if verb is None:
            answer("failed", run, "the system asks for no approvals")
            return
        approved = step.verb == "approve"
        self._record(AnswerDelivered(run=run, call_id=step.call, approved=approved))
        try:
            said = await self._verbs.attempt("answer", verb, session, run, step.call, approved)
        except Exception as error:
            self._record(AnswerAnswered(run=run, call_id=step.call, answer="error"))
            self._verbs.raised("answer", error)
            answer("failed", run, describe(error))
        else:
            self._record(AnswerAnswered(run=run, call_id=step.call, answer=said))
            answer("ok", run, said)
