"""A chat server as many are written: Starlette, one queue per reader, events without ids, no cursor."""

from __future__ import annotations

import json
from typing import Any

import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from journalsim.contract.capabilities import Capabilities
from journalsim.contract.model_call import ModelRequest
from journalsim.contract.ports import Ports

capabilities = Capabilities(level="runner", replay="from_id", terminals=True, stable_ids=True)


class Chat:
    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.items: list[dict[str, Any]] = []
        self.events: list[bytes] = []
        self.changed = trio.Event()
        self.run, self.state = "", "idle"

    def say(self, kind: str, **data: Any) -> None:
        data = {"run_id": self.run, **data}
        self.events.append(f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode())
        self.changed.set()
        self.changed = trio.Event()

    async def work(self) -> None:
        message, text = f"{self.run}/m", ""
        self.say("message.opened", message_id=message)
        async with self.ports.model(ModelRequest(run_id=self.run, session_id="s1")) as stream:
            async for event in stream:
                text += event.text
                self.say("message.delta", message_id=message, text=event.text)
        self.items.append({"kind": "assistant", "text": text, "id": message, "run_id": self.run})
        self.items.append({"kind": "marker", "run_id": self.run})
        self.say("message.completed", message_id=message, text=text)
        self.say("run.ended", state="completed")
        self.state = "completed"

    async def start(self, request: Request) -> Response:
        said = await request.json()
        if self.state == "running":
            return JSONResponse({"reason": "busy"}, status_code=409)
        self.run, self.state, self.events = self.ports.mint("run"), "running", []
        self.items.append({"kind": "user", "text": said["text"], "run_id": self.run})
        self.ports.spawn("work", self.work)
        return JSONResponse({"run": self.run}, status_code=201)

    async def history(self, request: Request) -> Response:
        return JSONResponse({"items": self.items})

    async def status(self, request: Request) -> Response:
        return JSONResponse({"run": self.run, "state": self.state, "last_seq": len(self.events), "prompt": None})

    async def stream(self, request: Request) -> Response:
        return StreamingResponse(self.body(), media_type="text/event-stream")

    async def body(self) -> Any:
        place = 0
        while place < len(self.events) or self.state == "running":
            while place < len(self.events):
                yield self.events[place]
                place += 1
            if self.state == "running":
                await self.changed.wait()


def make_app(ports: Ports) -> Starlette:
    chat = Chat(ports)
    routes = [Route("/sessions/s1/runs", chat.start, methods=["POST"]), Route("/sessions/s1/history", chat.history)]
    routes += [Route("/sessions/s1/status", chat.status), Route("/sessions/s1/stream", chat.stream)]
    return Starlette(routes=routes)
