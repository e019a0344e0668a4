"""Seeded bugs that make a journal untestable."""

from __future__ import annotations

import os

from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.server import Server


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
