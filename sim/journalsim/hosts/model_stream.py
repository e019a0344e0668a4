"""Streams one open call of the scripted model; chunks arrive in virtual time, independent of the reader.

The provider pushes: each emission is due some time after the one before it, whether or not the system has taken that
one. The system pulls: it receives a chunk at the point ``model.turn2.c7.before``, and counts as having processed it
when it returns for the next one, at ``model.turn2.c7.after``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from journalsim.actors.model import Emission, MessageSoFar, ScriptedModel, messages_of
from journalsim.contract.events.event_record import EventRecord
from journalsim.contract.events.model_events import (
    ModelCalled,
    ModelChunk,
    ModelClosed,
    ModelCompleted,
    ModelEndedSilently,
    ModelFailed,
)
from journalsim.contract.model_call import Completion, LateCompletion, ModelError, ModelEvent, ModelRequest, ToolCall
from journalsim.engine.entries import Entry, Timer
from journalsim.engine.world import World
from journalsim.hosts.process import Process


class OpenCall:
    """Implements :class:`journalsim.contract.model_call.ModelStream`."""

    def __init__(
        self,
        world: World,
        process: Process,
        model: ScriptedModel,
        request: ModelRequest,
        on_late: LateCompletion | None,
        watch: Callable[[], None],
    ) -> None:
        self._world = world
        self._process = process
        self._model = model
        self._request = request
        self._on_late = on_late
        self._watch = watch
        self._due: deque[Emission] = deque()
        self._waiter: Entry | None = None
        self._timer: Timer | None = None
        self._sent = 0
        self._chunks = 0
        self._after = ""
        self._ended = False
        self._completed: set[str] = set()  # membership only

    async def __aenter__(self) -> OpenCall:
        request = self._request
        self._response = response = self._model.answer(request)
        self._ref = response.ref
        self._message = MessageSoFar(ref=response.ref)
        try:
            await self._process.point(f"{self._ref}.call.before")
        except BaseException:
            self._model.give_back(response)
            raise
        self._world.record(
            "model",
            ModelCalled(
                run=request.run_id,
                turn=self._ref,
                attempt=request.attempt,
                purpose=request.purpose,
                who=request.actor,
                session=request.session_id,
                context=request.context,
            ),
        )
        self._schedule()
        await self._process.point(f"{self._ref}.call.after")
        return self

    def __aiter__(self) -> OpenCall:
        return self

    async def __anext__(self) -> ModelEvent:
        await self._pass_after()
        while not self._due:
            if self._sent == len(self._response.emissions):
                raise StopAsyncIteration
            self._waiter = self._world.scheduler.waiter()
            await self._process.wait(self._waiter)
        emission = self._due[0]
        name = self._name(emission)
        if emission.ending != "stall":
            await self._process.point(f"{name}.before")
        self._due.popleft()
        if emission.event is None:
            await self._end(emission)
        assert emission.event is not None
        self._after = f"{name}.after"
        self._hand_over(emission.event)
        return emission.event

    async def __aexit__(self, *exc: object) -> None:
        if exc[0] is None and self._after:
            self._world.passed(self._after)
        if self._timer is not None:
            self._timer.cancel()
        if self._ended:
            return
        self._record(ModelClosed(run=self._request.run_id, message=self._message.ref))
        response = self._response
        if response.after_close == "complete" and self._on_late is not None and self._process.alive:
            self._world.scheduler.after(response.complete_after_ns, "model", self._complete_late)

    # --- the provider's side

    def _schedule(self) -> None:
        emissions = self._response.emissions
        if self._sent < len(emissions):
            self._timer = self._world.scheduler.after(emissions[self._sent].delay_ns, "model", self._arrive)

    def _arrive(self) -> None:
        self._due.append(self._response.emissions[self._sent])
        self._sent += 1
        self._schedule()
        if self._waiter is not None:
            waiter, self._waiter = self._waiter, None
            self._world.scheduler.wake(waiter)

    def _complete_late(self) -> None:
        if self._process.alive:
            self._process.spawn(f"late:{self._ref}", self._report_late)

    async def _report_late(self) -> None:
        assert self._on_late is not None
        for message in messages_of(self._response):
            if message.ref not in self._completed:
                await self._process.point(f"{message.ref}.late.before")
                self._record_completed(message, "end_turn", late=True)
                await self._on_late(_completion(message))

    # --- handing over

    async def _pass_after(self) -> None:
        if self._after:
            name, self._after = self._after, ""
            self._watch()
            await self._process.point(name)

    def _name(self, emission: Emission) -> str:
        if emission.event is None:
            return f"{self._ref}.{'error' if emission.ending == 'error' else 'end'}"
        if emission.event.kind == "finish":
            return f"{self._ref}.finish"
        return f"{self._ref}.c{self._chunks + 1}"

    def _hand_over(self, event: ModelEvent) -> None:
        if event.kind == "finish":
            self._ended = True
            self._message = self._message.plus(event)
            self._record_completed(self._message, event.reason or "end_turn", late=False)
            return
        self._chunks += 1
        if event.kind == "message":
            self._record_completed(self._message, "end_turn", late=False)
            self._message = MessageSoFar(ref=f"{self._ref}.m{len(self._completed) + 1}")
        self._message = self._message.plus(event)
        self._record(
            ModelChunk(
                run=self._request.run_id,
                message=self._message.ref,
                part=event.kind,
                text=event.text,
                chunk=self._chunks,
                provider_id=event.provider_id,
                call_id=event.call_id,
                name=event.name,
            )
        )

    async def _end(self, emission: Emission) -> None:
        if emission.ending == "stall":
            await self._process.hang(f"{self._ref}, which stalls")
        self._ended = True
        if emission.ending == "error":
            kind, message = emission.error
            self._record(ModelFailed(run=self._request.run_id, message=self._message.ref, error=kind))
            raise ModelError(kind, message)
        self._record(ModelEndedSilently(run=self._request.run_id, message=self._message.ref))
        raise StopAsyncIteration

    def _record_completed(self, message: MessageSoFar, reason: str, *, late: bool) -> None:
        self._completed.add(message.ref)
        self._record(
            ModelCompleted(
                run=self._request.run_id,
                message=message.ref,
                text=message.text,
                reasoning=message.reasoning,
                calls=message.calls,
                reason=reason,
                provider_ids=message.provider_ids,
                late=late,
            )
        )

    def _record(self, data: EventRecord) -> None:
        self._world.record("model", data)


def _completion(message: MessageSoFar) -> Completion:
    return Completion(
        provider_id=message.provider_ids[-1] if message.provider_ids else None,
        text=message.text,
        reasoning=message.reasoning,
        tool_calls=tuple(ToolCall(call_id=i, name=n, arguments=a) for i, n, a in message.calls),
    )
