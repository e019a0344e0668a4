"""Chooses the cursor that a step of a scenario sends, given the client's page."""

from __future__ import annotations

from collections.abc import Mapping

from journalsim.actors.page.page import Page
from journalsim.scenario.values.links import Cursor


def sent_for(meant: Cursor, page: Page, session: str, accepted: Mapping[str, str]) -> str | None:
    """Returns the cursor to send; None for a request without one.

    The id of an event that the page has not reached becomes that of the page's last event.

    Args:
        meant: the cursor as the scenario words it.
        page: the page of the client.
        session: the session that the page displays.
        accepted: session of each accepted run.
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
