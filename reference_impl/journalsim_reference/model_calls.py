"""Calls the model, and takes its stream.

One speaker, the lead or a sub-agent, calls and retries; each piece goes to the writer as it comes, so no state of this
module has to survive. A received completion is appended behind a shield, so that a racing stop or time limit cannot
lose it.
"""

from __future__ import annotations

from collections.abc import Callable

import trio
from attrs import Factory, define

from journalsim.contract.items import Item
from journalsim.contract.model_call import Completion, ModelError, ModelEvent, ModelRequest, ToolCall
from journalsim_reference.batch import Stamp
from journalsim_reference.content import Content
from journalsim_reference.journal import Decision, Refused, decide_complete, decide_open, decide_spill
from journalsim_reference.state import LEAD, Run, Speaker
from journalsim_reference.writer import Writer

BACKOFF_NS = (100_000_000, 400_000_000)
"""Pauses before the second and third attempt: three in all, since a provider that fails three times in a row is down.
"""


@define
class Response:
    """The messages that one attempt of a model call has brought so far.

    Attributes:
        attempt: number of the attempt within the run.
        stale: messages of failed attempts, which its first message replaces.
        messages: the messages that it opened, in order.
        current: the open message, which takes further pieces, if there is one.
        finished: True once the finish was received.
        reason: the finish reason.
    """

    attempt: int
    stale: tuple[str, ...] = ()
    messages: list[str] = Factory(list)
    current: str | None = None
    finished: bool = False
    reason: str = ""


class ModelCalls:
    """Calls the model on behalf of one speaker of a run.

    Args:
        writer: the writer of the process.
        run: a run whose acceptance is durable.
        speaker: the speaker of the answers.
    """

    def __init__(self, writer: Writer, run: Run, speaker: Speaker = LEAD) -> None:
        self.writer = writer
        self.state = writer.state
        self.run_state = run
        self.speaker = speaker
        self.attempt = 1
        self.failure = ""

    async def append(self, decide: Callable[[Stamp], Decision]) -> Decision:
        """Decides and commits, in a critical section of its own."""
        return await self.writer.append(self.run_state.session_id, decide)

    def context(self, stale: tuple[str, ...] = ()) -> tuple[Item, ...]:
        """Returns the speaker's context without the messages of failed attempts, which the next attempt replaces."""
        run = self.run_state
        if self.speaker.call_id is None:
            items = self.writer.given(run.session_id)
        else:
            items = self.writer.given_to_agent(run.run_id, self.speaker.call_id)
        if not stale:
            return items
        calls = {call.call_id for call in run.calls.values() if call.message_id in stale}  # membership only
        return tuple(item for item in items if item.id not in stale and item.call_id not in calls)

    # --- a response

    async def ask(self) -> Response | None:
        """Returns a finished response, or None when every attempt failed."""
        stale: tuple[str, ...] = ()
        for pause_ns in (0, *BACKOFF_NS):
            if pause_ns:
                await self.writer.ports.sleep(pause_ns)
                self.attempt += 1
            response = Response(self.attempt, stale)
            try:
                await self.receive(response)
                self.failure = "the model's stream ended without a finish"
            except ModelError as error:  # an error after a finish takes nothing back
                self.failure = str(error)
            if response.finished:
                return response
            stale += tuple(response.messages)
        return None

    async def receive(self, response: Response) -> None:
        """Makes one model call and takes its whole stream."""
        run, writer = self.run_state, self.writer

        async def on_late(completion: Completion) -> None:
            await self.take_late(response, completion)

        request = ModelRequest(
            run_id=run.run_id,
            session_id=run.session_id,
            attempt=response.attempt,
            context=self.context(response.stale),
            actor=self.speaker.actor,
        )
        async with writer.ports.model(request, on_late=on_late) as stream:
            async for event in stream:
                await self.take(response, event)

    async def take(self, response: Response, event: ModelEvent) -> None:
        """Takes one event of the stream."""
        if event.kind == "finish":
            await self.complete(response, event.reason or "end_turn", event.provider_id)
            response.reason = response.reason or event.reason or "end_turn"
            response.finished = True
        elif response.finished or event.kind == "ping":
            return
        elif event.kind != "message":
            await self.grow(response, piece_of(event), event.provider_id)
        elif response.current is not None:
            await self.complete(response, "end_turn", None)
            response.current = None

    async def grow(self, response: Response, piece: Content, source: str | None) -> None:
        """Adds a piece to the current message; opens one if needed, and spills the piece if it does not fit."""
        run, writer = self.run_state, self.writer
        if response.current is not None and writer.holds(response.current, piece):
            writer.buffer(run, response.current, piece, source)
        elif response.current is not None or not piece.empty:
            await writer.insist(run.session_id, lambda: self._grow(response, piece, source))

    def _grow(self, response: Response, piece: Content, source: str | None) -> None:
        message_id = response.current or self._open(response, source)
        if message_id is None:
            return
        if self.writer.holds(message_id, piece):
            self.writer.buffer(self.run_state, message_id, piece, source)
        else:
            self.spill(message_id, piece)

    def _open(self, response: Response, source: str | None) -> str | None:
        run, state = self.run_state, self.state
        decision = self.writer.commit(
            lambda stamp: decide_open(
                state,
                stamp,
                run.run_id,
                stale=response.stale,
                source=source,
                speaker=self.speaker,
            )
        )
        if isinstance(decision, Refused):
            return None
        message_id: str = decision[-1].payload["message_id"]
        response.current = message_id
        response.messages.append(message_id)
        return message_id

    def spill(self, message_id: str, piece: Content) -> None:
        """Moves the buffered text of a message, and a piece that does not fit, into the journal."""
        run, writer = self.run_state, self.writer
        content = writer.partials.content(message_id).plus(piece)
        decision = writer.commit(lambda stamp: decide_spill(self.state, stamp, run.run_id, message_id, content))
        if not isinstance(decision, Refused):
            writer.partials.evict(message_id)

    async def complete(self, response: Response, reason: str, source: str | None) -> None:
        """Appends the current message as completed; a stop cannot take a received completion back."""
        with trio.CancelScope(shield=True):
            await self.writer.insist(
                self.run_state.session_id,
                lambda: self.commit_completion(response, response.current, self.content(response, source), reason),
            )

    def content(self, response: Response, source: str | None) -> Content:
        """Returns the whole received content of the current message."""
        aliases = Content(aliases=() if source is None else (source,))
        if response.current is None:
            return aliases
        stored = self.run_state.messages[response.current].content
        return stored.plus(self.writer.partials.content(response.current)).plus(aliases)

    def commit_completion(self, response: Response, message_id: str | None, content: Content, reason: str) -> Decision:
        """Decides about a completion, inside a critical section."""
        writer = self.writer
        decision = writer.commit(
            lambda stamp: decide_complete(
                self.state,
                stamp,
                self.run_state.run_id,
                message_id,
                content,
                reason=reason,
                stale=response.stale,
                speaker=self.speaker,
            )
        )
        if not isinstance(decision, Refused):
            opened = (event for event in decision if event.kind == "message.opened")
            response.messages += [event.payload["message_id"] for event in opened]
        return decision

    async def take_late(self, response: Response, completion: Completion) -> None:
        """Takes a completion that the provider reports after the stream was closed."""
        if self.writer.closing and self.run_state.ended:
            return
        aliases = () if completion.provider_id is None else (completion.provider_id,)
        content = Content(completion.text, completion.reasoning, completion.tool_calls, aliases)

        def work() -> None:
            message_id = self.identify(response, completion.provider_id)
            self.commit_completion(response, message_id, content, completion.reason)

        await self.writer.insist(self.run_state.session_id, work)

    def identify(self, response: Response, provider_id: str | None) -> str | None:
        """Returns the message of this response that has the provider's id; None stands for a new message.

        A known id decides. An unknown id is either a new name of the message that was still open, or the name of the
        next one.
        """
        messages = self.run_state.messages
        for message_id in response.messages:
            buffered = self.writer.partials.content(message_id).aliases
            if provider_id in messages[message_id].content.aliases + buffered:
                return message_id
        if not response.messages:
            return None
        last = response.messages[-1]
        return last if response.finished or messages[last].state != "completed" else None


def piece_of(event: ModelEvent) -> Content:
    """Returns the content of one chunk."""
    aliases = () if event.provider_id is None else (event.provider_id,)
    if event.kind == "text":
        return Content(text=event.text, aliases=aliases)
    if event.kind == "reasoning":
        return Content(reasoning=event.text, aliases=aliases)
    call = ToolCall(call_id=event.call_id or "", name=event.name or "", arguments=event.text)
    return Content(calls=(call,), aliases=aliases)
