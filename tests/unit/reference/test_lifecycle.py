"""The lifecycle tables say what may happen, and everything else is an error."""

from __future__ import annotations

import pytest

from journalsim_reference.events import KINDS
from journalsim_reference.lifecycle import (
    AT_WORK,
    CAUSES,
    ENDED,
    MESSAGE,
    OUTCOMES,
    RUN,
    TERMINALS,
    TOOL_CALL,
    IllegalTransition,
    Table,
    advance,
    as_mermaid,
)

TABLES = {"run": RUN, "message": MESSAGE, "tool call": TOOL_CALL}
every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())


@every_table
def test_every_state_that_is_reached_has_a_row(table: Table) -> None:
    reached = {target for row in table.values() for target in row.values()}
    assert reached <= set(table)


@every_table
def test_every_event_is_a_kind_of_row(table: Table) -> None:
    events = {event for row in table.values() for event in row}
    assert events <= set(KINDS)


@every_table
def test_every_state_but_the_first_can_be_reached(table: Table) -> None:
    reached = {"new"}
    for _ in table:
        reached |= {target for state in reached for target in table[state].values()}
    assert reached == set(table)


def test_advance_follows_the_table() -> None:
    assert advance(RUN, "running", "run.completed", "r1") == "completed"


@pytest.mark.parametrize(("state", "event"), [("completed", "message.interrupted"), ("superseded", "message.opened")])
def test_a_missing_entry_names_event_state_and_subject(state: str, event: str) -> None:
    with pytest.raises(IllegalTransition) as caught:
        advance(MESSAGE, state, event, "r1/m1")
    assert str(caught.value) == f"{event} is not possible for r1/m1, which is {state}"
    assert (caught.value.event, caught.value.state, caught.value.subject) == (event, state, "r1/m1")


def test_a_stopped_run_has_no_way_to_end_but_interrupted() -> None:
    assert RUN["cancelling"] == {"run.aborted": "interrupted"}


def test_a_run_at_work_may_be_asked_about_another_call() -> None:
    assert [state for state, row in RUN.items() if row.get("approval.requested") == "waiting"] == list(AT_WORK)


def test_a_call_is_asked_about_once_and_answered_once() -> None:
    assert [state for state, row in TOOL_CALL.items() if "approval.requested" in row] == ["requested"]
    assert [state for state, row in TOOL_CALL.items() if "approval.resolved" in row] == ["waiting"]


def test_a_call_that_waits_cannot_start() -> None:
    assert "tool.started" not in TOOL_CALL["waiting"]


def test_an_ended_run_stays_as_it_ended() -> None:
    assert {state: set(RUN[state].values()) for state in ENDED} == {state: {state} for state in ENDED}


def test_completed_wins_and_its_reverse_does_not_exist() -> None:
    assert MESSAGE["interrupted"]["message.completed"] == "completed"
    assert "interrupted" not in MESSAGE["completed"].values()


def test_every_terminal_has_its_causes_and_no_cause_belongs_to_two() -> None:
    assert set(CAUSES) == set(TERMINALS)
    causes = [cause for each in CAUSES.values() for cause in each]
    assert len(causes) == len(set(causes))


def test_a_closure_that_nobody_returned_has_an_outcome_for_every_state_it_can_leave() -> None:
    assert set(OUTCOMES) == {state for state, row in TOOL_CALL.items() if "tool.aborted" in row}


def test_the_picture_joins_the_events_between_two_states() -> None:
    picture = as_mermaid(TOOL_CALL)
    assert picture.splitlines()[:4] == [
        "stateDiagram-v2",
        "    [*] --> requested: tool.requested",
        "    requested --> waiting: approval.requested",
        "    requested --> running: tool.started",
    ]
    assert "    completed --> [*]" in picture
    assert "    running --> running: tool.progress" in picture


def test_the_picture_ends_where_only_loops_are_left() -> None:
    picture = as_mermaid(RUN)
    assert "    completed --> completed: terminal.rejected\n    completed --> [*]\n" in picture
    assert "    cancelling --> [*]" not in picture
