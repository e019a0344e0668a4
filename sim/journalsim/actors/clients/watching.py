"""The programs of a page, one after the other: they start, say what they do, give up, and are closed."""

from __future__ import annotations

from collections.abc import Callable

from journalsim.actors.clients.asking import Requests
from journalsim.actors.clients.histories import Histories
from journalsim.actors.clients.tab import BROKEN, Tab
from journalsim.actors.programs.profiles import program_for
from journalsim.actors.programs.program import Ask, Deliver, Effects, GiveUp, HangUp, Sleep
from journalsim.actors.wire.ways import Watch
from journalsim.contract.events.stream_events import StreamGivenUp
from journalsim.scenario.values.moves import Travel


class Watching:
    """Runs the programs of one client.

    Args:
        tab: of the client.
        histories: of its page.
        requests: of its programs.
        deliver: takes an event that a program delivers to its page.
    """

    def __init__(
        self, tab: Tab, histories: Histories, requests: Requests, deliver: Callable[[Watch, Deliver], None]
    ) -> None:
        self._tab = tab
        self._histories = histories
        self._requests = requests
        self._deliver = deliver

    def start(self, cursor: str | None = None) -> Watch:
        """Closes the program of the page and starts another one, which has asked for nothing yet."""
        self.close()
        spec = self._tab.spec
        watch = Watch(program_for(spec.kind, retry_ns=spec.retry_ns, cursor=cursor))
        self._tab.watch = watch
        self._tab.states.take("starts")
        return watch

    def attach(self, cursor: str | None) -> None:
        """Starts a program that asks for the stream, with a cursor if it takes one."""
        watch = self.start(cursor)
        self.take(watch, watch.program.attach())

    def attach_with(self, cursor: str) -> None:
        """Starts a program that sends this cursor first, whatever kind it is."""
        watch = self.start(cursor)
        watch.forced.append(cursor)
        self.take(watch, watch.program.attach())

    def close(self) -> None:
        """Closes the program of the page, if there is one."""
        watch, self._tab.watch = self._tab.watch, None
        if watch is not None:
            self._tab.states.take("closes")
            self.take(watch, watch.program.close())

    def take(self, watch: Watch, effects: Effects, travel: Travel | None = None) -> None:
        """Does what a program says, in order.

        Args:
            watch: the program.
            effects: what it says.
            travel: what befalls its requests.
        """
        for effect in effects:
            if isinstance(effect, Ask):
                self._requests.ask(watch, effect, travel or Travel())
            elif isinstance(effect, HangUp):
                self._requests.hang_up(watch, effect.connection)
            elif isinstance(effect, Deliver):
                self._deliver(watch, effect)
            elif isinstance(effect, Sleep):
                self._sleep(watch, effect)
            else:
                self._give_up(watch, effect)

    def _sleep(self, watch: Watch, sleep: Sleep) -> None:
        world, name = self._tab.world, self._tab.spec.name
        wait_ns = max(sleep.delay_ns, self._requests.closed_until_ns - world.now_ns())
        world.scheduler.after(wait_ns, f"person.{name}", lambda: self.take(watch, watch.program.woke(sleep.timer)))

    def _give_up(self, watch: Watch, effect: GiveUp) -> None:
        tab = self._tab
        watch.gave_up = effect.reason
        if watch is tab.watch:
            tab.states.take("is cut off" if effect.reason == "closed" else "gives up")
        if effect.reason == "closed":
            return
        tab.log.record(StreamGivenUp(reason=effect.reason))
        if watch is not tab.watch:
            return
        tab.notice()
        if not tab.states.attached:
            return
        if effect.reason not in BROKEN and tab.unseen.runs:
            self._histories.open(Travel(), "gap")  # a run began of which no stream has brought anything
        elif effect.reason == "nothing-there" or tab.unseen.left:
            self._histories.read()
