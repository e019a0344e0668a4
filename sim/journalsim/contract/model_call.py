"""Defines the calls between a system and the scripted model, and between a system and the scripted tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Literal, Protocol

from attrs import frozen

from journalsim.contract.items import Item


class ModelError(Exception):
    """The model's stream broke; ``kind`` is the provider's word, such as ``overloaded``."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind = kind


class ToolError(Exception):
    """The tool ran and failed."""


@frozen(kw_only=True)
class ToolCall:
    """One tool call that the model requests."""

    call_id: str
    name: str
    arguments: str = ""


@frozen(kw_only=True)
class ToolTraits:
    """The properties of a tool that a system must know before it runs the tool.

    Attributes:
        approval: a person must approve the call first.
        agent: the call runs a sub-agent: the system calls the model on its behalf
            (:attr:`ModelRequest.actor`), and the sub-agent's answer is the result.
    """

    approval: bool = False
    agent: bool = False


@frozen(kw_only=True)
class ModelRequest:
    """One call of the model by a system.

    Attributes:
        run_id: the run on whose behalf the system calls the model.
        session_id: its conversation.
        attempt: 1, then 2 for the first retry within the run, and so on.
        context: the items given to the model, oldest first.
        purpose: ``turn`` for an answer, ``compaction`` for a summary of the history.
        actor: ``lead``, or ``sub:NAME`` for a sub-agent.
    """

    run_id: str
    session_id: str
    attempt: int = 1
    context: tuple[Item, ...] = ()
    purpose: Literal["turn", "compaction"] = "turn"
    actor: str = "lead"


ModelEventKind = Literal["message", "text", "reasoning", "tool_call", "tool_arguments", "ping", "finish"]


@frozen
class ModelEvent:
    """One chunk of the model's stream.

    Attributes:
        kind: ``message`` opens a further message in the same response; ``text`` and
            ``reasoning`` carry ``text``; ``tool_call`` opens a call (``call_id``, ``name``);
            ``tool_arguments`` adds ``text`` to the arguments of ``call_id``; ``ping`` carries
            nothing; ``finish`` completes the response (``reason``).
        provider_id: the provider's id of the message at this moment; it may change in
            mid-message, and may be None.
    """

    kind: ModelEventKind
    text: str = ""
    provider_id: str | None = None
    call_id: str | None = None
    name: str | None = None
    reason: str | None = None


@frozen(kw_only=True)
class Completion:
    """A whole message that the provider reports as finished, in the form that a completion callback receives."""

    provider_id: str | None
    text: str
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reason: str = "end_turn"


LateCompletion = Callable[[Completion], Awaitable[None]]


class ModelStream(Protocol):
    """An open call of the model: iterate it, and leave the ``async with`` block to close it.

    Iteration raises :class:`ModelError` when the provider breaks off. Iteration ends without a ``finish`` event when
    the connection ends silently; the message is then *not* completed.
    """

    async def __aenter__(self) -> ModelStream: ...

    async def __aexit__(self, *exc: object) -> bool | None: ...

    def __aiter__(self) -> AsyncIterator[ModelEvent]: ...
