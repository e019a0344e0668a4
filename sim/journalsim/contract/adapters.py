"""Defines the adapter protocol: the verbs through which journalsim reaches a journal, and the duties of both sides.

An adapter implements one of two levels:

* **store level** (:class:`StoreAdapter`): the harness drives the run, calls the
  model and the tools, and the journal only stores rows;
* **runner level** (:class:`RunnerAdapter`): the system runs its own loop, and
  the harness supplies the model, the tools and the points through
  :class:`~journalsim.contract.ports.Ports`.

Every verb may be ``def`` or (trio) ``async def``. A verb ends in one of three ways: it returns (*ok*), it raises
(*failed*: certainly not done), or it raises :class:`OutcomeUnknown` (*unknown*: done or not done; only a later read can
decide).

Adapters and the reference journal import :mod:`journalsim.contract` and no other part of ``journalsim``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from journalsim.contract.capabilities import Capabilities, StopMode
from journalsim.contract.items import Item
from journalsim.contract.ports import Ports

PROTOCOL_VERSION = 1

T = TypeVar("T")

MaybeAwaitable: TypeAlias = T | Awaitable[T]


class OutcomeUnknown(Exception):
    """A verb raises this error when its effect may or may not have happened."""


class RunBusy(Exception):
    """``start``, or a rewrite of the history, raises this error when an active run forbids it; nothing was done."""


class StoreAdapter(Protocol):
    """A journal that only stores rows, while the harness drives the run.

    Four verbs are required. The harness finds these optional verbs by name: ``append_many(session_id, run_id,
    items)``, ``partial(session_id, run_id, item)`` (stores an unfinished message after a stop), ``finish(session_id,
    run_id, marker)`` (stores the terminal of a run), ``annotate(session_id, item_id, metadata)``,
    ``replace_all(session_id, items)``, ``flush()``, ``statistics()``, ``crash()``.
    """

    capabilities: Capabilities

    def open(self, where: str) -> MaybeAwaitable[None]:
        """Opens the store in folder ``where``. After a crash, the same folder holds the same data."""
        ...

    def close(self) -> MaybeAwaitable[None]:
        """Closes the store in good order."""
        ...

    def append(self, session_id: str, run_id: str, item: Item) -> MaybeAwaitable[None]:
        """Stores one finished item; returning acknowledges that the item is durable."""
        ...

    def read(self, session_id: str) -> MaybeAwaitable[Sequence[Item]]:
        """Returns the items that a page opened now would display, oldest first."""
        ...


class RunnerAdapter(Protocol):
    """A system with its own loop; the harness supplies model, tools and points.

    Four further verbs are required. The harness finds these optional verbs by name: ``context(session_id)``,
    ``annotate(session_id, item_id, metadata)`` (raises ``LookupError`` if the item is gone), ``compact(session_id)``,
    ``clear(session_id)``, ``statistics()``, ``crash()`` (also called during ``setup``), ``disconnected(session_id,
    client)`` (a reader's connection broke), ``answer(session_id, run_id, call_id, approved)`` (a person approves or
    denies a tool call; returns ``resolved``, ``late`` when the call no longer waits, or ``unknown``).
    """

    capabilities: Capabilities

    def setup(self, where: str, ports: Ports) -> MaybeAwaitable[None]:
        """Starts the server process on folder ``where`` and recovers the runs that an earlier process left open."""
        ...

    def start(self, session_id: str, text: str, key: str) -> MaybeAwaitable[str]:
        """Accepts a user message and begins its run in the background.

        Args:
            session_id: the conversation.
            text: the user's words.
            key: the client's idempotency key.

        Returns:
            The run's id. The user message is accepted once this returns.

        Raises:
            RunBusy: the session has an active run; nothing was done.
        """
        ...

    def stop(self, session_id: str, run_id: str, mode: StopMode = "interrupt") -> MaybeAwaitable[str]:
        """Stops the named run.

        Returns:
            ``stopping`` while the run winds down, ``ended`` if it already had its
            terminal, ``unknown`` if no such run exists.
        """
        ...

    def read(self, session_id: str) -> MaybeAwaitable[Sequence[Item]]:
        """Returns the items that a page opened now would display, oldest first."""
        ...

    def shutdown(self) -> MaybeAwaitable[None]:
        """Ends active runs in good order (cause ``shut_down``) and closes the store."""
        ...
