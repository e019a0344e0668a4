"""Promises about what a page shows: the same as an undisturbed reader, each message once, and the end."""

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
    """Returns per message what an undisturbed reader shows of it in the end: deltas together, then the closing text."""
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
        shown, message = event.data.view.text if event.data.view is not None else None, event.data.message or ""
        if not shown or message not in texts or (event.actor, message) in wrong:
            continue
        if any(text.startswith(shown) for text in texts[message]):
            yield HELD
            continue
        wrong[event.actor, message] = None
        whole = max(texts[message], key=len)
        yield Violation(
            invariant="replay-equals-live",
            promised="a page that reattaches never shows what an undisturbed reader does not",
            found=f"{event.actor} shows {shown!r:.90} of {message}, an undisturbed reader {whole!r:.90}",
            evidence=(event.position,),
            subject=message,
        )
    if not wrong:
        yield from _at_the_end(facts)


def _at_the_end(facts: Facts) -> Iterator[Finding]:
    for client, shown in facts.once(views).items():
        view = settled_view(shown)
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
            promised="a page that reattaches shows in the end what the journal holds",
            found=f"{client} shows {_listed(ours)}, the journal holds {_listed(theirs)}",
            evidence=(view.position, read.position),
            expected=tuple(f"{state} {text!r}" for text, state in theirs),
            actual=tuple(f"{state} {text!r}" for text, state in ours),
        )


def _page_items(view: EventOf[ClientView], facts: Facts) -> tuple[Item, ...]:
    """Returns what a page shows, without what any reader shows and the journal lacks: that is lost, not badly told."""
    shows = facts.once(reference_messages)
    read = facts.final_reads.get(view.data.session)
    items = as_states(view.data.items)
    if read is None:
        return items
    kept = {item.id: True for item in facts.items(read)}
    told = (item for item in items if item.id in kept or item.id not in shows)
    return tuple(item for item in told if item.id not in kept or not _unpublished(item, facts))


def _expected_items(read: EventOf[JournalRead], view: EventOf[ClientView], facts: Facts) -> tuple[Item, ...]:
    """Returns the rows of the journal, in the words that the page was told: what it holds besides is its own affair."""
    told = facts.once(final_texts)
    shown = {item.id: item.text for item in view.data.items}
    return tuple(
        evolve(item, text=shown[item.id]) if item.id in shown and shown[item.id] == told.get(item.id or "") else item
        for item in facts.items(read)
        if not _unpublished(item, facts)
    )


def _unpublished(item: Item, facts: Facts) -> bool:
    shows = facts.once(reference_messages)
    return bool(shows) and item.id is not None and item.id not in shows


def _undecided(facts: Facts, view: EventOf[ClientView]) -> str:
    """Says why a page may differ from the journal without anybody's fault."""
    client = view.actor
    if facts.cut is not None:
        return "the case was cut off"
    if _under_way(facts, view):
        return "a run of the session has not ended"
    if _misled(facts, view):
        return f"the link told {client} a clean end that was not the server's"
    if _rewritten(facts, view, *facts.of(MaintenanceDone)):
        return "the history was rewritten after the page was opened"
    return ""


def _rewritten(facts: Facts, view: EventOf[ClientView], *more: Event) -> bool:
    """Whether what the page shows was rolled back, or rewritten by ``more``, after its history was read."""
    reloads = [e.position for e in facts.of(ClientReloaded) if e.actor == view.actor]
    changed = [*more, *(stop for stop in facts.of(StopDelivered) if stop.data.mode == "rollback")]
    return any(event.position > max(reloads, default=-1) for event in changed)


def _under_way(facts: Facts, view: EventOf[ClientView]) -> list[str]:
    """Returns the runs of the page's session that have not ended."""
    return [run.id for run in facts.runs.values() if run.session == view.data.session and run.ended is None]


def _has_all(facts: Facts, view: EventOf[ClientView]) -> bool:
    """Whether the page has an open stream, and has applied the last thing that was written to it."""
    mine = [connection for connection in facts.once(connections) if connection.client == view.actor]
    last = mine[-1] if mine and view.data.watching else None
    if last is None or last.answered is None or last.answered.data.status != 200 or last.closed or last.cut:
        return False
    ids = [told.event.id for told in last.sent if told.event.id]
    return bool(view.data.cursor == (ids[-1] if ids else last.answered.data.cursor or ""))


def _so_far(facts: Facts, view: EventOf[ClientView], runs: Collection[str]) -> Finding:
    """Judges what a page shows of the messages under way, when nothing happens any more."""
    texts: dict[str, str] = {}
    for event in facts.of(FramePublished):
        message, frame = event.data.message or "", event.data.frame
        if frame == "message.delta" and event.run in runs:
            texts[message] = texts.get(message, "") + event.data.text
        elif frame in ("message.completed", "message.interrupted", "message.superseded"):
            texts.pop(message, None)
    shown = {item.id: item.text for item in view.data.items}
    short = next((message for message, text in texts.items() if shown.get(message, "") != text), None)
    if short is None:
        return HELD
    return Violation(
        invariant="replay-equals-live",
        promised="a page whose stream is open shows as much of a message under way as an undisturbed reader",
        found=f"{view.actor} shows {shown.get(short, '')!r:.60} of {short}, an undisturbed reader {texts[short]!r:.90}",
        evidence=(view.position,),
        subject=short,
    )


def _misled(facts: Facts, view: EventOf[ClientView]) -> bool:
    """Whether a link may have told the program a clean end that was not the server's."""
    return view.data.gave_up == "ended" and any(c.cut for c in facts.once(connections) if c.client == view.actor)


def _listed(rows: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{text!r:.40} ({state})" for text, state in rows) or "nothing"


REPLAY_EQUALS_LIVE = Invariant(
    id="replay-equals-live",
    family="stream",
    statement="Wherever a connection breaks, a page that reattaches shows what an undisturbed reader shows.",
    unclaimed=claimed,
    judge=replay_equals_live,
    explain=Explanation(
        meaning="At every moment the text that a page shows of a message is a beginning of what an undisturbed reader "
        "shows, and once all is quiet the page shows what the journal holds, or the server has declared a gap and a "
        "reload shows it. The same goes for tool calls and for questions that wait for a person. Pages whose program "
        "gave up with an error are judged after their person has reloaded them.",
        example="The connection breaks after two chunks; the server replays from the start and does not say so, and "
        'the page shows "HelHello".',
        usual_cause="The cursor is not looked at, or the bound between replay and live is read before the subscription "
        "is in place, so that a chunk falls between the two or comes by both.",
        cases=("TracecatHQ/tracecat#2771", "nesquena/hermes-webui#3005", "nesquena/hermes-webui#3391"),
    ),
)


def single_visible_source(facts: Facts) -> Iterator[Finding]:
    """Judges every page that was opened with the history and then watched."""
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
                promised="a message is shown by the history or by the stream, never by both",
                found=f"{client} shows {twice.text!r:.60} as {twice.id} from the history and as {live}",
                evidence=(event.position,),
                subject=live,
            )
    yield from _bubbles(facts, wrong)
    if facts.history.capabilities.stable_ids:
        yield from _made_up(facts)


def _displays(data: ClientApplied) -> bool:
    return data.view is not None and bool(data.view.text)


def _displayed_twice(facts: Facts, history: tuple[Item, ...], data: ClientApplied) -> Item | None:
    """Returns the row of the history that the message of a frame shows a second time."""
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
    for client, shown in facts.once(views).items():
        view = shown[-1]
        if client in wrong or not any(event.actor == client for event in facts.of(ClientReloaded)):
            continue
        refs = facts.refs(view.data.items, view.data.session)
        pairs = [(ref, item) for ref, item in zip(refs, view.data.items, strict=True) if item.kind == "assistant"]
        # what the journal itself holds twice is told as it is
        known = [ref for ref, _ in pairs if ref is not None and len(facts.stored(ref)) < 2]
        double = next((item for ref, item in pairs if known.count(ref or "") > 1 and item.text), None)
        if double is None:
            yield HELD
            continue
        yield Violation(
            invariant="single-visible-source",
            promised="a message is one bubble",
            found=f"{client} shows {double.text!r:.60} in two bubbles",
            evidence=(view.position,),
            subject=double.id,
        )


def _made_up(facts: Facts) -> Iterator[Finding]:
    """Judges the empty bubbles of each page at the end: each must be a message that somebody has heard of."""
    known: dict[str | None, None] = {event.data.message: None for event in facts.of(FramePublished)}
    known |= {item.id: None for reads in facts.reads.values() for read in reads for item in read.data.items}
    for client, shown in facts.once(views).items():
        empty = [item for item in shown[-1].data.items if item.kind == "assistant" and not item.text]
        stray = next((item for item in empty if not item.reasoning and item.id not in known), None)
        if stray is not None:
            yield Violation(
                invariant="single-visible-source",
                promised="a bubble is a message of the journal",
                found=f"{client} shows an empty bubble {stray.id}, which is in neither the journal nor a frame",
                evidence=(shown[-1].position,),
                subject=stray.id,
            )


SINGLE_VISIBLE_SOURCE = Invariant(
    id="single-visible-source",
    family="stream",
    statement="A page that reads the history and then attaches shows every message once.",
    unclaimed=claimed,
    judge=single_visible_source,
    explain=Explanation(
        meaning="At any moment a message comes to a page from the history or from the stream. The page can tell that "
        "both mean the same message, because it has the same id in both, or the stream says which run it begins anew.",
        example="A tab is reloaded in the middle of an answer: the history shows the text so far, and the stream "
        "brings it again in a bubble of its own.",
        usual_cause="The history gives a message another id than the stream, or holds open messages while "
        "the stream replays them as well.",
        cases=("TracecatHQ/tracecat#2771", "nesquena/hermes-webui#3160"),
    ),
)


def stream_terminates(facts: Facts) -> Iterator[Finding]:
    """Judges every answer, and every page that watched a run to its end."""
    yield from _left_off(facts)
    for event in facts.of(StreamEndless):
        after_end = event.data.after_end  # 0: closed by our bound on connections, while there was something to watch
        if after_end and _refused(facts, event):
            yield HELD  # there is a program that takes no answer for an end
        elif after_end > 1 and facts.runs:
            yield _endless(f"{event.actor} asked {event.data.connections} times and was never told to stop", event)
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
            yield HELD  # a process takes its connections with it
        else:
            yield _endless(f"the stream of {connection.client} is open although every run has ended", answered)
    yield from _page_ends(facts, over)


def _refused(facts: Facts, endless: EventOf[StreamEndless]) -> bool:
    """Whether an answer to this client said that there is nothing to watch, since nothing was."""
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
    """Judges that no server ends an answer as if all were said, while it has more to say of a run under way."""
    published = facts.once(_published)
    for connection in facts.once(connections):
        answered, closed = connection.answered, connection.closed
        if answered is None or answered.data.status != 200 or closed is None or closed.data.why != "ended":
            continue
        session = answered.data.session
        told = [one.position for one in connection.sent if isinstance(one.means, Frame)]
        last = max(told, default=answered.position)  # of a run that begins later it had nothing to say
        frames = [published.get(run.id, ()) for run in facts.runs.values() if run.session == session]
        later = next((f[-1] for f in frames if f and f[0].position < last < closed.position < f[-1].position), None)
        if later is not None and not connection.gap and not facts.crashed_between(closed.position, later.position):
            found = f"the answer to {connection.client} ends, and then {later.data.frame} of {later.run} is told"
            yield evolve(_endless(found, closed), evidence=(closed.position, later.position))


def _page_ends(facts: Facts, over: set[str]) -> Iterator[Finding]:
    """Judges whether pages that watched know that nothing is under way any more."""
    for client, shown in facts.once(views).items():
        view = settled_view(shown)
        if view is None or view.data.session not in over or _misled(facts, view) or _rewritten(facts, view):
            continue
        still = [item for item in _page_items(view, facts) if item.state == "open" and item.kind == "assistant"]
        if still:
            yield _endless(f"{client} shows {still[0].text!r:.60} as still open, its run has ended", view)
        elif calls := calls_at_work(facts, view):
            yield _endless(f"{client} shows the tool call {calls[0]} as still at work", view)
        elif view.data.items:
            yield HELD


def _endless(found: str, event: Event) -> Violation:
    return Violation(
        invariant="stream-terminates",
        promised="every stream of a run that has ended comes to its end, and the page learns it",
        found=found,
        evidence=(event.position,),
    )


STREAM_TERMINATES = Invariant(
    id="stream-terminates",
    family="stream",
    statement="Every stream of a run that has ended comes to its end, and every page that watches learns it.",
    unclaimed=claimed,
    judge=stream_terminates,
    explain=Explanation(
        meaning="Whoever attaches to a run that has ended gets its terminal, or 204, and the answer ends. While there "
        "is more to say it does not end, because a clean end is the end to many programs. A program that reconnects "
        "after one, as EventSource does, is told 204 sooner or later. No page shows a message as open when its run is "
        "over.",
        example="A tab reconnects after the end of the run; the server finds the run's channel empty and waits.",
        usual_cause="Attaching subscribes to a channel whose writer is gone, or one kind of terminal is not among "
        "those that close the relay.",
        cases=("bytedance/deer-flow#4071", "nesquena/hermes-webui#6527", "TracecatHQ/tracecat#2771"),
    ),
)
