"""Which cursor a step of a scenario means, on the page as it is."""

from __future__ import annotations

from collections.abc import Mapping

from journalsim.actors.page import Page
from journalsim.scenario.values.links import Cursor


def sent_for(meant: Cursor, page: Page, session: str, accepted: Mapping[str, str]) -> str | None:
    """Returns what is sent as the cursor; None for a request without one.

    The id of an event that the page has not come to is that of the last one it has.

    Args:
        meant: as the scenario says it.
        page: of the client.
        session: that the page shows.
        accepted: session of each run that there is.
    """
    ids, last = page.ids, page.cursor
    if meant.form == "frame":
        return ids[meant.frame - 1] if meant.frame <= len(ids) else last or None
    run, _, seq = last.partition(":")
    elsewhere = (name for name, its in accepted.items() if its != session)
    known = {
        "none": None,
        "equal": last or None,
        "ahead": f"{run or 'run1'}:{int(seq.partition('.')[0] or 0) + 1000}" if seq[:1].isdigit() else "run1:1000",
        "foreign_run": "run-of-nobody:1",
        "foreign_session": f"{next(elsewhere, 'run-of-another-session')}:1",
        "malformed": "not a cursor",
        "evicted": ids[0] if ids else f"{run or 'run1'}:1",
        "empty": "",
        "mid_part": f"{last}.1" if last and "." not in seq else last or None,
    }
    return known[meant.form]
