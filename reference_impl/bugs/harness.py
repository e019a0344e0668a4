"""Mistakes that make a journal untestable."""

from __future__ import annotations

import os

from reference_impl.bugs.bug import Bug, with_parts
from reference_impl.server import Server


class _DrawsIds(Server):
    def mint_run(self) -> str:
        return f"run-{os.urandom(4).hex()}"


HARNESS = (
    Bug(
        name="ids-from-entropy",
        summary="Run ids are drawn from the operating system, so no two runs of a case are alike.",
        failure_mode="",
        trips=("deterministic",),
        build=with_parts(server=_DrawsIds),
    ),
)
