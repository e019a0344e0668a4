"""The invariant ``stable-identity``: a row has the same id everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from journalsim.contract.events.journal_events import JournalRead
from journalsim.contract.items import Item
from journalsim.history import Event, EventOf
from journalsim.oracle.facts.evidence import evidence
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.item_keys import key_of
from journalsim.oracle.facts.row_lines import rows_text
from journalsim.oracle.facts.run_ends import run_of_row
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, needs
from journalsim.oracle.invariants.ownership import faults
from journalsim.oracle.invariants.row_judges import bad_rows
from journalsim.oracle.invariants.verdict import Violation


def stable_identity(facts: Facts) -> Iterator[Finding]:
    """Judges the ids of each session: one per message, unique, and the same in every read and frame."""
    yield from bad_rows("stable-identity", "one message has one row, whatever ids the provider gives it", facts)
    for session, reads in facts.reads.items():
        known = _known(reads[-1], facts)
        findings = (
            *_shared(reads[-1], facts),
            *(found for read in reads[:-1] for found in _renamed(read, reads[-1], known, facts)),
            *(_shown_otherwise(session, known, facts) if facts.history.capabilities.level == "runner" else ()),
        )
        yield from findings or ([HELD] if known else [])


def _known(read: EventOf[JournalRead], facts: Facts) -> Mapping[str, Item]:
    """Returns the rows with an id that an alias or a run identifies too, by key; without copies."""
    keyed = facts.keyed(read).items()
    return {key: rows[0] for key, rows in keyed if len(rows) == 1 and _identified(rows[0], facts)}


def _identified(item: Item, facts: Facts) -> bool:
    return item.id is not None and (bool(item.aliases) if item.kind == "assistant" else item.run_id in facts.runs)


def _renamed(
    read: EventOf[JournalRead], final: EventOf[JournalRead], known: Mapping[str, Item], facts: Facts
) -> Iterator[Violation]:
    for key, item in _known(read, facts).items():
        now = known.get(key)
        if now is not None and now.id != item.id:
            promised = f"row {item.id} has the same id in every read"
            yield _bad(promised, f"a later read calls it {now.id}", (item,), (now,), facts, read, final)


def _shared(read: EventOf[JournalRead], facts: Facts) -> Iterator[Violation]:
    """Yields a violation for each id of two different rows; copies are reported by no-duplicate-message."""
    rows: dict[str, tuple[Item, str | None]] = {}
    faulty = facts.once(faults).get(facts.session(read), {})
    for index, (item, ref) in enumerate(zip(facts.items(read), facts.refs_in(read), strict=True)):
        if item.id is None or index in faulty:
            continue
        other, key = rows.setdefault(item.id, (item, key_of(item, ref)))
        if other is not item and key != key_of(item, ref):
            found = f"two rows of the journal have the id {item.id}"
            yield _bad("each row has its own id", found, (other,), (other, item), facts, read)


def _shown_otherwise(session: str, known: Mapping[str, Item], facts: Facts) -> Iterator[Violation]:
    final = facts.final_reads[session]
    for journal_id, ref in facts.displayed_as.items():
        item = known.get(ref)
        if item is None or item.id == journal_id or facts.messages[ref].superseded:
            continue
        frames = facts.frames[journal_id]
        # a frame that matches a message only by its text proves no id
        if any(frame.data.source in facts.messages[ref].provider_ids for frame in frames):
            promised = f"frames give message {ref} the id {journal_id}, and so does the journal"
            yield _bad(promised, f"the journal calls it {item.id}", (), (item,), facts, frames[0], final)


def _bad(
    promised: str, found: str, expected: Sequence[Item], actual: Sequence[Item], facts: Facts, *looks: Event
) -> Violation:
    run = facts.runs.get(run_of_row(actual[-1], None, facts) or "")
    return Violation(
        invariant="stable-identity",
        promised=promised,
        found=found,
        evidence=evidence(facts, run, *(look.position for look in looks)),
        expected=rows_text(expected),
        actual=rows_text(actual),
        subject=actual[-1].id,
    )


STABLE_IDENTITY = Invariant(
    id="stable-identity",
    family="messages",
    statement="Each row has its own id, the same in every read and frame; one message is one row.",
    judge=stable_identity,
    unclaimed=needs("stable_ids"),
    explain=Explanation(
        meaning="The journal gives a message its id when it opens and never changes it; the id from the provider is "
        "an alias, which may change in mid-stream. Clients merge frames by this id, edits and annotations name it, "
        "and a cursor depends on it. Two different rows never share an id.",
        example="The provider sends the first chunks under a temporary id; the system keeps one buffer per id, and "
        "after a Stop the answer is two messages.",
        usual_cause="The provider's id, a position in a list or a clock serves as the identity; or an interruption "
        "deletes all rows and inserts them again, rows without an id under new ids.",
        cases=(
            "ag-ui-protocol/ag-ui#1317",
            "ag-ui-protocol/ag-ui#1503",
            "assistant-ui/assistant-ui#2068",
            "hermes-webui#7133",
            "aaif-goose/goose#7785",
        ),
    ),
)
