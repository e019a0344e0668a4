"""The HTTP application under test: ``journalsim run -a asgi:reference_impl.judged_app:make_app``.

The same application as :mod:`reference_impl.app`; the model, the tools and the clock
are those of the harness.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from reference_impl.app import make_app as app_of
from reference_impl.server import Server
from reference_impl.stores.memory import Folder, MemoryStore
from sim.adapters.protocol import Capabilities, Ports

capabilities = Capabilities(
    level="runner",
    partials=True,
    tools=True,
    terminals=True,
    stable_ids=True,
    user_first=True,
    concurrent_runs="refuse",
    stop_modes=("interrupt", "rollback"),
    idempotent_start=True,
    approvals=True,
    sub_agents=True,
    replay="from_id",
)


def make_app(ports: Ports) -> Starlette:
    """Makes the application of one server process."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Server]:
        server = Server(MemoryStore(Folder()), ports)
        await server.recover()
        yield server
        if not server.writer.closing:
            await server.shutdown()

    return app_of(opened)
