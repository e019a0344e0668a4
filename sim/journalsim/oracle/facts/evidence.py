"""Parts of violations that several invariants share."""

from __future__ import annotations

from journalsim.contract.items import Item
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.records import Applied, ModelMessage, Run
from journalsim.oracle.facts.row_lines import row_text

MS = 1_000_000


def row_expected(message: ModelMessage, state: str, facts: Facts, least: Applied | None = None) -> str:
    """Returns the expected row of a model message, as a line; ``least`` is the minimum of its text."""
    ids = (journal_id for journal_id, ref in facts.displayed_as.items() if ref == message.ref)
    completed = state == "completed"
    whole = Applied(text=message.whole_text, reasoning=message.whole_reasoning)
    said = least or (whole if completed else Applied(text=message.text, reasoning=message.reasoning))
    return row_text(
        Item(
            kind="assistant",
            id=(*ids, *message.provider_ids, message.ref)[0],
            text=said.text,
            reasoning=said.reasoning,
            state="completed" if completed else "interrupted",
        )
    )


def moment(position: int, facts: Facts) -> str:
    """Returns the virtual time of an event in milliseconds, as text."""
    return f"{facts.history.events[position].time_ns / MS:g} ms"


def evidence(facts: Facts, run: Run | None, *positions: int) -> tuple[int, ...]:
    """Returns the given positions and those of the stop, the end and the last read of the run, in order."""
    found = list(positions)
    if run is not None:
        found += [run.stop.delivered.position] if run.stop is not None else []
        found += [run.ended.position] if run.ended is not None else []
    reads = [event for session, event in facts.final_reads.items() if run is None or session == run.session]
    found += [event.position for event in reads]
    return tuple(sorted(dict.fromkeys(found)))


def position_of(ref: str, facts: Facts) -> int:
    """Returns the position of the main event of a message: its sending or completion, else its first chunk."""
    if ref in facts.users:
        return facts.users[ref].sent.position
    message = facts.messages[ref]
    events = (message.completed, *message.chunks, message.failed, message.closed)
    return next(event.position for event in events if event is not None)
