"""What an adapter declares: the capabilities that invariants require, and the policies that a scenario may set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen

StopMode = Literal["interrupt", "rollback"]

POLICIES: Mapping[str, tuple[str, ...]] = {
    "busy": ("refuse", "queue", "cancel_earlier"),
    "disconnect": ("continue", "cancel"),
    "partial_in_context": ("text", "none"),
    "partial_form": ("state", "flag"),
    "stopped_turn": ("marker", "user_only"),
    "orphans": ("on_write", "on_read"),
    "sync": ("every_event", "barriers"),
    "reattach": ("suffix", "whole_turn"),
    "bad_cursor": ("restart", "gap"),
    "retention": ("long", "short"),
}
"""Questions on which public systems disagree, the default first; what a Stop keeps is its own ``mode``."""


@frozen(kw_only=True)
class Capabilities:
    """What an adapter claims; the default claims least.

    A promise that needs a capability which is not declared is reported as *not
    claimed*: neither kept nor broken.

    Attributes:
        level: ``store`` or ``runner``.
        partials: text of a stopped message is kept.
        tools: tool calls and results are kept as items of their own.
        terminals: the end of each run is kept as a ``marker`` item.
        stable_ids: an item's ``id`` is the same in every read.
        dedup_by_id: writing one id twice leaves one item.
        atomic_turn: an interrupted turn is dropped whole, by declared policy.
        user_first: the user message is durable before the model is called.
        concurrent_runs: what a second start in a busy session does.
        stop_modes: which ways of stopping exist.
        crash: ``memory`` when ``crash()`` drops the process state and keeps the store.
        disk: keeps its files through :attr:`Ports.disk` where there is one, so that the power can fail.
        idempotent_start: one request key never starts a second run.
        statistics: ``statistics()`` tells the sizes of the partial cache.
        maintenance: which of ``annotate``, ``compact``, ``clear`` exist.
        late_completion: a completion that arrives after the stream was closed is handed over.
        approvals: runs wait for a person's answer where a tool asks for it; the verb ``answer`` exists.
        limits: which time limits the system keeps: ``tool``, ``run``.
        sub_agents: a tool may be a sub-agent with model calls of its own.
        context: what the model is given is derived from the journal and may be judged.
        policies: scenario options that the system can follow, such as ``busy``.
        replay: how a reader reattaches.
        context_repair: where orphaned calls are closed.
        clock: ``virtual`` when every wait of the system goes through the harness.
        host: where the system runs.
    """

    level: Literal["store", "runner"] = "store"
    partials: bool = False
    tools: bool = False
    terminals: bool = False
    stable_ids: bool = False
    dedup_by_id: bool = False
    atomic_turn: bool = False
    user_first: bool = False
    concurrent_runs: Literal["undefined", "refuse", "queue", "cancel_earlier", "keep"] = "undefined"
    stop_modes: tuple[StopMode, ...] = ("interrupt",)
    crash: Literal["none", "memory", "kill"] = "none"
    disk: bool = False
    idempotent_start: bool = False
    statistics: bool = False
    maintenance: tuple[Literal["annotate", "compact", "clear"], ...] = ()
    late_completion: bool = False
    approvals: bool = False
    limits: tuple[Literal["tool", "run"], ...] = ()
    sub_agents: bool = False
    context: bool = False
    policies: tuple[str, ...] = ()
    replay: Literal["none", "from_id", "from_offset", "gap_signal"] = "none"
    context_repair: Literal["none", "on_read", "on_write"] = "none"
    clock: Literal["virtual", "real"] = "virtual"
    host: Literal["in_process", "child", "http"] = "in_process"
