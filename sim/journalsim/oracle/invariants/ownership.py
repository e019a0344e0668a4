"""Ownership of faulty rows: exactly one invariant reports each faulty row.

A faulty row could violate several invariants: a note inside an answer makes the
text no prefix, and a second copy of it a duplicate.  So each row of the final
journal has at most one fault, the first in this list that matches, and only the
invariant that owns the fault reports it:

1. ``no-empty-message``: the row has no content;
2. ``stable-identity``: the row is a piece of a split message;
3. ``retry-is-atomic``: the row joins the text of several attempts;
4. ``honest-provenance``: the row holds foreign text or a false outcome;
5. ``fenced-writer``: the row comes after the end of its run.

Invariants of whole messages (stored, stored once, in the right state, a prefix)
skip a message with such a row, or do not count the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from journalsim.contract.events.client_events import ClientSent
from journalsim.contract.events.model_events import ModelCalled
from journalsim.contract.items import Item
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.item_keys import bare
from journalsim.oracle.facts.records import ModelMessage, ToolUse
from journalsim.oracle.facts.row_lines import quoted
from journalsim.oracle.facts.run_ends import interrupted_from, run_of_row
from journalsim.oracle.facts.texts import glued, leaves_out, same_arguments


@frozen
class Fault:
    """The fault of one row.

    Attributes:
        owner: the invariant that reports it.
        why: the fault, as the object of "the journal holds".
    """

    owner: str
    why: str


Faults = Mapping[int, Fault]
_NEVER_ASKED = ToolUse(call_id="")


def faults(facts: Facts) -> Mapping[str, Faults]:
    """Returns the faults of the rows of each session, by the index of the row in the final read."""
    return {session: _faults_in(session, facts) for session in facts.journal}


def faults_of(ref: str, facts: Facts) -> tuple[Fault, ...]:
    """Returns the faults of the rows of one message."""
    found = facts.once(_by_message)
    return found.get(ref, ()) if found else ()


def standing(ref: str, facts: Facts) -> tuple[Item, ...]:
    """Returns the rows of one message without a fault."""
    return facts.once(_standing).get(ref, ()) if ref in facts.once(_by_message) else facts.stored(ref)


def left_to_others(ref: str, facts: Facts) -> bool:
    """Returns True if the owner of a faulty row reports the message, so other invariants skip it."""
    found = faults_of(ref, facts)
    return bool(found) and any(fault.owner != "fenced-writer" for fault in found)


# --- making them ---------------------------------------------------------------------------------


def _faults_in(session: str, facts: Facts) -> Faults:
    items = facts.journal[session]
    refs = facts.refs_in(facts.final_reads[session])
    found: dict[int, Fault] = {}
    split = _split(items, refs, facts)
    seen: dict[str, bool] = {}
    for index, (item, ref) in enumerate(zip(items, refs, strict=True)):
        why = _says_nothing(item, ref, seen, facts)
        if why:
            found[index] = Fault("no-empty-message", why)
        elif ref in split:
            found[index] = Fault("stable-identity", f"{quoted(item.text)} as a separate message")
        else:
            fault = _wrong_words(item, ref, facts)
            if fault is not None:
                found[index] = fault
    for index, run_id in _late(items, refs, facts):
        found.setdefault(index, Fault("fenced-writer", f"a row of run {run_id} after the end of that run"))
    return found


def _by_message(facts: Facts) -> Mapping[str, tuple[Fault, ...]]:
    found: dict[str, list[Fault]] = {}
    for session, faulty in facts.once(faults).items():
        refs = facts.refs_in(facts.final_reads[session])
        for index, fault in faulty.items():
            found.setdefault(refs[index] or "", []).append(fault)
    return {ref: tuple(own) for ref, own in found.items()}


def _standing(facts: Facts) -> Mapping[str, tuple[Item, ...]]:
    found: dict[str, list[Item]] = {}
    for session, faulty in facts.once(faults).items():
        refs = facts.refs_in(facts.final_reads[session])
        for index, item in enumerate(facts.journal[session]):
            if index not in faulty:
                found.setdefault(refs[index] or "", []).append(item)
    return {ref: tuple(items) for ref, items in found.items()}


# --- 1: no content -------------------------------------------------------------------------------


def _says_nothing(item: Item, ref: str | None, seen: dict[str, bool], facts: Facts) -> str:
    """Returns the fault of a row without content; a message that has only calls may have one such row."""
    if item.kind not in ("user", "assistant", "summary") or item.state == "open" or not bare(item):
        seen[ref or ""] = True
        return ""
    if ref is not None and ref in facts.users:
        return "" if not facts.users[ref].text else f"an empty row for {ref}"
    if ref is None:
        return f"an empty row of kind {item.kind}"
    message = facts.messages[ref]
    again = ref in seen
    seen[ref] = True
    if message.calls and not message.whole_text:
        return f"another empty row of message {ref}" if again else ""
    return f"an empty row of message {ref}"


# --- 2: pieces -----------------------------------------------------------------------------------


def _split(items: Iterable[Item], refs: Iterable[str | None], facts: Facts) -> Mapping[str | None, bool]:
    """Returns the messages with one row for each of several pieces, or for each of several provider ids."""
    if not facts.history.capabilities.stable_ids or all(len(rows) < 2 for rows in facts.rows.values()):
        return {}
    rows: dict[str, list[Item]] = {}
    for item, ref in zip(items, refs, strict=True):
        if ref in facts.messages and not bare(item):
            rows.setdefault(str(ref), []).append(item)
    return {ref: True for ref, own in rows.items() if len(own) > 1 and _pieces(own, facts.messages[ref])}


def _pieces(rows: list[Item], message: ModelMessage) -> bool:
    known: dict[str, bool] = {}
    for row in rows:
        if not row.aliases or any(alias in known for alias in row.aliases):
            return message.whole_text.startswith("".join(row.text for row in rows))
        known |= dict.fromkeys(row.aliases, True)
    return True


# --- 3 and 4: foreign text -----------------------------------------------------------------------


def _wrong_words(item: Item, ref: str | None, facts: Facts) -> Fault | None:
    if item.kind == "assistant":
        return _wrong_message(item, ref, facts)
    if item.kind == "user":
        return _wrong_user(item, ref, facts)
    if item.kind == "tool_call":
        return _wrong_request(item, facts)
    why = _wrong_closure(item, facts) if item.kind == "tool_result" else ""
    return _dishonest(why) if why else None


def _dishonest(why: str) -> Fault:
    return Fault("honest-provenance", why)


def _wrong_message(item: Item, ref: str | None, facts: Facts) -> Fault | None:
    if ref is None:
        said = quoted(item.text or item.reasoning)
        return None if item.origin == "synthetic" else _dishonest(f"{said} as model text, which no model emitted")
    message = facts.messages[ref]
    pairs = ((item.text, message.whole_text), (item.reasoning, message.whole_reasoning))
    stored, emitted = next(((s, e) for s, e in pairs if not leaves_out(s, e)), ("", ""))
    if not stored:
        return None
    tries = attempts_of(message, facts)
    texts = [m.whole_text for m in tries] if stored is item.text else [m.whole_reasoning for m in tries]
    if len(tries) > 1 and glued(stored, texts):
        return Fault("retry-is-atomic", f"{quoted(stored)}, the text of several attempts in one row")
    return _dishonest(f"{quoted(stored)} as message {ref}, but the model emitted {quoted(emitted)}")


def _wrong_user(item: Item, ref: str | None, facts: Facts) -> Fault | None:
    if item.origin not in ("user", None):
        return None
    if ref is None:
        sent = any(event.data.text == item.text for event in facts.of(ClientSent))  # perhaps under another's key
        return None if sent else _dishonest(f"{quoted(item.text)} as user text, which no user sent")
    text = facts.users[ref].text
    return None if item.text == text else _dishonest(f"{quoted(item.text)} as {ref}, but the user sent {quoted(text)}")


def _wrong_request(item: Item, facts: Facts) -> Fault | None:
    tool = facts.tools.get(item.call_id or "")
    message = None if tool is None else facts.messages.get(tool.message or "")
    call = next((call for call in message.calls if call.call_id == item.call_id), None) if message is not None else None
    if item.call_id in facts.calls_aside:
        return None
    if message is None or call is None:
        return _dishonest(f"a request {item.call_id}, which no model made")
    # a journal may omit the arguments of a request
    whole = not item.arguments or same_arguments(item.arguments, call.arguments)
    begun = message.completed is None and call.arguments.startswith(item.arguments)
    if item.name in (None, call.name) and (whole or begun):
        return None
    tries = [c.arguments for m in attempts_of(message, facts) for c in m.calls if c.name == call.name]
    if glued(item.arguments, tries):
        return Fault("retry-is-atomic", f"a request {item.call_id} with the arguments of several attempts")
    asked = f"{call.name}({call.arguments})"
    return _dishonest(
        f"{quoted(f'{item.name}({item.arguments})')} as request {item.call_id}, but the model made {asked}"
    )


def _wrong_closure(item: Item, facts: Facts) -> str:
    """Returns the false claim of a closure; a missing result is reported by executed-tool-recorded."""
    tool = facts.tools.get(item.call_id or "", _NEVER_ASKED)
    if tool.returned is not None or tool.failed is not None or _by_sub_agent(item.call_id, tool, facts):
        return ""
    if item.state == "completed":
        return f"a result of call {item.call_id}, which never returned"
    if item.origin == "tool" and item.text:
        return f"{quoted(item.text)} as output of call {item.call_id}, whose tool never returned"
    run = facts.runs.get(tool.run or "")
    if item.call_id in facts.denied:
        return ""  # then the execution itself is wrong: reported by one-request-one-effect
    ran = tool.started and run is not None and tool.started[0].position < interrupted_from(run, facts)
    return f"call {item.call_id} as not started, but its tool ran" if ran and item.outcome == "not_started" else ""


def _by_sub_agent(call_id: str | None, tool: ToolUse, facts: Facts) -> bool:
    """Returns True if a sub-agent executed the call, so its answer is the result."""
    asked = facts.messages.get(tool.message or "")
    names = [f"sub:{call.name}" for call in asked.calls if call.call_id == call_id] if asked is not None else []
    return any(c.run == tool.run and c.data.who in names for c in facts.of(ModelCalled))


def attempts_of(message: ModelMessage, facts: Facts) -> tuple[ModelMessage, ...]:
    """Returns the attempts at a message, in order: the failed attempts, and the attempt that replaced them."""
    own = [other for other in facts.messages.values() if other.run == message.run]
    last = message
    if message.superseded:
        last = next((m for m in own if m.begin > message.begin and not m.superseded), own[-1])
    begin = end = own.index(last)
    while begin and own[begin - 1].superseded:
        begin -= 1
    return tuple(own[begin : end + 1])


# --- 5: too late ---------------------------------------------------------------------------------


def _late(items: tuple[Item, ...], refs: tuple[str | None, ...], facts: Facts) -> Iterator[tuple[int, str]]:
    """Yields rows after the terminal of their run, with the run.

    If the user message comes after the terminal too, the order of rows is wrong, which
    ordered-history reports.
    """
    if not facts.history.capabilities.terminals:
        return
    ended: dict[str | None, bool] = {}
    prompted: dict[str | None, bool] = {}
    found: list[tuple[int, str | None]] = []
    for index, (item, ref) in enumerate(zip(items, refs, strict=True)):
        if item.kind == "marker":
            ended[item.run_id] = True
        elif item.kind == "user" or ended:
            run_id = run_of_row(item, ref, facts)
            if run_id in ended:
                found.append((index, run_id))
            if item.kind == "user":
                prompted.setdefault(run_id, run_id not in ended)
    yield from ((index, str(run_id)) for index, run_id in found if prompted.get(run_id, True))
