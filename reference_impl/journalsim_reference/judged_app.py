"""Serves the HTTP application under test: ``journalsim run -a asgi:journalsim_reference.judged_app:make_app``.

The application is that of :mod:`journalsim_reference.app`; the model, the tools and the clock are those of the harness.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from attrs import evolve
from starlette.types import ASGIApp, Receive, Scope, Send

from journalsim.contract.capabilities import POLICIES
from journalsim.contract.ports import Ports
from journalsim_reference.app import make_app as app_of
from journalsim_reference.runner import CAPABILITIES
from journalsim_reference.server import Server
from journalsim_reference.stores.opening import as_asked

capabilities = evolve(
    CAPABILITIES,
    dedup_by_id=False,
    statistics=False,
    maintenance=(),
    context=False,
    policies=tuple(name for name in POLICIES if name != "disconnect"),  # a reader leaves only by its connection
)
"""The capabilities of the journal that HTTP offers."""


def make_app(ports: Ports) -> ASGIApp:
    """Makes the application of one server process, whose journal lies in the folder of the case."""
    where = ""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Server]:
        store = as_asked(where, ports)
        try:
            server = Server(store, ports)
            await server.recover()
            yield server
            if not server.writer.closing:
                await server.shutdown()
        finally:
            store.crash()  # anything that an orderly end has not closed ends as by a kill

    inner = app_of(opened)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal where
        if scope["type"] == "lifespan":
            where = scope["state"]["where"]
        await inner(scope, receive, send)

    return app
