"""Defines the three lifecycles of the journal, as literal tables.

A table reads ``TRANSITIONS[state][event] -> state``; the events are the kinds of journal rows. A missing entry is the
error: :class:`IllegalTransition` names event, state and id, and the state does not change.

*A run* is ``accepted`` once the person's words are durable, ``running`` once a writer owns it, ``waiting`` while any of
its calls waits for a person, and ``cancelling`` from the moment a stop is durable. A waiting run is not blocked: calls
beside the one that waits go on. From ``cancelling`` only ``run.aborted`` leads on: an ordinary end reported for a
stopped run would be a lie. A terminal state has one entry, ``terminal.rejected``, which changes nothing: every event
after the first durable terminal is stored for audit and never becomes a message. The kind of a terminal does not
determine the cause of the end; ``CAUSES`` lists the causes that go with each kind of row.

*A message* is ``open``, then ``completed`` or ``interrupted``. Completed wins: ``interrupted -> completed`` exists and
its reverse does not. A later attempt supersedes the messages of an earlier one. ``run.aborted`` reaches messages only
for the cause ``rolled_back``, and discards them in any state.

*A tool call* is requested, runs, and gets one closure. A call that needs a person's approval gets one question and one
answer before it runs; a call that is denied is answered and aborted in the same batch. ``tool.aborted`` is the closure
of a call that returned no result; its outcome depends on the state that it leaves, by ``OUTCOMES``.

Four things are code rather than table: which terminal is the first (a fact about the whole run), whether a completion
came before it, and which attempt a message belongs to, all three in :mod:`journalsim_reference.journal`; and which of
several answers is the last, in :mod:`journalsim_reference.state`, where ``approval.resolved`` leads a run on only when
none of its calls waits any more.
"""

from __future__ import annotations

from collections.abc import Mapping

Table = Mapping[str, Mapping[str, str]]

RUN: Table = {
    "new": {"run.accepted": "accepted"},
    "accepted": {
        "run.started": "running",
        "run.stop_requested": "cancelling",
        "run.aborted": "interrupted",
        "run.expired": "interrupted",
        "run.failed": "failed",
    },
    "running": {
        "approval.requested": "waiting",
        "run.stop_requested": "cancelling",
        "run.completed": "completed",
        "run.aborted": "interrupted",
        "run.expired": "interrupted",
        "run.failed": "failed",
    },
    "waiting": {
        "approval.requested": "waiting",
        "approval.resolved": "running",
        "run.stop_requested": "cancelling",
        "run.aborted": "interrupted",
        "run.expired": "interrupted",
        "run.failed": "failed",
    },
    "cancelling": {"run.aborted": "interrupted"},
    "completed": {"terminal.rejected": "completed"},
    "interrupted": {"terminal.rejected": "interrupted"},
    "failed": {"terminal.rejected": "failed"},
}

MESSAGE: Table = {
    "new": {"message.opened": "open"},
    "open": {
        "message.delta": "open",
        "message.id_aliased": "open",
        "message.annotated": "open",
        "message.completed": "completed",
        "message.interrupted": "interrupted",
        "message.superseded": "superseded",
        "run.aborted": "discarded",
    },
    "interrupted": {
        "message.id_aliased": "interrupted",
        "message.annotated": "interrupted",
        "message.completed": "completed",
        "message.superseded": "superseded",
        "run.aborted": "discarded",
    },
    "completed": {
        "message.annotated": "completed",
        "message.superseded": "superseded",
        "run.aborted": "discarded",
    },
    "superseded": {"run.aborted": "discarded"},
    "discarded": {},
}

TOOL_CALL: Table = {
    "new": {"tool.requested": "requested"},
    "requested": {"approval.requested": "waiting", "tool.started": "running", "tool.aborted": "aborted"},
    "waiting": {"approval.resolved": "answered", "tool.aborted": "aborted"},
    "answered": {"tool.started": "running", "tool.aborted": "aborted"},
    "running": {
        "tool.progress": "running",
        "tool.completed": "completed",
        "tool.failed": "failed",
        "tool.aborted": "aborted",
    },
    "completed": {},
    "failed": {},
    "aborted": {},
}

TERMINALS = ("run.completed", "run.aborted", "run.expired", "run.failed")

CAUSES: Mapping[str, tuple[str | None, ...]] = {
    "run.completed": (None,),
    "run.aborted": ("stopped", "rolled_back", "disconnected", "shut_down", "crashed", "lost_lease"),
    "run.expired": ("timed_out",),
    "run.failed": ("failed",),
}

OUTCOMES: Mapping[str, str] = {
    "requested": "not_started",
    "waiting": "not_started",
    "answered": "not_started",
    "running": "unknown",
}

AT_WORK = ("running", "waiting")  # states of a run in which messages may open and tools may start
ENDED = ("completed", "interrupted", "failed")  # states of a run that has its terminal


class IllegalTransition(Exception):
    """An event that the table does not list for this state; nothing was changed."""

    def __init__(self, event: str, state: str, subject: str) -> None:
        super().__init__(f"{event} is not possible for {subject}, which is {state}")
        self.event = event
        self.state = state
        self.subject = subject


def advance(table: Table, state: str, event: str, subject: str) -> str:
    """Returns the state after ``event``.

    Args:
        table: one of the three tables.
        state: the present state of ``subject``.
        event: kind of the row.
        subject: id of the run, message or call, for the error.

    Raises:
        IllegalTransition: the table has no such entry.
    """
    if event not in table[state]:
        raise IllegalTransition(event, state, subject)
    return table[state][event]


def as_mermaid(table: Table) -> str:
    """Returns a table as a mermaid state diagram, with the events between the same two states on one arrow."""
    lines = ["stateDiagram-v2"]
    for state, row in table.items():
        arrows: dict[str, list[str]] = {}
        for event, target in row.items():
            arrows.setdefault(target, []).append(event)
        source = "[*]" if state == "new" else state
        lines += [f"    {source} --> {target}: {', '.join(events)}" for target, events in arrows.items()]
        if not any(target != state for target in arrows):
            lines.append(f"    {source} --> [*]")
    return "\n".join(lines) + "\n"
