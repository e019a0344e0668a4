"""Defines the content of a message: text, reasoning and tool calls, as one value that grows piece by piece.

A chunk of the model's stream, the text of a ``message.delta`` row, the buffer of an open message and the whole of a
completed one are all a :class:`Content`; adding them up turns a stream into a message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from journalsim.contract.model_call import ToolCall


@frozen
class Content:
    """Some or all of a message.

    Attributes:
        text: visible text.
        reasoning: thinking.
        calls: tool calls in the order in which they were opened, arguments as far as streamed.
        aliases: the provider's ids of the message, in order of appearance.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """True if the content has neither text nor calls."""
        return not (self.text or self.reasoning or self.calls)

    @property
    def size(self) -> int:
        """Bytes of all text in UTF-8; a split code point counts like a whole one."""
        parts = [self.text, self.reasoning, *(call.arguments for call in self.calls)]
        return sum(len(part.encode("utf-8", "surrogatepass")) for part in parts)

    def plus(self, more: Content) -> Content:
        """Returns this content followed by ``more``; arguments of a call already open go to that call."""
        return Content(
            self.text + more.text,
            self.reasoning + more.reasoning,
            _merged(self.calls, more.calls) if more.calls else self.calls,
            _united(self.aliases, more.aliases),
        )

    def with_aliases(self, aliases: tuple[str, ...]) -> Content:
        """Returns the same content with these ids added."""
        return evolve(self, aliases=_united(self.aliases, aliases))


NOTHING = Content()


def whole(call: ToolCall) -> bool:
    """Returns True if the arguments of a call have certainly been streamed to their end.

    A JSON object is its own end mark: no proper prefix of one is a JSON object. Other argument texts count as whole
    only when the message completes.
    """
    try:
        return isinstance(json.loads(call.arguments), dict)
    except ValueError:
        return False


def content_to_data(content: Content) -> dict[str, Any]:
    """Returns the content as JSON data without its empty parts."""
    calls = [[call.call_id, call.name, call.arguments] for call in content.calls]
    parts = {"text": content.text, "reasoning": content.reasoning, "calls": calls}
    return {name: part for name, part in parts.items() if part}


def content_from_data(data: Mapping[str, Any]) -> Content:
    """Returns the content that :func:`content_to_data` wrote, without aliases."""
    calls = tuple(ToolCall(call_id=i, name=n, arguments=a) for i, n, a in data.get("calls", ()))
    return Content(data.get("text", ""), data.get("reasoning", ""), calls)


def _united(aliases: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(aliases + more))


def _merged(calls: tuple[ToolCall, ...], more: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    merged = {call.call_id: call for call in calls}
    for call in more:
        known = merged.get(call.call_id)
        merged[call.call_id] = call if known is None else evolve(known, arguments=known.arguments + call.arguments)
    return tuple(merged.values())
