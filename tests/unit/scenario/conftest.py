"""What the tests of the scenario language share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.problems import Problem, ScenarioError
from journalsim.scenario.values.scenario import Scenario

FIRST_STOP = """\
version: 1
name: first-stop
script:
  model:
    - stream: [{text: ["Hel", "lo ", "there"]}, {finish: end_turn}]
steps:
  - client.send: "Hi"
  - client.stop: {at: model.turn1.c2.after}
  - client.reload: {after: stop}
expect:
  finally:
    - journal.contains: {message: model.turn1, state: interrupted, text: "Hello "}
"""

STOP_VS_COMPLETION = """\
version: 1
name: stop-vs-completion
summary: Stop lands anywhere around the end of the second answer; the tab reloads, a second reader watches.
tags: [core, stop, replay]
covers: [DF-2, DF-3]
actors:
  model:  {is: llm, ids: stable}
  search: {is: tool, duration: 400ms}
  alice:  {is: client, kind: browser, retry: 1s}
  bob:    {is: client, kind: cli, observes: alice}
script:
  model:
    - wait: 300ms
      stream:
        - text: ["Looking ", "that up", "."]
        - tool_call: {id: t1, name: search, args_chunks: ['{"q":', '"sse"}']}
        - finish: tool_use
    - when: {tool_result: t1}
      stream:
        - text: {words: 12, every: 40ms, label: answer}
        - finish: end_turn
    - when: {user: "Go on"}
      stream: [{text: ["Done", "."]}, {finish: end_turn}]
  search:
    - result: {for: t1, text: "3 hits"}
faults:
  - link: {from: server, to: alice}
    cut: {after_frames: 5, mid_frame: true}
    restore: 800ms
steps:
  - alice.send: "What is SSE?"
  - alice.stop: {at: $stop}
  - alice.reload: {after: stop, within: 500ms}
  - server.crash: {at: $crash, lose: unsynced}
  - server.restart: {after: crash, within: 2s}
  - alice.send: "Go on"
sweep:
  stop: {every: point, in: [model.turn2, store]}
  crash: [never, {after: stop}]
  limit: 400
expect:
  finally:
    - exactly_one_of:
        - journal.contains: {message: model.turn2, state: completed}
        - journal.contains: {message: model.turn2, state: interrupted, text: {prefix_of: $answer}}
        - journal.lacks: {message: model.turn2, unless: any_chunk_applied}
    - view.equals: {of: [alice, bob], to: journal}
  sometimes:
    - {message: model.turn2, state: interrupted}
    - {message: model.turn2, state: completed}
"""

EVERYTHING = """\
version: 1
name: everything
summary: "One file that uses every word of the language."
why: |
  The first line.
    indented
  The last line.
tags: [core]
covers: [HW-12, SSE-3]
needs: [tools, maintenance.compact, stop_modes.rollback, policies.busy, level.runner]
policies: {busy: queue, disconnect: cancel}
actors:
  model: {is: llm, ids: per_chunk}
  search: {is: tool, duration: 1.5s}
  quiet: {is: tool}
  alice: {is: client, kind: poller, session: s2, latency: 5ms, retry: 2m}
  bob: {is: client, observes: alice}
  carol: {is: client, observes: bob}
script:
  model:
    - wait: 10ms
      when: {user: "Hi", attempt: 1}
      after_close: {complete: 20ms}
      stream:
        - reasoning: "thinking"
        - reasoning: {words: 3}
        - text: "one"
        - text: {chunks: ["a", "b\\u2028"], every: 1ms}
        - text: {words: 2, every: 0ms, label: tail}
        - tool_call: {id: t1, name: search, args: {q: "sse", n: 3, deep: [1.5, true, null, {}]}}
        - tool_call: {id: t2, name: search, args: "not json"}
        - tool_call: {id: t3, name: other, args_chunks: ["{", "}"], every: 2ms}
        - tool_call: {id: t4, name: quiet, args_chunks: []}
        - tool_call: {id: t5, name: quiet}
        - message: next
        - message: {id: "m-9"}
        - rename: "m 10"
        - wait: 30us
        - ping: 3
        - ping: {times: 2, every: 5ns}
        - finish: {reason: tool_use, times: 2, after: 1h}
    - stream: [{stall: forever}]
      after_close: complete
    - stream: [{end: silent}]
      when: {tool_result: t1, purpose: compaction}
    - stream: [{error: overloaded}]
    - stream: [{error: {kind: rate_limit, message: "slow down"}}]
    - stream: [{error: {message: "no"}}]
  other:
    - result: "3 hits"
    - result: {for: t3, text: "later", duration: 1s}
    - failure: "broken"
    - failure: {for: t3, text: "broken"}
    - hang: t3
    - hang: {}
faults:
  - {link: {from: server, to: bob}, cut: {after_frames: 2}}
  - {link: {from: bob, to: server}, half_open: $cut, restore: 1s, connection: each}
  - {link: {from: server, to: alice}, end: {after_lines: 1}, connection: 2}
  - {link: {from: server, to: alice}, gather: close, chunk: 7}
  - {link: {from: alice, to: server}, gather: 1ms, slow: 1us, buffer: 100, latency: 5ms}
steps:
  - alice.send: {text: "Hi", key: "k1", at: $when, as: first, late: 10ms}
  - alice.send: {text: "Again", after: first, delay: 1s, within: 2s, lost: true}
  - alice.send: {text: "Twice", doubled: true}
  - alice.resubmit: {of: first, doubled: 30ms, times: 2}
  - alice.stop: {of: first, mode: rollback, times: 3, at: {step: 57}}
  - alice.stop:
  - bob.reload: {times: 2}
  - bob.detach: {at: 1200ms}
  - bob.attach: {}
  - bob.attach: {cursor: mid part}
  - bob.attach: {cursor: frame 3, as: third}
  - bob.attach: {cursor: $cursor}
  - bob.hide:
  - bob.show: {after: third}
  - bob.switch: {away: 1s}
  - server.shutdown: {at: tool.t1.result.before}
  - server.restart:
  - server.crash: {lose: unsynced, at: store.append#4.before}
  - maintenance.annotate: {message: model.turn1.m2, set: {hidden: true, rank: 1, note: "x", gone: null}, session: s2}
  - maintenance.compact: {at: request.alice#3.after}
  - maintenance.clear: {session: s3}
  - clock.jump: {by: -1h}
  - clock.jump: {by: 90m, as: forward}
sweep:
  cut: [never, {byte: 4}, {frame: 2}]
  cursor: [equal, frame 2, {every: cursor}]
  when:
    - never
    - 5us
    - model.turn2.call.before
    - {step: 5}
    - {every: step, in: [model.]}
expect:
  finally:
    - journal.contains: {kind: user, run: run1}
    - journal.contains: {call: t1, text: {equals: "3 hits"}}
    - journal.contains: {message: user1, text: $tail}
    - journal.count: {kind: assistant, at_least: 1, at_most: 4}
    - journal.count: {message: model.turn1, state: open, is: 0}
    - journal.order: [user1, model.turn1, model.turn1.m3]
    - view.equals: {of: alice, to: bob}
    - view.contains: {of: [alice], message: model.turn1, text: {prefix_of: "one two"}}
    - context.contains: {message: user2}
    - context.lacks: {call: t2}
    - run.ended: {run: run2, state: interrupted, cause: timed_out}
    - tool.executed: {call: t1, times: 1}
    - model.called: {turn: model.turn2, times: 0}
    - request.refused: {of: first}
    - none_of: [{any_of: [{all_of: [{kind: marker}]}]}]
  exercises: [completed-wins]
  except:
    - {invariant: no-lost-completed-message, reason: "known"}
    - {id: no-deadlock, reason: "the stall is wanted"}
"""

HEAD = "version: 1\nname: x\n"
STEPS = "steps: [{client.send: Hi}]\n"
TURN = "script: {model: [{stream: [{text: Hello}, {finish: end_turn}]}]}\n"


@pytest.fixture
def load() -> Callable[[str], Scenario]:
    """Loads a scenario of which the text may leave out version, name and steps."""
    return lambda text: load_scenario(_whole(text).encode(), "x.race.yaml")


@pytest.fixture
def problems() -> Callable[[str], list[Problem]]:
    """Returns the problems of a text, which may leave out version, name and steps."""

    def find(text: str) -> list[Problem]:
        with pytest.raises(ScenarioError) as caught:
            load_scenario(_whole(text).encode(), "x.race.yaml")
        return list(caught.value.problems)

    return find


@pytest.fixture
def codes(problems: Callable[[str], list[Problem]]) -> Callable[[str], list[str]]:
    """Returns each problem of a text as its code and the words that the carets underline."""

    def find(text: str) -> list[str]:
        return [f"{p.code} {p.source_line[p.column - 1 : p.column - 1 + p.length]}" for p in problems(text)]

    return find


def _whole(text: str) -> str:
    if text.startswith("version"):
        return text
    return HEAD + text + ("" if "steps:" in text else STEPS)


@pytest.fixture(params=["first-stop", "stop-vs-completion", "everything"])
def example(request: pytest.FixtureRequest) -> str:
    """Texts of valid scenarios; the first two are those of the manual."""
    texts = {"first-stop": FIRST_STOP, "stop-vs-completion": STOP_VS_COMPLETION, "everything": EVERYTHING}
    return texts[request.param]


@pytest.fixture
def first_stop() -> str:
    return FIRST_STOP


@pytest.fixture
def stop_vs_completion() -> str:
    return STOP_VS_COMPLETION


@pytest.fixture
def everything() -> str:
    return EVERYTHING
