"""The invariants of stops: a stop ends its run, and the loss of a reader does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from journalsim.contract.events.client_events import ClientSent
from journalsim.contract.events.harness_events import QuietReached
from journalsim.contract.items import Item
from journalsim.history import Event, History
from journalsim.oracle.facts.allowances import taken_by_disconnect
from journalsim.oracle.facts.evidence import MS, evidence, moment
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.records import Run, Stop
from journalsim.oracle.facts.row_lines import row_text, rows_text
from journalsim.oracle.facts.run_ends import (
    cancelled_by_start,
    during,
    end_of,
    how_ended,
    readers_gone,
    went_on,
    work_of,
)
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, Unsure
from journalsim.oracle.invariants.verdict import Violation

STOP_BOUND_NS = 10_000 * MS  # a user who waits longer presses Stop again or closes the page


# --- stop-ends-run -------------------------------------------------------------------------------


def stop_ends_run(facts: Facts) -> Iterator[Finding]:
    """Judges every delivered stop, and every run that ended as stopped."""
    for run in facts.runs.values():
        yield from _works_on(run, facts)
        if not run.stops:
            yield from _judge_unnamed(run, facts)
            continue
        yield from (_judge_late_stop(run, stop, facts) for stop in run.stops if stop.delivered.position > run.end)
        active = [stop for stop in run.stops if stop.delivered.position < run.end]
        dropped = next((stop for stop in active if _dropped(run, stop, facts)), None)
        if dropped is not None:
            promised = f"run {run.id} was accepted, so a stop reaches it"
            yield _bad_stop(run, dropped, promised, "the answer to the stop says that the run is unknown", facts)
        elif run.stop is not None and run.stop.answer == "stopping":
            yield _judge_stopped(run, run.stop, facts) if _over(run, facts) else _judge_unended(run, run.stop, facts)


def _works_on(run: Run, facts: Facts) -> Iterator[Violation]:
    """Judges that a run that ended without a stop does no further work."""
    # work for a repeated request is reported by one-request-one-effect
    again = sum(event.data.key == run.key for event in facts.of(ClientSent)) > 1
    if run.ended is None or again or (run.stop is not None and run.stop.answer == "stopping"):
        return
    for event in islice(work_of(run, facts, run.end), 1):
        yield Violation(
            invariant="stop-ends-run",
            promised=f"run {run.id} ended at {moment(run.ended.position, facts)} and does no further work",
            found=f"{event.subject} began after the end of the run",
            evidence=tuple(sorted({*evidence(facts, run), event.position})),
            actual=rows_text(facts.markers.get(run.id, ())),
            subject=run.id,
        )


def _dropped(run: Run, stop: Stop, facts: Facts) -> bool:
    """Returns True if the answer to a stop is ``unknown`` although the run was accepted before."""
    accepted, delivered = run.accepted.position, stop.delivered.position
    return stop.answer == "unknown" and delivered > accepted and not facts.crashed_between(accepted, delivered)


def _over(run: Run, facts: Facts) -> bool:
    return run.ended is not None or run.id in facts.markers


def _judge_unended(run: Run, stop: Stop, facts: Facts) -> Finding:
    """Judges a stopped run without an announced end and without a terminal."""
    quiet = facts.of(QuietReached)
    if facts.cut is not None or not quiet:
        return Unsure(f"the case was cut off before run {run.id} could end")
    if facts.crashed_between(stop.delivered.position, NEVER):
        return Unsure(f"the server crashed before run {run.id} could end")
    found = f"the case is at rest, and run {run.id} has not ended"
    return _bad_stop(run, stop, f"run {run.id} ends after its stop", found, facts, quiet[-1])


def _judge_stopped(run: Run, stop: Stop, facts: Facts) -> Finding:
    """Judges the end of a stopped run."""
    if went_on(run, stop, facts):
        found = f"the run continued and ended {how_ended(*end_of(run, facts))}"
        return _bad_stop(run, stop, f"run {run.id} ends when it is stopped", found, facts)
    after = next(work_of(run, facts, run.end), None)
    if after is not None:
        found = f"{after.subject} began after the end of the stopped run"
        return _bad_stop(run, stop, f"run {run.id} does no further work after its announced end", found, facts, after)
    left = _not_taken_back(run, facts)
    if left:
        promised = f"a rollback removes all output of run {run.id}"
        return _bad_stop(run, stop, promised, f"the journal still holds {row_text(left[0])}", facts, rows=left)
    waited_ns = _waited_ns(run, stop, facts)
    if waited_ns > STOP_BOUND_NS:
        found = f"the end came {waited_ns / MS:g} ms later, and no event of the script explains the delay"
        return _bad_stop(run, stop, f"run {run.id} ends within {STOP_BOUND_NS / MS:g} ms of its stop", found, facts)
    return HELD


def _not_taken_back(run: Run, facts: Facts) -> tuple[Item, ...]:
    """Returns the rows of the model and its tools that remain of a run that ended as rolled back."""
    if end_of(run, facts)[1] != "rolled_back" or facts.unsettled(run):
        return ()
    return tuple(
        item
        for item in facts.journal.get(run.session, ())
        if item.run_id == run.id and item.kind in ("assistant", "tool_call", "tool_result")
    )


def _waited_ns(run: Run, stop: Stop, facts: Facts) -> int:
    """Returns the time from the stop of a run, or from its last scripted event, to its end, in nanoseconds."""
    if run.ended is None:
        return 0
    scripted = (
        event.time_ns
        for event in facts.history.events[stop.delivered.position : run.ended.position]
        if event.run == run.id and event.kind.startswith(("model.", "tool."))
    )
    return run.ended.time_ns - max(scripted, default=stop.delivered.time_ns)


def _judge_late_stop(run: Run, stop: Stop, facts: Facts) -> Finding:
    """Judges a stop after the end of its run: it changes nothing."""
    markers = facts.markers.get(run.id, ())
    announced = end_of(run, facts)[0]
    # two terminals are reported by one-terminal-per-run
    changed = [m for m in markers if len(markers) == 1 and m.state == "interrupted" and m.cause in ("stopped", None)]
    if announced != "interrupted" and changed:
        promised = f"run {run.id} had ended {announced} before this stop, which changes nothing"
        return _bad_stop(run, stop, promised, f"the journal holds {row_text(changed[0])}", facts)
    return HELD


def _judge_unnamed(run: Run, facts: Facts) -> Iterator[Finding]:
    """Judges a run that no stop named: it does not end as stopped."""
    state, cause = end_of(run, facts)
    others = [stop for other in facts.runs.values() for stop in other.stops if during(stop.delivered, run)]
    if state != "interrupted" or cause not in ("stopped", "rolled_back"):
        yield from (HELD for _ in others[:1])
        return
    # the loss of a reader is reported by disconnect-is-not-stop
    left = any(during(event, run) for event in readers_gone(facts))
    if (left and not others) or cancelled_by_start(run, facts):
        return
    yield Violation(
        invariant="stop-ends-run",
        promised=f"no stop named run {run.id}, so it is not stopped",
        found=f"run {run.id} ended {how_ended(state, cause)}"
        + (f" after a stop that named run {others[0].run}" if others else ""),
        evidence=tuple(sorted({*evidence(facts, run), *(stop.delivered.position for stop in others[:1])})),
        actual=rows_text(facts.markers.get(run.id, ())),
        subject=run.id,
    )


def _bad_stop(
    run: Run,
    stop: Stop,
    promised: str,
    found: str,
    facts: Facts,
    last: Event | None = None,
    rows: tuple[Item, ...] = (),
) -> Violation:
    positions = {*evidence(facts, run), stop.delivered.position, *([last.position] if last is not None else [])}
    return Violation(
        invariant="stop-ends-run",
        promised=f"{promised} (stopped at {moment(stop.delivered.position, facts)})",
        found=found,
        evidence=tuple(sorted(positions)),
        actual=rows_text(rows or facts.markers.get(run.id, ())),
        subject=run.id,
    )


# --- disconnect-is-not-stop ----------------------------------------------------------------------


def disconnect_is_not_stop(facts: Facts) -> Iterator[Finding]:
    """Judges every run during which a reader detached, and every journal that was read before and after."""
    aways = readers_gone(facts)
    if not aways:
        return
    for run in facts.runs.values():
        away = next((event for event in aways if during(event, run)), None)
        if away is None or run.stops:
            continue
        reason = facts.unsettled(run)
        yield Unsure(reason) if reason else _judge_left_run(run, away, facts)
    for taken in taken_by_disconnect(facts):
        yield Violation(
            invariant="disconnect-is-not-stop",
            promised="the journal stays the same when a reader detaches",
            found="a row is gone or changed afterwards",
            evidence=(taken.before.position, taken.away.position, taken.after.position),
            expected=(row_text(taken.item),),
            actual=tuple(
                row_text(i)
                for i in taken.after.data.items
                if (i.kind, i.id, i.call_id) == (taken.item.kind, taken.item.id, taken.item.call_id)
            ),
            subject=taken.item.id or taken.item.call_id,
        )


def _judge_left_run(run: Run, away: Event, facts: Facts) -> Finding:
    state, cause = end_of(run, facts)
    other_stop = any(during(stop.delivered, run) for other in facts.runs.values() for stop in other.stops)
    by_stop = cause in ("stopped", "rolled_back", None) and not other_stop and not cancelled_by_start(run, facts)
    if state != "interrupted" or not (cause == "disconnected" or by_stop):
        return HELD
    return Violation(
        invariant="disconnect-is-not-stop",
        promised=f"a reader detached at {moment(away.position, facts)}, and no user stopped run {run.id}",
        found=f"run {run.id} ended {how_ended(state, cause)}",
        evidence=evidence(facts, run, away.position),
        actual=rows_text(facts.markers.get(run.id, ())),
        subject=run.id,
    )


def _cancels_on_disconnect(history: History) -> str:
    cancels = history.policies.get("disconnect") == "cancel"
    return "by policy a disconnect cancels the run" if cancels else ""


STOPS: tuple[Invariant, ...] = (
    Invariant(
        id="stop-ends-run",
        family="runs",
        statement="A stop ends the run that it names within a bound, and no other run; "
        "a stop of an ended run changes nothing.",
        judge=stop_ends_run,
        explain=Explanation(
            meaning="From its acceptance on, a stop reaches a run: before the model call, in a stream, in a tool, and "
            "while the run is stopping. The run reaches an announced end within the bound, and only named runs end as "
            "stopped. An ended run does no further work, and a run that was rolled back leaves no rows of the model "
            "and its tools.",
            example="Stop arrives between admission and the first model call, finds no handle to cancel, and is "
            "dropped; the page displays idle while the run edits files.",
            usual_cause="The worker registers the handle for stopping after the run was accepted, or the handle "
            "belongs to the session, not to the run.",
            cases=("cline/cline#14357",),
        ),
    ),
    Invariant(
        id="disconnect-is-not-stop",
        family="runs",
        statement="A reader that detaches neither ends a run nor changes the journal.",
        judge=disconnect_is_not_stop,
        unclaimed=_cancels_on_disconnect,
        explain=Explanation(
            meaning="A closed tab, a lost network and a reload look the same to a server and do not express a wish of "
            "the user. Only an explicit stop ends a run, unless the policy of the scenario says otherwise.",
            example="The page is reloaded in mid-answer; the server sees the connection close and cancels the run.",
            usual_cause="The run lives inside the request that streams it, so it is cancelled with that request.",
            cases=("vercel/resumable-stream#19", "vercel/ai#15091"),
        ),
    ),
)
