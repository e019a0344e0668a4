"""The truth of the first event of an answer: how it took the cursor, its run, and the open message."""

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
        client: name of the client.
        control: the first event.
        cursor: the cursor of the request; empty without one.
        begin: position of the request.
        end: position of the first event; the answer may show a change between the two or not.
        frames: the frames that follow, with their positions.
        runs: the runs of the session that were accepted before the request.
        active: the runs that were active from request to first event.
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
    """Yields the false claims of the first event of an answer; none in real time, where the order is unknown."""
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
        yield f"the answer to {client} names no run, and {active[0].id} is active"
    if active and any(run.id == control.run_id and run.end < opening.begin for run in opening.runs):
        yield f"the answer to {client} is about {control.run_id}, which has ended, and {active[0].id} is active"


# --- the open message ----------------------------------------------------------------------------


@define
class _Message:
    """The run of a message, and the positions of its first and its closing frame."""

    run: str | None
    opened: int
    closed: float = NEVER


def _about_the_message(facts: Facts, opening: _Opening) -> Iterator[str]:
    client, named, about = opening.client, opening.control.message_id, opening.control.run_id
    messages = facts.once(_messages)
    if named is not None:
        known = messages.get(named)
        if known is None or known.opened > opening.end or known.closed < opening.begin:
            yield f"the answer to {client} says that {named} is open, and it is not"
        elif known.run != about:
            yield f"the answer to {client} is about {about}, and {named} belongs to another run"
    elif facts.once(_names_messages) and any(run.id == about for run in opening.active):
        mine = {ref: one for ref, one in messages.items() if one.run == about and one.opened < opening.begin}
        grows = next((ref for ref, one in mine.items() if one.closed > opening.end), None)
        if grows is not None:
            yield f"the answer to {client} names no message, and {grows} is open"


def _names_messages(facts: Facts) -> bool:
    """Returns True if any answer of this system names the open message; naming it is optional."""
    return any(link.opened is not None and link.opened.message_id is not None for link in facts.once(connections))


def _messages(facts: Facts) -> Mapping[str, _Message]:
    found: dict[str, _Message] = {}
    for event in facts.of(FramePublished):
        frame = event.data.frame
        if frame.startswith("message."):
            message = found.setdefault(event.data.message or "", _Message(event.run, event.position))
            message.closed = event.position if frame in _CLOSING else NEVER
    return found


# --- policies ------------------------------------------------------------------------------------


def _against_the_policy(facts: Facts, opening: _Opening) -> Iterator[str]:
    policies, control, cursor = facts.history.policies, opening.control, opening.cursor
    other = {"restart": "gap", "gap": "restart"}.get(str(policies.get("bad_cursor")))
    there = any(not facts.rewritten(run.session, run.asked) for run in opening.runs)  # a run to replay
    if there and control.attachment == other and _means_nothing(facts, cursor):
        yield f"the cursor {cursor!r:.60} is invalid, and the answer is a {other} against the policy"
    whole = policies.get("reattach") == "whole_turn"
    if whole and control.attachment in _GOES_ON and not control.whole_turn and _something_follows(facts, opening):
        yield f"the answer to the cursor {cursor!r:.60} does not replay the run from its start"


def _means_nothing(facts: Facts, cursor: str) -> bool:
    """Returns True if a cursor is malformed, names an unknown run, or is ahead of every place of its run."""
    place = parsed(cursor)
    if place is None or place[0] not in facts.runs:
        return True
    return all(place > other for other in facts.once(_places) if other[0] == place[0])


def _something_follows(facts: Facts, opening: _Opening) -> bool:
    """Returns True if the run of the cursor had a later place before the request."""
    place = parsed(opening.cursor)
    places = facts.once(_places).items()
    return place is not None and any(o > place for o, at in places if o[0] == place[0] and at < opening.begin)


# --- the start of a run --------------------------------------------------------------------------


def _about_the_beginning(facts: Facts, opening: _Opening) -> Iterator[str]:
    """Judges that a declared replay starts with the run, that no run starts early, and that no ended run repeats."""
    if facts.crashes:
        return  # frames before a crash may be incomplete
    begun = facts.once(_begun)
    place = parsed(opening.cursor) or ("", 0, 0)
    since = facts.once(_places).get(place, 0) if opening.control.attachment in _GOES_ON else 0
    ended = [run.id for run in opening.runs if run.end < since and run.id != place[0]]
    seen: dict[str, None] = {}
    known = facts.once(_messages)
    for frame, position in opening.frames:
        if frame.message_id is not None and frame.message_id not in known:
            continue  # an invented message is reported by single-visible-source
        run, first = frame.run_id, frame.run_id not in seen
        begins = frame.kind == "run.started"
        if first and opening.control.whole_turn and not begins and run in begun:
            yield f"the answer to {opening.client} replays {run} from its start, and its first frame is {frame.kind}"
        if first and run in ended:
            yield f"{opening.client} receives {run} again, which had ended before the cursor"
        if begins and position < begun.get(run, 0):
            yield f"{opening.client} receives the start of {run}, and the run has not started"
        seen[run] = None


def _begun(facts: Facts) -> Mapping[str | None, int]:
    """Returns the position of the announced start of each run."""
    return {event.run: event.position for event in facts.of(FramePublished) if event.data.frame == "run.started"}


def _places(facts: Facts) -> Mapping[tuple[str, int, int], int]:
    """Returns the first position of each place of a run, sent with a frame or with a history."""
    frames = ((one.event.id, one.position) for link in facts.once(connections) for one in link.sent)
    published = ((event.data.event_id, event.position) for event in facts.of(FramePublished))
    with_history = ((read.data.cursor, read.position) for read in facts.of(JournalRead))
    found: dict[tuple[str, int, int], int] = {}
    for event_id, position in (*frames, *published, *with_history):
        place = parsed(event_id or "")
        if place is not None:
            found[place] = min(position, found.get(place, position))
    return found
