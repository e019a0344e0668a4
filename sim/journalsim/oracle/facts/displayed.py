"""Which message live frames showed, and what a client made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from journalsim.contract.events.client_events import ClientApplied
from journalsim.contract.events.server_events import FramePublished
from journalsim.history import EventOf
from journalsim.oracle.facts.attribution import owners_of
from journalsim.oracle.facts.records import Applied, ModelMessage

LiveFrame: TypeAlias = EventOf[FramePublished | ClientApplied]
"""A frame where it was published, or where a client displayed it."""


def by_journal_id(frames: Iterable[LiveFrame]) -> dict[str, list[LiveFrame]]:
    """Returns the frames about messages, by the journal's id of the message."""
    found: dict[str, list[LiveFrame]] = {}
    for event in frames:
        journal_id = event.data.message
        if journal_id is not None:
            found.setdefault(journal_id, []).append(event)
    return found


def source_of(frames: Iterable[LiveFrame]) -> str | None:
    """Returns the provider's id that frames of one journal id told first, or None."""
    return next((event.data.source for event in frames if event.data.source is not None), None)


def match_frames(
    frames: Mapping[str, Sequence[LiveFrame]], messages: Sequence[ModelMessage], stored: Callable[[str], str | None]
) -> dict[str, str]:
    """Returns references of model messages by the journal id under which frames showed them.

    Args:
        frames: by journal id.
        messages: that may be meant, in order.
        stored: gives the reference of the row that has an id, for ids that no frame ties to the provider's.
    """
    owners = owners_of(messages)
    shown: dict[str, str] = {}
    for journal_id, own in frames.items():
        found = owners.get(source_of(own) or "", [])
        ref = found[0].ref if len(found) == 1 else stored(journal_id) or _by_text(own, messages, shown)
        if ref is not None:
            shown[journal_id] = ref
    return shown


def _by_text(frames: Sequence[LiveFrame], messages: Sequence[ModelMessage], shown: Mapping[str, str]) -> str | None:
    """Returns the message that frames showed, going by what they say; one that was not shown before goes first."""
    folded: dict[str, Applied] = {}
    for event in frames:
        folded[event.actor] = applied_with(folded.get(event.actor, Applied()), event)
    text = max((applied.text for applied in folded.values()), key=len)
    fits = [m for m in messages if m.run == frames[0].run and m.whole_text.startswith(text)]
    fits.sort(key=lambda message: message.ref in shown.values())
    return fits[0].ref if fits else None


def applied_with(applied: Applied, event: LiveFrame) -> Applied:
    """Returns what a client shows of a message once it has applied one more frame of it."""
    data = event.data
    text, reasoning, view = data.text, "", None
    if isinstance(data, ClientApplied):
        reasoning, view = data.reasoning, data.view
    frame = data.frame
    if view is not None and view.text is not None and frame in ("message.opened", "message.delta"):
        text, reasoning = view.text, view.reasoning or ""  # over the wire the page itself says what it shows
    elif frame == "message.delta":
        text, reasoning = applied.text + text, applied.reasoning + reasoning
    elif frame in ("message.completed", "message.interrupted"):
        reasoning = reasoning or applied.reasoning  # the last frame of a message need not say it again
    elif frame != "message.opened":
        return applied
    return Applied(client=applied.client, text=text, reasoning=reasoning, position=event.position)
