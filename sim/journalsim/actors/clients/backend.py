"""What a client can ask of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from journalsim.actors.wire.exchange import Exchange
from journalsim.contract.events.client_events import Outcome
from journalsim.contract.items import Item
from journalsim.scenario.values.moves import Step

Answer: TypeAlias = Callable[[Outcome, str | None, str], None]
"""Takes how a request came out: outcome, run, reason."""

ShowHistory: TypeAlias = Callable[[tuple[Item, ...], str | None], None]
"""Takes a history, and the cursor of a reader who has all of it; None if the system gives none."""


class Backend(Protocol):
    """A server.  It calls ``answer`` once, or never if the request dies with it."""

    def start(self, session: str, text: str, key: str, answer: Answer) -> None: ...

    def stop(self, session: str, run: str, step: Step, answer: Answer) -> None: ...

    def answer(self, session: str, run: str, step: Step, answer: Answer) -> None: ...

    def read(self, session: str, reason: str, answer: Callable[[tuple[Item, ...]], None]) -> None: ...

    def disconnected(self, session: str, client: str) -> None: ...


class StreamBackend(Backend, Protocol):
    """A server whose readers can reattach."""

    @property
    def up(self) -> bool:
        """A process answers."""
        ...

    @property
    def active(self) -> list[str]:
        """Runs that have not ended."""
        ...

    @property
    def accepted(self) -> Mapping[str, str]:
        """The session of every run that was accepted."""
        ...

    def running(self, session: str) -> bool:
        """A run of the session has not ended."""
        ...

    def open_stream(self, exchange: Exchange) -> None:
        """Answers a request for a stream."""
        ...

    def read_with_cursor(self, session: str, reason: str, answer: ShowHistory) -> None:
        """Answers a request for the history, and for the cursor behind it."""
        ...
