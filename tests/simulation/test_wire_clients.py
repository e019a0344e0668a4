"""Clients that watch over the wire: what breaks, what they do about it, and what is judged of it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import trio
from attrs import evolve

from journalsim.case import AtByte
from journalsim.contract.events.stream_events import LinkBroke
from journalsim.contract.stream_port import Control, StreamAnswer, StreamRequest, encode_control
from journalsim.engine.hosting import host
from journalsim.history import Event, trace_hash
from journalsim.hosts.loading import adapter_from
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.resolve import resolve
from journalsim.scenario.values.links import LinkFault
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, workspace
from journalsim.search.results import ScenarioResult
from journalsim.search.scenario_run import run_scenario
from journalsim.search.sweep import baseline

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "tests" / "adapters"
sys.path.insert(0, str(ADAPTERS))

from tiny_stream import Log, TinyStream  # noqa: E402 - lies beside the other adapters of the tests

from journalsim_reference.adapter import make as make_reference  # noqa: E402 - after what lies beside it

WORDS = "[{stream: [{text: {words: 6, every: 50ms}}, {finish: end_turn}]}]"


def scenario(
    *steps: str, alice: str = "kind: browser", faults: str = "[]", sweep: str = "", more: str = ""
) -> Scenario:
    lines = "".join(f"  - {step}\n" for step in ('alice.send: "Hi"', *steps))
    text = f"version: 1\nname: wire\nactors:\n  alice: {{is: client, retry: 100ms, wire: true, {alice}}}\n{more}"
    text += f"script: {{model: {WORDS}}}\nsteps:\n{lines}"
    text += f"faults: {faults}\n" if faults != "[]" else ""
    text += f"sweep: {{{sweep}}}\n" if sweep else ""
    return load_scenario(f"{text}expect: {{finally: [view.equals: {{of: alice, to: journal}}]}}\n".encode(), "")


def ran(scenario: Scenario, make: Callable[[], object] = TinyStream) -> tuple[Event, ...]:
    with workspace() as folder:
        executor = Executor(scenario, adapter_from(make, "tiny"), folder)
        return host(lambda it: executor.baseline(it)).history.events


def result_of(scenario: Scenario, make: Callable[[], object] = TinyStream) -> ScenarioResult:
    return run_scenario(scenario, adapter_from(make, "tiny"))


def broken(result: ScenarioResult) -> set[str]:
    assert not result.trouble
    assert not result.refused
    return {name for name, tally in result.tallies.items() if tally.violated}


def of(events: tuple[Event, ...], kind: str) -> list[Event]:
    return [event for event in events if event.kind == kind]


CUT = "[{link: {from: server, to: alice}, cut: {after_frames: 4, mid_frame: true}, restore: 120ms}]"


@pytest.mark.parametrize("kind", ["browser", "fetch-sse", "fetch-event-source", "ai-sdk-ui", "cli", "poller"])
@pytest.mark.parametrize("fault", ["cut", "reset", "end"])
def test_every_program_shows_the_journal_in_the_end_wherever_its_stream_breaks(kind: str, fault: str) -> None:
    """Each between two events; the programs differ in how they come back, not in what is shown."""
    faults = f"[{{link: {{from: server, to: alice}}, {fault}: $cut, restore: 120ms}}]"
    swept = scenario(alice=f"kind: {kind}", faults=faults, sweep="cut: {every: frame}")
    if kind == "poller":
        swept = scenario(alice="kind: poller")
    result = result_of(swept)
    assert broken(result) == set()
    assert kind == "poller" or result.swept == (("frames", result.points_total, result.points_total),)
    assert result.cases > (1 if kind != "poller" else 0)


def test_a_browser_reconnects_with_the_last_whole_event() -> None:
    events = ran(scenario(faults=CUT))
    first, second, last = of(events, "stream.asked")
    assert (first.data.cursor, second.data.cursor) == (None, "run1:3")
    assert second.data.applied == "run1:3"
    assert of(events, "link.broke")[0].data == LinkBroke(fault="cut", direction="down", connection=1)
    assert [event.data.status for event in of(events, "stream.answered")] == [200, 200, 204]
    assert last.time_ns == of(events, "run.ended")[0].time_ns + 100_000_000


def test_points_of_a_stream_can_be_places_for_actions() -> None:
    events = ran(scenario("alice.stop: {at: stream.alice#4.before}", "alice.reload: {at: link.alice#5.after}"))
    assert [event.data.verb for event in of(events, "step.taken")] == ["send", "stop", "reload"]
    assert not of(events, "step.skipped")


def test_bytes_that_arrive_in_small_chunks_show_the_same() -> None:
    chunked = "[{link: {from: server, to: alice}, chunk: 3, latency: 2ms}]"
    views = [of(ran(scenario(faults=f)), "client.view")[-1].data.items for f in ("[]", chunked)]
    assert views[0] == views[1]


def test_a_proxy_that_waits_for_the_close_shows_all_at_once() -> None:
    events = ran(scenario(faults="[{link: {from: server, to: alice}, gather: close}]"))
    assert {event.time_ns for event in of(events, "client.applied")} == {of(events, "run.ended")[0].time_ns}


def test_a_slow_reader_makes_the_server_wait() -> None:
    slow = "[{link: {from: server, to: alice}, slow: 1ms, buffer: 150}]"
    quick, late = (of(ran(scenario(faults=f)), "stream.sent")[-1].time_ns for f in ("[]", slow))
    assert late > quick + 500_000_000
    assert broken(result_of(scenario(faults=slow))) == set()


def test_a_half_open_connection_is_not_noticed_and_its_person_reloads_the_page() -> None:
    silent = "[{link: {from: server, to: alice}, half_open: {after_frames: 4}}]"
    events = ran(scenario("alice.reload: {delay: 2s}", faults=silent))
    assert of(events, "stream.asked")[1].time_ns == 2_000_000_000
    assert broken(result_of(scenario("alice.reload: {delay: 2s}", faults=silent))) == set()


def test_a_stream_survives_a_crash_of_the_server() -> None:
    steps = ("server.crash: {at: model.turn1.c3.after}", "server.restart: {after: crash, delay: 1s}")
    events = ran(scenario(*steps))
    assert of(events, "client.disconnected")
    assert broken(result_of(scenario(*steps))) == set()


@pytest.mark.parametrize("kind", ["browser", "fetch-event-source"])
def test_a_tab_that_is_hidden_and_shown_again_misses_nothing(kind: str) -> None:
    steps = ("alice.hide: {at: model.turn1.c2.after}", "alice.show: {after: hide, delay: 120ms}")
    assert broken(result_of(scenario(*steps, alice=f"kind: {kind}"))) == set()
    asked = [event.data.what for event in of(ran(scenario(*steps, alice=f"kind: {kind}")), "stream.asked")]
    assert asked.count("send") == (2 if kind == "fetch-event-source" else 0)


def test_a_person_who_looks_elsewhere_and_comes_back_sees_everything() -> None:
    switch = scenario("alice.switch: {at: model.turn1.c2.after, away: 80ms}", alice="kind: fetch-sse")
    assert broken(result_of(switch)) == set()
    assert of(ran(switch), "client.reloaded")


def test_a_page_that_detaches_before_its_history_comes_reads_it_again_after_a_gap() -> None:
    again = "bob.reload: {at: model.turn1.c1.after, as: again}"
    away = (again, "bob.detach: {after: again}", "bob.attach: {at: $back}")
    more = "  bob: {is: client, kind: fetch-sse, observes: alice, retry: 100ms}\npolicies: {retention: short}\n"
    sweep = "back: {every: point, in: [model], since: model.turn1.c4.after}"
    result = result_of(scenario(*away, sweep=sweep, more=more), lambda: make_reference("memory"))
    assert not [name for name, tally in result.tallies.items() if tally.violated]
    assert result.tallies["stream-terminates"].holds == result.cases > 5


def test_a_second_tab_hears_of_a_run_and_watches_it() -> None:
    watched = scenario(more="  bob: {is: client, kind: fetch-sse, observes: alice, latency: 3ms}\n")
    assert broken(result_of(watched)) == set()
    views = {event.actor: event.data.items for event in of(ran(watched), "client.view")}
    answers = {name: [i.text for i in items if i.kind == "assistant"] for name, items in views.items()}
    assert answers["alice"] == answers["bob"] == ["t1w1 t1w2 t1w3 t1w4 t1w5 t1w6 "]


def test_every_cursor_is_tried_and_reported() -> None:
    steps = ("alice.detach: {at: model.turn1.c4.after}", "alice.attach: {after: detach, delay: 80ms, cursor: $c}")
    result = result_of(scenario(*steps, alice="kind: fetch-sse", sweep="c: {every: cursor}"))
    assert broken(result) == set()
    ((noun, done, total),) = result.swept
    assert (noun, done, total) == ("cursors", 14, 14)


def test_a_scenario_that_says_nothing_about_streams_does_not_use_the_wire() -> None:
    plain = evolve(scenario(), clients=tuple(evolve(c, wire=False) for c in scenario().clients))
    assert not any(event.kind.startswith(("stream.", "link.")) for event in ran(plain))


def test_the_longest_example_of_the_language_runs_as_it_stands() -> None:
    """Stop, crash, a reload, a cut in the middle of an event and a second reader, at every point of the second turn."""
    spec = importlib.util.spec_from_file_location("examples_of_the_language", ROOT / "tests/unit/scenario/conftest.py")
    assert spec is not None
    assert spec.loader is not None
    examples = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(examples)
    result = result_of(load_scenario(examples.STOP_VS_COMPLETION.encode(), ""))
    assert broken(result) == set()
    assert not result.inconclusive
    assert result.cases > 100
    assert result.points_swept == result.points_total
    assert result.tallies["replay-equals-live"].holds > 100


# --- what is judged ----------------------------------------------------------------------------


class Silent(TinyStream):
    """Understands a cursor and does not say so."""

    async def body(self, log: Log, cursor: str | None, place: int | None) -> AsyncIterator[bytes]:
        async for piece in super().body(log, cursor, place):
            if b"event: stream.open" not in piece:
                yield piece


class Forgetful(TinyStream):
    """Sends everything again, whatever the cursor, and says that it is the rest."""

    async def body(self, log: Log, cursor: str | None, place: int | None) -> AsyncIterator[bytes]:
        async for piece in super().body(log, cursor, 0 if place is not None else None):
            yield piece


class Skipping(TinyStream):
    """Leaves one event out behind the cursor."""

    async def body(self, log: Log, cursor: str | None, place: int | None) -> AsyncIterator[bytes]:
        async for piece in super().body(log, cursor, place + 1 if place is not None else None):
            yield piece


class NeverEnding(TinyStream):
    """Keeps the stream open when the run is over."""

    async def body(self, log: Log, cursor: str | None, place: int | None) -> AsyncIterator[bytes]:
        async for piece in super().body(log, cursor, place):
            yield piece
        await trio.sleep_forever()


class Replaying(TinyStream):
    """Never answers 204: whoever comes back after the end gets the end once more."""

    async def attach(self, request: StreamRequest) -> StreamAnswer:
        answer = await super().attach(request)
        return answer if answer.status != 204 else StreamAnswer(status=200, body=self.once(request))

    async def once(self, request: StreamRequest) -> AsyncIterator[bytes]:
        yield encode_control(Control(kind="stream.open", attachment="finished"))


class Stamping(TinyStream):
    """Gives the control event at the end an id."""

    async def body(self, log: Log, cursor: str | None, place: int | None) -> AsyncIterator[bytes]:
        async for piece in super().body(log, cursor, place):
            yield b"id: run1:99\n" + piece if piece.startswith(b"event: stream.end") else piece


class Muting(TinyStream):
    """Takes an unknown cursor for the present."""

    async def attach(self, request: StreamRequest) -> StreamAnswer:
        log = self.logs.setdefault(request.session_id, Log())
        if request.cursor and log.after(request.cursor) is None and log.running:
            return StreamAnswer(status=200, body=self.body(log, "x", len(log.frames)))
        return await super().attach(request)


ATTACH = ("alice.detach: {at: model.turn1.c4.after}", "alice.attach: {after: detach, cursor: ahead}")


@pytest.mark.parametrize(
    ("make", "wrong", "told"),
    [
        (Forgetful, scenario(faults=CUT), {"replay-equals-live", "honest-cursor"}),
        (Skipping, scenario(faults=CUT), {"replay-equals-live"}),
        (NeverEnding, scenario(), {"stream-terminates"}),
        (Replaying, scenario(), {"stream-terminates"}),
        (Stamping, scenario(), {"legal-wire"}),
        (Muting, scenario(*ATTACH), {"honest-cursor"}),
    ],
)
def test_a_stream_with_one_mistake_breaks_its_promise(
    make: Callable[[], object], wrong: Scenario, told: set[str]
) -> None:
    """The expectation of the scenario may break with it, and nothing else does."""
    assert broken(result_of(wrong, make)) - {"expect"} == told


def test_a_cut_behind_the_id_line_shows_only_there_and_only_to_one_program() -> None:
    """A server that does not say how it understood a cursor loses what a cursor skipped that moved too early."""
    fault = "[{link: {from: server, to: alice}, cut: {after_frames: 4, after_lines: 1}}]"
    careless = {kind: scenario(alice=f"kind: {kind}", faults=fault) for kind in ("browser", "fetch-event-source")}
    assert broken(result_of(careless["browser"], Silent)) == set()
    assert "replay-equals-live" in broken(result_of(careless["fetch-event-source"], Silent))
    assert broken(result_of(careless["fetch-event-source"])) == set()
    between = scenario(alice="kind: fetch-event-source", faults=fault.replace(", after_lines: 1", ""))
    assert broken(result_of(between, Silent)) == set()


class Raising(TinyStream):
    async def attach(self, request: StreamRequest) -> StreamAnswer:
        raise KeyError("no such session")


class Texts(TinyStream):
    async def body(self, log: Log, cursor: str | None, place: int | None) -> AsyncIterator[bytes]:
        yield "event: run.ended\n\n"  # type: ignore[misc]  # the mistake


class Bodiless(TinyStream):
    async def attach(self, request: StreamRequest) -> StreamAnswer:
        return StreamAnswer(status=200)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Raising, "attach: KeyError"),
        (Texts, "attach: AdapterError: the body of a stream yielded 'event: run.ended"),
        (Bodiless, "attach: AdapterError: attach answered 200 without a body: give one, or answer 204"),
    ],
)
def test_an_adapter_that_breaks_the_protocol_is_told_so(make: Callable[[], object], says: str) -> None:
    assert result_of(scenario(), make).trouble[0].startswith(says)


# --- determinism -------------------------------------------------------------------------------

_PROGRAM = """
import json, sys
sys.path[:0] = [{root!r}, {adapters!r}]
import test_wire_clients as wire
events = wire.ran(wire.scenario(*wire.ATTACH, alice="kind: fetch-sse", faults=wire.CUT))
print(json.dumps([len(events), wire.trace_hash(events)]))
"""


def test_a_wire_scenario_is_the_same_in_every_process_and_under_every_hash_seed() -> None:
    here = str(Path(__file__).parent)
    program = _PROGRAM.format(root=str(ROOT), adapters=here)
    told = []
    for seed in ("0", "1"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
        told.append(json.loads(done.stdout))
    events = ran(scenario(*ATTACH, alice="kind: fetch-sse", faults=CUT))
    assert told == [[len(events), trace_hash(events)]] * 2


def test_a_case_without_its_fault_still_watches_over_the_wire() -> None:
    swept = scenario(faults="[{link: {from: server, to: alice}, cut: $cut}]", sweep="cut: {every: byte}")
    swept = evolve(swept, clients=tuple(evolve(client, wire=False) for client in swept.clients))
    alone = resolve(swept, baseline(swept))
    assert not alone.faults
    assert alone.uses_wire
    cut = resolve(swept, evolve(baseline(swept), axes=(("cut", AtByte(7)),)))
    assert [fault.spot.after_bytes for fault in cut.faults if isinstance(fault, LinkFault)] == [7]


# --- history, then attach ------------------------------------------------------------------------

OPENED_IN_MID_ANSWER = "alice.reload: {at: model.turn1.c3.after}"


@pytest.mark.parametrize("kind", ["fetch-sse", "fetch-event-source", "cli"])
def test_a_page_attaches_with_the_cursor_that_came_with_its_history(kind: str) -> None:
    events = ran(scenario(OPENED_IN_MID_ANSWER, alice=f"kind: {kind}"), make_reference)
    read = of(events, "journal.read")[0]
    asked = next(event for event in of(events, "stream.asked") if event.position > read.position)
    assert asked.data.cursor == asked.data.applied == read.data.cursor == "run1:7"
    controls = [event.data.attachment for event in of(events, "client.control")]
    assert controls[:2] == ["fresh", "suffix"]
    shown = [event.data.view.text for event in of(events, "client.applied") if event.position > asked.position]
    assert next(filter(None, shown)) == "t1w1 t1w2 t1w3 t1w4 "  # it goes on in the bubble of the history


@pytest.mark.parametrize("kind", ["browser", "ai-sdk-ui"])
def test_a_program_that_cannot_send_the_cursor_of_a_history_sends_none(kind: str) -> None:
    events = ran(scenario(OPENED_IN_MID_ANSWER, alice=f"kind: {kind}"), make_reference)
    assert of(events, "journal.read")[0].data.cursor == "run1:7"
    assert [event.data.cursor for event in of(events, "stream.asked")][:2] == [None, None]


@pytest.mark.parametrize("kind", ["browser", "fetch-sse", "fetch-event-source", "ai-sdk-ui", "cli", "poller"])
def test_a_page_that_is_opened_anywhere_shows_every_message_once_and_learns_the_end(kind: str) -> None:
    """Wherever the reload lands: also between the history and the end of the run, 30 ms away each."""
    opened = scenario(
        "alice.reload: {at: $reload}", alice=f"kind: {kind}, latency: 30ms", sweep="reload: {every: point}"
    )
    result = result_of(opened, make_reference)
    assert broken(result) == set()
    assert result.tallies["single-visible-source"].holds > 0


def test_a_page_whose_run_ended_while_its_history_was_under_way_is_told_the_end() -> None:
    late = scenario("alice.reload: {at: model.turn1.c4.after}", alice="kind: fetch-sse, latency: 60ms")
    events = ran(late, make_reference)
    assert of(events, "client.control")[-2].data.attachment == "finished"
    assert of(events, "client.view")[-1].data.ended == ("run1",)


def test_a_cursor_that_is_no_text_is_the_adapters_trouble() -> None:
    class Wrong(TinyStream):
        def cursor(self, session_id: str) -> str | None:
            return 7  # type: ignore[return-value]  # on purpose

    result = result_of(scenario(OPENED_IN_MID_ANSWER), Wrong)
    assert "read: AdapterError: cursor returned 7, expected text or None" in result.trouble[0]


# --- what generated scenarios found --------------------------------------------------------------


def test_a_copy_of_a_request_that_is_answered_by_a_stream_has_no_reader() -> None:
    text = "version: 1\nname: twice\nactors: {alice: {is: client, kind: fetch-event-source, wire: true}}\n"
    text += f'script: {{model: {WORDS}}}\nsteps: [{{alice.send: {{text: "Hi", doubled: true}}}}]\n'
    doubled = load_scenario(text.encode(), "")
    assert len(of(ran(doubled, make_reference), "stream.answered")) == 1
    assert broken(result_of(doubled, make_reference)) == set()


@pytest.mark.parametrize("down", ["crash", "shutdown"])
def test_a_process_that_goes_down_takes_its_connections_with_it(down: str) -> None:
    swept = scenario(f"server.{down}: {{at: $down}}", sweep="down: {every: point, in: [adapter.attach, stream.alice]}")
    assert broken(result_of(swept, make_reference)) == set()


def test_a_person_who_leaves_at_the_last_moment_is_shown_nothing_more() -> None:
    left = scenario("alice.switch: {at: alice.apply#4.before, away: 2s}")
    assert broken(result_of(left, make_reference)) == set()


def test_a_page_that_sends_on_before_the_end_reads_what_it_left_behind() -> None:
    on = scenario('alice.send: {text: "More", at: link.alice#8.before, as: more}', alice="kind: cli")
    assert broken(result_of(on, make_reference)) == set()


def test_runs_that_come_again_after_a_restart_are_shown_once() -> None:
    again = ('alice.send: {text: "More", after: send, as: more}', "alice.detach: {after: more, delay: 500ms}")
    restart = scenario(*again, "alice.attach: {after: detach, cursor: foreign run}", more="policies: {busy: queue}\n")
    assert broken(result_of(restart, make_reference)) == set()


def test_a_message_that_is_lost_on_its_way_makes_its_person_reload() -> None:
    two = "  bob: {is: client, kind: fetch-sse, observes: alice}\n"
    lost = scenario(
        'bob.send: {text: "Lost", after: send, lost: true}', 'alice.send: {text: "More", as: more}', more=two
    )
    assert broken(result_of(lost, make_reference)) == set()


def test_a_page_that_sends_on_before_it_is_told_of_its_run_reads_what_it_left_behind() -> None:
    on = scenario('alice.send: {text: "More", after: send, as: more}', alice="kind: fetch-event-source")
    assert broken(result_of(on, make_reference)) == set()
