"""Promises about single rows: each says something, and nothing that nobody said."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.items import Item
from journalsim.history import History
from journalsim.oracle.facts.evidence import evidence, position_of, row_expected
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.row_lines import row_text
from journalsim.oracle.facts.run_ends import run_of_row
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant
from journalsim.oracle.invariants.ownership import faults
from journalsim.oracle.invariants.verdict import Violation


def bad_rows(owner: str, promised: str, facts: Facts) -> Iterator[Violation]:
    """Yields a violation for each row of the final journal whose fault belongs to this invariant."""
    for session, faulty in facts.once(faults).items():
        items, refs = facts.journal[session], facts.refs_in(facts.final_reads[session])
        for index, fault in faulty.items():
            if fault.owner == owner:
                item, ref = items[index], refs[index]
                run = facts.runs.get(run_of_row(item, ref, facts) or "")
                positions = () if ref is None else (position_of(ref, facts),)
                yield Violation(
                    invariant=owner,
                    promised=promised,
                    found=f"the journal holds {fault.why}",
                    evidence=evidence(facts, run, *positions),
                    expected=_expected(item, ref, facts),
                    actual=(row_text(item),),
                    subject=ref or item.call_id or item.id,
                )


def _rows(owner: str, promised: str, facts: Facts) -> Iterator[Finding]:
    yield from bad_rows(owner, promised, facts)
    for session, faulty in facts.once(faults).items():
        if facts.journal[session] and all(fault.owner != owner for fault in faulty.values()):
            yield HELD


def _expected(item: Item, ref: str | None, facts: Facts) -> tuple[str, ...]:
    if ref is not None and ref in facts.users:
        return (row_text(Item(kind="user", text=facts.users[ref].text, run_id=item.run_id)),)
    return () if ref is None else (row_expected(facts.messages[ref], item.state, facts),)


# --- no-empty-message ----------------------------------------------------------------------------


def no_empty_message(facts: Facts) -> Iterator[Finding]:
    """Judges every row of a message."""
    yield from _rows("no-empty-message", "every stored message says something", facts)


# --- honest-provenance ---------------------------------------------------------------------------


def honest_provenance(facts: Facts) -> Iterator[Finding]:
    """Judges the words of every row, and what every closure claims."""
    promised = "a row says what its author said, and a closure what happened; notes of the system are marked as such"
    yield from _rows("honest-provenance", promised, facts)


NO_EMPTY_MESSAGE = Invariant(
    id="no-empty-message",
    family="messages",
    statement="No message is stored without any content.",
    judge=no_empty_message,
    explain=Explanation(
        meaning="A stored message has text or reasoning, or stands once for tool calls that it asked for. Strict "
        "providers refuse a conversation with an empty message in it, for ever, and people see an empty bubble. "
        "If nothing was emitted, there is only the end of the run; if there was only thinking, the thinking is kept.",
        example="The model has thought and said nothing yet when Stop arrives; the row keeps the text, which is empty, "
        "and leaves out the thinking.",
        usual_cause="A row is inserted when the message opens, to be filled later; or content is reduced to its text "
        "parts before anybody asks whether something is left.",
        cases=("openai/codex#7310", "openai/codex#22602", "hermes-webui#2592", "bytedance/deer-flow#3039"),
    ),
)


def _own_model(history: History) -> str:
    own = history.capabilities.host == "http"
    return "the system is a server with a model of its own, and nobody knows what that said" if own else ""


HONEST_PROVENANCE = Invariant(
    id="honest-provenance",
    family="truth",
    statement="A row of the model says only what the model said, a row of a person only what was sent, "
    "and a closure claims only what happened.",
    unclaimed=_own_model,
    judge=honest_provenance,
    explain=Explanation(
        meaning="Everything in a model's row was emitted for that message, in that order; something may be missing, "
        "which other promises judge, but nothing is added. A row of a person holds the words that were sent. A tool "
        "request asks what the model asked. A closure does not claim a result of a call that never returned, nor "
        "that a call was not started whose tool ran, nor that the tool wrote what the system did; that a result is "
        "missing is the business of executed-tool-recorded. What the system adds has an item, or an origin, of its "
        "own.",
        example='Stop arrives in mid-answer, and the row reads "Hello [interrupted by the user]", which the model '
        "takes for its own words and imitates.",
        usual_cause="Notes for the model are put into the text because there is no other field for them; or a client "
        "makes up the missing messages and saves its whole list as the conversation.",
        cases=("aaif-goose/goose#7827", "openai/codex#20696", "hermes-webui#4283", "aaif-goose/goose#11996"),
    ),
)
