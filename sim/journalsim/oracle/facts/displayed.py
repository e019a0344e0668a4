"""Which message live frames showed, and what a client made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from journalsim.history import Event
from journalsim.oracle.facts.attribution import owners_of
from journalsim.oracle.facts.records import Applied, ModelMessage


def by_journal_id(*streams: Iterable[Event]) -> dict[str, list[Event]]:
    """Returns the frames about messages, by the journal's id of the message."""
    found: dict[str, list[Event]] = {}
    for stream in streams:
        for event in stream:
            journal_id = event.data["message"]
            if journal_id is not None:
                found.setdefault(journal_id, []).append(event)
    return found


def source_of(frames: Iterable[Event]) -> str | None:
    """Returns the provider's id that frames of one journal id told first, or None."""
    return next((event.data["source"] for event in frames if event.data.get("source") is not None), None)


def match_frames(
    frames: Mapping[str, Sequence[Event]], messages: Sequence[ModelMessage], stored: Callable[[str], str | None]
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


def _by_text(frames: Sequence[Event], messages: Sequence[ModelMessage], shown: Mapping[str, str]) -> str | None:
    """Returns the message that frames showed, going by what they say; one that was not shown before goes first."""
    folded: dict[str, Applied] = {}
    for event in frames:
        folded[event.actor] = applied_with(folded.get(event.actor, Applied()), event)
    text = max((applied.text for applied in folded.values()), key=len)
    fits = [m for m in messages if m.run == frames[0].run and m.whole_text.startswith(text)]
    fits.sort(key=lambda message: message.ref in shown.values())
    return fits[0].ref if fits else None


def applied_with(applied: Applied, event: Event) -> Applied:
    """Returns what a client shows of a message once it has applied one more frame of it."""
    data = event.data
    text, reasoning = str(data.get("text", "")), str(data.get("reasoning", ""))
    frame = data["frame"]
    if data.get("shown") is not None and frame in ("message.opened", "message.delta"):
        text, reasoning = data["shown"], data["shown_reasoning"]  # over the wire the page itself says what it shows
    elif frame == "message.delta":
        text, reasoning = applied.text + text, applied.reasoning + reasoning
    elif frame in ("message.completed", "message.interrupted"):
        reasoning = reasoning or applied.reasoning  # the last frame of a message need not say it again
    elif frame != "message.opened":
        return applied
    return Applied(client=applied.client, text=text, reasoning=reasoning, position=event.position)
