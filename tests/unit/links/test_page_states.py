"""The lifecycles of a page on the wire: every state can be reached, and what a state does not allow is refused."""

from __future__ import annotations

from typing import get_args

import pytest

from journalsim.actors.page.page_states import (
    EVENTS,
    LIFECYCLES,
    Event,
    Lifecycle,
    PageStates,
    RefusedEvent,
    concerned,
)


def after(*events: Event) -> PageStates:
    states = PageStates()
    for event in events:
        states.take(event)
    return states


def all_of(states: PageStates) -> tuple[str, ...]:
    return tuple(states.state(lifecycle) for lifecycle in LIFECYCLES)


def reached() -> dict[tuple[str, ...], tuple[Event, ...]]:
    """Every combination of states that events lead to, with the shortest way to each."""
    ways: dict[tuple[str, ...], tuple[Event, ...]] = {all_of(PageStates()): ()}
    queue = [*ways]
    for known in queue:
        for event in EVENTS:
            states = after(*ways[known])
            try:
                states.take(event)
            except RefusedEvent:
                continue
            if all_of(states) not in ways:
                ways[all_of(states)] = (*ways[known], event)
                queue.append(all_of(states))
    return ways


WAYS = reached()


def test_a_page_begins_in_front_of_its_person_with_nothing_under_way() -> None:
    assert all_of(PageStates()) == ("here", "none", "idle", "used", "whole")
    assert tuple(LIFECYCLES) == get_args(Lifecycle)


@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_every_state_of_a_lifecycle_can_be_reached_and_every_entry_leads_to_one(lifecycle: Lifecycle) -> None:
    position = tuple(LIFECYCLES).index(lifecycle)
    table = LIFECYCLES[lifecycle]
    assert {combination[position] for combination in WAYS} == set(table)
    assert {state for row in table.values() for state in row.values()} <= set(table)


def test_the_lifecycles_are_independent_but_for_a_history_that_drops_its_cursor() -> None:
    """A product that could be smaller would be a single table."""
    sizes = 1
    for table in LIFECYCLES.values():
        sizes *= len(table)
    assert len(WAYS) == sizes == 96


@pytest.mark.parametrize("event", EVENTS)
def test_every_state_takes_an_event_as_its_table_says_or_refuses_it_by_name(event: Event) -> None:
    """Tried in all combinations of states: an event moves the lifecycles that list it, all of them or none."""
    assert concerned(event)
    for combination, way in WAYS.items():
        before = dict(zip(LIFECYCLES, combination, strict=True))
        refusing = [name for name in concerned(event) if event not in LIFECYCLES[name][before[name]]]
        states = after(*way)
        if refusing:
            first = refusing[0]
            with pytest.raises(RefusedEvent, match=f"whose {first} is '{before[first]}' does not take '{event}'"):
                states.take(event)
            assert all_of(states) == combination
        else:
            states.take(event)
            moved = {name: LIFECYCLES[name][before[name]][event] for name in concerned(event)}
            assert all_of(states) == tuple({**before, **moved}.values())


def test_what_is_refused_names_state_and_event() -> None:
    with pytest.raises(RefusedEvent, match="a page whose program is 'none' does not take 'gives up'"):
        after("gives up")
    with pytest.raises(RefusedEvent, match="a page whose program is 'running' does not take 'starts'"):
        after("starts", "starts")
    with pytest.raises(RefusedEvent, match="a page whose person is 'away' does not take 'displays'"):
        after("opens", "leaves", "displays")


def test_an_event_that_one_lifecycle_refuses_moves_none() -> None:
    states = after("leaves", "reads")
    with pytest.raises(RefusedEvent):
        states.take("displays")
    assert states.reading


def test_a_page_that_opens_waits_for_its_history_whatever_is_asked_for_besides() -> None:
    assert after("opens", "reads").opening
    assert after("reads", "opens").opening
    assert not after("opens", "displays").opening
    assert not after("opens", "leaves").opening


def test_a_cursor_is_ignored_until_a_history_is_displayed() -> None:
    assert not after("opens without cursor", "leaves", "returns", "opens").uses_cursor
    assert after("opens without cursor", "displays").uses_cursor


def test_a_person_who_saw_a_broken_page_reloads_it_even_if_it_has_mended() -> None:
    assert not after("starts", "gives up", "looks broken", "opens", "displays").connected
    assert after("looks broken", "reloads").connected
    assert not after("looks broken", "leaves", "returns").connected


def test_a_program_that_is_cut_off_is_at_rest_once_a_history_is_displayed() -> None:
    assert after("starts", "is cut off").cut_off
    assert after("starts", "is cut off", "reads", "displays").state("program") == "at rest"
    assert after("starts", "reads", "displays").running


def test_a_program_that_is_closed_may_be_followed_by_another() -> None:
    states = after("starts", "gives up", "closes", "starts")
    assert states.running
    assert states.attached
