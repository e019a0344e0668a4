"""Which capabilities an expectation takes for granted.

An author writes for a journal that does everything.  Of an adapter that does not
claim, say, to keep partials, nobody may expect an interrupted message: the
expectation is then *not claimed*, neither met nor missed.
"""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.capabilities import Capabilities
from journalsim.scenario.values.expect import Expectation


def unclaimed(expectation: Expectation, claimed: Capabilities) -> str:
    """Returns what an adapter would have to claim before this can be expected of it; nothing if it does."""
    missing = [name for name in dict.fromkeys(_needs(expectation)) if not getattr(claimed, name)]
    return f"the adapter does not declare {', '.join(missing)}" if missing else ""


def _needs(expectation: Expectation) -> Iterator[str]:
    arguments = expectation.arguments
    if arguments.get("state") == "interrupted" and arguments.get("kind") != "marker" and "run" not in arguments:
        yield "partials"
    if arguments.get("unless") == "any_chunk_applied":
        yield "partials"
    if arguments.get("kind") in ("tool_call", "tool_result") or (
        "call" in arguments and expectation.name.startswith("journal.")
    ):
        yield "tools"
    if arguments.get("kind") == "marker":
        yield "terminals"
    if expectation.name.startswith("context."):
        yield "context"
    for part in expectation.parts:
        yield from _needs(part)
