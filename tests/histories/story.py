"""Tells a history line by line, as a run of the harness would record it."""

from __future__ import annotations

from typing import Any

from made_events import made_event

from journalsim.contract.capabilities import Capabilities
from journalsim.contract.items import Item, Statistics
from journalsim.history import Event, History

CLAIMS = Capabilities(
    level="runner",
    partials=True,
    tools=True,
    terminals=True,
    stable_ids=True,
    dedup_by_id=True,
    idempotent_start=True,
    statistics=True,
    crash="memory",
    late_completion=True,
    context=True,
    user_first=True,
    maintenance=("annotate", "compact", "clear"),
)
"""What the storyteller's journal claims: everything that an invariant of today asks for."""


def U(text: str, run: str | None = "r1", **fields: Any) -> Item:  # noqa: N802 - the notation of journals
    """A user message."""
    return Item(kind="user", text=text, run_id=run, **fields)


def A(ref: str, text: str, state: Any = "completed", run: str | None = "r1", **fields: Any) -> Item:  # noqa: N802
    """A message of the model, found by the provider's id; ``""`` for one that has none."""
    aliases = (f"msg-{ref.removeprefix('model.')}",) if ref else ()
    return Item(kind="assistant", text=text, state=state, run_id=run, aliases=aliases, **fields)


def C(call_id: str, run: str | None = "r1", arguments: str = "{}", **fields: Any) -> Item:  # noqa: N802
    """A tool request."""
    return Item(kind="tool_call", call_id=call_id, name="search", arguments=arguments, run_id=run, **fields)


def R(call_id: str, state: Any = "completed", run: str | None = "r1", **fields: Any) -> Item:  # noqa: N802
    """A tool result."""
    return Item(kind="tool_result", call_id=call_id, state=state, run_id=run, **fields)


def END(run: str | None, state: Any = "completed", cause: Any = None) -> Item:  # noqa: N802
    """The terminal of a run."""
    return Item(kind="marker", run_id=run, state=state, cause=cause)


class Story:
    """A history in the making; every method tells what happened next and returns the story.

    Args:
        claims: what the journal claims; everything unless given.
        policies: options in force.
        ids: the provider names its messages.
    """

    def __init__(self, claims: Capabilities = CLAIMS, policies: dict[str, Any] | None = None, ids: bool = True) -> None:
        self.claims = claims
        self.policies = policies or {}
        self.ids = ids
        self.events: list[Event] = []
        self.texts: dict[str, list[str]] = {}
        self.asked: dict[str, list[tuple[str, str, str]]] = {}
        self.runs: dict[str, str] = {}
        self.now_ns = 0

    def event(self, kind: str, run: str | None = None, subject: str | None = None, by: str = "server", **data: Any):
        """Anything, a millisecond after what was before."""
        self.now_ns += 1_000_000
        position = len(self.events)
        self.events.append(made_event(position, self.now_ns, by, kind, run, subject, **data))
        return self

    def later(self, seconds: float):
        """Time passes."""
        self.now_ns += int(seconds * 1_000_000_000)
        return self

    # --- people

    def sends(self, text: str, key: str = "k1", by: str = "ann", session: str = "s1", label: str = "send"):
        return self.event("client.sent", by=by, key=key, text=text, session=session, label=label)

    def accepts(self, text: str, run: str = "r1", key: str = "k1", session: str = "s1"):
        return self.event("run.accepted", run, key=key, text=text, session=session)

    def asks(self, text: str = "Hi", run: str = "r1", key: str = "k1", session: str = "s1"):
        """A person sends a message and it is accepted."""
        return self.sends(text, key, session=session).accepts(text, run, key, session)

    def stops(self, run: str = "r1", answer: str | None = "stopping", mode: str = "interrupt"):
        self.event("stop.delivered", run, named=run, mode=mode, active=[run])
        return self if answer is None else self.event("stop.answered", run, named=run, answer=answer)

    def leaves(self, by: str = "ann"):
        return self.event("client.detached", by=by)

    # --- the model and the tools

    def calls(
        self,
        turn: str = "model.turn1",
        run: str = "r1",
        attempt: int = 1,
        context: tuple[Item, ...] | None = None,
        purpose: str = "turn",
        who: str = "lead",
    ):
        """The system calls the model; what it gives the model is told only where it matters."""
        self.runs[turn] = run
        session = "s1" if purpose == "compaction" else ""
        about = {"attempt": attempt, "purpose": purpose, "who": who, "session": session, "context": context}
        return self.event("model.called", run, turn, by="model", **about)

    def says(
        self,
        ref: str,
        *chunks: str,
        part: str = "text",
        seen_by: tuple[str, ...] = (),
        source: str | None = None,
    ):
        """The model hands over chunks; those who see them apply them at once."""
        for text in chunks:
            self._chunk(ref, source, part=part, text=text)
            self.texts.setdefault(ref + part, []).append(text)
            told = {"reasoning": text} if part == "reasoning" else {"text": text}
            self.frame("message.delta", ref, **told)
            for client in seen_by:
                self.frame("message.delta", ref, by=client, **told)
        return self

    def requests(self, ref: str, call_id: str):
        """The model asks for a tool."""
        self.asked.setdefault(ref, []).append((call_id, "search", "{}"))
        return self._chunk(ref, part="tool_call", text="", call_id=call_id, name="search")

    def argues(self, ref: str, call_id: str, *chunks: str):
        """The model streams arguments of a tool call that it has not finished."""
        for text in chunks:
            self._chunk(ref, part="tool_arguments", text=text, call_id=call_id)
        return self

    def frame(self, frame: str, ref: str, by: str = "", source: bool = True, **data: Any):
        """A frame is published, or applied by a client."""
        data = {"frame": frame, "message": f"j-{ref}", "source": self._id(ref) if source else None, "text": ""} | data
        kind = "client.applied" if by else "frame.published"
        if not by:
            data.pop("reasoning", None)  # published frames are recorded without it
        return self.event(kind, self._run(ref), by=by or "server", **data)

    def completes(self, ref: str, late: bool = False, more: str = ""):
        """The finish of a message is handed over; ``more`` is what came after the last chunk."""
        return self.event(
            "model.completed",
            self._run(ref),
            ref,
            by="model",
            text="".join(self.texts.get(ref + "text", [])) + more,
            reasoning="".join(self.texts.get(ref + "reasoning", [])),
            calls=self.asked.get(ref, []),
            reason="end_turn",
            provider_ids=(self._id(ref),) if self.ids else (),
            late=late,
        )

    def marks(self, what: str, ref: str):
        """A message ends otherwise: ``failed``, ``ended_silently``, ``closed``."""
        return self.event(f"model.{what}", self._run(ref), ref, by="model")

    def answers(self, ref: str = "model.turn1", *chunks: str, seen_by: tuple[str, ...] = ()):
        """One whole answer of the model, from the call to the completion."""
        run = self.runs.get(ref, "r1")
        return self.calls(ref, run).says(ref, *(chunks or ("Hello ", "there")), seen_by=seen_by).completes(ref)

    def tool(self, what: str, call_id: str = "t1", run: str = "r1"):
        return self.event(f"tool.{what}", run, call_id, by="search")

    def maintains(self, verb: str = "annotate", item: str | None = None, session: str = "s1", **metadata: Any):
        return self.event(
            "maintenance.done", by="maintenance", verb=verb, session=session, item=item, metadata=metadata
        )

    # --- the end

    def ends(self, run: str = "r1", state: str = "completed", cause: str | None = None):
        return self.event("run.ended", run, state=state, cause=cause)

    def crashes(self, lose: str = ""):
        """The server is killed; with a loss, because its power failed."""
        return self.event("server.crashed", **({"lose": lose} if lose else {}))

    def again(self, *items: Item, session: str = "s1"):
        """At the very end, one more kill and restart, and what is shown then."""
        return self.event("recovery.read", by="journal", items=items, session=session, times=1)

    def starts(self):
        return self.event("server.started", incarnation=2)

    def quiet(self, *unfinished: str):
        return self.event("quiet.reached", by="harness", unfinished=list(unfinished))

    def sizes(self, quiet: bool = False, **sizes: int):
        return self.event("statistics.taken", by="journal", statistics=Statistics(**sizes), quiet=quiet)

    def reads(self, *items: Item, session: str = "s1", reason: str = "quiet"):
        return self.event("journal.read", by="journal", items=items, reason=reason, session=session)

    def gives(self, *items: Item, session: str = "s1"):
        """What the next call of the model would be given."""
        return self.event("journal.context", by="journal", items=items, session=session)

    def history(self) -> History:
        return History(events=tuple(self.events), capabilities=self.claims, policies=self.policies)

    # --- inside

    def _chunk(self, ref: str, source: str | None = None, **data: Any):
        name = source or self._id(ref)
        return self.event("model.chunk", self._run(ref), ref, by="model", chunk=1, provider_id=name, **data)

    def _id(self, ref: str) -> str | None:
        return f"msg-{ref.removeprefix('model.')}" if self.ids else None

    def _run(self, ref: str) -> str:
        return self.runs.get(".".join(ref.split(".")[:2]), "r1")
