"""The invariant ``executed-tool-recorded``: the journal records every execution of a tool."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.model_events import ModelCalled, ModelCompleted
from journalsim.contract.items import Item
from journalsim.history import EventOf
from journalsim.oracle.facts.allowances import dropped_whole
from journalsim.oracle.facts.changes import changed
from journalsim.oracle.facts.evidence import evidence
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.records import Run, ToolUse
from journalsim.oracle.facts.row_lines import quoted, row_text, rows_text
from journalsim.oracle.facts.run_ends import interrupted_from
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, Unsure, needs
from journalsim.oracle.invariants.lattice import grade_of_result, with_grade
from journalsim.oracle.invariants.ownership import faults
from journalsim.oracle.invariants.verdict import Violation


def executed_tool_recorded(facts: Facts) -> Iterator[Finding]:
    """Judges every call whose tool ran, and every call that a sub-agent answered."""
    for tool in facts.tools.values():
        run = facts.runs.get(tool.run or "")
        if run is None or not tool.started or run.rolled_back or _excused(tool, run, facts):
            continue
        reason = facts.unsettled(run)
        yield Unsure(reason) if reason else _judge(tool, run, facts)
    yield from _judge_delegated(facts)


def _excused(tool: ToolUse, run: Run, facts: Facts) -> bool:
    began = tool.started[0].position
    unwritten = any(item.call_id == tool.call_id for item in facts.failed_appends)
    rows = facts.call_rows.get(tool.call_id, ())
    # unpaired rows are reported by paired-tool-calls, false rows by honest-provenance
    paired = [row.kind for row in rows] in ([], ["tool_call", "tool_result"])
    return (
        unwritten
        or not paired
        or began > run.end  # then the execution itself is wrong: reported by stop-ends-run
        or tool.call_id in facts.denied  # likewise: reported by one-request-one-effect
        or facts.rewritten(run.session, began)
        or facts.crashed_between(began, NEVER)
        or changed(f"tool_result {tool.call_id}", run.session, facts)
        or (not rows and (tool.call_id in facts.calls_aside or _reported_for_message(tool, run, facts)))
        or _faulty(tool, facts)
    )


def _reported_for_message(tool: ToolUse, run: Run, facts: Facts) -> bool:
    """Returns True if the loss of the call is reported for the message that requested it."""
    message = facts.messages.get(tool.message or "")
    if message is None or message.superseded or not message.completed_before(run.end):
        return False
    return not dropped_whole(message, run, facts)


def _faulty(tool: ToolUse, facts: Facts) -> bool:
    return any(
        facts.journal[session][index].call_id == tool.call_id
        for session, found in facts.once(faults).items()
        for index in found
    )


def _judge(tool: ToolUse, run: Run, facts: Facts) -> Finding:
    rows = facts.call_rows.get(tool.call_id, ())
    if not rows:
        found = f"the journal does not hold call {tool.call_id}"
        return _bad(tool, run, found, "its tool ran, so the journal holds the call and its outcome", facts)
    closure = rows[-1]
    end = tool.returned or tool.failed
    state = "completed" if tool.returned is not None else "failed"
    if end is None or closure.state == state or end.position > min(run.end, interrupted_from(run, facts)):
        return HELD
    promised = f"its tool {'returned' if state == 'completed' else 'failed'} before the run ended or was interrupted"
    return _bad(tool, run, f"the journal closes it as {row_text(closure)}", promised, facts)


def _judge_delegated(facts: Facts) -> Iterator[Finding]:
    """Judges the results of sub-agents: each holds the last message of its sub-agent, if that is an answer."""
    agents = ((call.run, str(call.data.who)) for call in facts.of(ModelCalled))
    for run_id, name in dict.fromkeys(agent for agent in agents if agent[1].startswith("sub:")):
        said = _said_last(run_id, name, facts)
        own = (call for m in facts.messages.values() if m.run == run_id for call in m.calls)
        calls = [call.call_id for call in own if f"sub:{call.name}" == name]
        # two calls of one sub-agent make the answers ambiguous
        rows = facts.call_rows.get(calls[0], ()) if len(calls) == 1 else ()
        results = [row for row in rows if row.kind == "tool_result" and row.state == "completed"]
        if said is None or len(results) != 1:
            continue
        text = said.data.text
        if text in results[0].text:
            yield HELD
            continue
        yield Violation(
            invariant="executed-tool-recorded",
            promised=f"the sub-agent of call {calls[0]} answered {quoted(text)}",
            found="the result of the call does not hold this answer",
            evidence=evidence(facts, facts.runs.get(run_id or ""), said.position),
            actual=rows_text(results),
            subject=calls[0],
        )


def _said_last(run_id: str | None, name: str, facts: Facts) -> EventOf[ModelCompleted] | None:
    """Returns the last completion of a sub-agent, or None if it requests a tool."""
    calls = (call for call in facts.of(ModelCalled) if (call.run, call.data.who) == (run_id, name))
    last = [str(call.subject) for call in calls][-1]
    done = [e for e in facts.of(ModelCompleted) if f"{e.subject}.".startswith(f"{last}.")]
    return done[-1] if done and not done[-1].data.calls and not done[-1].data.late else None


def _bad(tool: ToolUse, run: Run, found: str, promised: str, facts: Facts) -> Violation:
    end = tool.returned or tool.failed
    grade, who = grade_of_result(tool.call_id, facts)
    positions = [event.position for event in (tool.started[0], end) if event is not None]
    return Violation(
        invariant="executed-tool-recorded",
        promised=f"call {tool.call_id} of run {run.id}: {promised}",
        found=with_grade(found, grade, who),
        evidence=evidence(facts, run, *positions),
        expected=(_expected(tool),),
        actual=rows_text(facts.call_rows.get(tool.call_id, ())),
        subject=tool.call_id,
        grade=grade,
    )


def _expected(tool: ToolUse) -> str:
    end = tool.returned or tool.failed
    if end is None:
        return row_text(Item(kind="tool_result", call_id=tool.call_id, state="aborted", outcome="unknown"))
    state = "completed" if tool.returned is not None else "failed"
    return f"{tool.call_id}  tool_result  {state}  {quoted(end.data.text)}"


EXECUTED_TOOL_RECORDED = Invariant(
    id="executed-tool-recorded",
    family="tools",
    statement="The journal holds the call of every tool that ran, and its result if it came before an interruption.",
    judge=executed_tool_recorded,
    unclaimed=needs("tools"),
    explain=Explanation(
        meaning="A tool changes the world, and a journal that drops its call does not undo that. So a call whose tool "
        "ran stays with its closure, even if a policy drops the rest of an interrupted turn. If the tool returned or "
        "failed before the run was interrupted, the closure says so; if it was cut off, the closure is an abort with "
        "unknown outcome. The result of a sub-agent holds its last message. A missing closure is reported by "
        "paired-tool-calls.",
        example='The tool returns "deployed"; Stop arrives while the result is on its way to the journal, and the call '
        "is closed as interrupted. The model deploys again.",
        usual_cause="The append of the result is cancelled together with the tool, or results are collected and "
        "written when the last call of a batch returns; the exit path then closes the calls without a result.",
        cases=("aaif-goose/goose#7827", "gptme/gptme#3072", "NousResearch/hermes-agent#76460"),
    ),
)
