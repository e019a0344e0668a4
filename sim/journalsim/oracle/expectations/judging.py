"""What a scenario expects of the end of a case, judged on its history.

The names are those of :data:`journalsim.scenario.words.conditions.EXPECTATIONS`.  A case
that was cut off has no end, so nothing is expected of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

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
from journalsim.scenario.values.expect import Expectation
from journalsim.scenario.values.scenario import Scenario

EXPECT = "expect"


def check_expectations(scenario: Scenario, history: History, facts: Facts | None = None) -> tuple[Verdict, ...]:
    """Judges ``expect.finally`` of a scenario on one history.

    Args:
        scenario: whose expectations.
        history: what happened in one case.
        facts: of this history, when the caller has them already.

    Returns:
        One verdict per line, all with the id ``expect``.
    """
    end = CaseEnd(scenario, facts or Facts(history))
    return tuple(_verdict(expectation, end) for expectation in scenario.expect.finally_)


def met_sometimes(scenario: Scenario, history: History, facts: Facts | None = None) -> tuple[bool, ...]:
    """Returns for each line of ``expect.sometimes`` whether this case met it.

    What nobody may expect of the adapter counts as met.
    """
    end = CaseEnd(scenario, facts or Facts(history))
    claimed = history.capabilities
    return tuple(bool(unclaimed(one, claimed)) or evaluate(one, end).holds for one in scenario.expect.sometimes)


@frozen(kw_only=True)
class Outcome:
    """Whether a condition holds, and what is there.

    Attributes:
        holds: it does.
        found: what was found, as a sentence.
        rows: the rows that were looked at.
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
        subject=expectation.arguments.get("message") or expectation.arguments.get("call"),
        line=expectation.line,
    )
    return Verdict(invariant=EXPECT, status=Status.VIOLATED, violations=(violation,), exercised=1)


def describe(expectation: Expectation) -> str:
    """Returns an expectation as one line."""
    if expectation.parts:
        return f"{expectation.name}: [{'; '.join(describe(part) for part in expectation.parts)}]"
    words = ", ".join(f"{name}: {_value(value)}" for name, value in expectation.arguments.items())
    return f"{expectation.name}: {{{words}}}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        ((how, text),) = value.items()
        text = text if text.startswith("$") else quoted(text)
        return text if how == "equals" else f"{{{how}: {text}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(str(part) for part in value)}]"
    return str(value)


def evaluate(expectation: Expectation, end: CaseEnd) -> Outcome:
    """Judges one condition."""
    if expectation.name not in COMBINATORS:
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

Arguments = Mapping[str, Any]


def _holds_item(where: str, chosen: Sequence[Item], fitting: Sequence[Item]) -> Outcome:
    if fitting:
        found = f"{where} holds {len(fitting)} such item{'s' if len(fitting) > 1 else ''}"
    elif chosen:
        found = f"{where} holds it otherwise: {'; '.join(rows_text(chosen))}"
    else:
        found = f"{where} holds nothing of it"
    return Outcome(holds=bool(fitting), found=found, rows=tuple(fitting or chosen))


def _journal_contains(end: CaseEnd, arguments: Arguments) -> Outcome:
    chosen = end.selected(end.journal, arguments)
    return _holds_item("the journal", chosen, end.fitting(chosen, arguments))


def _journal_lacks(end: CaseEnd, arguments: Arguments) -> Outcome:
    there = _journal_contains(end, arguments)
    excepted = arguments.get("unless") == "any_chunk_applied" and end.any_chunk_applied(arguments.get("message", ""))
    if not there.holds and excepted:
        return Outcome(holds=False, found=f"{there.found}, although a client had shown some of it")
    return Outcome(holds=not there.holds, found=there.found, rows=there.rows)


def _journal_count(end: CaseEnd, arguments: Arguments) -> Outcome:
    rows = end.fitting(end.selected(end.journal, arguments), arguments)
    least = arguments.get("is", arguments.get("at_least", 0))
    most = arguments.get("is", arguments.get("at_most", len(rows)))
    return Outcome(holds=least <= len(rows) <= most, found=f"the journal holds {len(rows)}", rows=rows)


def _journal_order(end: CaseEnd, arguments: Arguments) -> Outcome:
    wanted = list(arguments["messages"])
    order = list(dict.fromkeys(ref for _, ref in end.journal if ref is not None and ref in wanted))
    found = f"the journal holds them as {', '.join(order)}" if order else "the journal holds none of them"
    return Outcome(holds=order == wanted, found=found, rows=tuple(i for i, ref in end.journal if ref in wanted))


def _view_equals(end: CaseEnd, arguments: Arguments) -> Outcome:
    other = arguments["to"]
    for client in arguments["of"]:
        items = end.views.get(client, ())
        session = end.session(client)
        wanted = end.facts.journal.get(session, ()) if other == "journal" else end.views.get(other, ())
        ours, theirs = told_apart(items), told_apart(wanted)
        if ours != theirs:
            rows = tuple(item for item in items if item.kind == "assistant")
            return Outcome(holds=False, found=f"{client} shows {_told(ours)}, {other} shows {_told(theirs)}", rows=rows)
    return Outcome(holds=True, found="they show the same")


def _told(messages: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{quoted(text)} ({state})" for text, state in messages) or "nothing"


def _view_contains(end: CaseEnd, arguments: Arguments) -> Outcome:
    outcome = Outcome(holds=True, found="no client was named")
    for client in arguments["of"]:
        chosen = end.selected(end.view(client), arguments)
        outcome = _holds_item(f"what {client} shows", chosen, end.fitting(chosen, arguments))
        if not outcome.holds:
            break
    return outcome


def _context_contains(end: CaseEnd, arguments: Arguments) -> Outcome:
    chosen = end.selected(end.context, arguments)
    return _holds_item("the context", chosen, end.fitting(chosen, arguments))


def _context_lacks(end: CaseEnd, arguments: Arguments) -> Outcome:
    there = _context_contains(end, arguments)
    return Outcome(holds=not there.holds, found=there.found, rows=there.rows)


def _run_ended(end: CaseEnd, arguments: Arguments) -> Outcome:
    name = arguments["run"]
    run_id = end.run(name)
    if run_id is None:
        return Outcome(holds=False, found=f"there was no {name}: {len(end.facts.runs)} runs were accepted")
    ended = end.facts.runs[run_id].ended
    if ended is None:
        return Outcome(holds=False, found=f"the end of run {run_id} was not announced")
    state, cause = ended.data.state, ended.data.cause
    holds = arguments.get("state") in (None, state) and arguments.get("cause") in (None, cause)
    return Outcome(holds=holds, found=f"run {run_id} ended {state}" + (f" ({cause})" if cause else ""))


def _tool_executed(end: CaseEnd, arguments: Arguments) -> Outcome:
    tool = end.facts.tools.get(arguments["call"])
    times = len(tool.effects) if tool is not None else 0
    return Outcome(holds=times == arguments["times"], found=f"it was carried out {times} times")


def _model_called(end: CaseEnd, arguments: Arguments) -> Outcome:
    times = sum(event.subject == arguments["turn"] for event in end.facts.of(ModelCalled))
    return Outcome(holds=times == arguments["times"], found=f"it was called {times} times")


def _request_refused(end: CaseEnd, arguments: Arguments) -> Outcome:
    keys = [e.data.key for e in end.facts.of(ClientSent) if e.data.label == arguments["of"]]
    refused = [e for e in end.facts.of(RunRefused) if e.data.key in keys]
    return Outcome(holds=bool(refused), found="the request was " + ("refused" if refused else "not refused"))


PREDICATES: Mapping[str, Callable[[CaseEnd, Arguments], Outcome]] = {
    "journal.contains": _journal_contains,
    "journal.lacks": _journal_lacks,
    "journal.count": _journal_count,
    "journal.order": _journal_order,
    "view.equals": _view_equals,
    "view.contains": _view_contains,
    "context.contains": _context_contains,
    "context.lacks": _context_lacks,
    "run.ended": _run_ended,
    "tool.executed": _tool_executed,
    "model.called": _model_called,
    "request.refused": _request_refused,
}
"""Every condition by name."""
