"""Scripts the model, as pure data: chooses the turn that answers a call, and lists its emissions with their times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from attrs import evolve, field, frozen

from journalsim.contract.events.model_events import AskedCall
from journalsim.contract.items import Item
from journalsim.contract.model_call import ModelEvent, ModelRequest
from journalsim.scenario.values.cast import ModelSpec
from journalsim.scenario.values.speech import (
    DEFAULT_CHUNK_GAP_NS,
    Break,
    CallFilter,
    CallTool,
    Finish,
    NewMessage,
    Ping,
    RenameMessage,
    SilentEnd,
    Stall,
    StreamPart,
    Text,
    Turn,
    Wait,
)

Ending = Literal["", "error", "silent", "stall"]


@frozen(kw_only=True)
class Emission:
    """One action of the model's connection.

    Attributes:
        delay_ns: delay after the emission before it, nanoseconds.
        event: the chunk; None for an ending without one.
        ending: ``error``, ``silent`` or ``stall``, when the stream does not go on.
        error: kind and message of an ``error``.
    """

    delay_ns: int = 0
    event: ModelEvent | None = None
    ending: Ending = ""
    error: tuple[str, str] = ("", "")


@frozen(kw_only=True)
class Response:
    """The model's response to one call.

    Attributes:
        ref: ``model.turn2``; ``model.extra1`` when the script had no turn left.
        number: number of the turn, from 1; 0 for an extra one.
        emissions: the emissions in order.
        after_close: what the provider does when the system closes the stream early.
        complete_after_ns: delay of a late completion after the close, nanoseconds.
    """

    ref: str
    number: int
    emissions: tuple[Emission, ...]
    after_close: Literal["cancel", "complete"] = "cancel"
    complete_after_ns: int = 0


class ScriptedModel:
    """Answers each call with the first unused turn of the script that fits."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._used = [False] * len(spec.turns)
        self._extra = 0

    def answer(self, request: ModelRequest) -> Response:
        """Returns the response to a call; each turn answers once.

        A call without a turn gets a short answer of its own, so that a scenario may leave out calls that only some of
        its cases make.
        """
        for position, turn in enumerate(self._spec.turns):
            if not self._used[position] and fits(turn.when, request):
                self._used[position] = True
                return _response(f"{self._spec.name}.turn{position + 1}", position + 1, turn, self._spec.ids)
        self._extra += 1
        text = f"(unscripted {self._extra})"
        turn = Turn(stream=(Text(chunks=(text,)), Finish()))
        return _response(f"{self._spec.name}.extra{self._extra}", 0, turn, self._spec.ids)

    def give_back(self, response: Response) -> None:
        """Makes the turn of a call that was never sent usable again."""
        if response.number:
            self._used[response.number - 1] = False


def fits(when: CallFilter, request: ModelRequest) -> bool:
    """Returns True if a turn with this filter may answer the call."""
    if when.purpose != request.purpose:
        return False
    if request.actor != ("lead" if when.agent is None else f"sub:{when.agent}"):
        return False
    if when.attempt is not None and when.attempt != request.attempt:
        return False
    if when.user is not None and when.user != _last_user(request.context):
        return False
    return when.tool_result is None or when.tool_result in _trailing_results(request.context)


def _last_user(context: tuple[Item, ...]) -> str | None:
    return next((item.text for item in reversed(context) if item.kind == "user"), None)


def _trailing_results(context: tuple[Item, ...]) -> list[str | None]:
    results = []
    for item in reversed(context):
        if item.kind == "tool_result":
            results.append(item.call_id)
        elif item.kind in ("user", "assistant"):
            break
    return results


def _response(ref: str, number: int, turn: Turn, ids: str) -> Response:
    emissions: list[Emission] = []
    message, wait_ns, renamed = 1, turn.wait_ns, None
    for part in turn.stream:
        if isinstance(part, Wait):
            wait_ns += part.for_ns
            continue
        if isinstance(part, RenameMessage):
            renamed = part.id
            continue
        if isinstance(part, NewMessage):
            message, renamed = message + 1, part.id
        provider_id = renamed or f"msg-{ref.removeprefix('model.')}" + (f"-m{message}" if message > 1 else "")
        for emission in _emissions(part, number):
            named = _named(emission, ids, provider_id, 1 + sum(e.event is not None for e in emissions))
            emissions.append(evolve(named, delay_ns=named.delay_ns + wait_ns))
            wait_ns = 0
    return Response(
        ref=ref,
        number=number,
        emissions=tuple(emissions),
        after_close=turn.after_close,
        complete_after_ns=turn.complete_after_ns,
    )


def _named(emission: Emission, ids: str, provider_id: str, chunk: int) -> Emission:
    if emission.event is None or ids == "none":
        return emission
    name = f"{provider_id}-c{chunk}" if ids == "per_chunk" else provider_id
    return evolve(emission, event=evolve(emission.event, provider_id=name))


def _emissions(part: StreamPart, number: int) -> Iterator[Emission]:
    if isinstance(part, Text):
        kind: Literal["text", "reasoning"] = "reasoning" if part.reasoning else "text"
        for piece in part.pieces(number):
            yield Emission(delay_ns=part.every_ns, event=ModelEvent(kind, text=piece))
    elif isinstance(part, CallTool):
        opened = ModelEvent("tool_call", call_id=part.id, name=part.name)
        yield Emission(delay_ns=part.every_ns, event=opened)
        for piece in part.args_chunks:
            arguments = ModelEvent("tool_arguments", text=piece, call_id=part.id)
            yield Emission(delay_ns=part.every_ns, event=arguments)
    elif isinstance(part, NewMessage):
        yield Emission(delay_ns=DEFAULT_CHUNK_GAP_NS, event=ModelEvent("message"))
    elif isinstance(part, Ping):
        for _ in range(part.times):
            yield Emission(delay_ns=part.every_ns, event=ModelEvent("ping"))
    elif isinstance(part, Finish):
        for _ in range(part.times):
            yield Emission(delay_ns=part.after_ns, event=ModelEvent("finish", reason=part.reason))
    elif isinstance(part, Break):
        yield Emission(ending="error", error=(part.kind, part.message))
    elif isinstance(part, SilentEnd):
        yield Emission(ending="silent")
    else:
        assert isinstance(part, Stall)
        yield Emission(ending="stall")


@frozen(kw_only=True)
class MessageSoFar:
    """One message of a response, as far as it has been streamed."""

    ref: str
    text: str = ""
    reasoning: str = ""
    provider_ids: tuple[str, ...] = ()
    calls: tuple[AskedCall, ...] = field(factory=tuple)

    def plus(self, event: ModelEvent) -> MessageSoFar:
        """Returns the message with one more chunk."""
        provider_ids = self.provider_ids
        if event.provider_id is not None and event.provider_id not in provider_ids:
            provider_ids += (event.provider_id,)
        if event.kind == "text":
            return evolve(self, text=self.text + event.text, provider_ids=provider_ids)
        if event.kind == "reasoning":
            return evolve(self, reasoning=self.reasoning + event.text, provider_ids=provider_ids)
        if event.kind == "tool_call":
            call = AskedCall(event.call_id or "", event.name or "", "")
            return evolve(self, calls=(*self.calls, call), provider_ids=provider_ids)
        if event.kind == "tool_arguments":
            calls = tuple(
                call._replace(arguments=call.arguments + event.text) if call.call_id == event.call_id else call
                for call in self.calls
            )
            return evolve(self, calls=calls, provider_ids=provider_ids)
        return evolve(self, provider_ids=provider_ids)


def messages_of(response: Response) -> tuple[MessageSoFar, ...]:
    """Returns the whole messages of a response, which a provider that ignores the close completes."""
    messages = [MessageSoFar(ref=response.ref)]
    for emission in response.emissions:
        if emission.event is None:
            continue
        if emission.event.kind == "message":
            messages.append(MessageSoFar(ref=f"{response.ref}.m{len(messages) + 1}"))
        messages[-1] = messages[-1].plus(emission.event)
    return tuple(messages)
