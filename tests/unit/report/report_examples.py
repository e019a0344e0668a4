"""Results made by hand, for the reports to print."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from made_events import made_event

from journalsim.case import NEVER, AtPoint, Case
from journalsim.contract.capabilities import Capabilities
from journalsim.contract.items import Item, Statistics
from journalsim.history import Event, History, trace_hash
from journalsim.oracle.invariants.verdict import Violation
from journalsim.report.about import About
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.results import CampaignResult, Failure, Neighbour, ScenarioResult, Tally

SNAPSHOTS = Path(__file__).parents[2] / "snapshots"
MS = 1_000_000

ABOUT = About(
    version="0.3.0",
    statements={
        "no-lost-completed-message": "A message that was completed before its run ended is in the journal at the end."
    },
    adapter="python:shop.journal:make",
    planned=5,
    report="journalsim-report/",
)

HOSTILE = {
    "terminal escape": "\x1b[31mred\x1b]0;title\x07",
    "line separator": "a\u2028b\u2029c\x85d",
    "direction override": "abc\u202edef\u2066",
    "end of CDATA": "]]>&<b a='\">",
    "NUL": "nul\x00nul",
    "surrogates": "half \ud800 other \udfff",
    "carriage return": "done\r\nFAILED nothing\ttab",
    "zalgo": "a" + "\u0301" * 500,
    "wide": "日本語のテキスト" * 30,
    "emoji": "👩\u200d💻 and 🇫🇷",
    "long": "x" * 100_000,
    "long and escaped": "\x1b" * 10_000,
    "runner command": "::error::gotcha ##[error]gotcha",
    "markdown": "```\n</details>|**bold** `code` <script>",
    "noncharacters": "\ufffe\uffff\ufeff",
    "backslashes": "C:\\new\\table",
}


def assert_snapshot(name: str, text: str) -> None:
    """Compares with ``tests/snapshots/<name>``; ``UPDATE_SNAPSHOTS=1`` rewrites it instead."""
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS") == "1":
        path.write_bytes(text.encode())
    assert path.read_bytes().decode() == text, f"{path.name} differs: look at it, then set UPDATE_SNAPSHOTS=1"


class Recorder:
    """Writes down a history, event by event."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.time_ns = 0

    def add(
        self, ms: int, actor: str, kind: str, run: str | None = None, subject: str | None = None, **data: Any
    ) -> int:
        """Adds an event ``ms`` later than the one before, and returns its position."""
        self.time_ns += ms * MS
        position = len(self.events)
        self.events.append(made_event(position, self.time_ns, actor, kind, run, subject, **data))
        return position

    def history(self) -> History:
        return History(events=tuple(self.events), capabilities=Capabilities(partials=True, tools=True))


def delta(log: Recorder, ms: int, turn: int, chunk: int, text: str, message: str) -> None:
    """One chunk on its way from the model to alice."""
    log.add(ms, "model", "model.chunk", "r1", f"model.turn{turn}", part="text", text=text, chunk=chunk)
    for actor, kind in (("server", "frame.published"), ("alice", "client.applied")):
        log.add(0, actor, kind, "r1", None, frame="message.delta", message=message, text=text)


def lost_answer() -> tuple[History, tuple[int, ...]]:
    """A completed answer that a stop lost, and the positions that show it."""
    log = Recorder()
    user = Item(kind="user", id="m1", text="What is SSE?")
    tool = Item(kind="tool_result", id="m3", call_id="t1", text="3 hits")
    log.add(0, "server", "server.started", incarnation=1)
    log.add(0, "alice", "step.taken", verb="send", label="send")
    log.add(0, "alice", "client.sent", key="k1", text="What is SSE?", session="s1")
    log.add(1, "server", "request.delivered", verb="start", key="k1", copy=1)
    log.add(0, "server", "run.accepted", "r1", key="k1", text="What is SSE?", session="s1")
    log.add(0, "journal", "store.acknowledged", "r1", "m1", item=user)
    log.add(0, "model", "model.called", "r1", "model.turn1", attempt=1, purpose="turn", context=(user,))
    call = {"part": "tool_call", "chunk": 1, "call_id": "t1", "name": "search", "text": ""}
    log.add(300, "model", "model.chunk", "r1", "model.turn1", **call)
    log.add(
        20, "model", "model.completed", "r1", "model.turn1", text="", calls=[["t1", "search", "{}"]], reason="tool_use"
    )
    log.add(0, "search", "tool.started", "r1", "t1", name="search", arguments='{"q":"sse"}')
    log.add(400, "search", "tool.returned", "r1", "t1", text="3 hits")
    log.add(0, "journal", "store.acknowledged", "r1", "m3", item=tool)
    log.add(0, "model", "model.called", "r1", "model.turn2", attempt=1, purpose="turn", context=(user, tool))
    for chunk in range(1, 13):
        delta(log, 40, 2, chunk, f"w{chunk} ", "m4")
    pressed = log.add(1, "alice", "client.stop_pressed", named="r1", mode="interrupt")
    answer = "".join(f"w{n} " for n in range(1, 13))
    done = log.add(0, "model", "model.completed", "r1", "model.turn2", text=answer, reason="end_turn", calls=[])
    log.add(0, "server", "request.delivered", verb="stop", key="k1", copy=1)
    log.add(0, "server", "stop.delivered", "r1", named="r1", mode="interrupt", active=["r1"])
    log.add(0, "server", "run.ended", "r1", state="interrupted", cause="stopped")
    log.add(0, "journal", "statistics.taken", statistics=Statistics(), quiet=True)
    log.add(118, "harness", "quiet.reached", unfinished=0)
    log.add(0, "alice", "client.reloaded", items=(user, tool))
    end = log.add(0, "journal", "journal.read", items=(user, tool), reason="quiet", session="s1")
    return log.history(), (pressed, done, end)


def scenario(name: str = "stop-vs-completion", **more: Any) -> Scenario:
    return Scenario(
        name=name,
        path=f"scenarios/{name.replace('-', '_')}.race.yaml",
        clients=(ClientSpec(name="alice"), ClientSpec(name="bob", observes="alice")),
        steps=(Step(actor="alice", verb="send", label="send", text="What is SSE?"),),
        **more,
    )


def case(stop: str = "model.turn2.finish.before", name: str = "stop-vs-completion") -> Case:
    return Case(scenario=name, axes=(("crash", NEVER), ("stop", AtPoint(stop))))


def violation(**changes: Any) -> Violation:
    _, evidence = lost_answer()
    fields: dict[str, Any] = {
        "invariant": "no-lost-completed-message",
        "promised": 'message model.turn2 "w1 w2 … w12" completed at 1.182 s, before r1 had a terminal',
        "found": "the journal does not hold it at the end of the case; alice had displayed it",
        "evidence": evidence,
        "expected": ("m1  user  completed", 't1  tool_result  completed  "3 hits"', 'm4  assistant  "w1 w2 … w12"'),
        "actual": ("m1  user  completed", 't1  tool_result  completed  "3 hits"'),
        "subject": "model.turn2",
        "line": 61,
        "grade": "applied",
    }
    return Violation(**fields | changes)


def failure(**changes: Any) -> Failure:
    history, _ = lost_answer()
    fields: dict[str, Any] = {
        "scenario": scenario(summary="Stop lands around the end of the second answer."),
        "violation": violation(),
        "case": case(),
        "history": history,
        "trace_hash": trace_hash(history.events),
        "also": tuple(case(f"model.turn2.finish.{side}") for side in ("after", "before2", "after2")),
        "neighbours": (
            Neighbour(what="same stop, 1 event earlier", case=case("model.turn2.c12.after"), holds=True),
            Neighbour(what="same stop, 1 event later", case=case("store.append#4.before"), holds=False),
        ),
    }
    return Failure(**fields | changes)


def campaign(**changes: Any) -> CampaignResult:
    broken = ScenarioResult(
        scenario=failure().scenario,
        cases=372,
        failed=4,
        points_swept=94,
        points_total=94,
        explored=20,
        tallies={"no-lost-completed-message": Tally(holds=368, violated=4), "no-deadlock": Tally(holds=372)},
        failures=(failure(),),
        virtual_ns=14 * 60 * 1_000_000_000,
    )
    held = ScenarioResult(
        scenario=scenario("first-stop"),
        cases=1,
        tallies={"no-lost-completed-message": Tally(not_exercised=1), "stop-ends-run": Tally(undecided=1)},
        virtual_ns=780 * MS,
    )
    open_ = ScenarioResult(
        scenario=scenario("crash-mid-tool"), cases=3, inconclusive=("no case met `sometimes` of line 40",)
    )
    asked = ScenarioResult(scenario=scenario("two-runs"), not_claimed="needs concurrent_runs")
    trouble = ScenarioResult(
        scenario=scenario("late-completion"),
        cases=2,
        trouble=("start raised ValueError: no such session (as written)",),
    )
    fields: dict[str, Any] = {
        "adapter": "python:shop.journal:make",
        "profile": "ci",
        "seed": 7,
        "scenarios": (broken, held, open_, asked, trouble),
        "wall_s": 0.414,
    }
    return CampaignResult(**fields | changes)
