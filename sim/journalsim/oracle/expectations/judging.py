"""Judges the expectations of a scenario on the history of a case.

The names are those of :data:`journalsim.scenario.words.conditions.EXPECTATIONS`.  A case
that was cut off has no end: its expectations are undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from attrs import fields, frozen

from journalsim.contract.events.client_events import ClientSent
from journalsim.contract.events.model_events import ModelCalled
from journalsim.contract.events.server_events import RunRefused
from journalsim.contract.items import Item
from journalsim.history import History
from journalsim.oracle.expectations.case_end import CaseEnd
from journalsim.oracle.expectations.claims import unclaimed
from journalsim.oracle.facts.client_views import told_apart
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.row_lines import quoted, rows_text
from journalsim.oracle.invariants.verdict import Status, Verdict, Violation
from journalsim.scenario.values.expect import (
    Arguments,
    EqualViews,
    Expectation,
    ItemAbsence,
    ItemCount,
    ItemMatch,
    ItemView,
    MessageOrder,
    ModelCalls,
    Refusal,
    RunEnd,
    TextMatch,
    ToolExecutions,
)
from journalsim.scenario.values.scenario import Scenario

EXPECT = "expect"


def check_expectations(scenario: Scenario, history: History, facts: Facts | None = None) -> tuple[Verdict, ...]:
    """Judges ``expect.finally`` of a scenario on one history.

    Args:
        scenario: the scenario.
        history: the history of one case.
        facts: the facts of this history, if the caller has them already.

    Returns:
        One verdict per line, all with the id ``expect``.
    """
    end = CaseEnd(scenario, facts or Facts(history))
    return tuple(_verdict(expectation, end) for expectation in scenario.expect.finally_)


def met_sometimes(scenario: Scenario, history: History, facts: Facts | None = None) -> tuple[bool, ...]:
    """Returns for each line of ``expect.sometimes`` whether this case met it.

    A line that needs a capability that the adapter does not declare counts as met.
    """
    end = CaseEnd(scenario, facts or Facts(history))
    claimed = history.capabilities
    return tuple(bool(unclaimed(one, claimed)) or evaluate(one, end).holds for one in scenario.expect.sometimes)


@frozen(kw_only=True)
class Outcome:
    """The result of one condition.

    Attributes:
        holds: True if the condition holds.
        found: the observation, as a sentence.
        rows: the rows that the condition is about.
    """

    holds: bool
    found: str
    rows: tuple[Item, ...] = ()


def _verdict(expectation: Expectation, end: CaseEnd) -> Verdict:
    if end.facts.cut is not None:
        return Verdict(invariant=EXPECT, status=Status.UNDECIDED, reason="the case was cut off before its end")
    reason = unclaimed(expectation, end.facts.history.capabilities)
    if reason:
        return Verdict(invariant=EXPECT, status=Status.NOT_CLAIMED, reason=reason)
    outcome = evaluate(expectation, end)
    if outcome.holds:
        return Verdict(invariant=EXPECT, status=Status.HOLDS, exercised=1)
    violation = Violation(
        invariant=EXPECT,
        promised=f"the scenario expects {describe(expectation)}",
        found=outcome.found,
        evidence=tuple(sorted(read.position for read in end.facts.final_reads.values())),
        actual=rows_text(outcome.rows),
        subject=_subject(expectation.arguments),
        line=expectation.line,
    )
    return Verdict(invariant=EXPECT, status=Status.VIOLATED, violations=(violation,), exercised=1)


def _subject(arguments: Arguments | None) -> str | None:
    """Returns the message or the tool call that a condition is about."""
    if isinstance(arguments, ItemMatch):
        return arguments.message or arguments.call
    return arguments.call if isinstance(arguments, ToolExecutions) else None


def describe(expectation: Expectation) -> str:
    """Returns an expectation as one line."""
    if expectation.arguments is None:
        return f"{expectation.name}: [{'; '.join(describe(part) for part in expectation.parts)}]"
    given = {
        attribute.name.rstrip("_"): getattr(expectation.arguments, attribute.name)
        for attribute in sorted(fields(type(expectation.arguments)), key=lambda attribute: attribute.name != "of")
    }
    words = ", ".join(f"{name}: {_value(value)}" for name, value in given.items() if value is not None)
    return f"{expectation.name}: {{{words}}}"


def _value(value: TextMatch | str | int | tuple[str, ...]) -> str:
    if isinstance(value, TextMatch):
        return f"{{prefix_of: {_text(value.prefix_of or '')}}}" if value.equals is None else _text(value.equals)
    return f"[{', '.join(value)}]" if isinstance(value, tuple) else str(value)


def _text(text: str) -> str:
    return text if text.startswith("$") else quoted(text)


def evaluate(expectation: Expectation, end: CaseEnd) -> Outcome:
    """Judges one condition."""
    if expectation.arguments is not None:
        return PREDICATES[expectation.name](end, expectation.arguments)
    outcomes = [evaluate(part, end) for part in expectation.parts]
    held = [part for part, outcome in zip(expectation.parts, outcomes, strict=True) if outcome.holds]
    holds = COMBINATORS[expectation.name](len(held), len(outcomes))
    if held:
        found = f"{len(held)} of {len(outcomes)} hold: {'; '.join(describe(part) for part in held)}"
    else:
        found = "none of them holds: " + "; ".join(dict.fromkeys(outcome.found for outcome in outcomes))
    rows = [row for outcome in outcomes for row in outcome.rows]
    return Outcome(holds=holds, found=found, rows=tuple(row for n, row in enumerate(rows) if row not in rows[:n]))


COMBINATORS: Mapping[str, Callable[[int, int], bool]] = {
    "exactly_one_of": lambda held, of: held == 1,
    "any_of": lambda held, of: held > 0,
    "all_of": lambda held, of: held == of,
    "none_of": lambda held, of: held == 0,
}


# --- conditions ----------------------------------------------------------------------------------

A = TypeVar("A", bound=Arguments)
Predicate = Callable[[CaseEnd, Arguments], Outcome]


def _on(cls: type[A], judge: Callable[[CaseEnd, A], Outcome]) -> Predicate:
    """Returns a judge of one class of arguments as a judge of any arguments."""

    def judged(end: CaseEnd, arguments: Arguments) -> Outcome:
        assert isinstance(arguments, cls), arguments
        return judge(end, arguments)

    return judged


def _holds_item(where: str, chosen: Sequence[Item], fitting: Sequence[Item]) -> Outcome:
    if fitting:
        found = f"{where} holds {len(fitting)} such item{'s' if len(fitting) > 1 else ''}"
    elif chosen:
        found = f"{where} holds it differently: {'; '.join(rows_text(chosen))}"
    else:
        found = f"{where} does not hold it"
    return Outcome(holds=bool(fitting), found=found, rows=tuple(fitting or chosen))


def _journal_contains(end: CaseEnd, wanted: ItemMatch) -> Outcome:
    chosen = end.selected(end.journal, wanted)
    return _holds_item("the journal", chosen, end.fitting(chosen, wanted))


def _journal_lacks(end: CaseEnd, unwanted: ItemAbsence) -> Outcome:
    there = _journal_contains(end, unwanted)
    excepted = unwanted.unless == "any_chunk_applied" and end.any_chunk_applied(unwanted.message or "")
    if not there.holds and excepted:
        return Outcome(holds=False, found=f"{there.found}, although a client had displayed part of it")
    return Outcome(holds=not there.holds, found=there.found, rows=there.rows)


def _journal_count(end: CaseEnd, wanted: ItemCount) -> Outcome:
    rows = end.fitting(end.selected(end.journal, wanted), wanted)
    exact = wanted.is_ in (None, len(rows))
    enough = wanted.at_least is None or wanted.at_least <= len(rows)
    few = wanted.at_most is None or len(rows) <= wanted.at_most
    return Outcome(holds=exact and enough and few, found=f"the journal holds {len(rows)}", rows=rows)


def _journal_order(end: CaseEnd, expected: MessageOrder) -> Outcome:
    wanted = list(expected.messages)
    order = list(dict.fromkeys(ref for _, ref in end.journal if ref is not None and ref in wanted))
    found = f"the journal holds them as {', '.join(order)}" if order else "the journal holds none of them"
    return Outcome(holds=order == wanted, found=found, rows=tuple(i for i, ref in end.journal if ref in wanted))


def _view_equals(end: CaseEnd, expected: EqualViews) -> Outcome:
    other = expected.to
    for client in expected.of:
        items = end.views.get(client, ())
        session = end.session(client)
        wanted = end.facts.journal.get(session, ()) if other == "journal" else end.views.get(other, ())
        ours, theirs = told_apart(items), told_apart(wanted)
        if ours != theirs:
            rows = tuple(item for item in items if item.kind == "assistant")
            found = f"{client} displays {_listed(ours)}, {other} has {_listed(theirs)}"
            return Outcome(holds=False, found=found, rows=rows)
    return Outcome(holds=True, found="they display the same")


def _listed(messages: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{quoted(text)} ({state})" for text, state in messages) or "nothing"


def _view_contains(end: CaseEnd, wanted: ItemView) -> Outcome:
    outcome = Outcome(holds=True, found="no client was named")
    for client in wanted.of:
        chosen = end.selected(end.view(client), wanted)
        outcome = _holds_item(f"the page of {client}", chosen, end.fitting(chosen, wanted))
        if not outcome.holds:
            break
    return outcome


def _context_contains(end: CaseEnd, wanted: ItemMatch) -> Outcome:
    chosen = end.selected(end.context, wanted)
    return _holds_item("the context", chosen, end.fitting(chosen, wanted))


def _context_lacks(end: CaseEnd, unwanted: ItemMatch) -> Outcome:
    there = _context_contains(end, unwanted)
    return Outcome(holds=not there.holds, found=there.found, rows=there.rows)


def _run_ended(end: CaseEnd, expected: RunEnd) -> Outcome:
    name = expected.run
    run_id = end.run(name)
    if run_id is None:
        return Outcome(holds=False, found=f"{name} does not exist: {len(end.facts.runs)} runs were accepted")
    ended = end.facts.runs[run_id].ended
    if ended is None:
        return Outcome(holds=False, found=f"the end of run {run_id} was not announced")
    state, cause = ended.data.state, ended.data.cause
    holds = expected.state in (None, state) and expected.cause in (None, cause)
    return Outcome(holds=holds, found=f"run {run_id} ended {state}" + (f" ({cause})" if cause else ""))


def _tool_executed(end: CaseEnd, expected: ToolExecutions) -> Outcome:
    tool = end.facts.tools.get(expected.call)
    times = len(tool.effects) if tool is not None else 0
    return Outcome(holds=times == expected.times, found=f"it was executed {times} times")


def _model_called(end: CaseEnd, expected: ModelCalls) -> Outcome:
    times = sum(event.subject == expected.turn for event in end.facts.of(ModelCalled))
    return Outcome(holds=times == expected.times, found=f"it was called {times} times")


def _request_refused(end: CaseEnd, expected: Refusal) -> Outcome:
    keys = [e.data.key for e in end.facts.of(ClientSent) if e.data.label == expected.of]
    refused = [e for e in end.facts.of(RunRefused) if e.data.key in keys]
    return Outcome(holds=bool(refused), found="the request was " + ("refused" if refused else "not refused"))


PREDICATES: Mapping[str, Predicate] = {
    "journal.contains": _on(ItemMatch, _journal_contains),
    "journal.lacks": _on(ItemAbsence, _journal_lacks),
    "journal.count": _on(ItemCount, _journal_count),
    "journal.order": _on(MessageOrder, _journal_order),
    "view.equals": _on(EqualViews, _view_equals),
    "view.contains": _on(ItemView, _view_contains),
    "context.contains": _on(ItemMatch, _context_contains),
    "context.lacks": _on(ItemMatch, _context_lacks),
    "run.ended": _on(RunEnd, _run_ended),
    "tool.executed": _on(ToolExecutions, _tool_executed),
    "model.called": _on(ModelCalls, _model_called),
    "request.refused": _on(Refusal, _request_refused),
}
"""Every condition by name."""
