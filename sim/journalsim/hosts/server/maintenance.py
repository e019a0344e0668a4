"""Maintenance of sessions: annotate, compact and clear, as a scenario asks for them."""

from __future__ import annotations

from functools import partial
from typing import Any

from journalsim.contract.adapters import RunBusy
from journalsim.contract.events.server_events import MaintenanceDone, MaintenanceRefused
from journalsim.engine.world import World
from journalsim.hosts.page_reads import item_of
from journalsim.hosts.server.lives import Lives
from journalsim.hosts.server.looking import Looking
from journalsim.hosts.server.verbs import Verbs
from journalsim.scenario.values.moves import Step


class Maintenance:
    """The maintenance of one server.

    Args:
        world: the case's world.
        lives: of the server.
        verbs: calls its adapter.
        looking: finds the row that a scenario names.
    """

    def __init__(self, world: World, lives: Lives, verbs: Verbs, looking: Looking) -> None:
        self._record = partial(world.record, "maintenance")
        self._lives = lives
        self._verbs = verbs
        self._looking = looking

    def take(self, step: Step) -> None:
        """Does a step in a task of the process; without a process nothing happens."""
        if self._lives.process is not None:
            self._lives.process.spawn(f"maintenance.{step.verb}", partial(self._do, step))

    async def _do(self, step: Step) -> None:
        verb = getattr(self._lives.adapter, step.verb, None)
        arguments = await self._arguments(step) if verb is not None else None
        if verb is None or arguments is None:
            return
        try:
            await self._verbs.attempt(step.verb, verb, *arguments)
        except (RunBusy, LookupError) as error:  # it is busy, or the message is no longer there
            self._record(MaintenanceRefused(verb=step.verb, session=step.session, reason=str(error) or "busy"))
        except Exception as error:
            self._verbs.raised(step.verb, error)
        else:
            flags = dict(step.metadata)
            self._record(MaintenanceDone(verb=step.verb, session=step.session, item=step.message, metadata=flags))

    async def _arguments(self, step: Step) -> tuple[Any, ...] | None:
        """Returns the arguments of a step's verb; None if the row that it names is not there."""
        if step.verb != "annotate":
            return (step.session,)
        items = await self._looking.read_items(step.session, "annotate")
        item = item_of(items or (), step.message or "")
        if item is None or item.id is None:
            return None
        return (step.session, item.id, dict(step.metadata))
