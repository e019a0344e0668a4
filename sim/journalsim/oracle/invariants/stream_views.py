"""The invariants of pages: a page displays the same as the reference reader, each message once, and every end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from attrs import evolve

from journalsim.contract.events.client_events import ClientApplied, ClientReloaded, ClientView
from journalsim.contract.events.harness_events import QuietReached
from journalsim.contract.events.journal_events import JournalRead
from journalsim.contract.events.server_events import (
    FramePublished,
    MaintenanceDone,
    ServerCrashed,
    ServerShutDown,
    StopDelivered,
)
from journalsim.contract.events.stream_events import StreamAnswered, StreamEndless
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.history import Event, EventOf
from journalsim.oracle.facts.client_views import told_apart
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.item_keys import as_states
from journalsim.oracle.facts.stream_facts import (
    claimed,
    connections,
    final_texts,
    reference_messages,
    settled_view,
    views,
)
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, Unsure
from journalsim.oracle.invariants.stream_calls import calls_at_work, calls_displayed, questions_displayed
from journalsim.oracle.invariants.verdict import Violation


def _live_texts(facts: Facts) -> Mapping[str, tuple[str, ...]]:
    """Returns per message the texts of the reference reader: all deltas joined, and the closing text."""
    texts: dict[str, tuple[str, str]] = {}
    for event in facts.of(FramePublished):
        message, frame = event.data.message or "", event.data.frame
        streamed, closing = texts.get(message, ("", ""))
        if frame == "message.delta":
            texts[message] = (streamed + event.data.text, closing)
        elif frame in ("message.completed", "message.interrupted"):
            texts[message] = (streamed, event.data.text)
    return texts


def replay_equals_live(facts: Facts) -> Iterator[Finding]:
    """Judges every change of a page, and every page at the end."""
    texts = facts.once(_live_texts)
    wrong: dict[tuple[str, str], None] = {}
    for event in facts.of(ClientApplied):
        displayed, message = event.data.view.text if event.data.view is not None else None, event.data.message or ""
        if not displayed or message not in texts or (event.actor, message) in wrong:
            continue
        if any(text.startswith(displayed) for text in texts[message]):
            yield HELD
            continue
        wrong[event.actor, message] = None
        whole = max(texts[message], key=len)
        yield Violation(
            invariant="replay-equals-live",
            promised="a page that reattaches displays only text that the reference reader displays",
            found=f"{event.actor} displays {displayed!r:.90} of {message}, the reference reader {whole!r:.90}",
            evidence=(event.position,),
            subject=message,
        )
    if not wrong:
        yield from _at_the_end(facts)


def _at_the_end(facts: Facts) -> Iterator[Finding]:
    for client, page in facts.once(views).items():
        view = settled_view(page)
        read = facts.final_reads.get(view.data.session) if view is not None else None
        if view is None or read is None:
            continue
        runs = _under_way(facts, view)
        if runs and _has_all(facts, view):
            yield _so_far(facts, view, runs)
            yield questions_displayed(facts, view, runs)
            continue
        reason = _undecided(facts, view)
        if reason:
            yield Unsure(reason)
            continue
        ours, theirs = told_apart(_page_items(view, facts)), told_apart(_expected_items(read, view, facts))
        if ours == theirs:
            yield calls_displayed(facts, view, read)
            continue
        yield Violation(
            invariant="replay-equals-live",
            promised="a page that reattaches displays at the end the messages of the journal",
            found=f"{client} displays {_listed(ours)}, the journal holds {_listed(theirs)}",
            evidence=(view.position, read.position),
            expected=tuple(f"{state} {text!r}" for text, state in theirs),
            actual=tuple(f"{state} {text!r}" for text, state in ours),
        )


def _page_items(view: EventOf[ClientView], facts: Facts) -> tuple[Item, ...]:
    """Returns the items of a page, without items that the reference reader displays too and the journal lost."""
    displayed = facts.once(reference_messages)
    read = facts.final_reads.get(view.data.session)
    items = as_states(view.data.items)
    if read is None:
        return items
    stored = {item.id: True for item in facts.items(read)}
    own = (item for item in items if item.id in stored or item.id not in displayed)
    return tuple(item for item in own if item.id not in stored or not _unpublished(item, facts))


def _expected_items(read: EventOf[JournalRead], view: EventOf[ClientView], facts: Facts) -> tuple[Item, ...]:
    """Returns the rows of the journal with their last published text; rows that were never published are ignored."""
    closing = facts.once(final_texts)
    page = {item.id: item.text for item in view.data.items}
    return tuple(
        evolve(item, text=page[item.id]) if item.id in page and page[item.id] == closing.get(item.id or "") else item
        for item in facts.items(read)
        if not _unpublished(item, facts)
    )


def _unpublished(item: Item, facts: Facts) -> bool:
    displayed = facts.once(reference_messages)
    return bool(displayed) and item.id is not None and item.id not in displayed


def _undecided(facts: Facts, view: EventOf[ClientView]) -> str:
    """Returns the reason why a page may differ from the journal without a fault; empty if it must not."""
    client = view.actor
    if facts.cut is not None:
        return "the case was cut off"
    if _under_way(facts, view):
        return "a run of the session has not ended"
    if _misled(facts, view):
        return f"the link showed {client} a clean end that the server did not send"
    if _rewritten(facts, view, *facts.of(MaintenanceDone)):
        return "the history was rewritten after the page was opened"
    return ""


def _rewritten(facts: Facts, view: EventOf[ClientView], *more: Event) -> bool:
    """Returns True if a rollback, or an event of ``more``, changed the history after the page read it."""
    reloads = [e.position for e in facts.of(ClientReloaded) if e.actor == view.actor]
    changed = [*more, *(stop for stop in facts.of(StopDelivered) if stop.data.mode == "rollback")]
    return any(event.position > max(reloads, default=-1) for event in changed)


def _under_way(facts: Facts, view: EventOf[ClientView]) -> list[str]:
    """Returns the active runs of the page's session."""
    return [run.id for run in facts.runs.values() if run.session == view.data.session and run.ended is None]


def _has_all(facts: Facts, view: EventOf[ClientView]) -> bool:
    """Returns True if the page has an open stream and has applied the last frame on it."""
    mine = [connection for connection in facts.once(connections) if connection.client == view.actor]
    last = mine[-1] if mine and view.data.watching else None
    if last is None or last.answered is None or last.answered.data.status != 200 or last.closed or last.cut:
        return False
    ids = [one.event.id for one in last.sent if one.event.id]
    return bool(view.data.cursor == (ids[-1] if ids else last.answered.data.cursor or ""))


def _so_far(facts: Facts, view: EventOf[ClientView], runs: Collection[str]) -> Finding:
    """Judges the open messages of a page, at rest."""
    texts: dict[str, str] = {}
    for event in facts.of(FramePublished):
        message, frame = event.data.message or "", event.data.frame
        if frame == "message.delta" and event.run in runs:
            texts[message] = texts.get(message, "") + event.data.text
        elif frame in ("message.completed", "message.interrupted", "message.superseded"):
            texts.pop(message, None)
    page = {item.id: item.text for item in view.data.items}
    short = next((message for message, text in texts.items() if page.get(message, "") != text), None)
    if short is None:
        return HELD
    return Violation(
        invariant="replay-equals-live",
        promised="a page with an open stream displays the same text of an open message as the reference reader",
        found=f"{view.actor} displays {page.get(short, '')!r:.60} of {short}, "
        f"the reference reader {texts[short]!r:.90}",
        evidence=(view.position,),
        subject=short,
    )


def _misled(facts: Facts, view: EventOf[ClientView]) -> bool:
    """Returns True if a link fault may have shown the client a clean end that the server did not send."""
    return view.data.gave_up == "ended" and any(c.cut for c in facts.once(connections) if c.client == view.actor)


def _listed(rows: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{text!r:.40} ({state})" for text, state in rows) or "nothing"


REPLAY_EQUALS_LIVE = Invariant(
    id="replay-equals-live",
    family="stream",
    statement="Wherever a connection breaks, a page that reattaches displays the same as the reference reader.",
    unclaimed=claimed,
    judge=replay_equals_live,
    explain=Explanation(
        meaning="The reference reader receives every frame over a connection without faults. At every moment the text "
        "of a message on a page is a prefix of its text, and at rest the page displays the rows of the journal, or the "
        "server has declared a gap and a reload displays them. The same holds for tool calls and for questions that "
        "wait for a user. A page with an error is judged after its user has reloaded it.",
        example="The connection breaks after two chunks; the server replays from the start without a declared restart, "
        'and the page displays "HelHello".',
        usual_cause="The server ignores the cursor, or it reads the bound between replay and live before the "
        "subscription exists, so that a chunk is lost between the two or comes from both.",
        cases=("TracecatHQ/tracecat#2771", "nesquena/hermes-webui#3005", "nesquena/hermes-webui#3391"),
    ),
)


def single_visible_source(facts: Facts) -> Iterator[Finding]:
    """Judges every page that read the history and then attached."""
    opened: dict[str, tuple[Item, ...]] = {}
    wrong: dict[str, None] = {}
    for event in facts.index.in_order(ClientReloaded, ClientApplied):
        client, data = event.actor, event.data
        if isinstance(data, ClientReloaded):
            opened[client] = data.items
        elif isinstance(data, ClientApplied) and client in opened and _displays(data) and client not in wrong:
            twice = _displayed_twice(facts, opened[client], data)
            if twice is None:
                yield HELD
                continue
            wrong[client] = None
            live = data.message
            yield Violation(
                invariant="single-visible-source",
                promised="a message comes from the history or from the stream, never from both",
                found=f"{client} displays {twice.text!r:.60} as {twice.id} from the history and as {live}",
                evidence=(event.position,),
                subject=live,
            )
    yield from _bubbles(facts, wrong)
    if facts.history.capabilities.stable_ids:
        yield from _made_up(facts)


def _displays(data: ClientApplied) -> bool:
    return data.view is not None and bool(data.view.text)


def _displayed_twice(facts: Facts, history: tuple[Item, ...], data: ClientApplied) -> Item | None:
    """Returns the row of the history that a frame displays a second time, or None."""
    live, source = data.message, data.source
    ref = facts.displayed_as.get(live or "")
    for item in history:
        same = source is not None and source in item.aliases
        same = same or (ref is not None and facts.displayed_as.get(item.id or "") == ref)
        if same and item.kind == "assistant" and item.text and item.id != live:
            return item
    return None


def _bubbles(facts: Facts, wrong: Mapping[str, None]) -> Iterator[Finding]:
    """Judges the bubbles of each page at the end: one per message."""
    for client, page in facts.once(views).items():
        view = page[-1]
        if client in wrong or not any(event.actor == client for event in facts.of(ClientReloaded)):
            continue
        refs = facts.refs(view.data.items, view.data.session)
        pairs = [(ref, item) for ref, item in zip(refs, view.data.items, strict=True) if item.kind == "assistant"]
        # a page displays duplicates of the journal as they are
        known = [ref for ref, _ in pairs if ref is not None and len(facts.stored(ref)) < 2]
        double = next((item for ref, item in pairs if known.count(ref or "") > 1 and item.text), None)
        if double is None:
            yield HELD
            continue
        yield Violation(
            invariant="single-visible-source",
            promised="a message is one bubble",
            found=f"{client} displays {double.text!r:.60} in two bubbles",
            evidence=(view.position,),
            subject=double.id,
        )


def _made_up(facts: Facts) -> Iterator[Finding]:
    """Judges the empty bubbles of each page at the end: a frame or a read must hold their message."""
    known: dict[str | None, None] = {event.data.message: None for event in facts.of(FramePublished)}
    known |= {item.id: None for reads in facts.reads.values() for read in reads for item in read.data.items}
    for client, page in facts.once(views).items():
        empty = [item for item in page[-1].data.items if item.kind == "assistant" and not item.text]
        stray = next((item for item in empty if not item.reasoning and item.id not in known), None)
        if stray is not None:
            yield Violation(
                invariant="single-visible-source",
                promised="a bubble is a message of the journal",
                found=f"{client} displays an empty bubble {stray.id}, which neither the journal nor a frame holds",
                evidence=(page[-1].position,),
                subject=stray.id,
            )


SINGLE_VISIBLE_SOURCE = Invariant(
    id="single-visible-source",
    family="stream",
    statement="A page that reads the history and then attaches displays every message once.",
    unclaimed=claimed,
    judge=single_visible_source,
    explain=Explanation(
        meaning="At any moment a page takes a message from the history or from the stream. It can match the two, "
        "because the message has the same id in both, or because the stream names the run that it replays.",
        example="A tab is reloaded in the middle of an answer: the history holds the text so far, and the stream "
        "sends it again as another bubble.",
        usual_cause="The history gives a message another id than the stream, or holds open messages that "
        "the stream replays too.",
        cases=("TracecatHQ/tracecat#2771", "nesquena/hermes-webui#3160"),
    ),
)


def stream_terminates(facts: Facts) -> Iterator[Finding]:
    """Judges every answer to a stream request, and every page that watched a run to its end."""
    yield from _left_off(facts)
    for event in facts.of(StreamEndless):
        after_end = event.data.after_end  # 0: the harness's bound on connections closed it, while a run was active
        if after_end and _refused(facts, event):
            yield HELD  # some clients reconnect after every answer
        elif after_end > 1 and facts.runs:
            yield _endless(f"{event.actor} asked {event.data.connections} times and received no final status", event)
    quiet = facts.of(QuietReached)
    if not quiet or facts.cut is not None or quiet[-1].data.unfinished:
        return
    over = {run.session for run in facts.runs.values()} - {r.session for r in facts.runs.values() if r.ended is None}
    for connection in facts.once(connections):
        answered = connection.answered
        if answered is None or answered.data.status != 200 or answered.data.session not in over:
            continue
        down = (*facts.of(ServerCrashed), *facts.of(ServerShutDown))
        if connection.closed is not None or any(event.position > answered.position for event in down):
            yield HELD  # a process that ends closes its connections
        else:
            yield _endless(f"the stream of {connection.client} is open although every run has ended", answered)
    yield from _page_ends(facts, over)


def _refused(facts: Facts, endless: EventOf[StreamEndless]) -> bool:
    """Returns True if a client received 204 or an error status after every run had ended."""
    client, position = endless.actor, endless.position
    answers = [e for e in facts.of(StreamAnswered) if e.data.client == client and e.position < position]
    return any(e.data.status == 204 or 400 <= e.data.status < 500 for e in answers[-endless.data.after_end :])


def _published(facts: Facts) -> Mapping[str, tuple[EventOf[FramePublished], ...]]:
    """Returns the frames of each run."""
    found: dict[str, list[EventOf[FramePublished]]] = {}
    for event in facts.of(FramePublished):
        found.setdefault(event.run or "", []).append(event)
    return {run: tuple(events) for run, events in found.items()}


def _left_off(facts: Facts) -> Iterator[Finding]:
    """Judges that the server ends no answer cleanly while it has more frames of an active run."""
    published = facts.once(_published)
    for connection in facts.once(connections):
        answered, closed = connection.answered, connection.closed
        if answered is None or answered.data.status != 200 or closed is None or closed.data.why != "ended":
            continue
        session = answered.data.session
        positions = [one.position for one in connection.sent if isinstance(one.means, Frame)]
        last = max(positions, default=answered.position)  # runs that start later had no frames yet
        frames = [published.get(run.id, ()) for run in facts.runs.values() if run.session == session]
        later = next((f[-1] for f in frames if f and f[0].position < last < closed.position < f[-1].position), None)
        if later is not None and not connection.gap and not facts.crashed_between(closed.position, later.position):
            found = f"the answer to {connection.client} ended before {later.data.frame} of {later.run} was sent"
            yield evolve(_endless(found, closed), evidence=(closed.position, later.position))


def _page_ends(facts: Facts, over: set[str]) -> Iterator[Finding]:
    """Judges that pages display no message and no tool call as open after all runs have ended."""
    for client, page in facts.once(views).items():
        view = settled_view(page)
        if view is None or view.data.session not in over or _misled(facts, view) or _rewritten(facts, view):
            continue
        still = [item for item in _page_items(view, facts) if item.state == "open" and item.kind == "assistant"]
        if still:
            yield _endless(f"{client} displays {still[0].text!r:.60} as open, but its run has ended", view)
        elif calls := calls_at_work(facts, view):
            yield _endless(f"{client} displays tool call {calls[0]} as running, but it has ended", view)
        elif view.data.items:
            yield HELD


def _endless(found: str, event: Event) -> Violation:
    return Violation(
        invariant="stream-terminates",
        promised="every stream of an ended run ends, and the page displays the end",
        found=found,
        evidence=(event.position,),
    )


STREAM_TERMINATES = Invariant(
    id="stream-terminates",
    family="stream",
    statement="Every stream of an ended run ends, and every page that watches displays the end.",
    unclaimed=claimed,
    judge=stream_terminates,
    explain=Explanation(
        meaning="A reader that attaches to an ended run receives its terminal, or 204, and the answer ends. An answer "
        "does not end before the last frame of an active run, because many clients take a clean end as the end of the "
        "run. A client that reconnects after a clean end, as EventSource does, receives 204 in the end. No page "
        "displays a message as open after the end of its run.",
        example="A tab reconnects after the end of the run; the server finds the run's channel empty and waits.",
        usual_cause="Attaching subscribes to a channel without a writer, or one kind of terminal does not close the "
        "relay.",
        cases=("bytedance/deer-flow#4071", "nesquena/hermes-webui#6527", "TracecatHQ/tracecat#2771"),
    ),
)
