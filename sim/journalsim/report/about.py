"""The circumstances that a report prints beside the results."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from attrs import field, frozen

from journalsim.report.escape import visible
from journalsim.search.results import CampaignResult


@frozen(kw_only=True)
class About:
    """The circumstances of a report, the same for every format.

    Attributes:
        version: of journalsim.
        statements: the statement of each invariant, by id.
        adapter: under test, as the user named it.
        planned: how many scenarios were selected; 0 means as many as there are results.
        saved: where failing cases are stored, as the user would type it.
        report: where the report is written, as the user would type it; empty if nowhere.
    """

    version: str
    statements: Mapping[str, str] = field(factory=dict)
    adapter: str = "ref"
    planned: int = 0
    saved: str = ".journalsim/failures/"
    report: str = ""


def again(about: About) -> str:
    """Returns the option with which ``replay`` and ``pin`` are told the adapter, a blank before it.

    A case file never starts code by itself, so an outside adapter is named again; a variant of the reference is not.
    """
    return "" if about.adapter.partition(":")[0] == "ref" else f" -a {shlex.quote(visible(about.adapter))}"


def partial_line(campaign: CampaignResult, about: About) -> str:
    """Returns why the report is incomplete, or nothing if it is complete."""
    done = len(campaign.scenarios)
    planned = max(done, about.planned)
    if campaign.interrupted:
        return f"partial: stopped by the user after {done} of {planned} scenarios"
    return f"partial: a limit was reached after {done} of {planned} scenarios" if campaign.skipped else ""
