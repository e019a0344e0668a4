"""The capabilities that an expectation needs.

An author writes for a journal with every capability.  An expectation that needs one
that the adapter does not declare is *not claimed*: an interrupted message, for
example, needs ``partials``.
"""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.capabilities import Capabilities
from journalsim.scenario.values.expect import Expectation, ItemAbsence, ItemMatch


def unclaimed(expectation: Expectation, claimed: Capabilities) -> str:
    """Returns the capabilities that the expectation needs and the adapter lacks, as a sentence; empty if none."""
    missing = [name for name in dict.fromkeys(_needs(expectation)) if not getattr(claimed, name)]
    return f"the adapter does not declare {', '.join(missing)}" if missing else ""


def _needs(expectation: Expectation) -> Iterator[str]:
    items = expectation.arguments
    if isinstance(items, ItemAbsence) and items.unless == "any_chunk_applied":
        yield "partials"
    if isinstance(items, ItemMatch):
        if items.state == "interrupted" and items.kind != "marker" and items.run is None:
            yield "partials"
        if items.kind in ("tool_call", "tool_result") or (
            items.call is not None and expectation.name.startswith("journal.")
        ):
            yield "tools"
        if items.kind == "marker":
            yield "terminals"
    if expectation.name.startswith("context."):
        yield "context"
    for part in expectation.parts:
        yield from _needs(part)
