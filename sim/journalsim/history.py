"""What happened in one case: the only thing that a verdict may look at.

A history is a list of events in the order in which they happened.  The actors
and the adapter host write it; the invariants read it.  ``KINDS`` is the whole
vocabulary, and the recorder refuses any other word.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from attrs import asdict, field, frozen, has

from journalsim.contract.capabilities import Capabilities

KINDS: Mapping[str, str] = {
    # what people and their clients do and see
    "client.sent": "the person sent a message: key, text, session",
    "client.stop_pressed": "the person pressed Stop: named (the run, or the key while the run has no id yet), mode",
    "client.answered": "the person approved or denied a tool call: approved; subject is the call",
    "client.told": "an answer reached the client: verb, key, outcome (ok, failed, unknown), run, reason",
    "client.applied": "the client put a frame into its view: frame (kind), message, text, reasoning, source, state",
    "client.reloaded": "the client dropped its view and showed what the journal holds: items",
    "client.detached": "the client stopped watching without stopping anything",
    "client.disconnected": "the client's connection broke, because the server went away",
    "client.attached": "the client began to watch, or reattached",
    # what a client that watches over the wire does and sees
    "client.control": "the page took a control event: control, attachment, whole_turn, message, reason, sent (cursor)",
    "client.view": "what a page shows: items, cursor, reason (quiet, healed), watching, gave_up, missing, ended (runs)",
    "stream.asked": "a program asked: what, connection, cursor (header), applied (cursor of its page)",
    "stream.answered": "attach returned: client, connection, status, content_type, cursor",
    "stream.sent": "the server wrote a piece of a body: client, connection, data (text)",
    "stream.closed": "the server is done with a body: client, connection, why (ended, gone, raised)",
    "stream.over": "an answer is over for the program: connection, clean",
    "stream.given_up": "a program will not ask again by itself: reason",
    "stream.endless": "a program was closed because it asks again and again: connections, after_end",
    "link.broke": "a fault of the link happened: fault, direction, connection",
    # requests on their way to the server
    "request.delivered": "a request reached the server: verb, key, copy",
    "request.lost": "a request never reached the server: verb, key",
    # the server's side of the adapter
    "run.accepted": "start returned: key, text, session; run is the adapter's id",
    "run.refused": "start was refused: key, reason",
    "run.ended": "the end of a run was announced: state, cause",
    "stop.delivered": "stop was called on the adapter: named (run), mode, active (runs that had not ended)",
    "stop.answered": "stop returned: named (run), answer (stopping, ended, unknown)",
    "answer.delivered": "answer was called on the adapter: approved; subject is the call",
    "answer.answered": "answer returned: answer (resolved, late, unknown, error); subject is the call",
    "reader.disconnected": "the server noticed that a client is gone: client",
    "frame.published": "the system announced something live: frame (kind), message, text, source, state",
    "server.started": "a server process is up: incarnation",
    "server.shut_down": "the server ended in good order",
    "server.crashed": "the server process was killed: lose (what the disk lost; not there if only memory was lost)",
    "maintenance.done": "a maintenance verb returned: verb, item, metadata",
    "maintenance.refused": "a maintenance verb was refused: verb, reason",
    # the model
    "model.called": "the model was called: attempt, purpose, who (lead or sub:NAME), context (items); its turn",
    "model.chunk": "a chunk was handed over: part (text, reasoning, tool_call, tool_arguments), text, chunk (number)",
    "model.completed": "the finish was handed over: text, reasoning, calls, reason, provider_ids, late",
    "model.failed": "the stream broke with an error: error",
    "model.ended_silently": "the stream ended without a finish",
    "model.closed": "the system closed the stream before its end",
    # tools
    "tool.started": "a tool began: name, arguments; subject is the call id",
    "tool.effect": "the tool did its side effect: count",
    "tool.returned": "the tool returned: text",
    "tool.failed": "the tool raised: text",
    "tool.cancelled": "the call was cancelled before it returned",
    # the journal, as far as the harness sees it
    "disk.failed": "an operation of the disk went wrong as the scenario says: fault (kind); subject is the operation",
    "store.acknowledged": "an append returned: item",
    "store.failed": "an append raised: item, outcome (failed, unknown), error",
    "journal.read": "what a page would show: items, reason (reload, gap, poll, quiet …), since if it took long",
    "recovery.read": "what a page would show after one more kill and restart at the very end: items, times",
    "journal.context": "what the next model call would be given: items",
    "statistics.taken": "sizes of the partial cache: statistics, quiet",
    # the harness itself
    "step.taken": "an author's step happened: verb, label",
    "step.skipped": "an author's step never became possible: verb, label, reason",
    "clock.jumped": "the wall clock was moved: by_ns",
    "adapter.raised": "a verb of the adapter raised: verb, error",
    "quiet.reached": "nothing can happen any more: unfinished (tasks that wait for a scripted hang)",
    "deadlock.found": "nothing can happen, yet tasks wait: tasks (name, last point)",
    "bound.hit": "the case was cut off: bound, limit",
    "trace.differs": "a rerun of the same case took another way: first (index), ours, theirs",
}


class Event(NamedTuple):
    """One thing that happened.

    A named tuple rather than an attrs class: a case makes hundreds, and building
    one of these costs a third.

    Attributes:
        position: in the history, from 0.
        time_ns: virtual time.
        step: scheduler step.
        actor: who did it.
        kind: a key of :data:`KINDS`.
        run: the run's id, if one is concerned.
        subject: message, turn or tool call, if one is concerned.
        data: further fields, as :data:`KINDS` names them.
    """

    position: int
    time_ns: int
    step: int
    actor: str
    kind: str
    run: str | None
    subject: str | None
    data: Mapping[str, Any]


@frozen(kw_only=True)
class History:
    """All events of one case, and what the adapter claimed.

    Attributes:
        events: in the order in which they happened.
        capabilities: what the adapter claims.
        policies: options in force, such as what a busy session does.
    """

    events: tuple[Event, ...]
    capabilities: Capabilities = field(factory=Capabilities)
    policies: Mapping[str, Any] = field(factory=dict)

    def of(self, *kinds: str) -> Iterator[Event]:
        """Yields the events of these kinds."""
        return (event for event in self.events if event.kind in kinds)

    def last(self, *kinds: str) -> Event | None:
        """Returns the last event of these kinds, or None."""
        return next((event for event in reversed(self.events) if event.kind in kinds), None)


def plain(value: Any) -> Any:
    """Returns ``value`` as JSON data: attrs records become dicts without their defaults."""
    if has(type(value)):
        return {k: plain(v) for k, v in asdict(value, recurse=False).items() if v not in ((), "", None, {})}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def as_json(event: Event) -> str:
    """Returns one event as a line of canonical JSON, without a line end."""
    record = {"i": event.position, "t": event.time_ns, "step": event.step, "actor": event.actor, "kind": event.kind}
    if event.run is not None:
        record["run"] = event.run
    if event.subject is not None:
        record["subject"] = event.subject
    record |= {"data": plain(event.data)} if event.data else {}
    return json.dumps(record, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def trace_hash(events: Iterable[Event]) -> str:
    """Returns 16 hexadecimal digits that change when anything in the history changes."""
    digest = hashlib.sha256()
    for event in events:
        digest.update(as_json(event).encode())
        digest.update(b"\n")
    return digest.hexdigest()[:16]
