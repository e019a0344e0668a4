"""Defines the item, one entry of a history in the form that all systems share, and the sizes of a journal's cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

ItemKind = Literal["user", "assistant", "tool_call", "tool_result", "marker", "summary"]

ItemState = Literal["open", "completed", "interrupted", "failed", "aborted"]

Cause = Literal["stopped", "crashed", "timed_out", "lost_lease", "shut_down", "failed", "disconnected", "rolled_back"]

Origin = Literal["user", "model", "tool", "synthetic"]

HIDDEN_FROM_MODEL = "hidden_from_model"
"""The one metadata flag with a meaning of its own: true excludes an item from the model's context."""


@frozen(kw_only=True)
class Item:
    """One entry of a history or of a model context, in the smallest common form.

    Attributes:
        kind: kind of the entry. A ``marker`` is the terminal of a run.
        text: user text, visible answer text, tool output, or marker wording.
        id: the journal's own stable id, if it has one.
        aliases: ids that the provider used for the same message, in order of appearance.
        reasoning: hidden or visible reasoning text of an assistant message.
        call_id: pairs ``tool_call`` with ``tool_result``.
        name: tool name of a ``tool_call``.
        arguments: argument text of a ``tool_call``, exactly as streamed.
        state: ``completed`` or ``interrupted`` for messages; ``completed``, ``failed`` or
            ``aborted`` for tool results; how the run ended for markers.
        outcome: for an aborted tool result, its known outcome: ``unknown`` or ``not_started``.
        run_id: the run that wrote it, if known.
        cause: for an interrupted marker or message, why.
        origin: the author of the text.
        metadata: flags that are not text; see :data:`HIDDEN_FROM_MODEL`.
    """

    kind: ItemKind
    text: str = ""
    id: str | None = None
    aliases: tuple[str, ...] = ()
    reasoning: str = ""
    call_id: str | None = None
    name: str | None = None
    arguments: str = ""
    state: ItemState = "completed"
    outcome: Literal["", "unknown", "not_started"] = ""
    run_id: str | None = None
    cause: Cause | None = None
    origin: Origin | None = None
    metadata: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Statistics:
    """Sizes of a journal's memory, at this instant.

    Attributes:
        partial_messages: messages with buffered, unfinished text.
        partial_bytes: bytes of that text, UTF-8.
        partial_messages_max: declared bound for ``partial_messages``; 0 if none is declared.
        partial_bytes_max: declared bound for ``partial_bytes``; 0 if none is declared.
        active_runs: runs without a terminal.
        reader_bytes, reader_bytes_max: the most bytes buffered for one reader of a stream, and its bound, if declared.
    """

    partial_messages: int = 0
    partial_bytes: int = 0
    partial_messages_max: int = 0
    partial_bytes_max: int = 0
    active_runs: int = 0
    reader_bytes: int | None = None
    reader_bytes_max: int | None = None
