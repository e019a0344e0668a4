"""The invariant of run ends: each run has one terminal, and the terminal is true."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.harness_events import StepTaken
from journalsim.contract.items import Cause, Item
from journalsim.oracle.facts.changes import changed
from journalsim.oracle.facts.evidence import evidence, moment
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.losses import end_was_lost, prompt_was_lost
from journalsim.oracle.facts.records import Run, Stop
from journalsim.oracle.facts.row_lines import row_text, rows_text
from journalsim.oracle.facts.run_ends import during, end_of, how_ended, own_end, readers_gone, went_on
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, Unsure, needs
from journalsim.oracle.invariants.verdict import Violation


def one_terminal_per_run(facts: Facts) -> Iterator[Finding]:
    """Judges the terminal of every accepted run."""
    unwritten = [item.run_id for item in facts.failed_appends if item.kind == "marker"]
    for run in facts.runs.values():
        markers = facts.markers.get(run.id, ())
        if run.id in unwritten or facts.rewritten(run.session, run.asked):
            continue
        if (run.rolled_back and not markers) or changed(f"marker {run.id}", run.session, facts):
            continue
        reason = facts.unsettled(run)
        if reason:
            yield Unsure(reason)
            continue
        if _lost_in_a_crash(run, facts):
            continue
        wrong = _wrong_terminal(run, markers, facts)
        yield (
            HELD
            if not wrong
            else Violation(
                invariant="one-terminal-per-run",
                promised=f"run {run.id} has one terminal with the state and cause of its end",
                found=wrong,
                evidence=evidence(facts, run, run.accepted.position),
                expected=(row_text(_expected_marker(run, facts)),),
                actual=rows_text(markers),
                subject=run.id,
            )
        )


def _lost_in_a_crash(run: Run, facts: Facts) -> bool:
    """Returns True if a crash took the end, or the whole run with its prompt: reported by acknowledged-is-durable."""
    users = (user for user in facts.users.values() if user.run == run.id)
    gone = any(prompt_was_lost(user, run, facts) for user in users)
    return run.id not in facts.markers and (gone or end_was_lost(run, facts))


def _wrong_terminal(run: Run, markers: tuple[Item, ...], facts: Facts) -> str:
    """Returns the fault of the terminals of a run; empty without one."""
    if len(markers) != 1:
        return f"the journal holds {len(markers)} terminals of it" if markers else "the journal holds no terminal of it"
    marker = markers[0]
    says = how_ended(marker.state, marker.cause)
    stop = run.stop
    if stop is not None and stop.answer == "stopping":
        if marker.state == "interrupted" and marker.cause in _causes(run, stop, facts):
            return ""
        if went_on(run, stop, facts) or marker.state == own_end(run, stop, facts) or end_was_lost(run, facts):
            return ""
        return f"the run was stopped at {moment(stop.delivered.position, facts)}, and its terminal says {says}"
    announced, cause = end_of(run, facts)
    later = facts.crashed_between(run.end, NEVER) or any(s.delivered.position > run.end for s in run.stops)
    if (announced, cause or marker.cause) != (marker.state, marker.cause) and not later:
        return f"the end was announced as {how_ended(announced, cause)}, and the terminal says {says}"
    return ""


def _expected_marker(run: Run, facts: Facts) -> Item:
    if run.stop is not None:
        rollback = run.stop.mode == "rollback"
        cause: Cause = "rolled_back" if rollback else "stopped"
        return Item(kind="marker", run_id=run.id, state="interrupted", cause=cause)
    if facts.crashed_between(run.asked, run.end):
        return Item(kind="marker", run_id=run.id, state="interrupted", cause="crashed")
    known = facts.markers.get(run.id, ())
    state = end_of(run, facts)[0]
    return Item(kind="marker", run_id=run.id) if not known or state == "completed" else known[0]


def _causes(run: Run, stop: Stop, facts: Facts) -> list[str]:
    """Returns the causes that a stopped run may have: the stop, or another cause before or after it."""
    causes = ["stopped"]
    if run.rolled_back:
        causes.append("rolled_back")
    if facts.crashed_between(run.asked, run.end):
        causes.append("crashed")
    if any(during(event, run) and event.data.verb == "shutdown" for event in facts.of(StepTaken)):
        causes.append("shut_down")
    # a disconnect may still win against a stop in flight
    latest = (stop.answered or stop.delivered).position
    left = any(during(event, run) and event.position < latest for event in readers_gone(facts))
    if left and facts.history.policies.get("disconnect") == "cancel":
        causes.append("disconnected")
    return causes


RUNS: tuple[Invariant, ...] = (
    Invariant(
        id="one-terminal-per-run",
        family="runs",
        statement="Every ended run has exactly one terminal, with the true state and cause of its end.",
        judge=one_terminal_per_run,
        unclaimed=needs("terminals"),
        explain=Explanation(
            meaning="The first durable terminal decides the end of a run. A stopped run ends interrupted with the "
            "cause stopped, and no second terminal is added. A reader who returns later, and the next model call, "
            "know the end of the run only from it. Rows after the terminal are reported by fenced-writer.",
            example="The run is stopped while its last message completes; the worker writes completed, the stop path "
            "writes interrupted, and both stay.",
            usual_cause="Two exit paths of a run write the terminal, and neither checks whether it is stored; or the "
            "system takes the terminal with the latest time as the true one.",
            cases=("aegra/aegra#472", "aegra/aegra#552"),
        ),
    ),
)
