"""The reference journal behind the smallest honest stream: a log of frames in memory, one list per session.

An example of the verb ``attach``.  Every frame that the journal publishes goes into the
log under an id of its own; a reader gets the rest of the log after its cursor and
then whatever follows.  After a crash the log is gone, so every old cursor is a gap.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import trio
from attrs import evolve

from journalsim.contract.frames import Frame
from journalsim.contract.ports import Ports
from journalsim.contract.stream_port import Control, StreamAnswer, StreamRequest, encode_control, encode_frame
from journalsim_reference.adapter import make as make_reference


class Log:
    """The frames of one session, with their ids."""

    def __init__(self) -> None:
        self.frames: list[tuple[str, Frame]] = []
        self.numbers: dict[str, int] = {}
        self.grew = trio.Event()
        self.accepted: str | None = None
        self.ended: dict[str, None] = {}

    def add(self, frame: Frame) -> None:
        number = self.numbers[frame.run_id] = self.numbers.get(frame.run_id, 0) + 1
        self.frames.append((f"{frame.run_id}:{number}", frame))
        if frame.kind == "run.ended":
            self.ended[frame.run_id] = None
        self.grew.set()
        self.grew = trio.Event()

    def after(self, cursor: str) -> int | None:
        """The position behind a cursor; None if it is not in the log."""
        return next((place + 1 for place, (known, _) in enumerate(self.frames) if known == cursor), None)

    @property
    def run(self) -> str | None:
        return self.accepted or (self.frames[-1][1].run_id if self.frames else None)

    @property
    def running(self) -> bool:
        return self.run is not None and self.run not in self.ended


class TappedPorts:
    """The harness' ports, with an ear on what is published."""

    def __init__(self, ports: Ports, logs: dict[str, Log]) -> None:
        self._ports = ports
        self._logs = logs

    def publish(self, session_id: str, frame: Frame) -> None:
        self._logs.setdefault(session_id, Log()).add(frame)
        self._ports.publish(session_id, frame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ports, name)


class TinyStream:
    """The reference with a stream of its own."""

    def __init__(self) -> None:
        self._journal = make_reference("memory")
        self.capabilities = evolve(self._journal.capabilities, replay="from_id")
        self.logs: dict[str, Log] = {}

    async def setup(self, where: str, ports: Ports) -> None:
        await self._journal.setup(where, TappedPorts(ports, self.logs))  # type: ignore[arg-type]

    async def start(self, session_id: str, text: str, key: str) -> str:
        run = await self._journal.start(session_id, text, key)
        self.logs.setdefault(session_id, Log()).accepted = run
        return run

    def cursor(self, session_id: str) -> str | None:
        log = self.logs.setdefault(session_id, Log())
        return log.frames[-1][0] if log.frames else None

    async def attach(self, request: StreamRequest) -> StreamAnswer:
        log = self.logs.setdefault(request.session_id, Log())
        place = log.after(request.cursor) if request.cursor else None
        if not log.running and (not request.cursor or place == len(log.frames)):
            return StreamAnswer(status=204)
        return StreamAnswer(status=200, body=self.body(log, request.cursor, place))

    async def body(self, log: Log, cursor: str | None, place: int | None) -> AsyncIterator[bytes]:
        frames = enumerate(log.frames)
        first = next((n for n, (_, frame) in frames if frame.run_id == log.run), len(log.frames))
        if not cursor:
            yield encode_control(Control(kind="stream.open", attachment="fresh", whole_turn=True, run_id=log.run))
            place = first
        elif place is not None:
            yield encode_control(Control(kind="stream.open", attachment="suffix", run_id=log.run))
        else:
            yield encode_control(Control(kind="stream.open", attachment="gap", run_id=log.run))
            yield encode_control(Control(kind="stream.gap", reason="the cursor is not known"))
            if not log.running:
                return
            yield encode_control(Control(kind="stream.open", attachment="restart", whole_turn=True, run_id=log.run))
            place = first
        while True:
            while place < len(log.frames):
                event_id, frame = log.frames[place]
                place += 1
                yield encode_frame(frame, event_id)
            if not log.running:
                yield encode_control(Control(kind="stream.end", run_id=log.run, reason="the run has ended"))
                return
            await log.grew.wait()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


def make() -> TinyStream:
    return TinyStream()
