"""Runs any ASGI application as a system under test: ``asgi:package.module:app``.

The application runs on trio inside the case, in virtual time; it binds no port and no byte leaves the process. It
implements the requests of :mod:`journalsim.hosts.http_contract`.

The application gets the scripted model, the tools and the points as :class:`~journalsim.contract.ports.Ports`, in one
of two ways:

* the name after the colon is a *factory*, a function of one argument: the harness calls it with the ports, once per
  server process, and it returns the application;
* the name is the application itself: the ports are ``scope["state"]["ports"]`` in the lifespan and in every request
  (``request.state.ports`` in Starlette), and the folder of the case is ``scope["state"]["where"]``.

Frames that the application publishes through its ports are dropped: behind HTTP only its streams count. Work that
continues after an answer belongs into ``ports.spawn``, so that it dies with the process. An attribute ``capabilities``
of the module declares the capabilities of the system; an application without one counts as a whole server, which may
have a model of its own.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from attrs import evolve

from journalsim.contract.capabilities import Capabilities
from journalsim.contract.frames import Frame
from journalsim.contract.ports import Ports
from journalsim.errors import AdapterError
from journalsim.hosts.asgi_call import App, Caller, Response
from journalsim.hosts.http_contract import CLAIMS, HttpRunner, Watched


class AsgiTransport:
    """Carries requests to an application in the same process.

    Args:
        target: the application, or a factory of it.
        name: name of the application, for messages.
    """

    def __init__(self, target: Callable[..., Any], name: str) -> None:
        self._target = target
        self._name = name
        self._ports: Ports
        self._caller: Caller

    async def open(self, where: str, ports: Ports) -> None:
        """Makes the application, if the target is a factory, and starts it up.

        Raises:
            AdapterError: the factory made no ASGI application, or the application could not start.
        """
        self._ports = ports
        inner = cast(Ports, _SilentPorts(ports))
        app: App = self._target(inner) if is_factory(self._target) else self._target
        if arguments_of(app) != 3:
            raise AdapterError(f"{self._name} made {app!r:.60}, expected an ASGI application: {_HELP}")
        self._caller = Caller(app, self.spawn, {"ports": inner, "where": where})
        await self._caller.start()

    async def close(self) -> None:
        """Shuts the application down."""
        await self._caller.stop()

    async def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Response:
        """Calls the application."""
        return await self._caller.request(method, path, headers, body)

    async def pause(self, duration_ns: int) -> None:
        """Lets virtual time pass, nanoseconds."""
        await self._ports.sleep(duration_ns)

    def spawn(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a task that may wait for ever without being a deadlock: a lifespan, or an open stream."""
        spawn = getattr(self._ports, "spawn_waiting", self._ports.spawn)
        spawn(name, task)


class _SilentPorts:
    """The ports of the harness without ``publish``: the harness learns all frames from its own reader of the stream."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def publish(self, session_id: str, frame: Frame) -> None:
        """Does nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ports, name)


_HELP = "an application takes scope, receive and send; a factory of one takes the ports"


def arguments_of(target: Any) -> int | None:
    """Returns the number of positional arguments that a call needs; None if its signature is unknown."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in parameters)


def is_factory(target: Any) -> bool:
    """Returns True if a target is a factory of an application."""
    return arguments_of(target) == 1


def asgi_factory(target: Callable[..., Any], spec: str) -> Callable[[], HttpRunner]:
    """Returns a function that makes an adapter per server process.

    Raises:
        AdapterError: the target is neither an application nor a factory of one.
    """
    if arguments_of(target) not in (1, 3):
        raise AdapterError(f"adapter {spec!r}: the target takes {arguments_of(target)} arguments: {_HELP}")
    module = sys.modules.get(spec.split(":")[1])
    unsaid = CLAIMS if is_factory(target) else evolve(CLAIMS, host="http")
    claims = getattr(target, "capabilities", getattr(module, "capabilities", unsaid))
    if not isinstance(claims, Capabilities):
        raise AdapterError(f"adapter {spec!r}: 'capabilities' is {claims!r:.60}, expected Capabilities")
    cases: dict[str, Watched] = {}
    return lambda: HttpRunner(AsgiTransport(target, spec), claims, cases)
