"""Defines what an adapter declares: the capabilities that invariants need, and the policies that a scenario may set."""

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
"""Policies on which public systems disagree, with the default first. The effect of a stop has its own parameter,
``mode``.
"""


@frozen(kw_only=True)
class Capabilities:
    """The capabilities that an adapter declares; the default declares the least.

    An invariant that needs an undeclared capability is reported as *not claimed*: neither held nor violated.

    Attributes:
        level: ``store`` or ``runner``.
        partials: the journal stores the text of a stopped message.
        tools: the journal stores tool calls and results as items of their own.
        terminals: the journal stores the end of each run as a ``marker`` item.
        stable_ids: an item has the same ``id`` in every read.
        dedup_by_id: writing one id twice leaves one item.
        atomic_turn: an interrupted turn is dropped whole, by declared policy.
        user_first: the user message is durable before the model is called.
        concurrent_runs: the effect of a second start in a busy session.
        stop_modes: the supported ways of stopping.
        crash: ``memory`` when ``crash()`` drops the process state and preserves the store.
        disk: the system writes its files through :attr:`Ports.disk` if there is one, so that the power can fail.
        idempotent_start: one request key starts at most one run.
        statistics: ``statistics()`` returns the sizes of the partial cache.
        maintenance: the supported verbs among ``annotate``, ``compact`` and ``clear``.
        late_completion: the system receives a completion that arrives after it closed the stream.
        approvals: runs wait for a person's answer where a tool requires it; the verb ``answer`` exists.
        limits: the time limits that the system enforces: ``tool``, ``run``.
        sub_agents: a tool may be a sub-agent with model calls of its own.
        context: the system derives the model's context from the journal, so the context can be judged.
        policies: scenario options that the system can follow, such as ``busy``.
        replay: how a reader reattaches.
        context_repair: when the system closes orphaned calls.
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
