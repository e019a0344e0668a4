"""The invariants of single rows: each row has content, and the content is true."""

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
    """Yields a violation for each row of the final journal whose fault the invariant ``owner`` reports."""
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
    yield from _rows("no-empty-message", "every stored message has content", facts)


# --- honest-provenance ---------------------------------------------------------------------------


def honest_provenance(facts: Facts) -> Iterator[Finding]:
    """Judges the text of every row and the claim of every closure."""
    promised = "a row holds the words of its author, a closure the true outcome; system notes are marked as such"
    yield from _rows("honest-provenance", promised, facts)


NO_EMPTY_MESSAGE = Invariant(
    id="no-empty-message",
    family="messages",
    statement="The journal holds no message without content.",
    judge=no_empty_message,
    explain=Explanation(
        meaning="A stored message has text or reasoning, or is the one empty row of a message with tool calls. Strict "
        "providers refuse every later call of a session with an empty message, and users see an empty bubble. If the "
        "model emitted nothing, only the end of the run is stored; if it emitted only reasoning, the reasoning is.",
        example="The model has emitted reasoning and no text when Stop arrives; the row stores the empty text and "
        "omits the reasoning.",
        usual_cause="A row is inserted when the message opens, to be filled later; or content is reduced to its text "
        "parts without a check for an empty rest.",
        cases=("openai/codex#7310", "openai/codex#22602", "hermes-webui#2592", "bytedance/deer-flow#3039"),
    ),
)


def _own_model(history: History) -> str:
    own = history.capabilities.host == "http"
    return "the system is a server with its own model, whose output is unknown" if own else ""


HONEST_PROVENANCE = Invariant(
    id="honest-provenance",
    family="truth",
    statement="A row of the model holds only text that the model emitted, a user row only text that the user sent, "
    "and a closure only the true outcome of its call.",
    unclaimed=_own_model,
    judge=honest_provenance,
    explain=Explanation(
        meaning="The model emitted all text of a model row for that message, in that order; missing text is judged by "
        "other invariants, added text by this one. A user row holds the text that the user sent. A tool request has "
        "the name and arguments from the model. A closure with a result needs a tool that returned, a closure 'not "
        "started' a tool that did not run, and text of the tool must come from the tool; a missing result is reported "
        "by executed-tool-recorded. Notes of the system have their own item or origin.",
        example='Stop arrives in mid-answer, and the row reads "Hello [interrupted by the user]", which the model '
        "takes for its own words and imitates.",
        usual_cause="Notes for the model are put into the text because no other field exists for them; or a client "
        "invents the missing messages and saves its whole list as the session.",
        cases=("aaif-goose/goose#7827", "openai/codex#20696", "hermes-webui#4283", "aaif-goose/goose#11996"),
    ),
)
