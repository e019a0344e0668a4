"""Promises about streams themselves: cursors, bytes, readers and what is held for them."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.journal_events import JournalRead, StatisticsTaken
from journalsim.contract.events.server_events import ServerCrashed
from journalsim.contract.events.stream_events import RequestDelivered, StreamAnswered
from journalsim.contract.frames import Frame
from journalsim.contract.items import Statistics
from journalsim.contract.stream_port import Control
from journalsim.history import Event, EventOf, History, is_kind
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.stream_facts import Connection, claimed, connections, parsed
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant
from journalsim.oracle.invariants.stream_openings import untruths
from journalsim.oracle.invariants.verdict import Violation

# --- honest-cursor -------------------------------------------------------------------------------


def honest_cursor(facts: Facts) -> Iterator[Finding]:
    """Judges every answer to a request that carried a cursor, and every order of ids."""
    durable = facts.once(_durable_ids)
    for connection in facts.once(connections):
        answered = connection.answered
        if answered is None:
            continue
        if answered.data.cursor:
            yield _about_the_cursor(facts, connection, answered)
        if answered.data.status == 200:
            yield from _about_the_order(connection, durable)
            yield from _about_the_session(facts, connection, answered)
            for untruth in untruths(facts, connection):
                yield _dishonest(untruth, answered, connection.sent[0].position)


def _about_the_cursor(facts: Facts, connection: Connection, answered: EventOf[StreamAnswered]) -> Finding:
    cursor, opened = answered.data.cursor or "", connection.opened
    if answered.data.status != 200 or not connection.sent:
        return HELD
    if opened is not None and opened.attachment == "fresh":
        found = f"{connection.client} sent the cursor {cursor!r:.60}, and the answer says that there was none"
        return _dishonest(found, answered, connection.sent[0].position)
    if cursor in _ids_before(facts, answered):
        return HELD
    if connection.gap or (opened is not None and opened.attachment in ("restart", "gap", "finished")):
        return HELD
    suffix = opened is not None and opened.attachment == "suffix"
    if suffix and (_inside_a_row(facts, cursor, answered) or _before_what_comes(connection, cursor)):
        return HELD
    said = "nothing" if opened is None else opened.attachment
    return _dishonest(
        f"the cursor {cursor!r:.60} of {connection.client} was never given out, and the answer says {said}",
        answered,
        connection.sent[0].position,
    )


def _about_the_session(facts: Facts, connection: Connection, answered: EventOf[StreamAnswered]) -> Iterator[Violation]:
    """Judges that a stream is about its own session."""
    session = answered.data.session
    for told in connection.sent:
        run = facts.runs.get(told.means.run_id) if isinstance(told.means, Frame) else None
        if run is not None and run.session != session:
            found = f"{connection.client} watches {session} and gets a frame of {run.session}"
            yield _dishonest(found, answered, told.position)
            return


def _ids_before(facts: Facts, answered: EventOf[StreamAnswered]) -> set[str]:
    """Returns the ids that had been given out in this session, for membership only."""
    session = answered.data.session
    with_history = {
        read.data.cursor
        for read in facts.of(JournalRead)
        if read.data.session == session and read.data.cursor is not None and read.position < answered.position
    }
    return with_history | {
        told.event.id or ""
        for connection in facts.once(connections)
        if connection.answered is not None and connection.answered.data.session == session
        for told in connection.sent
        if told.position < answered.position
    }


def _inside_a_row(facts: Facts, cursor: str, answered: EventOf[StreamAnswered]) -> bool:
    """Whether a cursor is a part of a row that was given out: a server may go on behind it."""
    found = parsed(cursor)
    rows = {place[:2] for place in map(parsed, _ids_before(facts, answered)) if place is not None}
    return found is not None and found[2] > 0 and found[:2] in rows


def _before_what_comes(connection: Connection, cursor: str) -> bool:
    """Whether a cursor lies below what follows it here, in the same run: of some rows readers are told nothing."""
    found = parsed(cursor)
    places = [place for told in connection.sent for place in [parsed(told.event.id or "")] if place is not None]
    return found is not None and bool(places) and places[0][0] == found[0] and places[0] > found


def _durable_ids(facts: Facts) -> set[tuple[str, int, int]]:
    """Returns ids of frames that no replay may leave out: others may be folded into them."""
    return {
        place
        for connection in facts.once(connections)
        for told in connection.sent
        if isinstance(told.means, Frame)
        and told.means.kind in ("message.completed", "message.interrupted", "run.ended")
        for place in [parsed(told.event.id or "")]
        if place is not None
    }


def _about_the_order(connection: Connection, durable: set[tuple[str, int, int]]) -> Iterator[Finding]:
    """Judges that within one run no id goes back, and that none is jumped over."""
    assert connection.answered is not None
    sent = parsed(connection.answered.data.cursor or "")
    opened = connection.opened
    suffix = opened is not None and opened.attachment == "suffix" and not opened.whole_turn
    last: dict[str, tuple[str, int, int]] = {sent[0]: sent} if sent is not None and suffix else {}
    seen: list[tuple[str, int, int]] = []
    for told in connection.sent:
        if isinstance(told.means, Control):  # an id of it is another matter
            last = last if told.means.kind != "stream.open" or (suffix and not seen) else {}
            continue
        place = parsed(told.event.id or "")
        if place is None:
            continue
        before = last.get(place[0])
        if before is not None and place <= before:
            yield _dishonest(
                f"{connection.client} gets {told.event.id} after {before[0]}:{before[1]}", None, told.position
            )
            return
        skipped = sorted(d for d in durable if before is not None and d[0] == place[0] and before < d < place)
        if skipped and not connection.gap:
            run, row, _ = skipped[0]
            yield _dishonest(f"{connection.client} gets {told.event.id} without {run}:{row}", None, told.position)
            return
        last[place[0]] = place
        seen.append(place)
    if seen:
        yield HELD


def _dishonest(found: str, answered: Event | None, position: int) -> Violation:
    return Violation(
        invariant="honest-cursor",
        promised="what follows a cursor comes in order and without holes, or the server says that it does not",
        found=found,
        evidence=(position,) if answered is None else tuple(sorted((answered.position, position))),
    )


HONEST_CURSOR = Invariant(
    id="honest-cursor",
    family="stream",
    statement="A reader gets everything after its cursor, or is told that it does not.",
    unclaimed=claimed,
    judge=honest_cursor,
    explain=Explanation(
        meaning="A cursor that the server gave out is answered by what follows it, in order and without holes. One "
        "that is malformed, from elsewhere, too new or too old is answered by a declared restart or a declared gap; "
        "it never silences the stream and is never taken for something that it is not. What an answer says of itself, "
        "which run it is about, which message is under way, that all has ended, is so.",
        example="A tab reattaches with a cursor of an earlier run whose number is larger than any of this one: it "
        "is taken for 'seen everything', and the tab stays empty.",
        usual_cause="The number is compared without its run, a cursor that cannot be read becomes a default position, "
        "or the oldest kept row is looked up apart from the read.",
        cases=("bytedance/deer-flow#4012", "nesquena/hermes-webui#3125", "nesquena/hermes-webui#3391"),
    ),
)

# --- legal-wire ----------------------------------------------------------------------------------

STATUSES = (200, 204, 400, 401, 403, 404, 409, 410, 429, 503)


def legal_wire(facts: Facts) -> Iterator[Finding]:
    """Judges every answer."""
    for connection in facts.once(connections):
        answered = connection.answered
        if answered is not None:
            wrong = next(_wire_errors(connection, answered), None)
            yield HELD if wrong is None else wrong


def _wire_errors(connection: Connection, answered: EventOf[StreamAnswered]) -> Iterator[Violation]:
    status, content_type = answered.data.status, answered.data.content_type
    at = answered.position
    if status not in STATUSES:
        yield _illegal(f"the answer to {connection.client} has the status {status}", at)
    if status == 200 and content_type.partition(";")[0].strip().lower() != "text/event-stream":
        yield _illegal(f"the stream of {connection.client} is called {content_type!r}", at)
    ids: dict[str, None] = {}
    for told in connection.sent:
        event_id = told.event.id
        if told.error:
            yield _illegal(told.error, told.position)
        if event_id and not isinstance(told.means, Frame):
            yield _illegal(f"the event {told.event.type!r}, which is no frame, has the id {event_id!r}", told.position)
        if event_id and parsed(event_id) is None:
            yield _illegal(f"the id {event_id!r} is not run:number", told.position)
        if event_id and event_id in ids:
            yield _illegal(f"the id {event_id!r} comes twice on one connection", told.position)
        ids[event_id or ""] = None
        if "\ufffd" in told.event.data:
            yield _illegal("an event is not UTF-8, or a character was cut in two", told.position)
    if connection.too_large:
        yield _illegal("an event is larger than any reader takes", at)
    if connection.inside and connection.closed is not None and connection.closed.data.why == "ended":
        yield _illegal("the answer ends inside an event", connection.closed.position)


def _illegal(found: str, position: int) -> Violation:
    return Violation(
        invariant="legal-wire",
        promised="what the server writes is an event stream that every reader understands in the same way",
        found=found,
        evidence=(position,),
    )


LEGAL_WIRE = Invariant(
    id="legal-wire",
    family="stream",
    statement="Status, headers and bytes of a stream are what the standard and every common reader expect.",
    unclaimed=claimed,
    judge=legal_wire,
    explain=Explanation(
        meaning="A stream is 200 and text/event-stream, UTF-8, with whole events. Frames alone have ids, run:number, "
        "each once on a connection: control events, heartbeats and closing events have none, because a reader would "
        "come back with them as its cursor.",
        example="An error event carries id 0; the reader reconnects with 0 and gets everything again.",
        usual_cause="One helper writes all events and stamps each with the newest number.",
        cases=("nesquena/hermes-webui#3391", "florimondmanca/httpx-sse#35"),
    ),
)

# --- readers-are-pure ----------------------------------------------------------------------------

_WRITES = ("start", "stop", "answer")
_WRITTEN = ("run.accepted", "run.refused", "stop.answered", "answer.answered")
_READING = (
    "client.",
    "stream.",
    "link.",
    "request.",
    "reader.",
    "step.",
    "statistics.",
    "journal.",
    "quiet.",
    "adapter.",
)


def readers_are_pure(facts: Facts) -> Iterator[Finding]:
    """Judges what the journal holds before and after somebody read, where nothing else happened."""
    before: dict[str, EventOf[JournalRead]] = {}
    watched: dict[str, EventOf[StreamAnswered]] = {}
    writing = 0  # requests on their way through the server: what a read shows of them, no reader did
    for event in facts.history.events:
        if isinstance(event.data, RequestDelivered) and event.data.verb in _WRITES:
            writing += 1
        elif event.kind in _WRITTEN:
            writing = max(0, writing - 1)
        elif isinstance(event.data, ServerCrashed):
            writing = 0
        if writing or not event.kind.startswith(_READING):
            before.clear()
            watched.clear()
        elif is_kind(event, StreamAnswered):
            watched[event.data.session] = event
        elif is_kind(event, JournalRead):
            session = event.data.session
            if session in before and session in watched:
                yield _pure(before[session], watched[session], event)
            before[session] = event
            watched.pop(session, None)


def _pure(before: EventOf[JournalRead], attached: EventOf[StreamAnswered], after: EventOf[JournalRead]) -> Finding:
    if tuple(before.data.items) == tuple(after.data.items):
        return HELD
    return Violation(
        invariant="readers-are-pure",
        promised="to attach and to read changes nothing",
        found=f"the journal of {after.data.session} is another after {attached.data.client} attached",
        evidence=(before.position, attached.position, after.position),
    )


READERS_ARE_PURE = Invariant(
    id="readers-are-pure",
    family="stream",
    statement="Attaching and reading change nothing, neither in the journal nor for other readers.",
    unclaimed=claimed,
    judge=readers_are_pure,
    explain=Explanation(
        meaning="A reader has its own place. That somebody attached, read, was slow or left is not seen in the "
        "journal, and nobody else gets less or more because of it.",
        example="Two tabs watch one run; the place in the stream is kept per session, and each gets half of the text.",
        usual_cause="Reading takes entries off a queue, or the server stores a cursor for all readers of a session.",
        cases=("TracecatHQ/tracecat#2771",),
    ),
)

# --- bounded-stream-buffers ----------------------------------------------------------------------


def _no_bound(history: History) -> str:
    reason = claimed(history)
    if reason:
        return reason
    sizes = [event.data.statistics for event in history.of(StatisticsTaken)]
    bound = any(isinstance(size, Statistics) and size.reader_bytes_max for size in sizes)
    return "" if bound else "the adapter declares no bound of what it holds for a reader"


def bounded_stream_buffers(facts: Facts) -> Iterator[Finding]:
    """Judges every look at the statistics."""
    for event in facts.of(StatisticsTaken):
        sizes = event.data.statistics
        if not sizes.reader_bytes or sizes.reader_bytes_max is None:
            continue  # nothing was held, so no bound was put to the test
        if sizes.reader_bytes <= sizes.reader_bytes_max:
            yield HELD
            continue
        yield Violation(
            invariant="bounded-stream-buffers",
            promised=f"at most {sizes.reader_bytes_max} bytes are held for one reader",
            found=f"{sizes.reader_bytes} bytes are",
            evidence=(event.position,),
        )


BOUNDED_STREAM_BUFFERS = Invariant(
    id="bounded-stream-buffers",
    family="stream",
    statement="What is held for a slow reader stays within the declared bound.",
    unclaimed=_no_bound,
    judge=bounded_stream_buffers,
    explain=Explanation(
        meaning="A reader that takes nothing costs a bounded amount of memory. Beyond that it is told of a gap or is "
        "closed; what it is not told of is never dropped, and the end of the run least of all.",
        example="A tab sleeps while three runs stream; the server holds all of it.",
        usual_cause="An unbounded queue per reader, or one that is bounded by count while single entries grow.",
        cases=("nesquena/hermes-webui#6527",),
    ),
)
