"""Answers of users to questions about tool calls: the first answer counts, and only users answer."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.server_events import AnswerAnswered, AnswerDelivered, FramePublished
from journalsim.history import EventOf
from journalsim.oracle.facts.evidence import evidence, moment
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.invariant import HELD, Finding
from journalsim.oracle.invariants.verdict import Violation


def answers_count_once(facts: Facts) -> Iterator[Finding]:
    """Judges each question about a call: of different answers only the first counts, and only users approve."""
    asked = [call.call_id for message in facts.messages.values() for call in message.calls]
    for call_id in dict.fromkeys(str(event.subject) for event in facts.of(AnswerAnswered)):
        if asked.count(call_id) == 1:  # a call that is requested again may be answered again
            yield _judge_differing(call_id, facts)
    for event in facts.of(FramePublished):
        if event.data.frame == "approval.resolved" and event.data.state == "approved":
            yield _judge_announced(event, facts)


def _judge_differing(call_id: str, facts: Facts) -> Finding:
    counted = [event for event, said in _answered(call_id, facts) if said == "resolved"]
    other = next((event for event in counted if event.data.approved != counted[0].data.approved), None)
    if other is None or facts.crashed_between(counted[0].position, other.position):
        return HELD
    first = counted[0]
    return Violation(
        invariant="one-request-one-effect",
        promised=f"call {call_id} was {_says(first)} at {moment(first.position, facts)}, and the first answer counts",
        found=f"the server accepted a later answer of a user who {_says(other)} it",
        evidence=evidence(facts, facts.runs.get(first.run or ""), first.position, other.position),
        subject=call_id,
    )


def _answered(call_id: str, facts: Facts) -> Iterator[tuple[EventOf[AnswerDelivered], str]]:
    """Yields delivered answers with the response of the server, except answers in flight at the same time."""
    given = [event for event in facts.of(AnswerDelivered) if event.data.call_id == call_id]
    waiting: list[EventOf[AnswerDelivered]] = []
    one = True
    for answered in (event for event in facts.of(AnswerAnswered) if event.data.call_id == call_id):
        while given and given[0].position < answered.position:
            one = not waiting
            waiting.append(given.pop(0))
        if one and waiting:
            yield waiting[0], answered.data.answer
        del waiting[:1]


def _judge_announced(event: EventOf[FramePublished], facts: Facts) -> Finding:
    call_id = event.data.call_id
    approvals = (e for e in facts.of(AnswerDelivered) if e.subject == call_id and e.data.approved)
    if any(e.position < event.position for e in approvals):
        return HELD
    return Violation(
        invariant="one-request-one-effect",
        promised=f"call {call_id} is approved only if a user approves it",
        found="a frame says that it was approved, and no user approved it",
        evidence=evidence(facts, facts.runs.get(event.run or ""), event.position),
        subject=call_id,
    )


def _says(event: EventOf[AnswerDelivered]) -> str:
    return "approved" if event.data.approved else "denied"
