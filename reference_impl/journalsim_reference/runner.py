"""Adapts the reference journal to the harness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journalsim.contract.capabilities import Capabilities, StopMode
from journalsim.contract.items import Item, Statistics
from journalsim.contract.ports import Ports
from journalsim.contract.stream_port import StreamAnswer, StreamRequest
from journalsim_reference.server import Server
from journalsim_reference.stores.opening import OpenStore

CAPABILITIES = Capabilities(
    level="runner",
    partials=True,
    tools=True,
    terminals=True,
    stable_ids=True,
    dedup_by_id=True,
    user_first=True,
    concurrent_runs="refuse",
    stop_modes=("interrupt", "rollback"),
    crash="memory",
    disk=True,
    idempotent_start=True,
    statistics=True,
    maintenance=("annotate", "compact", "clear"),
    late_completion=True,
    approvals=True,
    limits=("tool", "run"),
    sub_agents=True,
    context=True,
    policies=(
        "busy",
        "disconnect",
        "partial_in_context",
        "partial_form",
        "stopped_turn",
        "orphans",
        "sync",
        "reattach",
        "bad_cursor",
        "retention",
    ),
    replay="from_id",
    context_repair="on_write",
    clock="virtual",
    host="in_process",
)


class ReferenceJournal:
    """Implements :class:`journalsim.contract.adapters.RunnerAdapter`, every optional verb, and a stream.

    Args:
        open_store: opens the store in a folder, or on the disk of the ports.
        server_class: the class of the process; a variation of the journal is a subclass of it.
    """

    capabilities = CAPABILITIES

    def __init__(self, open_store: OpenStore, server_class: type[Server] = Server) -> None:
        self._open_store = open_store
        self._server_class = server_class
        self._server: Server | None = None

    @property
    def server(self) -> Server:
        """The running process, or the latest one."""
        assert self._server is not None, "setup comes first"
        return self._server

    async def setup(self, where: str, ports: Ports) -> None:
        """Starts a server on folder ``where``; it first ends the runs that an earlier process left open."""
        self._server = self._server_class(self._open_store(where, ports), ports)
        await self._server.recover()

    async def start(self, session_id: str, text: str, key: str) -> str:
        """Accepts a prompt, which is durable when this returns the run's id."""
        return await self.server.start(session_id, text, key)

    async def stop(self, session_id: str, run_id: str, mode: StopMode = "interrupt") -> str:
        """Stops the named run; the stop is durable when this returns."""
        return await self.server.stop(session_id, run_id, mode)

    async def answer(self, session_id: str, run_id: str, call_id: str, approved: bool) -> str:
        """Takes a person's answer about a tool call; the answer is durable when this returns."""
        return await self.server.answer(session_id, run_id, call_id, approved)

    def read(self, session_id: str) -> tuple[Item, ...]:
        """Returns the items that a page opened now would display."""
        return self.server.read(session_id)

    async def attach(self, request: StreamRequest) -> StreamAnswer:
        """Answers a reader; the reader's first frames are settled when this returns."""
        return self.server.attach(request)

    def cursor(self, session_id: str) -> str | None:
        """Returns the cursor of a reader that reads the history at this moment, with no event between the two."""
        return self.server.cursor(session_id)

    def context(self, session_id: str) -> tuple[Item, ...]:
        """Returns the context of the next model call."""
        return self.server.context(session_id)

    async def annotate(self, session_id: str, item_id: str, metadata: Mapping[str, Any]) -> None:
        """Sets flags of a message."""
        await self.server.annotate(session_id, item_id, metadata)

    async def compact(self, session_id: str) -> None:
        """Replaces the model's context by a summary."""
        await self.server.compact(session_id)

    async def clear(self, session_id: str) -> None:
        """Empties the history; the rows stay."""
        await self.server.clear(session_id)

    async def disconnected(self, session_id: str, client: str) -> None:
        """Takes the news that a reader's connection broke."""
        await self.server.disconnected(session_id, client)

    def statistics(self) -> Statistics:
        """Returns the sizes of the state in memory."""
        return self.server.statistics()

    def crash(self) -> None:
        """Drops the process: uncommitted rows are lost."""
        if self._server is not None:  # a process may die while it opens its store
            self._server.writer.store.crash()

    async def shutdown(self) -> None:
        """Ends active runs in good order and closes the store."""
        await self.server.shutdown()
