"""What an adapter and the harness promise each other.

An adapter is how journalsim reaches a journal.  There are two levels, and an
adapter implements one of them:

* **store level** (:class:`StoreAdapter`): the harness drives the run, calls the
  model and the tools, and the journal only stores rows;
* **runner level** (:class:`RunnerAdapter`): the system runs its own loop, and
  the harness plants the model, the tools and the points through
  :class:`~journalsim.contract.ports.Ports`.

Every verb may be ``def`` or (trio) ``async def``.  A verb ends in one of three
ways: it returns (*ok*), it raises (*failed*: certainly not done), or it raises
:class:`OutcomeUnknown` (*unknown*: done or not, only a later read can tell).

An adapter, and the reference journal, import :mod:`journalsim.contract` and nothing else of ``journalsim``.
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
    """Raised by a verb whose effect may or may not have happened."""


class RunBusy(Exception):
    """Raised by ``start``, or by a rewrite of the history, that an active run does not allow: refused, nothing done."""


class StoreAdapter(Protocol):
    """A journal that only keeps rows; the harness drives the run.

    Beyond the four verbs here these are optional, found by name:
    ``append_many(session_id, run_id, items)``,
    ``partial(session_id, run_id, item)`` (what a stop keeps of an unfinished message),
    ``finish(session_id, run_id, marker)`` (the terminal of a run),
    ``annotate(session_id, item_id, metadata)``, ``replace_all(session_id, items)``,
    ``flush()``, ``statistics()``, ``crash()``.
    """

    capabilities: Capabilities

    def open(self, where: str) -> MaybeAwaitable[None]:
        """Opens the store in folder ``where``; the same folder after a crash is the same data."""
        ...

    def close(self) -> MaybeAwaitable[None]:
        """Closes it in good order."""
        ...

    def append(self, session_id: str, run_id: str, item: Item) -> MaybeAwaitable[None]:
        """Keeps one finished item; returning is the acknowledgement."""
        ...

    def read(self, session_id: str) -> MaybeAwaitable[Sequence[Item]]:
        """Everything that a page opened now would show, oldest first."""
        ...


class RunnerAdapter(Protocol):
    """A system with a loop of its own; the harness plants model, tools and points.

    Beyond the verbs here these are optional, found by name:
    ``context(session_id)``, ``annotate(session_id, item_id, metadata)`` (``LookupError`` if it is gone),
    ``compact(session_id)``, ``clear(session_id)``, ``statistics()``, ``crash()`` (also while ``setup`` is under way),
    ``disconnected(session_id, client)`` (a reader's connection went away),
    ``answer(session_id, run_id, call_id, approved)`` (a person approves or denies a tool
    call; returns ``resolved``, ``late`` when the call no longer waits, or ``unknown``).
    """

    capabilities: Capabilities

    def setup(self, where: str, ports: Ports) -> MaybeAwaitable[None]:
        """Starts the server process on folder ``where``, recovering what an earlier one left."""
        ...

    def start(self, session_id: str, text: str, key: str) -> MaybeAwaitable[str]:
        """Admits a user message and begins its run in the background.

        Args:
            session_id: the conversation.
            text: the user's words.
            key: the client's idempotency key.

        Returns:
            The run's id.  The user message is accepted once this returns.

        Raises:
            RunBusy: refused, because the session has an active run.
        """
        ...

    def stop(self, session_id: str, run_id: str, mode: StopMode = "interrupt") -> MaybeAwaitable[str]:
        """Stops the named run.

        Returns:
            ``stopping`` when the run is being stopped, ``ended`` when it already had its
            terminal, ``unknown`` when there is no such run.
        """
        ...

    def read(self, session_id: str) -> MaybeAwaitable[Sequence[Item]]:
        """Everything that a page opened now would show, oldest first."""
        ...

    def shutdown(self) -> MaybeAwaitable[None]:
        """Ends active runs in good order (cause ``shut_down``) and closes the store."""
        ...
