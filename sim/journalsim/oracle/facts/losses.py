"""Losses in crashes, for invariants that must not report the same loss twice.

A prompt lost in a process crash is reported by prompt-first if the model was called
for it, else by acknowledged-is-durable; a prompt lost in a power cut by the latter.
A terminal that was announced before a crash and is missing after it is reported by
acknowledged-is-durable.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from journalsim.contract.events.harness_events import AdapterRaised, QuietReached
from journalsim.contract.events.journal_events import DiskFailed, JournalRead, RecoveryRead
from journalsim.contract.events.server_events import ServerCrashed, ServerStarted
from journalsim.contract.items import Item
from journalsim.history import EventOf
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.item_keys import as_states
from journalsim.oracle.facts.records import Run, UserMessage


def power_cut_between(begin: float, end: float, facts: Facts) -> bool:
    """Returns True if a power cut lies between two positions."""
    return any(begin < event.position < end and event.data.lose is not None for event in facts.of(ServerCrashed))


def prompt_was_lost(user: UserMessage, run: Run, facts: Facts) -> bool:
    """Returns True if a crash took an accepted message and acknowledged-is-durable reports it."""
    accepted = run.accepted.position
    if facts.stored(user.ref) or not facts.crashed_between(accepted, NEVER):
        return False
    called = next((call for call in facts.calls if call.run == run.id), None)
    return called is None or power_cut_between(called.position, NEVER, facts)


def end_was_lost(run: Run, facts: Facts) -> bool:
    """Returns True if the end of a run was announced before a crash and is gone; recovery may have ended it again."""
    if run.ended is None or not facts.crashed_between(run.end, NEVER):
        return False
    causes = [marker.cause for marker in facts.markers.get(run.id, ())]
    return not causes or ("crashed" in causes and run.ended.data.cause != "crashed")


def will_not_start(facts: Facts) -> EventOf[AdapterRaised] | None:
    """Returns the error with which the server refuses to start after the last crash, or None if it starts.

    An error from another disk failure during the start does not count.
    """
    last = max(facts.crashes[-1], *(event.position for event in facts.of(ServerStarted)), -1)
    refusals = [e for e in facts.of(AdapterRaised) if e.data.verb == "setup" and e.position > last]
    return refusals[-1] if refusals and not _disk_failed_since(last, facts) else None


def _disk_failed_since(position: int, facts: Facts) -> bool:
    """Returns True if the disk reported a failure after a position; rows that cannot be read may still exist."""
    return any(e.position > position and e.data.fault in ("error", "full") for e in facts.of(DiskFailed))


@frozen(kw_only=True)
class Repeat:
    """The difference that one more crash and restart at rest made to a session.

    Attributes:
        before: the final read.
        after: the read after the restart.
        gone: items that only ``before`` shows.
        new: items that only ``after`` shows.
        altered: items of both with another content, as ``after`` shows them.
    """

    before: EventOf[JournalRead]
    after: EventOf[RecoveryRead]
    gone: tuple[Item, ...] = ()
    new: tuple[Item, ...] = ()
    altered: tuple[Item, ...] = ()


def repeats(facts: Facts) -> Iterator[Repeat]:
    """Yields the difference of each session for each further restart, if the case had come to rest before it."""
    if any(event.data.unfinished for event in facts.of(QuietReached)):
        return  # the crash ends a run that waits, for a user for example
    for again in facts.of(RecoveryRead):
        session = again.data.session
        if session in facts.final_reads:
            # stable-identity judges ids
            before = tuple(evolve(item, id=None) for item in facts.journal[session])
            after = tuple(evolve(item, id=None) for item in as_states(again.data.items))
            gone = [item for item in before if item not in after]
            new = [item for item in after if item not in before]
            altered = [item for item in new if _name(item) in map(_name, gone)]
            if before != after and not (gone or new):
                altered = list(after)  # in another order, or more than once
            yield Repeat(
                before=facts.final_reads[session],
                after=again,
                gone=tuple(item for item in gone if _name(item) not in map(_name, altered)),
                new=tuple(item for item in new if item not in altered),
                altered=tuple(altered),
            )


def _name(item: Item) -> tuple[str, tuple[str, ...], str | None, str | None]:
    return item.kind, item.aliases, item.call_id, item.run_id
