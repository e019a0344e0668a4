"""Readers of a server: their requests for streams, perhaps with a message, and their leaving."""

from __future__ import annotations

from functools import partial

from journalsim.actors.wire.exchange import Exchange
from journalsim.contract.events.client_events import Outcome
from journalsim.contract.events.server_events import ReaderDisconnected
from journalsim.engine.world import World
from journalsim.hosts.server.answering import Requests
from journalsim.hosts.server.known_runs import KnownRuns
from journalsim.hosts.server.lives import Lives
from journalsim.hosts.server.verbs import Verbs
from journalsim.hosts.stream_answers import Streams


class Readers:
    """The readers of one server.

    Args:
        world: the case's world.
        lives: of the server.
        verbs: calls its adapter.
        runs: that it knows.
        requests: submits the messages that come with a request for a stream.
    """

    def __init__(self, world: World, lives: Lives, verbs: Verbs, runs: KnownRuns, requests: Requests) -> None:
        self._world = world
        self._lives = lives
        self._verbs = verbs
        self._runs = runs
        self._requests = requests

    def open_stream(self, exchange: Exchange) -> None:
        """A request for a stream has arrived, perhaps with a message to submit first."""
        process, adapter = self._lives.process, self._lives.adapter
        assert process is not None, "the client asks whether the server is up"
        assert adapter is not None
        attach = partial(self._verbs.attempt, "attach", adapter.attach)  # type: ignore[attr-defined]  # claimed by replay
        streams = Streams(self._world, process, attach, self.disconnected, self._verbs.raised)
        if exchange.key is None:
            streams.open(exchange)
        else:
            process.spawn("serve.start", partial(self._submit_and_stream, streams, exchange))

    def disconnected(self, session: str, client: str) -> None:
        """The server notices that a reader is gone."""
        process = self._lives.process
        if process is None:
            return
        self._world.record("server", ReaderDisconnected(client=client, active=tuple(self._runs.active)))
        verb = getattr(self._lives.adapter, "disconnected", None)
        if verb is not None:

            async def work() -> None:
                await self._verbs.succeeds("disconnected", verb, session, client)

            process.spawn("serve.disconnected", work)

    async def _submit_and_stream(self, streams: Streams, exchange: Exchange) -> None:
        answers: list[tuple[Outcome, str]] = []

        def answer(outcome: Outcome, run: str | None, reason: str) -> None:
            answers.append((outcome, reason))
            exchange.told(outcome, run, reason)

        await self._requests.submit(exchange.session, exchange.text, exchange.key or "", answer)
        if not answers:
            return  # the process was killed in the moment of its answer
        outcome, reason = answers[0]
        if outcome == "ok":
            streams.open(exchange)
        else:
            streams.refuse(exchange, 409 if reason == "busy" else 500)
