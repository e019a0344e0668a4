"""How people watch and what the machine keeps, from a tape: programs, links that break, cursors, and power cuts.

Both blocks stand at the end of the tape: a tape without them is a scenario without wire and without disk.
"""

from __future__ import annotations

from typing import Literal, get_args

from attrs import evolve, frozen

from journalsim.case import CursorForm
from journalsim.contract.capabilities import Capabilities
from journalsim.scenario.values.cast import ClientSpec, StoreSpec
from journalsim.scenario.values.links import Cursor, LinkFault, LinkShape, Spot
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.speech import MS
from journalsim.search.generate.slots import Slots

WIRE_SLOTS = 40
DISK_SLOTS = 6
FAULTS_MAX = 2
FRAMES = 14  # a generated answer with a tool call is about so many frames
BYTES = 400  # about four events

_KINDS: tuple[Literal["fetch-sse", "fetch-event-source", "cli", "ai-sdk-ui", "poller"], ...] = (
    "fetch-sse",
    "fetch-event-source",
    "cli",
    "ai-sdk-ui",
    "poller",
)
_FORMS: tuple[CursorForm, ...] = get_args(CursorForm)
_LOSSES = ("unsynced", "buffers", "names", "bytes", "last_tail", "last_head", "last_middle", "last_bytes")
_MORE_LOSSES = ("all_but_last", "other_files", "first")


@frozen(kw_only=True)
class Wire:
    """How the people of one scenario watch.

    Attributes:
        people: with their programs.
        faults: of their links.
        cursors: of the steps that attach, in order.
        away: verb of a step of the first person, and how far into the run: ``hide`` or ``switch``; else empty.
        away_share: how far.
        away_ns: for how long.
    """

    people: tuple[ClientSpec, ...]
    faults: tuple[LinkFault | LinkShape, ...] = ()
    cursor: Cursor | None = None
    away: Literal["", "hide", "switch"] = ""
    away_share: int = 0
    away_ns: int = 0


def wire_of(slots: Slots, people: tuple[ClientSpec, ...], claims: Capabilities) -> Wire:
    """Returns how these people watch: told by the server itself, or over a wire."""
    on = slots.flag(odds=90) and claims.replay != "none"
    watching = tuple(_watching(slots, person) for person in people)
    faults: list[LinkFault | LinkShape] = [fault for _ in range(FAULTS_MAX) for fault in _fault(slots, watching)]
    faults += _shape(slots, watching)
    cursors, form, frame = slots.flag(odds=110), slots.choose(*_FORMS, odds=230), 1 + slots.next() % FRAMES
    away: Literal["", "hide", "switch"] = slots.choose("", "hide", "switch", odds=80)
    share, away_ns = slots.next(), slots.choose(100 * MS, 0, 30 * MS, 2000 * MS, odds=150)
    if not on:
        return Wire(people=people)
    cursor = Cursor(form=form, frame=frame if form == "frame" else 0)
    return Wire(
        people=watching,
        faults=tuple(faults),
        cursor=cursor if cursors else None,
        away=away,
        away_share=share,
        away_ns=away_ns,
    )


def _watching(slots: Slots, person: ClientSpec) -> ClientSpec:
    kind = slots.choose(person.kind, *_KINDS, odds=150)
    retry_ns = slots.choose(1000 * MS, 100 * MS, 20 * MS, odds=150)
    name = "alice" if person.name == "client" else person.name
    return evolve(person, name=name, kind=kind, retry_ns=retry_ns, wire=True)


def _fault(slots: Slots, people: tuple[ClientSpec, ...]) -> list[LinkFault]:
    there, last = slots.flag(odds=110), slots.flag(odds=80)
    kind: Literal["cut", "reset", "end", "half_open"] = slots.choose("cut", "reset", "end", "half_open", odds=150)
    frames, where = slots.next() % FRAMES, slots.choose("between", "mid", "id line", "byte", odds=160)
    byte, restore_ns = slots.next(), slots.choose(0, 120 * MS, 2000 * MS, odds=140)
    connection = slots.choose(1, 2, 3, odds=80)
    if not there:
        return []
    spot = Spot(
        after_frames=0 if where == "byte" else frames,
        after_bytes=byte * BYTES // 256 if where == "byte" else 0,
        after_lines=1 if where == "id line" else 0,
        mid_frame=where == "mid",
    )
    if kind == "half_open":
        restore_ns = restore_ns or 5000 * MS
    person = people[-1 if last else 0]
    return [LinkFault(client=person.name, kind=kind, spot=spot, restore_ns=restore_ns, connection=connection)]


def _shape(slots: Slots, people: tuple[ClientSpec, ...]) -> list[LinkShape]:
    there, last = slots.flag(odds=70), slots.flag(odds=80)
    gather: int | None = slots.choose(0, 30 * MS, None, odds=60)
    chunk, slow_ns = slots.choose(0, 7, 1, 64, odds=120), slots.choose(0, MS // 100, MS, odds=90)
    shape = LinkShape(
        client=people[-1 if last else 0].name,
        gather_ns=gather,
        chunk_bytes=chunk,
        slow_ns=slow_ns,
        buffer_bytes=slots.choose(0, 200, odds=60),
    )
    return [shape] if there and shape != LinkShape(client=shape.client) else []


def with_cursor(steps: tuple[Step, ...], cursor: Cursor | None) -> tuple[Step, ...]:
    """Returns the steps; those that attach send this cursor, if there is one."""
    if cursor is None:
        return steps
    return tuple(evolve(step, cursor=cursor) if step.verb == "attach" else step for step in steps)


@frozen(kw_only=True)
class Disk:
    """What the machine keeps: ``lose`` of a crash, and the kind of store; both empty without a disk."""

    lose: str = ""
    engine: Literal["", "sqlite", "log"] = ""


def disk_of(slots: Slots, claims: Capabilities) -> Disk:
    """Returns what a crash takes with it: memory, or whatever a power cut may leave of a disk."""
    on = slots.flag(odds=60) and claims.disk and claims.crash != "none"
    lose, drawn = slots.choose(*_LOSSES, *_MORE_LOSSES, "drawn", odds=230), 1 + slots.next()
    engine: Literal["", "sqlite", "log"] = slots.choose("log", "sqlite", odds=110)
    if not on:
        return Disk()
    return Disk(lose=f"drawn#{drawn}" if lose == "drawn" else lose, engine=engine)


def on_disk(steps: tuple[Step, ...], disk: Disk) -> tuple[Step, ...]:
    """Returns the steps; crashes lose what the disk had not made certain."""
    if not disk.lose:
        return steps
    return tuple(evolve(step, lose=disk.lose) if step.verb == "crash" else step for step in steps)


def store_of(disk: Disk, latency_ns: int, steps: tuple[Step, ...]) -> StoreSpec:
    """Returns the store; the kind is asked for only where something crashes."""
    crashes = any(step.verb == "crash" for step in steps)
    return StoreSpec(latency_ns=latency_ns, engine=disk.engine if crashes else "")
