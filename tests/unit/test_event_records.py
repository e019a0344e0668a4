"""Every kind of event with its fields, and what a record promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_events import made

from journalsim.contract.events.client_events import ClientApplied, ViewAfter
from journalsim.contract.events.event_record import record_fields
from journalsim.contract.events.event_table import RECORDS, events_markdown, field_docs, summary
from journalsim.contract.events.server_events import RunEnded, ServerCrashed

SNAPSHOT = Path(__file__).parents[1] / "snapshots" / "event_kinds.txt"
DOCUMENT = Path(__file__).parents[2] / ".github" / "events.md"


def test_the_kinds_of_events_and_their_fields_are_these() -> None:
    """A changed line here is a change of what traces hold: saved cases of before do not replay the same."""
    lines = [
        f"{kind}: {', '.join(doc.name + ('?' if doc.optional else '') for doc in field_docs(cls))}".rstrip(": ")
        for kind, cls in sorted(RECORDS.items())
    ]
    assert SNAPSHOT.read_text(encoding="utf-8").splitlines() == lines


def test_the_document_of_events_is_made_from_the_records() -> None:
    assert events_markdown() in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", RECORDS)
def test_a_kind_says_in_one_sentence_what_happened_and_describes_each_field(kind: str) -> None:
    cls = RECORDS[kind]
    assert re.fullmatch(r"[A-Z`].*\.", summary(cls))
    assert all(doc.doc.endswith((".", "….")) for doc in field_docs(cls))
    assert cls.subject_field in ("", *(field.name for field in record_fields(cls)))
    assert made(kind).session == ("" if "session" in {f.name for f in record_fields(cls)} else made(kind).session)


def test_a_field_with_a_default_is_written_only_when_it_differs() -> None:
    assert dict(ServerCrashed().written()) == {}
    assert dict(ServerCrashed(lose="unsynced").written()) == {"lose": "unsynced"}
    ended = RunEnded(run="r1", state="completed", cause=None)
    assert dict(ended.written()) == {"state": "completed", "cause": None}
    assert (ended.run, ended.subject, ended.session) == ("r1", None, "")


def test_what_a_page_shows_afterwards_is_written_by_clients_on_the_wire_alone() -> None:
    plain = made("client.applied", "r1")
    assert isinstance(plain, ClientApplied)
    assert "shown" not in dict(plain.written())
    wired = made("client.applied", "r1", shown=None, shown_reasoning=None, cursor="r1:3")
    assert isinstance(wired, ClientApplied)
    assert wired.view == ViewAfter("r1:3", None, None)
    written = dict(wired.written())
    assert (written["cursor"], written["shown"], written["shown_reasoning"]) == ("r1:3", None, None)
    assert "view" not in written
