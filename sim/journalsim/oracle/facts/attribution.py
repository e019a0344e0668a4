"""Assigns each stored row to the message that it stores.

A journal has its own ids, a provider may give no ids or change them, and two
messages may have the same text.  So a row is matched by the strongest evidence:

1. an id of the provider among its aliases (or as its id);
2. its id, if a live frame ties that id to an id of the provider;
3. its whole text, messages with equal texts in order; then its text as a prefix
   of the text of a message without a row; both among the messages that were not
   retried, then among the failed attempts;
4. its whole text again, as a further copy of the last such message; then as a
   further prefix;
5. a common prefix: the same message, stored wrongly;
6. the only message of its run without a row.

If a failed attempt and its retry both match, the retry wins.  A row without a
match is a *stranger*: honest-provenance reports it, and the invariants about
messages ignore it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from attrs import define, field, frozen

from journalsim.contract.items import Item
from journalsim.oracle.facts.item_keys import bare
from journalsim.oracle.facts.records import ModelMessage, UserMessage


def match_assistant_rows(
    items: Sequence[Item], messages: Sequence[ModelMessage], sources: Mapping[str, str]
) -> tuple[str | None, ...]:
    """Returns for each row the reference of its model message; None for other rows and strangers.

    Args:
        items: rows of one session, oldest first.
        messages: the candidates, in order.
        sources: provider ids by journal id, from live frames.
    """
    matcher = _Matcher(items, tuple(messages))
    matcher.by_id(sources)
    if not matcher.open:
        return tuple(matcher.refs)
    for superseded in (False, True):
        for fits in (_same, _is_prefix):
            matcher.by_text(fits, superseded=superseded, reuse=False)
    for fits in (_same, _is_prefix):
        matcher.by_text(fits, reuse=True)
    for reuse in (False, True):
        matcher.by_text(_shares_prefix, reuse=reuse)
    matcher.by_elimination()
    return tuple(matcher.refs)


def match_user_rows(
    items: Sequence[Item], users: Sequence[UserMessage], *, names_runs: bool = False
) -> tuple[str | None, ...]:
    """Returns for each row the reference of its user message; None for other rows and strangers.

    The run that a row names decides; otherwise rows take messages of the same text
    in order, accepted ones first, and the remaining rows are copies of the last
    accepted message.  A row with another text, in a run whose message has no row,
    is that message, stored wrongly.

    Args:
        items: rows of one session, oldest first.
        users: the candidates, in order.
        names_runs: True if rows name runs as the server does.  Then a run without an acceptance, as
            after a crash before the answer, belongs to a message without an acceptance.
    """
    runs = {user.run: True for user in users if user.run is not None}
    refs: list[str | None] = [None] * len(items)
    taken: set[str] = set()
    open_rows = [i for i, item in enumerate(items) if item.kind == "user"]
    for index in open_rows:
        item = items[index]
        own = (u for u in users if u.run is not None and u.run == item.run_id and u.text == item.text)
        refs[index] = next((user.ref for user in own), None)
        taken.add(refs[index] or "")
    for index in open_rows:
        if refs[index] is None:
            unanswered = names_runs and items[index].run_id is not None and items[index].run_id not in runs
            same = [user for user in users if user.text == items[index].text]
            same.sort(key=lambda user: (user.accepted is None) is not unanswered)
            free = next((u for u in same if u.ref not in taken), None)
            last = next((u for u in reversed(same) if u.accepted is not None), None)
            found = free or last
            refs[index] = None if found is None else found.ref
            taken.add(refs[index] or "")
    for index in open_rows:
        if refs[index] is None:
            item = items[index]
            own = (u for u in users if u.run is not None and u.run == item.run_id and u.ref not in taken)
            refs[index] = next((user.ref for user in own), None)
    return tuple(refs)


@frozen(eq=False)
class Said:
    """All messages of one session, of the model and of users, in order."""

    messages: tuple[ModelMessage, ...]
    users: tuple[UserMessage, ...]

    def plainly(self, items: Sequence[Item]) -> tuple[str | None, ...] | None:
        """Returns the references of items by first alias, or by run and text; None if one item is ambiguous.

        This look-up is fast and serves nearly all histories.
        """
        found = [self._plain(item) for item in items]
        return None if "" in found else tuple(found)

    def _plain(self, item: Item) -> str | None:
        """Returns the reference of one item, None if it is not a message, or an empty text if it is ambiguous."""
        if item.kind == "assistant":
            message = self._by_alias.get(item.aliases[0]) if item.aliases else None
            return message.ref if message is not None and item.run_id == message.run else ""
        return self._by_run.get((item.run_id, item.text), "") if item.kind == "user" else None

    @cached_property
    def _by_alias(self) -> Mapping[str, ModelMessage]:
        owners = owners_of(self.messages)
        return {alias: own[0] for alias, own in owners.items() if len(own) == 1 and not own[0].superseded}

    @cached_property
    def _by_run(self) -> Mapping[tuple[str | None, str], str]:
        return {(user.run, user.text): user.ref for user in reversed(self.users) if user.run is not None}


def owners_of(messages: Iterable[ModelMessage]) -> dict[str, list[ModelMessage]]:
    """Returns messages by provider id; a provider may give one id to several messages."""
    owners: dict[str, list[ModelMessage]] = {}
    for message in messages:
        for provider_id in message.provider_ids:
            owners.setdefault(provider_id, []).append(message)
    return owners


@define
class _Matcher:
    """Rows without a message so far, and messages with a row."""

    items: Sequence[Item]
    messages: tuple[ModelMessage, ...]
    refs: list[str | None] = field(init=False)
    open: list[int] = field(init=False)
    taken: dict[str, bool] = field(init=False, factory=dict)
    runs: dict[str | None, bool] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.refs = [None] * len(self.items)
        self.open = [i for i, item in enumerate(self.items) if item.kind == "assistant"]
        self.runs = {message.run: True for message in self.messages}
        if any(message.superseded for message in self.messages):
            self.messages = tuple(sorted(self.messages, key=lambda message: message.superseded))

    def by_id(self, sources: Mapping[str, str]) -> None:
        """Takes steps 1 and 2."""
        owners = owners_of(self.messages)
        for index in tuple(self.open):
            item = self.items[index]
            ids = (*item.aliases, item.id, sources.get(item.id or ""))
            groups = [[m for m in owners.get(i or "", ()) if self._fits_run(item, m)] for i in ids]
            lasting = [[m for m in group if not m.superseded] for group in groups]
            found = next((group for group in (*lasting, *groups) if group), [])
            if len(found) == 1:
                self._take(index, found[0])

    def by_text(
        self, fits: Callable[[Item, ModelMessage], bool], *, reuse: bool, superseded: bool | None = None
    ) -> None:
        """Assigns to open rows the first free message that fits; with ``reuse``, else the last that fits."""
        among = [m for m in self.messages if superseded in (None, m.superseded)]
        for index in tuple(self.open):
            item = self.items[index]
            fitting = [m for m in among if self._fits_run(item, m) and fits(item, m)]
            free = [m for m in fitting if m.ref not in self.taken]
            if free:
                self._take(index, free[0])
            elif fitting and reuse:
                self._take(index, fitting[-1])

    def by_elimination(self) -> None:
        """Takes step 6."""
        for index in tuple(self.open):
            item = self.items[index]
            free = [m for m in self.messages if m.run == item.run_id and m.ref not in self.taken]
            if not bare(item):
                free = [m for m in free if m.whole_text or m.whole_reasoning]
            if len(free) == 1 and item.run_id is not None:
                self._take(index, free[0])

    def _take(self, index: int, message: ModelMessage) -> None:
        self.refs[index] = message.ref
        self.taken[message.ref] = True
        self.open.remove(index)

    def _fits_run(self, item: Item, message: ModelMessage) -> bool:
        # a system may have its own names for runs: only a known run can exclude a message
        return item.run_id == message.run or item.run_id not in self.runs


def _same(item: Item, message: ModelMessage) -> bool:
    return item.text == message.whole_text and (bool(item.text) or item.reasoning == message.whole_reasoning)


def _is_prefix(item: Item, message: ModelMessage) -> bool:
    if item.text:
        return message.whole_text.startswith(item.text)
    return bool(item.reasoning) and message.whole_reasoning.startswith(item.reasoning)


def _shares_prefix(item: Item, message: ModelMessage) -> bool:
    chunks: Iterable[str] = (c.data.text for c in message.chunks if c.data.part == "text")
    first = next((text for text in chunks if text.strip()), message.whole_text)
    return bool(first) and item.text.startswith(first)
