"""The invariants of requests: a request has one effect, and its message is stored before any work for it."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.client_events import ClientSent
from journalsim.contract.events.server_events import MaintenanceDone, RunRefused
from journalsim.contract.events.stream_events import RequestDelivered
from journalsim.contract.items import HIDDEN_FROM_MODEL, Item
from journalsim.history import Event
from journalsim.oracle.facts.changes import changed
from journalsim.oracle.facts.event_index import Look
from journalsim.oracle.facts.evidence import evidence, moment
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.losses import prompt_was_lost
from journalsim.oracle.facts.records import Run, ToolUse, UserMessage
from journalsim.oracle.facts.row_lines import quoted, row_text, rows_text
from journalsim.oracle.invariants.answers import answers_count_once
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, needs
from journalsim.oracle.invariants.ownership import standing
from journalsim.oracle.invariants.verdict import Violation

# --- one-request-one-effect ----------------------------------------------------------------------


def one_request_one_effect(facts: Facts) -> Iterator[Finding]:
    """Judges every accepted or refused request key, every executed tool call, and every answer of a user."""
    refused = _refused(facts)
    runs: dict[str, list[Run]] = {}
    for run in facts.runs.values():
        runs.setdefault(run.key, []).append(run)
    for user in facts.users.values():
        own = runs.get(user.key, [])
        if own or user.key in refused:
            yield _judge_request(user, own, facts)
    for tool in facts.tools.values():
        if tool.started:
            yield _judge_starts(tool, facts)
    yield from answers_count_once(facts)


def _refused(facts: Facts) -> list[str]:
    """Returns the keys of refused requests, without keys of which a delivered copy has no answer."""
    refused = [event.data.key for event in facts.of(RunRefused)]
    starts = (event for event in facts.of(RequestDelivered) if event.data.verb == "start")
    delivered = [event.data.key for event in starts]
    return [key for key in refused if delivered.count(key) <= refused.count(key)]


def _judge_starts(tool: ToolUse, facts: Facts) -> Finding:
    """Judges that the tool of a call ran once: a denial, a second answer or a second worker starts no tool."""
    first, last = tool.started[0], tool.started[-1]
    denied = facts.denied.get(tool.call_id)
    if denied is not None and not facts.crashed_between(denied.position, NEVER):
        return Violation(
            invariant="one-request-one-effect",
            promised=f"a user denied call {tool.call_id} at {moment(denied.position, facts)}, so its tool never runs",
            found="its tool ran",
            evidence=evidence(facts, facts.runs.get(tool.run or ""), denied.position, first.position),
            subject=tool.call_id,
        )
    asked = sum(call.call_id == tool.call_id for m in facts.messages.values() for call in m.calls)
    if len(tool.started) <= max(1, asked) or facts.crashed_between(first.position, last.position):
        return HELD
    return Violation(
        invariant="one-request-one-effect",
        promised=f"the model requested call {tool.call_id} once, so its tool runs once",
        found=f"its tool ran {len(tool.started)} times",
        evidence=evidence(facts, facts.runs.get(tool.run or ""), *(event.position for event in tool.started)),
        subject=tool.call_id,
    )


def _judge_request(user: UserMessage, runs: list[Run], facts: Facts) -> Finding:
    rows = standing(user.ref, facts)
    if not runs and _perhaps_of_another(user, facts):
        return HELD
    if not runs:
        found = f"the journal holds the message of a request that was refused, {user.ref}" if rows else ""
        return _bad_request(user, found, None, rows[:0], rows, facts) if found else HELD
    run = runs[0]
    if len(runs) > 1:
        names = " and ".join(other.id for other in runs)
        found = f"it started runs {names}"
        return _bad_request(user, found, run, (), (), facts, *(other.accepted.position for other in runs[1:]))
    if len(rows) > 1 and not _repeats_allowed(user, facts):
        return _bad_request(user, f"the journal holds its message {len(rows)} times", run, rows[:1], rows, facts)
    again = _called_again(run, facts)
    if again is not None:
        found = f"the model was called again for run {run.id} after a repeated request"
        return _bad_request(user, found, run, (), (), facts, again.position)
    return HELD


def _perhaps_of_another(user: UserMessage, facts: Facts) -> bool:
    """Returns True if another request without an answer has the same text: their messages look the same."""
    answered = [event.data.key for event in facts.of(RunRefused)]
    others = (other for other in facts.users.values() if other is not user and other.run is None)
    return any(other.text == user.text and other.key not in answered for other in others)


def _repeats_allowed(user: UserMessage, facts: Facts) -> bool:
    # after an append with an unknown outcome the driver must retry
    return user.ref in facts.unwritten and not facts.history.capabilities.dedup_by_id


def _called_again(run: Run, facts: Facts) -> Event | None:
    """Returns a model call caused by a repeated request: during an open call, or after the end of the run."""
    if sum(event.data.key == run.key for event in facts.of(ClientSent)) < 2:
        return None
    calls = [call for call in facts.calls if call.run == run.id]
    for index, call in enumerate(calls):
        open_ones = (earlier for earlier in calls[:index] if _ended(earlier, facts) > call.position)
        if next(open_ones, None) is not None or (call.position > run.end and run.stop is None):
            return call
    return None


def _ended(call: Event, facts: Facts) -> float:
    ends = [
        end.position
        for message in facts.messages.values()
        if message.turn == call.subject
        for end in (message.failed, message.closed, message.completed)
        if end is not None
    ]
    crashes = [position for position in facts.crashes if position > call.position]
    return min((*ends, *crashes), default=NEVER)


def _bad_request(
    user: UserMessage,
    found: str,
    run: Run | None,
    expected: tuple[Item, ...],
    actual: tuple[Item, ...],
    facts: Facts,
    *positions: int,
) -> Violation:
    return Violation(
        invariant="one-request-one-effect",
        promised=f"request {user.key} {quoted(user.text)} has one effect: one message, one run, one answer"
        if run is not None
        else f"request {user.key} {quoted(user.text)} was refused and has no effect",
        found=found,
        evidence=evidence(facts, run, user.sent.position, *positions),
        expected=rows_text(expected),
        actual=rows_text(actual),
        subject=user.ref,
    )


# --- prompt-first --------------------------------------------------------------------------------


def prompt_first(facts: Facts) -> Iterator[Finding]:
    """Judges every accepted message at each model call of its run, and at each read after its acceptance."""
    for user in facts.users.values():
        run = facts.runs.get(user.run or "")
        if run is None or run.rolled_back or user.ref in facts.unwritten or facts.rewritten(run.session, 0):
            continue
        called = next((call for call in facts.calls if call.run == run.id), None)
        stored = facts.stored(user.ref)
        if not stored:
            # a missing message is reported by no-lost-completed-message; here only if a crash took it after the call
            killed = called is not None and facts.crashed_between(called.position, NEVER)
            if called is not None and killed and not (prompt_was_lost(user, run, facts) or facts.unsettled(run)):
                yield _late_prompt(user, run, "a crash took it after the model was called", called, facts)
            continue
        yield from _judge_calls(user, run, facts)
        yield from _judge_reads(user, run, facts)


def _judge_calls(user: UserMessage, run: Run, facts: Facts) -> Iterator[Finding]:
    """Judges that the context of each model call holds the prompt; store-equals-context judges the rest."""
    if not facts.history.capabilities.context or _ever_hidden(user, facts):
        return
    for call in facts.calls:
        if call.run == run.id and facts.was_seen(call):
            given = user.ref in facts.refs_in(call)
            found = f"{call.subject} was called for run {run.id} without it"
            yield HELD if given else _late_prompt(user, run, found, call, facts)


def _ever_hidden(user: UserMessage, facts: Facts) -> bool:
    asked = any(HIDDEN_FROM_MODEL in event.data.metadata for event in facts.of(MaintenanceDone))
    return asked or any(row.metadata.get(HIDDEN_FROM_MODEL) for row in facts.stored(user.ref))


def _judge_reads(user: UserMessage, run: Run, facts: Facts) -> Iterator[Finding]:
    assert user.accepted is not None
    for read in facts.reads[run.session]:
        if user.accepted.position < facts.begun(read) and not changed(user.ref, run.session, facts):
            there = user.ref in facts.refs_in(read)
            yield HELD if there else _late_prompt(user, run, "a read of the journal does not include it", read, facts)


def _late_prompt(user: UserMessage, run: Run, found: str, seen: Look, facts: Facts) -> Violation:
    assert user.accepted is not None
    accepted = user.accepted.position
    return Violation(
        invariant="prompt-first",
        promised=f"{user.ref} {quoted(user.text)} was accepted for run {run.id} at {moment(accepted, facts)}, "
        "so every later read and model call of the run includes it",
        found=f"{found} at {moment(seen.position, facts)}",
        evidence=evidence(facts, run, accepted, seen.position),
        expected=(row_text(Item(kind="user", text=user.text, run_id=run.id)),),
        actual=rows_text(facts.items(seen)) if facts.was_seen(seen) else (),
        subject=user.ref,
    )


ONE_REQUEST_ONE_EFFECT = Invariant(
    id="one-request-one-effect",
    family="runs",
    statement="A request has one effect, however often it arrives: one message, one run, one answer, "
    "one execution of each call; a refused request has no effect.",
    judge=one_request_one_effect,
    unclaimed=needs("idempotent_start"),
    explain=Explanation(
        meaning="A client without a reply must send again and does not know whether the first copy arrived. The "
        "request key identifies both copies as one request: the server answers the second with the existing run, "
        "before, during and after that run, and after a restart. The journal holds the user message once, and the "
        "model is not called again. A call runs its tool once, however often a user approves it, and never if a user "
        "denied it; of two different answers the first counts, and the server answers the second as late. A refused "
        "request leaves no trace.",
        example="The reply to a submit is lost and the browser sends again; the journal holds the prompt twice, and "
        "the tools run twice.",
        usual_cause="The server makes the key, checks and stores it in two steps, or holds it only in memory; or "
        "it writes the message before it finds the session busy.",
        cases=(
            "anthropics/anthropic-sdk-java#370",
            "AltimateAI/altimate-code#1222",
            "aaif-goose/goose#7834",
            "nexu-io/open-design#5490",
        ),
    ),
)

PROMPT_FIRST = Invariant(
    id="prompt-first",
    family="truth",
    statement="The journal holds a user message before the first model call for it, "
    "and every read after its acceptance includes it.",
    judge=prompt_first,
    unclaimed=needs("user_first"),
    explain=Explanation(
        meaning="A server that accepts a message is responsible for it, so it stores the message before any work: a "
        "stop, a failing provider or a crash does not remove the text that a user typed. Each model call of the run "
        "includes it, and a page that is opened while the answer streams displays the question above it.",
        example="The server accepts a message and starts the worker, which stores it with the answer; the process "
        "crashes in between, and the message is gone.",
        usual_cause="The run holds its new messages in memory and saves them together at the end; or the file of a "
        "session is created with the first answer.",
        cases=("aaif-goose/goose#1750", "aaif-goose/goose#9042", "hermes-webui#1298", "nexu-io/open-design#5584"),
    ),
)
