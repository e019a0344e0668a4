"""Carries out one run, from its prompt to its terminal.

The worker holds no state that must survive: text is with the writer, rows are in the journal, and the terminal is
decided there. When a stop cancels the worker, it closes the model's stream and the tools, and finishes its writes
behind a shield:

* a completion that was received is appended, also when a stop races with it;
* so is the result of a tool that returned;
* and the run's last batch, with its marker, follows when everything is closed.

A time limit works like a stop without a person: the cancelled work unwinds in the same way, and the first durable one
of the two determines how the run ended.

A sub-agent is a worker of the same run that speaks in its own name. It has no terminal: its last answer is the result
of the lead's call.

A cancellation without a stop in the journal means that the process is ending around the worker. The worker then writes
nothing: the next process finds the run open and ends it with the true cause.
"""

from __future__ import annotations

import trio

from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.model_call import ToolCall, ToolError
from journalsim_reference.batch import Stamp
from journalsim_reference.calls import (
    Ending,
    decide_ask,
    decide_cut_off,
    decide_decline,
    decide_tool_end,
    decide_tool_start,
)
from journalsim_reference.journal import Decision, Refused, Terminal, decide_end, decide_start
from journalsim_reference.model_calls import ModelCalls, Response
from journalsim_reference.state import LEAD, Call, Speaker
from journalsim_reference.stores.base import StoreError

TURNS_MAX = 64
"""The most model calls of one speaker in one run: a model that requests tools that often is going in circles."""

NO_DELEGATION = "This call was not started: a sub-agent cannot call another one."


class Worker(ModelCalls):
    """Carries out one run, or one call of its lead that a sub-agent answers."""

    async def run(self) -> None:
        """Runs to the terminal, or until the process has fenced itself."""
        try:
            await self.run_to_terminal()
        except* (StoreError, OutcomeUnknown):
            if not self.writer.fenced:
                raise

    async def run_to_terminal(self) -> None:
        """Runs to the terminal."""
        run, writer = self.run_state, self.writer
        with writer.controls[run.run_id].scope:
            with writer.time_limit("run", writer.ports.now_ns() - run.accepted_at) as limit:
                await self.wait_turn()
                await self.work()
            if limit.cancelled_caught:
                with trio.CancelScope(shield=True):
                    await self.end("run.expired", "timed_out", "the run took too long")
        if not run.ended:
            with trio.CancelScope(shield=True):
                await self.end("run.aborted", run.cause)

    async def wait_turn(self) -> None:
        """Waits until no earlier run of the session is active."""
        session = self.state.session(self.run_state.session_id)
        while (first := session.active_runs()[0]) is not self.run_state:
            await self.writer.controls[first.run_id].done.wait()

    async def work(self) -> None:
        """Carries on a conversation with the model until it requests no further tool."""
        run = self.run_state
        # Refused only after an earlier stop, and then the next checkpoint raises.
        await self.append(lambda stamp: decide_start(self.state, stamp, run.run_id))
        if await self.converse() is None:
            await self.end("run.failed", "failed", self.failure)
        else:
            await self.end("run.completed", None)

    async def converse(self) -> Response | None:
        """Calls the model and runs its tools, and returns the last response; None if the model gives none."""
        for _ in range(TURNS_MAX):
            response = await self.ask()
            if response is None:
                return None
            calls = [c for c in self.run_state.calls.values() if c.message_id in response.messages]
            if response.reason != "tool_use" or not calls:
                return response
            await self.run_tools(calls)
        self.failure = f"the model asked for tools {TURNS_MAX} times"
        return None

    # --- tools

    async def run_tools(self, calls: list[Call]) -> None:
        """Runs calls side by side."""
        async with trio.open_nursery() as nursery:
            for call in calls:
                nursery.start_soon(self.run_tool, call, name=f"tool:{call.call_id}")

    async def run_tool(self, call: Call) -> None:
        """Runs one call, after a person's approval where the tool needs it, and stores its result at once."""
        run_id, traits = self.run_state.run_id, self.writer.ports.tool_traits(call.name)
        if traits.agent and self.speaker != LEAD:
            await self.append(lambda stamp: decide_decline(self.state, stamp, run_id, call.call_id, NO_DELEGATION))
        elif not traits.approval or await self.approved(call):
            started = await self.append(lambda stamp: decide_tool_start(self.state, stamp, run_id, call.call_id))
            if not isinstance(started, Refused):
                await self.carry_out(call, agent=traits.agent)

    async def approved(self, call: Call) -> bool:
        """Requests a person's approval of a call and waits for the answer without a limit."""
        run_id = self.run_state.run_id
        answered = self.writer.controls[run_id].answered[call.call_id] = trio.Event()
        # Refused only after an earlier stop, and then the wait raises.
        await self.append(lambda stamp: decide_ask(self.state, stamp, run_id, call.call_id))
        await answered.wait()
        return call.state == "answered"

    async def carry_out(self, call: Call, *, agent: bool) -> None:
        """Executes a call that is recorded as started, within the time limit."""
        run_id, state, buffered = self.run_state.run_id, self.state, self.writer.snapshot
        kind: Ending = "tool.completed"
        text = ""
        with self.writer.time_limit("tool") as limit:
            try:
                text = await (self.delegate(call) if agent else self.use(call))
            except ToolError as error:
                kind, text = "tool.failed", str(error)
        with trio.CancelScope(shield=True):
            if limit.cancelled_caught:
                await self.append(lambda stamp: decide_cut_off(state, stamp, run_id, call.call_id, buffered=buffered))
            else:
                await self.append(
                    lambda stamp: decide_tool_end(state, stamp, run_id, call.call_id, kind, text, buffered=buffered)
                )

    async def use(self, call: Call) -> str:
        """Calls the tool and returns its output."""
        wish = ToolCall(call_id=call.call_id, name=call.name, arguments=call.arguments)
        return await self.writer.ports.call_tool(self.run_state.run_id, wish)

    async def delegate(self, call: Call) -> str:
        """Lets a sub-agent answer a call, and returns its last answer."""
        agent = type(self)(self.writer, self.run_state, Speaker(f"sub:{call.name}", call.call_id))
        response = await agent.converse()
        if response is None:
            raise ToolError(agent.failure)
        said = (self.run_state.messages[message_id].content.text for message_id in response.messages)
        return "\n".join(text for text in said if text)

    # --- the end

    async def end(self, kind: Terminal, cause: str | None, reason: str = "") -> None:
        """Appends the last batch of the run."""
        await self.append(lambda stamp: self.last_batch(stamp, kind, cause, reason))

    def last_batch(self, stamp: Stamp, kind: Terminal, cause: str | None, reason: str) -> Decision:
        """Decides about the last batch of the run, with the terminal at its end."""
        return decide_end(
            self.state,
            stamp,
            self.run_state.run_id,
            kind,
            cause,
            reason=reason,
            buffered=self.writer.snapshot,
            closures=self.writer.closes_on_write,
        )
