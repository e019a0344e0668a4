"""Scripts the tools, as pure data: chooses the reply to each call."""

from __future__ import annotations

from journalsim.contract.model_call import ToolCall
from journalsim.scenario.values.cast import ToolSpec
from journalsim.scenario.values.speech import ToolReply


class ScriptedTool:
    """Answers each call with the first unused reply that fits it."""

    def __init__(self, spec: ToolSpec) -> None:
        self._spec = spec
        self._used = [False] * len(spec.replies)
        self.effects = 0

    def reply(self, call: ToolCall) -> tuple[ToolReply, int]:
        """Returns the reply to a call, and its duration in nanoseconds.

        A call that the script does not mention returns ``<name> done``.
        """
        for position, reply in enumerate(self._spec.replies):
            if not self._used[position] and reply.call in (None, call.call_id):
                self._used[position] = True
                duration = self._spec.duration_ns if reply.duration_ns is None else reply.duration_ns
                return reply, duration
        return ToolReply(text=f"{self._spec.name} done"), self._spec.duration_ns
