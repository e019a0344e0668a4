"""The invariants of streams: cursors, bytes, readers and their buffers."""

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
    """Judges every answer to a request with a cursor, and the order of ids on every stream."""
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
        found = f"{connection.client} sent the cursor {cursor!r:.60}, and the answer says fresh"
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
        f"the server never sent the cursor {cursor!r:.60} of {connection.client}, and the answer says {said}",
        answered,
        connection.sent[0].position,
    )


def _about_the_session(facts: Facts, connection: Connection, answered: EventOf[StreamAnswered]) -> Iterator[Violation]:
    """Judges that a stream holds only frames of its own session."""
    session = answered.data.session
    for one in connection.sent:
        run = facts.runs.get(one.means.run_id) if isinstance(one.means, Frame) else None
        if run is not None and run.session != session:
            found = f"{connection.client} watches {session} and receives a frame of {run.session}"
            yield _dishonest(found, answered, one.position)
            return


def _ids_before(facts: Facts, answered: EventOf[StreamAnswered]) -> set[str]:
    """Returns the ids sent in this session so far, for membership tests only."""
    session = answered.data.session
    with_history = {
        read.data.cursor
        for read in facts.of(JournalRead)
        if read.data.session == session and read.data.cursor is not None and read.position < answered.position
    }
    return with_history | {
        one.event.id or ""
        for connection in facts.once(connections)
        if connection.answered is not None and connection.answered.data.session == session
        for one in connection.sent
        if one.position < answered.position
    }


def _inside_a_row(facts: Facts, cursor: str, answered: EventOf[StreamAnswered]) -> bool:
    """Returns True if a cursor is a part of a row that was sent: a server may continue after it."""
    found = parsed(cursor)
    rows = {place[:2] for place in map(parsed, _ids_before(facts, answered)) if place is not None}
    return found is not None and found[2] > 0 and found[:2] in rows


def _before_what_comes(connection: Connection, cursor: str) -> bool:
    """Returns True if a cursor lies before the first frame here, in the same run: some rows have no frame."""
    found = parsed(cursor)
    places = [place for one in connection.sent for place in [parsed(one.event.id or "")] if place is not None]
    return found is not None and bool(places) and places[0][0] == found[0] and places[0] > found


def _durable_ids(facts: Facts) -> set[tuple[str, int, int]]:
    """Returns ids of frames that every replay must include; other frames may be folded into them."""
    return {
        place
        for connection in facts.once(connections)
        for one in connection.sent
        if isinstance(one.means, Frame) and one.means.kind in ("message.completed", "message.interrupted", "run.ended")
        for place in [parsed(one.event.id or "")]
        if place is not None
    }


def _about_the_order(connection: Connection, durable: set[tuple[str, int, int]]) -> Iterator[Finding]:
    """Judges that the ids of one run increase and skip no durable frame."""
    assert connection.answered is not None
    sent = parsed(connection.answered.data.cursor or "")
    opened = connection.opened
    suffix = opened is not None and opened.attachment == "suffix" and not opened.whole_turn
    last: dict[str, tuple[str, int, int]] = {sent[0]: sent} if sent is not None and suffix else {}
    seen: list[tuple[str, int, int]] = []
    for one in connection.sent:
        if isinstance(one.means, Control):  # legal-wire judges its id
            last = last if one.means.kind != "stream.open" or (suffix and not seen) else {}
            continue
        place = parsed(one.event.id or "")
        if place is None:
            continue
        before = last.get(place[0])
        if before is not None and place <= before:
            yield _dishonest(
                f"{connection.client} receives {one.event.id} after {before[0]}:{before[1]}", None, one.position
            )
            return
        skipped = sorted(d for d in durable if before is not None and d[0] == place[0] and before < d < place)
        if skipped and not connection.gap:
            run, row, _ = skipped[0]
            yield _dishonest(f"{connection.client} receives {one.event.id} without {run}:{row}", None, one.position)
            return
        last[place[0]] = place
        seen.append(place)
    if seen:
        yield HELD


def _dishonest(found: str, answered: Event | None, position: int) -> Violation:
    return Violation(
        invariant="honest-cursor",
        promised="a reader receives every frame after its cursor in order, or the server declares a restart or gap",
        found=found,
        evidence=(position,) if answered is None else tuple(sorted((answered.position, position))),
    )


HONEST_CURSOR = Invariant(
    id="honest-cursor",
    family="stream",
    statement="A reader receives everything after its cursor, or a declared restart or gap.",
    unclaimed=claimed,
    judge=honest_cursor,
    explain=Explanation(
        meaning="The server answers a cursor that it sent with all following frames, in order. It answers a cursor "
        "that is malformed, foreign, too new or too old with a declared restart or a declared gap; such a cursor "
        "never silences the stream and is never taken for another position. The first event of an answer names the "
        "true run and open message, and announces an end only if all runs have ended.",
        example="A tab reattaches with a cursor of an earlier run whose number is larger than any number of this run: "
        "the server takes it for 'seen everything', and the tab stays empty.",
        usual_cause="The number is compared without its run, an unreadable cursor becomes a default position, or the "
        "oldest stored row is looked up apart from the read.",
        cases=("bytedance/deer-flow#4012", "nesquena/hermes-webui#3125", "nesquena/hermes-webui#3391"),
    ),
)

# --- legal-wire ----------------------------------------------------------------------------------

STATUSES = (200, 204, 400, 401, 403, 404, 409, 410, 429, 503)


def legal_wire(facts: Facts) -> Iterator[Finding]:
    """Judges every answer to a stream request."""
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
        yield _illegal(f"the stream of {connection.client} has the content type {content_type!r}", at)
    ids: dict[str, None] = {}
    for one in connection.sent:
        event_id = one.event.id
        if one.error:
            yield _illegal(one.error, one.position)
        if event_id and not isinstance(one.means, Frame):
            yield _illegal(f"the event {one.event.type!r} is not a frame and has the id {event_id!r}", one.position)
        if event_id and parsed(event_id) is None:
            yield _illegal(f"the id {event_id!r} is not run:number", one.position)
        if event_id and event_id in ids:
            yield _illegal(f"the id {event_id!r} comes twice on one connection", one.position)
        ids[event_id or ""] = None
        if "\ufffd" in one.event.data:
            yield _illegal("an event is not UTF-8, or a character was cut in two", one.position)
    if connection.too_large:
        yield _illegal("an event is larger than any reader accepts", at)
    if connection.inside and connection.closed is not None and connection.closed.data.why == "ended":
        yield _illegal("the answer ends inside an event", connection.closed.position)


def _illegal(found: str, position: int) -> Violation:
    return Violation(
        invariant="legal-wire",
        promised="the server sends an event stream that every reader parses in the same way",
        found=found,
        evidence=(position,),
    )


LEGAL_WIRE = Invariant(
    id="legal-wire",
    family="stream",
    statement="Status, headers and bytes of a stream follow the standard, and every common reader accepts them.",
    unclaimed=claimed,
    judge=legal_wire,
    explain=Explanation(
        meaning="A stream has status 200 and type text/event-stream, is UTF-8, and holds whole events. Only frames "
        "have ids, run:number, each once on a connection: control events, heartbeats and closing events have no id, "
        "because a reader would send it back as its cursor.",
        example="An error event has the id 0; the reader reconnects with 0 and receives everything again.",
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
    """Judges that the journal is the same before and after a reader attached, if nothing else happened."""
    before: dict[str, EventOf[JournalRead]] = {}
    watched: dict[str, EventOf[StreamAnswered]] = {}
    writing = 0  # requests in flight in the server: their changes come from no reader
    for event in facts.history.events:
        data = event.data
        kind = data.kind
        if isinstance(data, RequestDelivered) and data.verb in _WRITES:
            writing += 1
        elif kind in _WRITTEN:
            writing = max(0, writing - 1)
        elif isinstance(data, ServerCrashed):
            writing = 0
        if writing or not kind.startswith(_READING):
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
        promised="attaching and reading change nothing",
        found=f"the journal of {after.data.session} changed when {attached.data.client} attached",
        evidence=(before.position, attached.position, after.position),
    )


READERS_ARE_PURE = Invariant(
    id="readers-are-pure",
    family="stream",
    statement="Attaching and reading change nothing, neither in the journal nor for other readers.",
    unclaimed=claimed,
    judge=readers_are_pure,
    explain=Explanation(
        meaning="Each reader has its own position. A reader that attaches, reads, is slow or detaches does not change "
        "the journal, and other readers receive the same frames as without it.",
        example="Two tabs watch one run; the position in the stream belongs to the session, and each tab receives half "
        "of the text.",
        usual_cause="Reading takes entries off a queue, or the server stores one cursor for all readers of a session.",
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
    return "" if bound else "the adapter declares no bound of the bytes that it holds for a reader"


def bounded_stream_buffers(facts: Facts) -> Iterator[Finding]:
    """Judges every measurement of the statistics."""
    for event in facts.of(StatisticsTaken):
        sizes = event.data.statistics
        if not sizes.reader_bytes or sizes.reader_bytes_max is None:
            continue  # an empty buffer tests no bound
        if sizes.reader_bytes <= sizes.reader_bytes_max:
            yield HELD
            continue
        yield Violation(
            invariant="bounded-stream-buffers",
            promised=f"the server holds at most {sizes.reader_bytes_max} bytes for one reader",
            found=f"it holds {sizes.reader_bytes} bytes",
            evidence=(event.position,),
        )


BOUNDED_STREAM_BUFFERS = Invariant(
    id="bounded-stream-buffers",
    family="stream",
    statement="The buffer of a slow reader stays within the declared bound.",
    unclaimed=_no_bound,
    judge=bounded_stream_buffers,
    explain=Explanation(
        meaning="A reader that reads nothing costs a bounded amount of memory. At the bound the server declares a gap "
        "or closes the stream; it never drops frames silently, least of all the end of the run.",
        example="A tab sleeps while three runs stream; the server holds all frames for it.",
        usual_cause="An unbounded queue per reader, or a queue with a bounded count of entries that grow.",
        cases=("nesquena/hermes-webui#6527",),
    ),
)
