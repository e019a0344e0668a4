"""Steps: what people, the server, maintenance and the clock do, and when."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from journalsim.case import Moment, Never
from journalsim.contract.capabilities import StopMode
from journalsim.contract.events.event_record import Json
from journalsim.scenario.values.disk_fault import MEMORY
from journalsim.scenario.values.links import Cursor


@frozen(kw_only=True)
class Timing:
    """When a step happens.

    With nothing given, ``send``, ``approve`` and ``deny`` wait until all is quiet, and any other
    step follows the step above it at once.

    Attributes:
        at: a fixed point, step or time; or never, and then what follows the step never happens either.
        axis: name of the sweep axis that says where.
        after: label of the step that it follows.
        delay_ns: pause after that.
        within_ns: it may happen any time up to this later; the search chooses, at once by default.
    """

    at: Moment | Never | None = None
    axis: str | None = None
    after: str | None = None
    delay_ns: int = 0
    within_ns: int = 0


@frozen(kw_only=True)
class Travel:
    """What befalls the request of a step on its way to the server."""

    late_ns: int = 0
    lost: bool = False
    doubled: bool = False
    double_after_ns: int = 0


VERBS: Mapping[str, tuple[str, ...]] = {
    "client": ("send", "resubmit", "stop", "approve", "deny", "reload", "detach", "attach", "hide", "show", "switch"),
    "server": ("shutdown", "crash", "restart"),
    "maintenance": ("annotate", "compact", "clear"),
    "clock": ("jump",),
}
"""Which steps each kind of actor can take."""


@frozen(kw_only=True)
class Step:
    """One step of a scenario: ``actor.verb: argument``.

    Attributes:
        actor: who acts: a client's name, ``server``, ``maintenance`` or ``clock``.
        verb: a word of :data:`VERBS`.
        label: other steps refer to it by this; the verb, unless the author named it.
        timing: when.
        text: what a ``send`` says.
        key: idempotency key of a ``send``; made from its position when not given.
        of: for ``resubmit`` and ``stop`` the label of the send whose request or run is meant;
            None means the client's latest.
        mode: how a ``stop`` stops.
        times: how often in a row, at the same instant.
        travel: what befalls the request.
        call: for ``approve`` and ``deny``, which tool call.
        message: for ``annotate``, which message (``model.turn1``, ``user1`` …).
        metadata: for ``annotate``, the flags to set.
        lose: for ``crash``, what is lost: ``memory``, a loss of :data:`~journalsim.contract.disk_faults.LOSSES`,
            or ``$axis``.
        cursor: for ``attach``, which cursor the program sends instead of its own.
        away_ns: for ``switch``, how long the person looks at another session.
        by_ns: for ``jump``, how far, negative for backwards.
        session: for maintenance, which conversation.
        line: line of the file, from 1; 0 if there is none.
    """

    actor: str
    verb: str
    label: str
    timing: Timing = field(factory=Timing)
    text: str = ""
    key: str | None = None
    of: str | None = None
    mode: StopMode = "interrupt"
    times: int = 1
    travel: Travel = field(factory=Travel)
    call: str | None = None
    message: str | None = None
    metadata: Mapping[str, Json] = field(factory=dict)
    lose: str = MEMORY
    cursor: Cursor | None = None
    away_ns: int = 0
    by_ns: int = 0
    session: str = "s1"
    line: int = field(default=0, eq=False)

    @property
    def waits_for_quiet(self) -> bool:
        """Whether it has no timing of its own and is of the verbs that wait until all is quiet."""
        timing = self.timing
        placed = timing.at is not None or timing.axis is not None or timing.after is not None
        return not placed and self.verb in ("send", "approve", "deny")
