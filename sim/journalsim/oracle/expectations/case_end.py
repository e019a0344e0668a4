"""The end of a case, as the expectations of a scenario read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from attrs import frozen

from journalsim.contract.events.client_events import ClientApplied, ClientReloaded, ClientView
from journalsim.contract.events.journal_events import JournalContext
from journalsim.contract.events.model_events import ModelCalled
from journalsim.contract.items import Item
from journalsim.history import EventOf
from journalsim.oracle.facts.client_views import views_of
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.scenario.values.expect import ItemMatch, TextMatch
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import Text


@frozen(eq=False)
class CaseEnd:
    """The end of one case.

    Attributes:
        scenario: names and texts that expectations use.
        facts: what happened.
    """

    scenario: Scenario
    facts: Facts

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Whole texts by label."""
        return {
            part.label: "".join(part.pieces(number))
            for number, turn in enumerate(self.scenario.model.turns, 1)
            for part in turn.stream
            if isinstance(part, Text) and part.label is not None
        }

    @cached_property
    def journal(self) -> tuple[tuple[Item, str | None], ...]:
        """All rows with the references of their messages, session by session."""
        return tuple(
            pair
            for session, items in self.facts.journal.items()
            for pair in zip(items, self.facts.refs(items, session), strict=True)
        )

    @cached_property
    def context(self) -> tuple[tuple[Item, str | None], ...]:
        """The context of the next model call if it was read, else the context of the last call."""
        looks = self.facts.of(JournalContext)
        calls = [event for event in self.facts.of(ModelCalled) if event.data.purpose != "compaction"]
        if looks:
            items = looks[-1].data.items
        elif calls:
            items = calls[-1].data.context or ()
        else:
            return ()
        session = self.facts.session(looks[-1] if looks else calls[-1])
        return tuple(zip(items, self.facts.refs(items, session), strict=True))

    @cached_property
    def views(self) -> Mapping[str, tuple[Item, ...]]:
        """The items that each client displays; clients that received nothing are missing."""
        displayed: list[EventOf[ClientApplied | ClientReloaded | ClientView]] = []
        displayed += self.facts.of(ClientApplied)
        displayed += self.facts.of(ClientReloaded)
        displayed += self.facts.of(ClientView)
        return views_of(sorted(displayed, key=lambda event: event.position))

    def view(self, client: str) -> tuple[tuple[Item, str | None], ...]:
        """Returns the items that a client displays, with the references of their messages."""
        items = self.views.get(client, ())
        refs = self.facts.refs(items, self.session(client))
        return tuple((i, ref or self.facts.displayed_as.get(i.id or "")) for i, ref in zip(items, refs, strict=True))

    def session(self, client: str) -> str:
        """Returns the session that a client displays."""
        specs = {spec.name: spec for spec in self.scenario.clients}
        spec = specs[client]
        return specs[spec.observes].session if spec.observes is not None else spec.session

    def run(self, name: str) -> str | None:
        """Returns the id of ``run1``, the first accepted run, and so on."""
        runs = list(self.facts.runs)
        number = int(name.removeprefix("run"))
        return runs[number - 1] if number <= len(runs) else None

    def selected(self, pairs: Iterable[tuple[Item, str | None]], wanted: ItemMatch) -> tuple[Item, ...]:
        """Returns the items that the selectors choose; state and text are not selectors."""
        chosen = []
        for item, ref in pairs:
            fits = (
                wanted.message in (None, ref)
                and wanted.kind in (None, item.kind)
                and wanted.call in (None, item.call_id)
                and (wanted.run is None or item.run_id == self.run(wanted.run))
            )
            if fits:
                chosen.append(item)
        return tuple(chosen)

    def fitting(self, items: Iterable[Item], wanted: ItemMatch) -> tuple[Item, ...]:
        """Returns the items with the expected state and text."""
        return tuple(
            item
            for item in items
            if wanted.state in (None, item.state) and self._text_fits(item.text, wanted.text or TextMatch())
        )

    def _text_fits(self, text: str, match: TextMatch) -> bool:
        equal = match.equals is None or text == self._whole(match.equals)
        return equal and (match.prefix_of is None or self._whole(match.prefix_of).startswith(text))

    def _whole(self, text: str) -> str:
        """Returns the text that ``$label`` stands for, or the text itself."""
        return self.labels.get(text.removeprefix("$"), text) if text.startswith("$") else text

    def any_chunk_applied(self, ref: str) -> bool:
        """Returns True if a client displayed any text of a message before its run was stopped."""
        message = self.facts.messages.get(ref)
        run = self.facts.runs.get(message.run or "") if message is not None else None
        before = run.stop.delivered.position if run is not None and run.stop is not None else NEVER
        return any(applied.text or applied.reasoning for applied in self.facts.applied(ref, before))
