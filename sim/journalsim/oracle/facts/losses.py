"""What crashes took, as far as several judges must agree on whose business it is.

A prompt that a kill took is for prompt-first if the model had been called for it;
one that a power cut took is for acknowledged-is-durable.  A terminal that was
announced before a crash and is not there after it is for the latter as well.
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
    """Whether the power failed between two positions."""
    return any(begin < event.position < end and event.data.lose is not None for event in facts.of(ServerCrashed))


def prompt_was_lost(user: UserMessage, run: Run, facts: Facts) -> bool:
    """Whether an accepted message is missing because a crash took it, and that is for the judges of durability."""
    accepted = run.accepted.position
    if facts.stored(user.ref) or not facts.crashed_between(accepted, NEVER):
        return False
    called = next((call for call in facts.calls if call.run == run.id), None)
    return called is None or power_cut_between(called.position, NEVER, facts)


def end_was_lost(run: Run, facts: Facts) -> bool:
    """Whether the end of a run was announced before a crash, and is gone: recovery may have ended the run anew."""
    if run.ended is None or not facts.crashed_between(run.end, NEVER):
        return False
    causes = [marker.cause for marker in facts.markers.get(run.id, ())]
    return not causes or ("crashed" in causes and run.ended.data.cause != "crashed")


def will_not_start(facts: Facts) -> EventOf[AdapterRaised] | None:
    """Returns the error with which the server refuses to start after the last crash, if it never comes up.

    One that it meets because the disk fails again, while it starts, says nothing about what is there.
    """
    last = max(facts.crashes[-1], *(event.position for event in facts.of(ServerStarted)), -1)
    refusals = [e for e in facts.of(AdapterRaised) if e.data.verb == "setup" and e.position > last]
    return refusals[-1] if refusals and not _disk_failed_since(last, facts) else None


def _disk_failed_since(position: int, facts: Facts) -> bool:
    """Whether the disk failed aloud after a position: what cannot be read then may be there all the same."""
    return any(e.position > position and e.data.fault in ("error", "full") for e in facts.of(DiskFailed))


@frozen(kw_only=True)
class Repeat:
    """What one more kill and restart at rest made of what a session showed.

    Attributes:
        before: the final read.
        after: the read after the restart.
        gone: items that are not there any more.
        new: items that were not there.
        altered: items that were there and say something else now, as they are now.
    """

    before: EventOf[JournalRead]
    after: EventOf[RecoveryRead]
    gone: tuple[Item, ...] = ()
    new: tuple[Item, ...] = ()
    altered: tuple[Item, ...] = ()


def repeats(facts: Facts) -> Iterator[Repeat]:
    """Yields what every further restart made of every session, if everything had come to rest before it."""
    if any(event.data.unfinished for event in facts.of(QuietReached)):
        return  # a run that waits for a person, say, is ended by the kill
    for again in facts.of(RecoveryRead):
        session = again.data.session
        if session in facts.final_reads:
            # under which ids rows come back is for stable-identity
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
