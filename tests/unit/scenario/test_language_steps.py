"""Steps, sweeps and expectations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journalsim.case import NEVER, AtByte, AtCursor, AtFrame, AtStep, AtTime
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.problems import Problem
from journalsim.scenario.values.axes import Axis, Sweep
from journalsim.scenario.values.expect import (
    Arguments,
    EqualViews,
    Exemption,
    Expectation,
    ItemAbsence,
    ItemCount,
    ItemMatch,
    ItemView,
    MessageOrder,
    ModelCalls,
    Refusal,
    RunEnd,
    TextMatch,
    ToolExecutions,
)
from journalsim.scenario.values.links import Cursor, LinkFault, LinkShape, Spot
from journalsim.scenario.values.moves import VERBS, Step, Timing, Travel
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.words.step_arguments import STEPS

Load = Callable[[str], Scenario]
Problems = Callable[[str], list[Problem]]
Codes = Callable[[str], list[str]]
MS = 1_000_000
SEND = "steps:\n  - client.send: {text: Hi, as: first}\n"
TURN = "{text: {words: 2, label: answer}}, {tool_call: {id: t1, name: s}}, {finish: tool_use}"
SCRIPT = f"script: {{model: [{{stream: [{TURN}]}}]}}\n"


def test_every_verb_has_its_arguments() -> None:
    assert {kind: tuple(verbs) for kind, verbs in STEPS.items()} == VERBS


def step(**values: Any) -> Step:
    return Step(**{"label": values["verb"], "actor": "client", **values})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("client.send: Hi", step(verb="send", text="Hi")),
        ("client.send: {text: Hi, key: k1}", step(verb="send", text="Hi", key="k1")),
        ("client.send: {text: Hi, late: 1ms}", step(verb="send", text="Hi", travel=Travel(late_ns=MS))),
        ("client.send: {text: Hi, lost: true}", step(verb="send", text="Hi", travel=Travel(lost=True))),
        ("client.send: {text: Hi, doubled: true}", step(verb="send", text="Hi", travel=Travel(doubled=True))),
        ("client.send: {text: Hi, doubled: false}", step(verb="send", text="Hi")),
        (
            "client.send: {text: Hi, doubled: 30ms}",
            step(verb="send", text="Hi", travel=Travel(doubled=True, double_after_ns=30 * MS)),
        ),
        ("client.resubmit: {of: first}", step(verb="resubmit", of="first")),
        ("client.resubmit:", step(verb="resubmit")),
        ("client.stop: {mode: rollback, times: 3}", step(verb="stop", mode="rollback", times=3)),
        (
            "client.stop: {at: 5ms, as: press}",
            step(verb="stop", label="press", timing=Timing(at=AtTime(5 * MS))),
        ),
        ("client.stop: {at: never}", step(verb="stop", timing=Timing(at=NEVER))),
        ("client.stop: {at: {step: 9}}", step(verb="stop", timing=Timing(at=AtStep(9)))),
        ("client.stop: {delay: 1ms, within: 2ms}", step(verb="stop", timing=Timing(delay_ns=MS, within_ns=2 * MS))),
        ("client.reload: {after: first}", step(verb="reload", timing=Timing(after="first"))),
        ("client.detach: {}", step(verb="detach")),
        ("'client.attach': ~", step(verb="attach")),
        ("server.crash: {lose: unsynced}", step(actor="server", verb="crash", lose="unsynced")),
        ("server.shutdown:", step(actor="server", verb="shutdown")),
        ("server.restart: {}", step(actor="server", verb="restart")),
        ("maintenance.compact: {session: s2}", step(actor="maintenance", verb="compact", session="s2")),
        ("maintenance.clear:", step(actor="maintenance", verb="clear")),
        (
            "maintenance.annotate: {message: user1, set: {a: true}}",
            step(actor="maintenance", verb="annotate", message="user1", metadata={"a": True}),
        ),
        ("clock.jump: {by: -1h}", step(actor="clock", verb="jump", by_ns=-3_600_000 * MS)),
    ],
)
def test_steps(load: Load, text: str, found: Step) -> None:
    steps = load(f"{SEND}  - {text}\n").steps
    assert steps[1] == found
    assert steps[1].line == 5


def test_a_step_may_be_placed_by_an_axis(load: Load) -> None:
    scenario = load(f"{SEND}  - client.stop: {{at: $s}}\nsweep: {{s: [never]}}\n")
    assert scenario.steps[1].timing == Timing(axis="s")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("client.stop", ["E108 client.stop"]),
        ("'client.stop'", ["E108 'client.stop'"]),
        ("stop", ["E020 stop"]),
        ("[a]", ["E020 [a]"]),
        ("stop: {}", ["E108 stop"]),
        ("{}", ["E029 {}"]),
        ("{client.stop: {}, client.reload: {}}", ["E031 client.reload"]),
        ("client.stop: {at: 5ms, after: first}", ["E031 after"]),
        ("client.stop: {text: Hi}", ["E101 text"]),
        ("client.stop: now", ["E020 now"]),
        ("client.send: [Hi]", ["E020 [Hi]"]),
        ("client.send: {text: Hi, lost: true, doubled: true}", ["E031 doubled"]),
        ("client.send: {text: Hi, doubled: twice}", ["E022 twice"]),
        ("client.send:", ["E024 client.send"]),
        ("clock.jump:", ["E020 clock.jump"]),
        ("clock.jump: {}", ["E030 {}"]),
        ("maintenance.annotate: {message: user1, set: {-: 1}}", ["E027 -"]),
        ("maintenance.annotate: {message: user1, set: x}", ["E020 x"]),
    ],
)
def test_wrong_steps_are_refused(codes: Codes, text: str, found: list[str]) -> None:
    assert codes(f"{SEND}  - {text}\n") == found


@pytest.mark.parametrize(
    ("text", "message", "note", "help"),
    [
        (
            "clent.stop: {}",
            'unknown actor "clent"',
            "actors: client, server, maintenance, clock",
            'did you mean "client"?',
        ),
        (
            "x.frobnicate: {at: $y}",
            'unknown actor "x"',
            "actors: client, server, maintenance, clock",
            "for a person, add actors: {x: {is: client}}",
        ),
        (
            "client.cancel: {}",
            'unknown action "cancel" for a client',
            "clients can: approve, attach, deny, detach, hide, reload, resubmit, send, show, stop, switch",
            'did you mean "stop"?',
        ),
        (
            "server.crush: {}",
            'unknown action "crush" for the server',
            "the server can: crash, restart, shutdown",
            'did you mean "crash"?',
        ),
        (
            "client.crash: {}",
            'unknown action "crash" for a client',
            "clients can: approve, attach, deny, detach, hide, reload, resubmit, send, show, stop, switch",
            "",
        ),
        ("model.send: x", 'unknown action "send" for the model', "it acts only by the script", ""),
        ("search.send: x", 'unknown action "send" for a tool', "it acts only by the script", ""),
        ("odd.fly: x", 'unknown action "fly" for any actor', "see: journalsim schema", ""),
    ],
)
def test_unknown_actors_and_actions(problems: Problems, text: str, message: str, note: str, help: str) -> None:
    text = f"actors:\n  search: {{is: tool}}\n  odd: {{is: what}}\n{SEND}  - {text}\nsweep: {{y: [never]}}\n"
    found = [(p.message, p.note, p.help) for p in problems(text)]
    assert (message, note, help) in found


def test_actors_that_cannot_be_read_cause_no_further_problems(codes: Codes) -> None:
    text = "actors: x\nsteps:\n  - ann.send: Hi\n  - server.stop: {}\n"
    text += "expect: {finally: [view.equals: {of: bob, to: journal}]}\n"
    assert codes(text) == ["E020 x", "E103 stop"]


def test_sweep_of_every_kind(load: Load) -> None:
    steps = f"{SEND}  - client.stop: {{at: $a}}\n  - client.stop: {{at: $b}}\n"
    scenario = load(
        f"{SCRIPT}{steps}sweep:\n  a: {{every: step}}\n"
        "  b: [never, {every: point, in: [model.turn1, tool.]}]\n  limit: 30\n"
    )
    first = Axis(name="a", every="step")
    second = Axis(name="b", values=(NEVER,), every="point", inside=("model.turn1", "tool."))
    assert scenario.sweep == Sweep(axes=(first, second), limit=30)
    assert load(f"{SEND}sweep:\n").sweep == Sweep()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{a: never}", ["E020 never"]),
        ("{a: []}", ["E029 []"]),
        ("{a: [often]}", ["E026 often"]),
        ("{a: [{every: point}, {every: step}]}", ["E031 {every: step}"]),
        ("{a: {every: thing}}", ["E025 thing"]),
        ("{a: {evry: point}}", ["E030 {evry: point}", "E101 evry"]),
        ("{a: {every: point, in: model}}", ["E020 model"]),
        ("{a: {every: point, in: [Model]}}", ["E027 Model"]),
        ("{a: [{after: first, delay: 5}]}", ["E021 5"]),
        ("{a: [$a]}", ["E026 $a"]),
        ("{a: [[never]]}", ["E020 [never]"]),
        ("{a: [never], A: [never]}", ["E027 A", "E202 A"]),
        ("{a: [never], limit: 0}", ["E023 0"]),
        ("{a: [never], limit: 20001}", ["E023 20001"]),
        ("{a: [never, 1ms, {every: point}], limit: 2}", ["E208 limit"]),
    ],
)
def test_wrong_sweeps_are_refused(codes: Codes, text: str, found: list[str]) -> None:
    assert codes(f"{SEND}  - client.stop: {{at: $a}}\nsweep: {text}\n") == found


def test_fixed_values_multiply_up_to_the_limit(problems: Problems) -> None:
    steps = SEND + "".join(f"  - client.stop: {{at: $a{n}}}\n" for n in range(4))
    axes = "".join(f"  a{n}: [{', '.join(f'{ms}ms' for ms in range(6))}]\n" for n in range(4))
    (problem,) = problems(f"{steps}sweep:\n{axes}")
    assert problem.message == "the sweep has at least 1296 cases, more than 1000"


def test_faults_of_links_are_accepted(load: Load, codes: Codes) -> None:
    scenario = load(
        "faults:\n  - {link: {from: server, to: client}, cut: {after_frames: 2, mid_frame: true}, restore: 1ms}\n"
    )
    assert scenario.faults == (LinkFault(client="client", spot=Spot(after_frames=2, mid_frame=True), restore_ns=MS),)
    assert scenario.faults[0].line == 4
    assert load("faults: [{link: {from: server, to: client}, cut: }]\n").faults == (LinkFault(client="client"),)
    assert codes("faults: [{link: {from: server, to: bob}, cut: {after: 1}}]\n") == ["E102 bob", "E101 after"]
    assert codes("faults: [{link: {from: client, to: client}, cut: }]\n") == [
        "E031 {link: {from: client, to: client}, cut: }"
    ]
    assert codes("faults: [{link: {from: server, to: server}, cut: }]\n") == [
        "E031 {link: {from: server, to: server}, cut: }"
    ]


def test_every_fault_of_a_link_has_a_place_or_an_axis(load: Load, codes: Codes) -> None:
    link = "link: {from: client, to: server}"
    found = load(f"faults: [{{{link}, half_open: {{after_bytes: 9}}, connection: each}}]\n").faults
    assert found == (LinkFault(client="client", up=True, kind="half_open", spot=Spot(after_bytes=9), connection=0),)
    swept = load(f"faults: [{{{link}, reset: $cut, connection: 2}}]\nsweep: {{cut: {{every: byte}}}}\n").faults
    assert swept == (LinkFault(client="client", up=True, kind="reset", spot=Spot(axis="cut"), connection=2),)
    assert codes(f"faults: [{{{link}, cut: , end: }}]\n") == ["E031 end"]
    assert codes(f"faults: [{{{link}, cut: {{after_bytes: 1, mid_frame: true}}}}]\n") == ["E031 mid_frame"]
    assert codes(f"faults: [{{{link}, cut: here}}]\n") == ["E020 here"]
    assert codes(f"faults: [{{{link}}}]\n") == [f"E030 {{{link}}}"]


def test_shapes_of_links_are_entries_of_their_own(load: Load, codes: Codes) -> None:
    link = "link: {from: server, to: client}"
    slow = load(f"faults: [{{{link}, latency: 5ms, gather: close, chunk: 7, slow: 1us, buffer: 100}}]\n").faults
    assert slow == (
        LinkShape(client="client", latency_ns=5 * MS, gather_ns=None, chunk_bytes=7, slow_ns=1000, buffer_bytes=100),
    )
    assert load(f"faults: [{{{link}, gather: 2ms}}]\n").faults == (LinkShape(client="client", gather_ns=2 * MS),)
    assert codes(f"faults: [{{{link}, chunk: 7, cut: }}]\n") == [f"E031 {{{link}, chunk: 7, cut: }}"]


def test_cursors_are_words_frames_or_an_axis(load: Load, codes: Codes) -> None:
    def cursor(text: str) -> Cursor | None:
        return load(f"{SEND}  - client.attach: {{cursor: {text}}}\n").steps[-1].cursor

    assert cursor("none") == Cursor()
    assert cursor("foreign run") == Cursor(form="foreign_run")
    assert cursor("frame 3") == Cursor(form="frame", frame=3)
    swept = load(f"{SEND}  - client.attach: {{cursor: $c}}\nsweep: {{c: [mid part, frame 2, {{every: cursor}}]}}\n")
    assert swept.steps[-1].cursor == Cursor(axis="c")
    assert swept.sweep.axes[0].values == (AtCursor("mid_part"), AtCursor("frame", 2))
    for wrong in ("frame", "frame 0", "ahed", "frame 999999"):
        assert codes(f"{SEND}  - client.attach: {{cursor: {wrong}}}\n") == [f"E025 {wrong}"]
    assert codes(f"{SEND}  - client.attach: {{cursor: $c}}\nsweep: {{c: [frame 0]}}\n") == ["E025 frame 0"]


def test_places_in_a_stream_are_values_of_an_axis(load: Load, codes: Codes) -> None:
    fault = "faults: [{link: {from: server, to: client}, cut: $c}]\n"
    axis = load(f"{fault}sweep: {{c: [never, {{byte: 4}}, {{frame: 2}}, {{every: frame}}]}}\n").sweep.axes[0]
    assert axis.values == (NEVER, AtByte(4), AtFrame(2))
    assert axis.every == "frame"
    assert codes(f"{fault}sweep: {{c: [{{byte: no}}]}}\n") == ["E023 no"]


def test_a_scenario_says_whether_clients_watch_over_the_wire(load: Load) -> None:
    assert not load(SEND).uses_wire
    assert load("faults: [{link: {from: server, to: client}, cut: }]\n").uses_wire
    assert load("actors: {client: {is: client, wire: true}}\n" + SEND).uses_wire
    assert load(f"{SEND}  - client.hide:\n").uses_wire
    assert load(f"{SEND}  - client.attach: {{cursor: none}}\n").uses_wire
    assert load(f"{SEND}  - client.switch: {{away: 1s}}\n").steps[-1].away_ns == 1000 * MS


# --- expectations --------------------------------------------------------------------------------


def equals(text: str) -> TextMatch:
    return TextMatch(equals=text)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        (
            "{message: model.turn1, state: open}",
            "journal.contains",
            ItemMatch(message="model.turn1", state="open"),
        ),
        ("{message: user1}", "journal.contains", ItemMatch(message="user1")),
        ("journal.contains: {kind: user, run: run1}", "journal.contains", ItemMatch(kind="user", run="run1")),
        ("journal.contains: {call: t1, text: x}", "journal.contains", ItemMatch(call="t1", text=equals("x"))),
        ("{kind: user, text: {equals: x}}", "journal.contains", ItemMatch(kind="user", text=equals("x"))),
        ("{kind: user, text: $answer}", "journal.contains", ItemMatch(kind="user", text=equals("$answer"))),
        (
            "{kind: user, text: {prefix_of: $answer}}",
            "journal.contains",
            ItemMatch(kind="user", text=TextMatch(prefix_of="$answer")),
        ),
        (
            "{kind: user, text: {prefix_of: '$5'}}",
            "journal.contains",
            ItemMatch(kind="user", text=TextMatch(prefix_of="$5")),
        ),
        (
            "journal.lacks: {message: user1, unless: any_chunk_applied}",
            "journal.lacks",
            ItemAbsence(message="user1", unless="any_chunk_applied"),
        ),
        ("journal.count: {kind: user, is: 1}", "journal.count", ItemCount(kind="user", is_=1)),
        ("journal.count: {at_least: 1, at_most: 2}", "journal.count", ItemCount(at_least=1, at_most=2)),
        ("journal.order: [user1, model.turn1]", "journal.order", MessageOrder(messages=("user1", "model.turn1"))),
        ("view.equals: {of: client, to: journal}", "view.equals", EqualViews(of=("client",), to="journal")),
        ("view.equals: {of: [client], to: client}", "view.equals", EqualViews(of=("client",), to="client")),
        ("view.contains: {of: client, message: user1}", "view.contains", ItemView(of=("client",), message="user1")),
        ("context.contains: {call: t1}", "context.contains", ItemMatch(call="t1")),
        ("context.lacks: {message: user1}", "context.lacks", ItemMatch(message="user1")),
        (
            "run.ended: {run: run1, state: failed, cause: stopped}",
            "run.ended",
            RunEnd(run="run1", state="failed", cause="stopped"),
        ),
        ("tool.executed: {call: t1, times: 2}", "tool.executed", ToolExecutions(call="t1", times=2)),
        ("model.called: {turn: model.turn1, times: 0}", "model.called", ModelCalls(turn="model.turn1", times=0)),
        ("request.refused: {of: first}", "request.refused", Refusal(of="first")),
    ],
)
def test_conditions(load: Load, text: str, name: str, arguments: Arguments) -> None:
    expect = load(f"{SCRIPT}{SEND}expect: {{finally: [{text}], sometimes: [{text}]}}\n").expect
    assert expect.finally_ == expect.sometimes == (Expectation(name=name, arguments=arguments),)
    assert expect.finally_[0].line == 6


@pytest.mark.parametrize("word", ["exactly_one_of", "any_of", "all_of", "none_of"])
def test_conditions_combine(load: Load, word: str) -> None:
    text = f"{SEND}expect: {{finally: [{{{word}: [{{kind: user}}, {{any_of: [kind: marker]}}]}}]}}\n"
    marker = Expectation(name="journal.contains", arguments=ItemMatch(kind="marker"))
    user = Expectation(name="journal.contains", arguments=ItemMatch(kind="user"))
    parts = (user, Expectation(name="any_of", parts=(marker,)))
    assert load(text).expect.finally_ == (Expectation(name=word, parts=parts),)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("journal", ["E020 journal"]),
        ("{}", ["E029 {}"]),
        ("{journal.contians: {kind: user}}", ["E104 journal.contians"]),
        ("{view.equals: {of: client, to: journal}, journal.order: [user1, user1]}", ["E031 journal.order"]),
        ("{state: open}", ["E030 {state: open}"]),
        ("{message: model.turn1.m1}", ["E027 model.turn1.m1"]),
        ("{message: turn1}", ["E027 turn1"]),
        ("{run: first}", ["E027 first"]),
        ("{kind: asistant}", ["E025 asistant"]),
        ("{kind: user, text: [x]}", ["E020 [x]"]),
        ("{kind: user, text: 5}", ["E024 5"]),
        ("{kind: user, text: {}}", ["E030 {}"]),
        ("{kind: user, text: {equals: a, prefix_of: b}}", ["E031 prefix_of"]),
        ("{kind: user, unless: any_chunk_applied}", ["E101 unless"]),
        ("{journal.count: {kind: user}}", ["E030 {kind: user}"]),
        ("{journal.count: {is: 1, at_most: 2}}", ["E031 at_most"]),
        ("{journal.order: [user1]}", ["E029 [user1]"]),
        ("{journal.order: user1}", ["E020 user1"]),
        ("{view.equals: {of: [], to: journal}}", ["E029 []"]),
        ("{view.equals: {of: client}}", ["E030 {of: client}"]),
        ("{view.equals: {of: client, to: jurnal}}", ["E102 jurnal"]),
        ("{any_of: []}", ["E029 []"]),
        ("{any_of: {kind: user}}", ["E020 {kind: user}"]),
        ("{any_of: [x]}", ["E020 x"]),
    ],
)
def test_wrong_conditions_are_refused(codes: Codes, text: str, found: list[str]) -> None:
    assert codes(f"{SCRIPT}{SEND}expect: {{finally: [{text}]}}\n") == found


def test_exemptions_have_a_reason(load: Load, codes: Codes, problems: Problems) -> None:
    expect = load(
        "expect: {exercises: [a-b], except: [{invariant: c-d, reason: known}, {id: e, reason: too}]}\n"
    ).expect
    assert expect.exercises == ("a-b",)
    assert expect.exempt == (Exemption(invariant="c-d", reason="known"), Exemption(invariant="e", reason="too"))
    (problem,) = problems("expect: {except: [no-deadlock]}\n")
    assert (problem.code, problem.message) == ("E030", "an exemption needs a reason")
    assert problem.help == "write {invariant: …, reason: …}"
    text = "expect: {except: [{id: a}, {reason: b}, {id: a, invariant: b, reason: c}, {id: a, reason: ''}]}\n"
    assert codes(text) == ["E030 {id: a}", "E030 {reason: b}", "E031 invariant", "E029 ''"]


def test_nothing_may_be_expected(load: Load) -> None:
    assert load("expect:\n").expect == load("expect: {}\n").expect == load("").expect


APPROVALS = b"""
version: 1
name: approvals
limits: {tool: 2s, run: 1m}
actors:
  alice: {is: client}
  deploy: {is: tool, approval: true, duration: 10ms}
  helper: {is: tool, agent: true}
script:
  model:
    - stream:
        - tool_call: {id: d1, name: deploy}
        - tool_call: {id: h1, name: helper}
        - finish: tool_use
    - when: {agent: helper}
      stream: [{text: "sub"}, {finish: end_turn}]
steps:
  - alice.send: "Go"
  - alice.approve: d1
  - alice.deny: {call: d1, late: 5ms}
"""


def test_people_approve_and_deny_calls_of_tools_that_ask() -> None:
    scenario = load_scenario(APPROVALS, "approvals.race.yaml")
    assert [(step.verb, step.call, step.travel.late_ns) for step in scenario.steps[1:]] == [
        ("approve", "d1", 0),
        ("deny", "d1", 5_000_000),
    ]
    assert [(tool.name, tool.approval, tool.agent) for tool in scenario.tools] == [
        ("deploy", True, False),
        ("helper", False, True),
    ]
    assert (scenario.limits.tool_ns, scenario.limits.run_ns) == (2_000_000_000, 60_000_000_000)
    assert scenario.model.turns[1].when.agent == "helper"
    assert load_scenario(dump_scenario(scenario).encode(), "again.race.yaml") == scenario


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("client.stop", "a colon follows the verb: client.stop:"),
        ("client.send Hi there", "a colon follows the verb: client.send: Hi there"),
        ("'client.stop'", ""),
    ],
)
def test_step_without_its_colon_says_where_it_goes(problems: Problems, text: str, help: str) -> None:
    (problem,) = problems(f"{SEND}  - {text}\n")
    assert (problem.code, problem.help) == ("E108", help)
