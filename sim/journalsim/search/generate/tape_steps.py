"""What people, the server and maintenance do, from a tape: one message of a person and what befalls it at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import evolve, field, frozen

from journalsim.contract.capabilities import Capabilities, StopMode
from journalsim.contract.items import HIDDEN_FROM_MODEL
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step, Timing, Travel
from journalsim.scenario.values.speech import MS
from journalsim.search.generate.plan import Spot
from journalsim.search.generate.slots import Slots
from journalsim.search.generate.tape_turns import Answer
from journalsim.search.generate.tape_wire import Wire

EXCHANGE_SLOTS = 36
SECOND = 1000 * MS
SURELY_OVER_NS = 20 * SECOND  # after a message: its run has ended, unless something hangs
HANGS_NS = 60 * SECOND  # after a message: what has not ended by now never will

_PLAIN = Travel()
_TRAVELS = (
    Travel(late_ns=50 * MS),
    Travel(doubled=True),
    Travel(late_ns=SECOND // 2),
    Travel(doubled=True, double_after_ns=200 * MS),
    Travel(late_ns=5 * SECOND),
    Travel(lost=True),
)
_PAUSES = {"at once": 0, "soon": 45 * MS, "later": SECOND}


@frozen(kw_only=True)
class _Window:
    """The points of one exchange: from its message on, to the next one's or to the end."""

    since: str = ""
    until: str = ""


@frozen(kw_only=True)
class _Ask:
    """A message that a person sends."""

    number: int
    label: str
    actor: str
    session: str
    window: _Window = field(factory=_Window)


class StepWriter:
    """Writes the steps of a scenario, one exchange after the other.

    Args:
        claims: nothing is asked for that is not claimed here.
        people: who takes part.
        equal: all messages of people are the same, on purpose.
    """

    def __init__(self, claims: Capabilities, people: tuple[ClientSpec, ...], equal: bool) -> None:
        self.people = people
        self._claims = claims
        self._equal = equal
        self._steps: list[Step] = []
        self._spots: list[Spot] = []
        self._asks: list[_Ask] = []
        self._points: dict[str, str] = {}  # label of a message -> the point at which it is sent

    def steps(self) -> tuple[Step, ...]:
        """Returns the steps, without the labels that no other step refers to."""
        meant = {name for step in self._steps for name in (step.timing.after, step.of)}  # membership only
        return tuple(step if step.label in meant else evolve(step, label=step.verb) for step in self._steps)

    def spots(self) -> tuple[Spot, ...]:
        """Returns where the swept steps go."""
        return tuple(evolve(spot, until=self._points.get(spot.until, "")) for spot in self._spots)

    def exchange(self, slots: Slots, turns: int, answers: Sequence[Answer]) -> bool:
        """Writes one message of a person, and what befalls it.

        Args:
            slots: its block of the tape.
            turns: of the model, written so far.
            answers: to the tool calls that wait for a person.

        Returns:
            Whether the history is compacted, for which the model is asked.
        """
        ask = self._send(slots)
        self._answer(ask, answers)
        self._resubmit(slots, ask)
        self._stops(slots, ask)
        self._readers(slots, ask)
        return self._maintenance(slots, ask, turns) == "compact"

    # --- messages

    def _send(self, slots: Slots) -> _Ask:
        number = len(self._asks) + 1
        person = slots.choose(self.people[0], self.people[-1], odds=80)
        when = slots.choose("quiet", *_PAUSES, "placed", odds=110)
        travel, share = slots.choose(_PLAIN, *_TRAVELS, odds=50), slots.next()
        label = f"ask{number}"
        nth = 1 + sum(ask.actor == person.name for ask in self._asks)
        self._points[label] = point = f"{person.name}.send#{nth}.before"
        window = _Window(since=point, until=f"ask{number + 1}")
        ask = _Ask(number=number, label=label, actor=person.name, session=_session(person), window=window)
        text = "Question" if self._equal else f"Question {number}"
        step = Step(actor=person.name, verb="send", label=label, text=text, travel=travel)
        if number == 1 or when == "quiet":
            self._steps.append(step)
        elif when == "placed":
            self._place(step, share, _Window(since=self._asks[-1].window.since))
        else:
            self._steps.append(evolve(step, timing=Timing(after=self._asks[-1].label, delay_ns=_PAUSES[when])))
        self._asks.append(ask)
        return ask

    def _answer(self, ask: _Ask, answers: Sequence[Answer]) -> None:
        for number, answer in enumerate(answers, start=1):
            label = f"answer{ask.number}-{number}"
            step = Step(actor=ask.actor, verb=answer.verb, label=label, call=answer.call)
            if answer.at_once:
                self._steps.append(evolve(step, timing=Timing(after=self._steps[-1].label)))
            elif answer.placed:
                self._place(step, answer.share, _Window(since=ask.window.since))
            else:
                self._steps.append(step)

    def _resubmit(self, slots: Slots, ask: _Ask) -> None:
        again = slots.choose("", "at once", "later", "placed", odds=40)
        share, travel = slots.next(), slots.choose(_PLAIN, *_TRAVELS, odds=60)
        step = Step(actor=ask.actor, verb="resubmit", label=f"again{ask.number}", of=ask.label, travel=travel)
        if again == "placed":
            self._place(step, share, _Window(since=ask.window.since))
        elif again:
            pause_ns = 0 if again == "at once" else 5 * SECOND
            self._steps.append(evolve(step, timing=Timing(after=ask.label, delay_ns=pause_ns)))

    def end_hanging_runs(self) -> None:
        """Stops every run in the end: a tool or a stream that never ends needs a Stop that surely comes."""
        for ask in self._asks:
            timing = Timing(after=ask.label, delay_ns=HANGS_NS)
            self._steps.append(
                Step(actor=ask.actor, verb="stop", label=f"end{ask.number}", of=ask.label, timing=timing)
            )

    # --- stops and readers

    def _stops(self, slots: Slots, ask: _Ask) -> None:
        window = _Window(since=ask.window.since) if slots.flag(odds=40) else ask.window
        for label, odds in ((f"stop{ask.number}", 130), (f"stop{ask.number}b", 50)):
            there, share = slots.flag(odds=odds), slots.next()
            mode: StopMode = slots.choose("interrupt", "rollback", odds=40)
            times, travel = slots.choose(1, 2, 5, odds=50), slots.choose(_PLAIN, *_TRAVELS, odds=50)
            actor = slots.choose(ask.actor, self.people[-1].name, odds=40)
            step = Step(
                actor=actor,
                verb="stop",
                label=label,
                of=ask.label if actor == ask.actor else None,
                mode=mode if mode in self._claims.stop_modes else "interrupt",
                times=times,
                travel=travel,
            )
            if there:
                self._place(step, share, window)

    def _readers(self, slots: Slots, ask: _Ask) -> None:
        number = ask.number
        reloads, reload_share = slots.flag(odds=30), slots.next()
        leaves, leave_share = slots.flag(odds=40), slots.next()
        actor = slots.choose(self.people[0], self.people[-1], odds=120).name
        back = slots.choose("attach", "reload", "", odds=120)
        pause_ns = slots.choose(100 * MS, 0, 5 * SECOND, odds=120)
        if reloads:
            reload = Step(actor=actor, verb="reload", label=f"reload{number}")
            self._place(reload, reload_share, _Window(since=ask.window.since))
        if leaves:
            self._place(Step(actor=actor, verb="detach", label=f"detach{number}"), leave_share, ask.window)
        if leaves and back:
            timing = Timing(after=f"detach{number}", delay_ns=pause_ns)
            self._steps.append(Step(actor=actor, verb=back, label=f"back{number}", timing=timing))

    # --- maintenance and disasters

    def _maintenance(self, slots: Slots, ask: _Ask, turns: int) -> str:
        verb = slots.choose("", "annotate", "compact", "clear", odds=60)
        between, share = slots.flag(odds=128), slots.next()
        turn, of_person, stars = slots.next() % turns + 1, slots.flag(odds=80), slots.flag(odds=80)
        if verb not in self._claims.maintenance:
            return ""
        step = Step(actor="maintenance", verb=verb, label=f"{verb}{ask.number}", session=ask.session)
        if verb == "annotate":
            message = f"user{ask.number}" if of_person else f"model.turn{turn}"
            metadata = {"starred": ask.number} if stars else {HIDDEN_FROM_MODEL: True}
            step = evolve(step, message=message, metadata=metadata)
        if between:
            self._steps.append(evolve(step, timing=Timing(after=ask.label, delay_ns=SURELY_OVER_NS)))
        else:
            self._place(step, share, ask.window)
        return verb

    def disasters(self, slots: Slots) -> None:
        """Writes what befalls the whole: the server dies or is shut down, and the clock is set."""
        fate = slots.choose("", "crash", "shutdown", odds=60)
        share, pause_ns = slots.next(), slots.choose(100 * MS, 0, 2 * SECOND, odds=80)
        again, again_ns = slots.flag(odds=60), slots.choose(0, 1, 50 * MS, odds=120)
        by_ns, clock_share = slots.choose(0, -3600 * SECOND, 3600 * SECOND, odds=40), slots.next()
        crashes = self._claims.crash != "none"
        if fate and (fate == "shutdown" or crashes):
            self._place(Step(actor="server", verb=fate, label=fate), share, _Window())
            self._server("restart", "restart", fate, pause_ns)
            if again and crashes:
                self._server("crash", "crash-again", "restart", again_ns)
                self._server("restart", "restart-again", "crash-again", pause_ns)
        if by_ns:
            self._place(Step(actor="clock", verb="jump", label="jump", by_ns=by_ns), clock_share, _Window())

    def away(self, wire: Wire) -> None:
        """Writes that the first person looks elsewhere for a while."""
        actor = self.people[0].name
        if wire.away == "switch":
            self._place(
                Step(actor=actor, verb="switch", label="switch", away_ns=wire.away_ns), wire.away_share, _Window()
            )
        elif wire.away:
            self._place(Step(actor=actor, verb="hide", label="hide"), wire.away_share, _Window())
            timing = Timing(after="hide", delay_ns=wire.away_ns)
            self._steps.append(Step(actor=actor, verb="show", label="show", timing=timing))

    def _server(self, verb: Literal["crash", "restart"], label: str, after: str, delay_ns: int) -> None:
        timing = Timing(after=after, delay_ns=delay_ns)
        self._steps.append(Step(actor="server", verb=verb, label=label, timing=timing))

    def _place(self, step: Step, share: int, window: _Window) -> None:
        """Adds a step with an axis of its own."""
        self._spots.append(Spot(axis=step.label, share=share, since=window.since, until=window.until))
        self._steps.append(evolve(step, timing=Timing(axis=step.label)))


def _session(person: ClientSpec) -> str:
    return "s1" if person.observes else person.session
