"""Whether what an answer says of itself is true: how it took the cursor, which run it is about, what is under way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import define, frozen

from journalsim.contract.events.journal_events import JournalRead
from journalsim.contract.events.server_events import FramePublished
from journalsim.contract.frames import Frame
from journalsim.contract.stream_port import Control
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.records import Run
from journalsim.oracle.facts.stream_facts import Connection, connections, parsed

_CLOSING = ("message.completed", "message.interrupted", "message.superseded")
_GOES_ON = ("suffix", "finished")


@frozen
class _Opening:
    """One answer that says how it took the cursor.

    Attributes:
        client: whose.
        control: what it says.
        cursor: that was sent; empty for none.
        begin: position of the request.
        end: position of the first thing that was told; what changed between the two may be told either way.
        frames: that follow, with their positions.
        runs: of the session, accepted before the request.
        active: those of them that were under way all the time.
    """

    client: str
    control: Control
    cursor: str
    begin: int
    end: int
    frames: tuple[tuple[Frame, int], ...]
    runs: tuple[Run, ...]
    active: tuple[Run, ...]


def untruths(facts: Facts, connection: Connection) -> Iterator[str]:
    """Yields what an answer says of itself and is not so; in real time nobody knows what was true at that moment."""
    opening = _opening(facts, connection)
    if opening is not None and facts.history.capabilities.clock != "real":
        yield from _about_the_run(facts, opening)
        yield from _about_the_message(facts, opening)
        yield from _against_the_policy(facts, opening)
        yield from _about_the_beginning(facts, opening)


def _opening(facts: Facts, connection: Connection) -> _Opening | None:
    asked, answered, control = connection.asked, connection.answered, connection.opened
    if asked is None or answered is None or control is None:
        return None
    begin, end = asked.position, connection.sent[0].position
    mine = (run for run in facts.runs.values() if run.session == answered.data.session)
    runs = tuple(run for run in mine if run.accepted.position < begin)
    return _Opening(
        connection.client,
        control,
        answered.data.cursor or "",
        begin,
        end,
        tuple((one.means, one.position) for one in connection.sent if isinstance(one.means, Frame)),
        runs,
        tuple(run for run in runs if run.end > end and not facts.crashed_between(run.asked, end)),
    )


def _about_the_run(facts: Facts, opening: _Opening) -> Iterator[str]:
    client, control, active = opening.client, opening.control, opening.active
    if control.attachment == "finished" and active:
        yield f"the answer to {client} says that {active[0].id} has ended, and it has not"
    if control.run_id is None and active:
        yield f"the answer to {client} names no run, and {active[0].id} is under way"
    if active and any(run.id == control.run_id and run.end < opening.begin for run in opening.runs):
        yield f"the answer to {client} is about {control.run_id}, which has ended, and {active[0].id} is under way"


# --- the message under way -----------------------------------------------------------------------


@define
class _Message:
    """When readers were told of a message: of its run, first, and that it had ended."""

    run: str | None
    opened: int
    closed: float = NEVER


def _about_the_message(facts: Facts, opening: _Opening) -> Iterator[str]:
    client, named, about = opening.client, opening.control.message_id, opening.control.run_id
    messages = facts.once(_messages)
    if named is not None:
        shown = messages.get(named)
        if shown is None or shown.opened > opening.end or shown.closed < opening.begin:
            yield f"the answer to {client} says that {named} is under way, and it is not"
        elif shown.run != about:
            yield f"the answer to {client} is about {about}, and {named} is of another run"
    elif facts.once(_names_messages) and any(run.id == about for run in opening.active):
        mine = {ref: one for ref, one in messages.items() if one.run == about and one.opened < opening.begin}
        grows = next((ref for ref, one in mine.items() if one.closed > opening.end), None)
        if grows is not None:
            yield f"the answer to {client} names no message, and {grows} is under way"


def _names_messages(facts: Facts) -> bool:
    """Whether this system names the message under way at all: it may leave that to the frames."""
    return any(link.opened is not None and link.opened.message_id is not None for link in facts.once(connections))


def _messages(facts: Facts) -> Mapping[str, _Message]:
    found: dict[str, _Message] = {}
    for event in facts.of(FramePublished):
        frame = event.data.frame
        if frame.startswith("message."):
            message = found.setdefault(event.data.message or "", _Message(event.run, event.position))
            message.closed = event.position if frame in _CLOSING else NEVER
    return found


# --- what is asked for by policy -----------------------------------------------------------------


def _against_the_policy(facts: Facts, opening: _Opening) -> Iterator[str]:
    policies, control, cursor = facts.history.policies, opening.control, opening.cursor
    other = {"restart": "gap", "gap": "restart"}.get(str(policies.get("bad_cursor")))
    there = any(not facts.rewritten(run.session, run.asked) for run in opening.runs)  # to begin anew with
    if there and control.attachment == other and _means_nothing(facts, cursor):
        yield f"the cursor {cursor!r:.60} means nothing, and the answer is a {other}"
    whole = policies.get("reattach") == "whole_turn"
    if whole and control.attachment in _GOES_ON and not control.whole_turn and _something_follows(facts, opening):
        yield f"what follows {cursor!r:.60} comes without the beginning of its run"


def _means_nothing(facts: Facts, cursor: str) -> bool:
    """Whether a cursor is none, is of a run that nobody knows, or is ahead of everything that was ever told of it."""
    place = parsed(cursor)
    if place is None or place[0] not in facts.runs:
        return True
    return all(place > told for told in facts.once(_places) if told[0] == place[0])


def _something_follows(facts: Facts, opening: _Opening) -> bool:
    """Whether something of the cursor's run had been told behind it."""
    place = parsed(opening.cursor)
    told = facts.once(_places).items()
    return place is not None and any(o > place for o, at in told if o[0] == place[0] and at < opening.begin)


# --- where a run begins --------------------------------------------------------------------------


def _about_the_beginning(facts: Facts, opening: _Opening) -> Iterator[str]:
    """Judges that a run comes from its beginning where that is said, none before it begins, and none for nothing."""
    if facts.crashes:
        return  # what was announced before them need not be all that had happened
    begun = facts.once(_begun)
    place = parsed(opening.cursor) or ("", 0, 0)
    since = facts.once(_places).get(place, 0) if opening.control.attachment in _GOES_ON else 0
    ended = [run.id for run in opening.runs if run.end < since and run.id != place[0]]
    told: dict[str, None] = {}
    known = facts.once(_messages)
    for frame, position in opening.frames:
        if frame.message_id is not None and frame.message_id not in known:
            continue  # of a bubble that is made up another judge speaks
        run, first = frame.run_id, frame.run_id not in told
        begins = frame.kind == "run.started"
        if first and opening.control.whole_turn and not begins and run in begun:
            yield f"{opening.client} is told {run} from its beginning, and the first is {frame.kind}"
        if first and run in ended:
            yield f"{opening.client} is told {run} again, which had ended before the cursor"
        if begins and position < begun.get(run, 0):
            yield f"{opening.client} is told that {run} begins, and it waits"
        told[run] = None


def _begun(facts: Facts) -> Mapping[str | None, int]:
    """Returns when each run was announced to begin."""
    return {event.run: event.position for event in facts.of(FramePublished) if event.data.frame == "run.started"}


def _places(facts: Facts) -> Mapping[tuple[str, int, int], int]:
    """Returns when each place was given out first, with a frame or with a history."""
    frames = ((one.event.id, one.position) for link in facts.once(connections) for one in link.sent)
    published = ((event.data.event_id, event.position) for event in facts.of(FramePublished))
    with_history = ((read.data.cursor, read.position) for read in facts.of(JournalRead))
    found: dict[tuple[str, int, int], int] = {}
    for event_id, position in (*frames, *published, *with_history):
        place = parsed(event_id or "")
        if place is not None:
            found[place] = min(position, found.get(place, position))
    return found
