"""Systems behind HTTP: ASGI applications in virtual time, and servers in real time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from journalsim.contract.events.harness_events import AdapterRaised
from journalsim.engine.hosting import host
from journalsim.errors import AdapterError, UsageError
from journalsim.history import trace_hash
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, workspace
from journalsim.search.results import ScenarioResult
from journalsim.search.scenario_run import run_scenario

sys.path.insert(0, str(Path(__file__).parents[1] / "adapters"))

ROOT = Path(__file__).parents[2]
NAIVE = "asgi:naive_sse:make_app"
CUT = "faults: [{link: {from: server, to: alice}, cut: {after_frames: 4}, restore: 100ms}]\n"


def scenario(kind: str, more: str = "", steps: str = "") -> Scenario:
    text = f"version: 1\nname: http\nactors: {{alice: {{is: client, kind: {kind}, retry: 100ms, wire: true}}}}\n"
    text += "script: {model: [{stream: [{text: {words: 5, every: 50ms}}, {finish: end_turn}]}]}\n"
    return load_scenario(f'{text}{more}steps: [{{alice.send: "Hi"}}, {steps}]\n'.encode(), "")


def broken(result: ScenarioResult) -> set[str]:
    assert not result.trouble
    return {name for name, tally in result.tallies.items() if tally.violated}


def test_a_naive_application_is_right_while_nothing_breaks() -> None:
    result = run_scenario(scenario("fetch-sse"), load_adapter(NAIVE))
    assert broken(result) == set()
    assert result.tallies["replay-equals-live"].holds == 1
    assert result.tallies["no-lost-completed-message"].holds == 1


def test_a_naive_application_repeats_itself_after_a_cut_and_never_lets_a_browser_stop() -> None:
    assert broken(run_scenario(scenario("fetch-sse", CUT), load_adapter(NAIVE))) == {"replay-equals-live"}
    told = broken(run_scenario(scenario("browser", CUT), load_adapter(NAIVE)))
    assert told == {"replay-equals-live", "stream-terminates"}


@pytest.mark.parametrize("kind", ["fetch-sse", "browser", "fetch-event-source"])
def test_the_application_of_the_reference_is_right_when_its_stream_is_cut(kind: str) -> None:
    result = run_scenario(scenario(kind, CUT), load_adapter("asgi:journalsim_reference.judged_app:make_app"))
    assert broken(result) == set()
    assert result.tallies["replay-equals-live"].holds == result.tallies["honest-provenance"].holds == 1


KILLED = "sweep: {crash: {every: point, in: [store.append]}}\n"


def test_the_undisturbed_reader_outlives_a_process_of_the_application() -> None:
    more = KILLED + "policies: {sync: every_event}\n"
    killed = scenario("fetch-sse", more, "{server.crash: {at: $crash}}, {server.restart: {delay: 50ms}}")
    result = run_scenario(killed, load_adapter("asgi:journalsim_reference.judged_app:make_app"))
    assert broken(result) == set()
    assert result.tallies["replay-equals-live"].holds > 10
    assert result.tallies["stream-terminates"].holds > 10


def test_an_application_with_a_model_of_its_own_is_not_judged_by_what_ours_said() -> None:
    result = run_scenario(scenario("fetch-sse", CUT), load_adapter("asgi:journalsim_reference.app:app"))
    assert broken(result) == set()
    assert (result.tallies["honest-provenance"].not_claimed, result.tallies["replay-equals-live"].holds) == (1, 1)


def test_an_application_takes_the_same_way_twice() -> None:
    hashes = []
    with workspace() as folder:
        executor = Executor(scenario("browser", CUT), load_adapter(NAIVE), folder)
        for _ in range(2):
            ran = host(lambda it: executor.baseline(it))
            hashes.append(trace_hash(ran.history.events))
    assert hashes[0] == hashes[1]


# --- what goes wrong -----------------------------------------------------------------------------


async def answers_late(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    assert scope["state"]["ports"]
    await send({"type": "http.response.body", "body": b""})


async def crashes(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        raise ZeroDivisionError("division by zero")


async def cannot_start(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no database"})


async def says_nothing(scope: Any, receive: Any, send: Any) -> None:
    await receive()


def answering(status: int, body: bytes) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http", "no lifespan"
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return app


@pytest.mark.parametrize(
    ("app", "says"),
    [
        (answers_late, "it sent http.response.body before http.response.start"),
        (crashes, "the application failed on POST /sessions/s1/runs: ZeroDivisionError: division by zero"),
        (cannot_start, "setup: AdapterError: the application could not start: no database"),
        (says_nothing, "it returned without an answer"),
        (answering(500, b"oops"), "answered 500 b'oops', expected 200 or 201 or 409"),
        (answering(201, b"oops"), "answered b'oops', expected a JSON object"),
        (answering(201, b"[]"), "answered b'[]', expected a JSON object"),
        (answering(201, b'{"id": 1}'), "expected 'run' as a str"),
        (lambda ports: ports, "expected an ASGI application: an application takes scope, receive and send"),
    ],
)
def test_an_application_that_breaks_the_contract_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, app: Any, says: str
) -> None:
    module = ModuleType("app_under_test")
    module.app = app  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "app_under_test", module)
    result = run_scenario(scenario("browser"), load_adapter("asgi:app_under_test:app"))
    assert says in " ".join(result.trouble)


@pytest.mark.parametrize(
    "app", [answering(500, b"oops"), answering(201, b"oops"), answering(201, b"[]"), answering(201, b'{"id": 1}')]
)
def test_a_trace_says_what_broke_the_contract_and_not_where_the_contract_stands(
    monkeypatch: pytest.MonkeyPatch, app: Any
) -> None:
    """A file that moves must not change the hash of a trace."""
    module = ModuleType("app_under_test")
    module.app = app  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "app_under_test", module)
    with workspace() as folder:
        executor = Executor(scenario("browser"), load_adapter("asgi:app_under_test:app"), folder)
        ran = host(lambda it: executor.baseline(it))
    errors = [event.data.error for event in ran.history.of(AdapterRaised)]
    assert errors
    assert all("expected" in error and "contract" not in error and ".py" not in error for error in errors)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("asgi:naive_sse:make_ap", "has no factory 'make_ap' (did you mean 'make_app'?)"),
        ("asgi:no_such_module:app", "cannot import no_such_module"),
        ("asgi:json:dumps", "takes 1 arguments"),
        ("asgi:shutil:copyfileobj", "the target takes 2 arguments: an application takes scope, receive and send"),
    ],
)
def test_a_target_that_is_no_application_is_refused(spec: str, says: str) -> None:
    if spec == "asgi:json:dumps":
        result = run_scenario(scenario("browser"), load_adapter(spec))
        assert "setup: TypeError" in result.trouble[0]
        return
    with pytest.raises(AdapterError) as caught:
        load_adapter(spec)
    assert says in str(caught.value)


@pytest.mark.parametrize("spec", ["asgi:naive_sse", "http://", "https:///x"])
def test_a_name_that_says_too_little_is_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="write"):
        load_adapter(spec)


# --- real time -----------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    """One answer per run, in two pieces, on loopback."""

    protocol_version = "HTTP/1.1"
    texts: dict[str, str] = {}

    def log_message(self, *arguments: Any) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.texts[self.path.split("/")[2]] = said["text"]
        self._json(201, {"run": f"{self.path.split('/')[2]}-r"})

    def do_GET(self) -> None:
        session, what = self.path.split("/")[2:4]
        run = f"{session}-r"
        if what == "status":
            return self._json(200, {"run": run, "state": "completed", "last_seq": 3, "prompt": None})
        if what == "history":
            rows = [{"kind": "user", "text": "Hi", "run_id": run}]
            rows += [{"kind": "assistant", "text": "Hello", "id": f"{run}/m", "run_id": run}]
            return self._json(200, {"items": rows if session in self.texts else []})
        if self.headers["last-event-id"] == f"{run}:2":
            return self._json(204, None)
        self._stream(run)
        return None

    def _stream(self, run: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        message = {"run_id": run, "message_id": f"{run}/m", "text": "Hello"}
        for number, (kind, data) in enumerate(
            [("message.completed", message), ("run.ended", {"run_id": run, "state": "completed"})], start=1
        ):
            self.wfile.write(f"id: {run}:{number}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def _json(self, status: int, said: Any) -> None:
        body = b"" if said is None else json.dumps(said).encode()
        self.send_response(status)
        if said is not None:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_server_that_runs_already_is_judged_in_real_time(url: str) -> None:
    result = run_scenario(scenario("browser"), load_adapter(url))
    assert broken(result) == set()
    assert result.tallies["replay-equals-live"].holds == 1
    assert result.tallies["deterministic"].not_claimed == 1


def test_nobody_at_home_is_said_so() -> None:
    result = run_scenario(scenario("browser"), load_adapter("http://127.0.0.1:9"))
    assert "is the server running there?" in result.trouble[0]


def test_the_commands_that_authors_are_given_work_word_for_word(tmp_path: Path) -> None:
    """Against the application in virtual time, and against its process in real time."""
    teaches = (ROOT / "scenarios" / "README.md").read_text(encoding="utf-8").split("## Over HTTP")[1]
    (tmp_path / "cut-once.race.yaml").write_text(teaches.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    commands = teaches.split("```console\n")[1].split("```")[0].splitlines()
    serve = [sys.executable, "-m", "journalsim_reference", "--port", "0", "--pace-ms", "1"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        where = server.stdout.readline().split()[2].rstrip("/")
        try:
            for command in commands:
                words = command.replace("http://127.0.0.1:8765", where).split()[1:]
                done = subprocess.run(
                    [sys.executable, "-m", "journalsim", *words],
                    cwd=tmp_path,
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
                assert done.returncode == 0, done.stdout
                assert ("(real time, not bit-exact)" in done.stdout) is ("http" in command)
        finally:
            server.terminate()
    assert len(commands) == 2


def test_a_system_in_real_time_that_fails_is_not_called_nondeterministic() -> None:
    result = run_scenario(scenario("fetch-sse", CUT), load_adapter("http://127.0.0.1:9"))
    assert not result.failures
    assert "is the server running there?" in result.trouble[0]
