"""The states of a page on the wire, as literal tables.

A page has five small lifecycles, which one event may move together.  They are apart because
they are independent: a person who is away may still send a message whose answer is a stream, and a
page may ask for its history while its program watches, has given up, or has never begun.
A table reads ``TABLE[state][event] -> state``.  A lifecycle that lists an event for some of its
states refuses it in the others: :class:`RefusedEvent` names event, state and lifecycle, and no
lifecycle moves.  A lifecycle that never lists an event stays as it is.

*The person* is ``here``, in front of the page, or ``away``: detached, or looking at another session.

*The program* is ``none`` before the page first watches and after the program is closed; ``running`` while it
has or wants a connection; ``at rest`` once it has given up.  Why it gave up is kept with the
program.  A program that a shown tab wakes asks again and stays ``at rest``, because the page goes on
displaying its error until the person reloads.  It is ``cut off`` once the harness has closed it because it asked
for ever; a history that arrives then displays all that there will be, and leaves it ``at rest``.

*The history* is ``idle``, or it is on its way: ``reading`` replaces the rows and leaves the program
alone; ``opening`` also starts a new program once the history is displayed.  An opening page that is asked to
read is opening still.  Whichever history arrives first ends the waiting.  In ``idle`` a history arrives
all the same: a poller asks for its own, and a second request may be under way.

*The cursor* of the next history is ``used`` by the new program, or ``ignored``, as by a program that keeps none.

*The looks* are what the person has noticed: a page that looked ``broken`` when its program gave up, or when
all was quiet, stays so until the person reloads or reattaches it, even if it mends itself.

What is code rather than table, because it depends on more than the state: whether a page looks broken, and
whether it begins to watch a run that it hears of, both in :mod:`journalsim.actors.clients.tab`; and after which
reasons to give up a page requests its history, in :mod:`journalsim.actors.clients.watching`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from journalsim.errors import SimError

Event: TypeAlias = Literal[
    "leaves",
    "returns",
    "reloads",
    "starts",
    "gives up",
    "is cut off",
    "closes",
    "reads",
    "opens",
    "opens without cursor",
    "displays",
    "looks whole",
    "looks broken",
]
"""What happens to a page.

``leaves``: the person detaches or goes to another session; ``returns``: comes back from it; ``reloads``: reloads
the page or attaches it.  ``starts``, ``gives up``, ``is cut off``, ``closes``: the program.  ``reads``, ``opens``,
``opens without cursor``: a history is requested; ``displays``: it has arrived.  ``looks whole``, ``looks
broken``: the person notices.
"""

EVENTS: tuple[Event, ...] = get_args(Event)

Lifecycle: TypeAlias = Literal["person", "program", "history", "cursor", "looks"]
Table: TypeAlias = Mapping[str, Mapping[Event, str]]

PERSON: Table = {
    "here": {"reloads": "here", "returns": "here", "leaves": "away", "displays": "here"},
    "away": {"reloads": "here", "returns": "here", "leaves": "away"},
}

PROGRAM: Table = {
    "none": {"starts": "running", "displays": "none"},
    "running": {"gives up": "at rest", "is cut off": "cut off", "closes": "none", "displays": "running"},
    "at rest": {"gives up": "at rest", "is cut off": "cut off", "closes": "none", "displays": "at rest"},
    "cut off": {"closes": "none", "displays": "at rest"},
}

HISTORY: Table = {
    "idle": {
        "reads": "reading",
        "opens": "opening",
        "opens without cursor": "opening",
        "displays": "idle",
        "leaves": "idle",
    },
    "reading": {
        "reads": "reading",
        "opens": "opening",
        "opens without cursor": "opening",
        "displays": "idle",
        "leaves": "idle",
    },
    "opening": {
        "reads": "opening",
        "opens": "opening",
        "opens without cursor": "opening",
        "displays": "idle",
        "leaves": "idle",
    },
}

CURSOR: Table = {
    "used": {"opens without cursor": "ignored", "displays": "used"},
    "ignored": {"opens without cursor": "ignored", "displays": "used"},
}

LOOKS: Table = {
    "whole": {"reloads": "whole", "looks whole": "whole", "looks broken": "broken"},
    "broken": {"reloads": "whole", "looks whole": "whole", "looks broken": "broken"},
}

LIFECYCLES: Mapping[Lifecycle, Table] = {
    "person": PERSON,
    "program": PROGRAM,
    "history": HISTORY,
    "cursor": CURSOR,
    "looks": LOOKS,
}
"""All tables; a page begins in the first state of each."""


class RefusedEvent(SimError):
    """A page was to do what its state does not allow: the harness is at fault."""


def concerned(event: Event) -> tuple[Lifecycle, ...]:
    """Returns the lifecycles that list an event for any of their states."""
    return tuple(name for name, table in LIFECYCLES.items() if any(event in row for row in table.values()))


_CONCERNED: Mapping[Event, tuple[Lifecycle, ...]] = {event: concerned(event) for event in EVENTS}


class PageStates:
    """The states of one page, moved by events alone."""

    def __init__(self) -> None:
        self._states: dict[Lifecycle, str] = {name: next(iter(table)) for name, table in LIFECYCLES.items()}

    def state(self, lifecycle: Lifecycle) -> str:
        """Returns the state of one lifecycle."""
        return self._states[lifecycle]

    def take(self, event: Event) -> None:
        """Moves every lifecycle that the event concerns.

        Raises:
            RefusedEvent: the state of one of them does not allow it; nothing moved.
        """
        moved: dict[Lifecycle, str] = {}
        for name in _CONCERNED[event]:
            state = self._states[name]
            if event not in LIFECYCLES[name][state]:
                raise RefusedEvent(f"a page whose {name} is {state!r} does not take {event!r}")
            moved[name] = LIFECYCLES[name][state][event]
        self._states.update(moved)

    # --- what the states mean

    @property
    def attached(self) -> bool:
        """The person is in front of the page."""
        return self._states["person"] == "here"

    @property
    def running(self) -> bool:
        """The program has or wants a connection."""
        return self._states["program"] == "running"

    @property
    def cut_off(self) -> bool:
        """The harness closed the program, and no history has arrived since."""
        return self._states["program"] == "cut off"

    @property
    def opening(self) -> bool:
        """The page waits for a history, and attaches once it is displayed."""
        return self._states["history"] == "opening"

    @property
    def reading(self) -> bool:
        """The page waits for a history, and leaves its program alone."""
        return self._states["history"] == "reading"

    @property
    def uses_cursor(self) -> bool:
        """The program is given the cursor that comes with the next history."""
        return self._states["cursor"] == "used"

    @property
    def connected(self) -> bool:
        """The person has not noticed that the page is broken."""
        return self._states["looks"] == "whole"
