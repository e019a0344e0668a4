"""Drives a client program against scripted answers, one after the other, without a clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import field, frozen

from journalsim.actors.programs.program import Ask, Deliver, Effects, GiveUp, HangUp, Program, Sleep


@frozen(kw_only=True)
class Answer:
    """What the server does with one request."""

    status: int = 200
    type: str = "text/event-stream"
    chunks: tuple[bytes, ...] = ()
    then: Literal["end", "reset", "hide-show"] = "end"


@frozen(kw_only=True)
class Drive:
    """What a program did: its requests (method, cursor), its events (type, data), and whether it gave up."""

    requests: list[tuple[str, str | None]] = field(factory=list)
    events: list[tuple[str, str]] = field(factory=list)
    reasons: list[str] = field(factory=list)


def drive(program: Program, first: Effects, answers: Sequence[Answer]) -> Drive:
    """Gives the n-th request the n-th answer; a request beyond them hangs."""
    drive = Drive()
    todo = list(first)
    while todo:
        effect = todo.pop(0)
        if isinstance(effect, Ask):
            drive.requests.append((effect.method, effect.cursor))
            if len(drive.requests) <= len(answers):
                todo += _answer(program, effect.connection, answers[len(drive.requests) - 1])
        elif isinstance(effect, Deliver):
            drive.events.append((effect.event.type, effect.event.data))
            program.applied(effect.event)
        elif isinstance(effect, Sleep):
            todo += program.woke(effect.timer)
        elif isinstance(effect, GiveUp):
            drive.reasons.append(effect.reason)
        else:
            assert isinstance(effect, HangUp)
    return drive


def _answer(program: Program, connection: int, answer: Answer) -> list[object]:
    effects = [*program.answered(connection, answer.status, answer.type)]
    for chunk in answer.chunks:
        effects += program.received(connection, chunk)
    if answer.then == "hide-show":
        return [*effects, *program.hide(), *program.show()]
    return [*effects, *program.ended(connection, clean=answer.then == "end")]
