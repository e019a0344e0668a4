"""journalsim: deterministic simulation and fault injection for the run journals of LLM agents.

What adopters import stands here and in :mod:`journalsim.strategies`; everything else is internal.
Names are imported when they are first used, so that reading a scenario or a case needs no trio.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from journalsim.version import __version__

if TYPE_CHECKING:
    from journalsim.case import Case
    from journalsim.contract.adapters import OutcomeUnknown, RunBusy, RunnerAdapter, StoreAdapter
    from journalsim.contract.capabilities import Capabilities
    from journalsim.contract.frames import Frame
    from journalsim.contract.items import Item, Statistics
    from journalsim.contract.model_call import Completion, ModelError, ModelEvent, ModelRequest, ToolCall, ToolError
    from journalsim.contract.ports import Ports
    from journalsim.history import Event, History
    from journalsim.oracle.invariants.judge import INVARIANTS, check_history
    from journalsim.oracle.invariants.verdict import Status, Verdict, Violation
    from journalsim.scenario.dump import dump_scenario
    from journalsim.scenario.loader import load_scenario
    from journalsim.scenario.values.scenario import Scenario
    from journalsim.search.checking import run_case
    from journalsim.search.conformance import check_adapter

_HOME = {
    "journalsim.contract.adapters": ("OutcomeUnknown", "RunBusy", "RunnerAdapter", "StoreAdapter"),
    "journalsim.contract.capabilities": ("Capabilities",),
    "journalsim.contract.frames": ("Frame",),
    "journalsim.contract.items": ("Item", "Statistics"),
    "journalsim.contract.model_call": (
        "Completion",
        "ModelError",
        "ModelEvent",
        "ModelRequest",
        "ToolCall",
        "ToolError",
    ),
    "journalsim.contract.ports": ("Ports",),
    "journalsim.case": ("Case",),
    "journalsim.history": ("Event", "History"),
    "journalsim.oracle.invariants.judge": ("INVARIANTS", "check_history"),
    "journalsim.oracle.invariants.verdict": ("Status", "Verdict", "Violation"),
    "journalsim.scenario.dump": ("dump_scenario",),
    "journalsim.scenario.loader": ("load_scenario",),
    "journalsim.scenario.values.scenario": ("Scenario",),
    "journalsim.search.checking": ("run_case",),
    "journalsim.search.conformance": ("check_adapter",),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "INVARIANTS",
    "Capabilities",
    "Case",
    "Completion",
    "Event",
    "Frame",
    "History",
    "Item",
    "ModelError",
    "ModelEvent",
    "ModelRequest",
    "OutcomeUnknown",
    "Ports",
    "RunBusy",
    "RunnerAdapter",
    "Scenario",
    "Statistics",
    "Status",
    "StoreAdapter",
    "ToolCall",
    "ToolError",
    "Verdict",
    "Violation",
    "__version__",
    "check_adapter",
    "check_history",
    "dump_scenario",
    "load_scenario",
    "run_case",
]


if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _WHERE:
            raise AttributeError(f"module 'journalsim' has no attribute {name!r}")
        return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
