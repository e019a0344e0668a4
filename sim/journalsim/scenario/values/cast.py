"""Who takes part: the model, the tools, the people with their programs, the store; and the limits in force."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from journalsim.scenario.values.speech import MS, ToolReply, Turn


@frozen(kw_only=True)
class ModelSpec:
    """The scripted model. ``ids``: does the provider name its messages, and do names change per chunk."""

    name: str = "model"
    ids: Literal["stable", "none", "per_chunk"] = "stable"
    turns: tuple[Turn, ...] = ()


@frozen(kw_only=True)
class ToolSpec:
    """A scripted tool.

    Attributes:
        name: by which the model calls it.
        duration_ns: how long a call takes, unless the reply says otherwise.
        approval: a person must agree before it runs.
        agent: calling it runs a sub-agent, which asks the model on its own behalf.
        replies: what it answers.
    """

    name: str
    duration_ns: int = 0
    approval: bool = False
    agent: bool = False
    replies: tuple[ToolReply, ...] = ()


@frozen(kw_only=True)
class ClientSpec:
    """A person and the program in front of them.

    Attributes:
        name: how steps call it.
        kind: which client program it is.
        observes: watches this other client's session instead of one of its own.
        session: the conversation it opens; a client that observes takes the other's.
        latency_ns: one way, for requests and frames.
        retry_ns: how long before it reattaches by itself.
        wire: it watches over the wire, byte by byte, also where nothing else of the scenario asks for that.
    """

    name: str
    kind: Literal["browser", "fetch-sse", "fetch-event-source", "ai-sdk-ui", "cli", "poller"] = "browser"
    observes: str | None = None
    session: str = "s1"
    latency_ns: int = 0
    retry_ns: int = 1000 * MS
    wire: bool = False


@frozen(kw_only=True)
class StoreSpec:
    """The storage below the journal.

    Attributes:
        latency_ns: how long each operation on it takes before it is done.
        engine: which kind of store a system that has both is asked to use on the simulated disk; empty for its own.
        disk: its files are on a simulated disk, also where nothing else of the scenario asks for that.
    """

    name: str = "store"
    latency_ns: int = 0
    engine: Literal["", "sqlite", "log"] = ""
    disk: bool = False


@frozen(kw_only=True)
class Limits:
    """How long things may take before the system gives up on them; 0 for no limit.

    Attributes:
        tool_ns: one tool call.
        run_ns: one run, from its acceptance.
    """

    tool_ns: int = 0
    run_ns: int = 0
