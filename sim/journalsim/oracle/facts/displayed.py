"""Which message of the model each live frame belongs to, and the words that a client displayed of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from journalsim.contract.events.client_events import ClientApplied
from journalsim.contract.events.server_events import FramePublished
from journalsim.contract.page_fold import WORDED, words_after
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
    """Returns the first provider's id in the frames of one journal id, or None."""
    return next((event.data.source for event in frames if event.data.source is not None), None)


def match_frames(
    frames: Mapping[str, Sequence[LiveFrame]], messages: Sequence[ModelMessage], stored: Callable[[str], str | None]
) -> dict[str, str]:
    """Returns references of model messages by the journal id that their frames have.

    Args:
        frames: by journal id.
        messages: the candidates, in order.
        stored: returns the reference of the row with an id, for ids that no frame connects to the provider's.
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
    """Returns the message whose text begins with that of the frames; messages without other frames go first."""
    folded: dict[str, Applied] = {}
    for event in frames:
        folded[event.actor] = applied_with(folded.get(event.actor, Applied()), event)
    text = max((applied.text for applied in folded.values()), key=len)
    fits = [m for m in messages if m.run == frames[0].run and m.whole_text.startswith(text)]
    fits.sort(key=lambda message: message.ref in shown.values())
    return fits[0].ref if fits else None


def applied_with(applied: Applied, event: LiveFrame) -> Applied:
    """Returns what a client displays of a message once it has applied one more frame of it.

    A page on the wire reports its words with each frame, since a control event or a new cursor changes them too.
    A message that is superseded stays as it was displayed last.
    """
    data = event.data
    if data.frame not in WORDED:
        return applied
    view = data.view if isinstance(data, ClientApplied) else None
    if view is not None and view.text is not None:
        text, reasoning = view.text, view.reasoning or ""
    else:
        text, reasoning = words_after(applied.text, applied.reasoning, data.as_frame, reopening="begins anew")
    return Applied(client=applied.client, text=text, reasoning=reasoning, position=event.position)
