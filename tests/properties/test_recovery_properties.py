"""Recovery of every beginning of the rows of generated runs: once is enough, and it says only what the rows prove."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from journalsim.hosts.loading import adapter_from
from journalsim.search.checking import run_case
from journalsim.search.generate.plan import Plan
from journalsim.strategies import cases
from journalsim_reference.batch import Stamp
from journalsim_reference.content import Content
from journalsim_reference.events import Event
from journalsim_reference.lifecycle import TERMINALS
from journalsim_reference.projections import history
from journalsim_reference.recovery import recover
from journalsim_reference.runner import ReferenceJournal
from journalsim_reference.state import State
from journalsim_reference.stores.memory import Folder, MemoryStore

FEW = settings(
    max_examples=40,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
ADDED = (
    "message.id_aliased",
    "message.interrupted",
    "tool.requested",
    "message.superseded",
    "tool.aborted",
    "recovery.applied",
    "run.aborted",
)
NEXT_EPOCH = 1_000  # higher than any that a case reaches


def rows_of(case: Plan) -> list[Event]:
    """Returns the rows that the reference writes in a case, in order."""
    folder = Folder()

    def in_one_folder(where: str, ports: object) -> MemoryStore:
        return MemoryStore(folder)

    run_case(case, adapter_from(lambda: ReferenceJournal(in_one_folder), "rows"))
    return list(folder.rows.values())


def state_of(*parts: Iterable[Event]) -> State:
    state = State()
    for rows in parts:
        for row in rows:
            state.apply(row)
    return state


def shown(state: State) -> dict[str, list[tuple[object, ...]]]:
    """Returns what people see of each session, without ids of rows."""
    return {
        session: [(i.kind, i.text, i.reasoning, i.call_id, i.state, i.outcome, i.cause) for i in items]
        for session in sorted(state.sessions)
        for items in [history(state, session, {}, lambda _: Content())]
    }


def check_only_proven(known: Sequence[Event], added: Sequence[Event]) -> None:
    before = state_of(known)
    for row in added:
        assert row.kind in ADDED
        run = before.runs[row.run_id]
        assert not run.ended
        if row.kind in ("message.interrupted", "message.superseded"):
            message = run.messages[row.payload["message_id"]]
            stored = [
                r for r in known if r.payload.get("message_id") == message.message_id and r.kind == "message.delta"
            ]
            assert message.state == "open"
            assert row.payload.get("text", "") == "".join(r.payload.get("text", "") for r in stored)
            assert row.kind == "message.interrupted" or not stored
        elif row.kind == "tool.requested":
            assert any(
                call.call_id == row.payload["call_id"] for m in run.messages.values() for call in m.content.calls
            )
        elif row.kind == "tool.aborted":
            started = [r for r in known if r.kind == "tool.started" and r.payload["call_id"] == row.payload["call_id"]]
            assert row.payload["outcome"] == (
                "unknown" if any(r.run_id == row.run_id for r in started) else "not_started"
            )
        elif row.kind == "run.aborted":
            stops = [r.payload["cause"] for r in known if r.kind == "run.stop_requested" and r.run_id == row.run_id]
            assert row.payload["cause"] == (stops[0] if stops else "crashed")


@FEW
@given(cases(), st.integers(0, 10_000))
def test_recovery_of_any_beginning_is_proven_whole_and_done_once(case: Plan, place: int) -> None:
    """Wherever the rows of a run end, in the middle of a batch too, recovery ends every run and adds nothing twice."""
    rows = rows_of(case)
    known = rows[: place % (len(rows) + 1)]
    state = state_of(known)
    opened = state.active_runs()
    added = recover(state, Stamp(NEXT_EPOCH, 0), closures=True)
    check_only_proven(known, added)
    ended = [row.run_id for row in added if row.kind in TERMINALS]
    assert ended == [run.run_id for run in opened]
    whole = state_of(known, added)
    assert recover(whole, Stamp(NEXT_EPOCH + 1, 0), closures=True) == ()
    assert not [call for run in whole.runs.values() for call in run.calls.values() if call.open]
    prompts = [item[1] for items in shown(whole).values() for item in items if item[0] == "user"]
    discarded = any(run.discarded for run in whole.runs.values())
    cleared = any(row.kind == "history.rewritten" for row in known)
    accepted = [row.payload["text"] for row in known if row.kind == "run.accepted"]
    assert sorted(prompts) == sorted(accepted) or discarded or cleared


@FEW
@given(cases(), st.integers(0, 10_000), st.integers(0, 10_000))
def test_recovery_that_is_cut_off_after_any_row_comes_to_the_same_end(case: Plan, place: int, cut: int) -> None:
    """Also where a store tears the batch of a recovery, which the stores of the reference never do."""
    rows = rows_of(case)
    known = rows[: place % (len(rows) + 1)]
    state = state_of(known)
    added = recover(state, Stamp(NEXT_EPOCH, 0), closures=True)
    first = added[: cut % (len(added) + 1)]
    second = recover(state_of(known, first), Stamp(NEXT_EPOCH + 1, 0), closures=True)
    check_only_proven([*known, *first], second)
    assert shown(state_of(known, first, second)) == shown(state_of(known, added))
