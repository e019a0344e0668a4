"""A history, indexed for the judges.

Many judges need the same values: the messages of a history, their state at the
stop, their rows in the journal.  :class:`Facts` computes each value once, on first
use, because most invariants need few of them and thousands of cases are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from attrs import field, frozen

from journalsim.contract.events.client_events import ClientApplied
from journalsim.contract.events.harness_events import BoundHit, DeadlockFound, QuietReached, StepTaken
from journalsim.contract.events.journal_events import JournalRead, StoreFailed
from journalsim.contract.events.model_events import ModelCalled, ModelChunk
from journalsim.contract.events.server_events import (
    AnswerAnswered,
    AnswerDelivered,
    FramePublished,
    MaintenanceDone,
    MaintenanceRefused,
    ServerCrashed,
    ServerShutDown,
    ServerStarted,
)
from journalsim.contract.items import Item
from journalsim.history import D, Event, EventOf, History
from journalsim.oracle.facts.attribution import Said, match_assistant_rows, match_user_rows
from journalsim.oracle.facts.displayed import applied_with, by_journal_id, match_frames, source_of
from journalsim.oracle.facts.event_index import EventIndex, Look
from journalsim.oracle.facts.gathering import (
    continues,
    gather_messages,
    gather_runs,
    gather_tools,
    gather_users,
    turn_of,
)
from journalsim.oracle.facts.item_keys import as_states, key_of
from journalsim.oracle.facts.records import Applied, ModelMessage, Run, ToolUse, UserMessage

NEVER = float("inf")
REWRITES = ("compact", "clear")
T = TypeVar("T")


@frozen(eq=False)
class Facts:
    """A history with values derived from it.

    Attributes:
        history: the history.
    """

    history: History
    _made: dict[Any, Any] = field(factory=dict, init=False)

    def once(self, work: Callable[[Facts], T]) -> T:
        """Returns the result of ``work`` on these facts, computed once for all judges."""
        if work not in self._made:
            self._made[work] = work(self)
        found: T = self._made[work]
        return found

    @cached_property
    def index(self) -> EventIndex:
        """All events by kind, in order."""
        return EventIndex(self.history.events)

    def of(self, kind: type[D]) -> Sequence[EventOf[D]]:
        """Returns the events of one kind, in order."""
        return self.index.of(kind)

    # --- runs and their ends ------------------------------------------------------------------

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """Accepted runs by id, in order of acceptance."""
        return gather_runs(self.index)

    @cached_property
    def cut(self) -> EventOf[DeadlockFound | BoundHit] | None:
        """The event that cut the case off before it came to rest, or None."""
        return next(iter(self.index.either(DeadlockFound, BoundHit)), None)

    @cached_property
    def crashes(self) -> tuple[int, ...]:
        """Positions at which the server process crashed."""
        return tuple(event.position for event in self.of(ServerCrashed))

    def crashed_between(self, begin: float, end: float) -> bool:
        """Returns True if the server process crashed between two positions."""
        return bool(self.crashes) and any(begin < position < end for position in self.crashes)

    def unsettled(self, run: Run) -> str:
        """Returns the reason why the outcome of ``run`` is undecided; empty if it is decided.

        A run is over when its end was announced, or when the case has come to rest.
        """
        read = self.final_reads.get(run.session)
        if read is None or (run.ended is not None and read.position < run.ended.position):
            return f"the journal was not read after run {run.id}"
        if self.history.capabilities.crash == "none" and self.crashed_between(run.asked, run.end):
            return f"the server crashed during run {run.id}, and the adapter does not declare crash"
        if run.ended is not None:
            return ""
        if self.cut is not None:
            return f"the case was cut off while run {run.id} was active"
        quiet = self.of(QuietReached)
        if not quiet:
            return f"the case did not come to rest while run {run.id} was active"
        if quiet[-1].data.unfinished:
            return f"run {run.id} waits for an event that is not in the script"
        down = self.crashes and not any(e.position > self.crashes[-1] for e in self.of(ServerStarted))
        return f"the server was not started again after run {run.id} crashed" if down else ""

    # --- the model and the tools --------------------------------------------------------------

    @cached_property
    def messages(self) -> Mapping[str, ModelMessage]:
        """Messages of the model by reference, in order, without summaries and messages of sub-agents."""
        return gather_messages(self.index)

    @cached_property
    def calls(self) -> Sequence[EventOf[ModelCalled]]:
        """The calls of the model that continue a session."""
        return [call for call in self.of(ModelCalled) if continues(call)]

    @cached_property
    def calls_aside(self) -> Mapping[str, str]:
        """The sub-agent that requested a tool call, by call id."""
        asides = {call.data.turn: call.data.who for call in self.of(ModelCalled) if not continues(call)}
        asked = (chunk for chunk in self.of(ModelChunk) if asides and chunk.data.part == "tool_call")
        turns = ((str(chunk.data.call_id), turn_of(chunk.data.message)) for chunk in asked)
        return {call_id: asides[turn] for call_id, turn in turns if turn in asides}

    @cached_property
    def tools(self) -> Mapping[str, ToolUse]:
        """Tool calls by call id, in order of request, then calls without a request."""
        return gather_tools(self.index, self.messages.values())

    @cached_property
    def denied(self) -> Mapping[str, EventOf[AnswerAnswered]]:
        """Answers of users that finally denied a call, by call id."""
        answered = [event for event in self.of(AnswerAnswered) if event.data.answer == "resolved"]
        given = self.of(AnswerDelivered)
        found: dict[str, EventOf[AnswerAnswered]] = {}
        for denial in (event for event in given if not event.data.approved):
            own = (a for a in answered if a.subject == denial.subject and a.position > denial.position)
            taken = next(own, None)
            before = [other for other in given if taken is not None and other.position < taken.position]
            if taken is not None and not any(o.data.approved and o.subject == denial.subject for o in before):
                found.setdefault(str(denial.subject), taken)
        return found

    # --- users --------------------------------------------------------------------------------

    @cached_property
    def users(self) -> Mapping[str, UserMessage]:
        """User messages by reference, in order of sending.

        One request key is one message.  If the adapter does not declare ``idempotent_start``,
        a key that was accepted for a second run is a second message, ``user1.again``.
        """
        once = self.history.capabilities.idempotent_start
        return gather_users(self.index, self.runs.values(), one_run_per_key=once)

    # --- live frames --------------------------------------------------------------------------

    @cached_property
    def frames(self) -> Mapping[str, Sequence[EventOf[FramePublished | ClientApplied]]]:
        """Frames about messages by journal id: published ones, then applied ones."""
        return by_journal_id(self.index.either(FramePublished, ClientApplied))

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """Provider ids by journal id, from frames."""
        pairs = ((journal_id, source_of(frames)) for journal_id, frames in self.frames.items())
        return {journal_id: source for journal_id, source in pairs if source is not None}

    @cached_property
    def displayed_as(self) -> Mapping[str, str]:
        """References of model messages by the journal id in their frames."""
        return match_frames(self.frames, tuple(self.messages.values()), self._ref_of_id)

    def _ref_of_id(self, journal_id: str) -> str | None:
        """Returns the reference of the message whose row has the id, or None."""
        return next((ref for ref, items in self.rows.items() for item in items if item.id == journal_id), None)

    def applied(self, ref: str, before: float = NEVER) -> tuple[Applied, ...]:
        """Returns the text of a model message that each client displayed just before a position, sorted by client."""
        found: dict[str, Applied] = {}
        for journal_id, own in self.displayed_as.items():
            for event in self.frames[journal_id] if own == ref else ():
                if isinstance(event.data, ClientApplied) and event.position < before:
                    client = event.actor
                    found[client] = applied_with(found.get(client, Applied(client=client)), event)
        return tuple(found[client] for client in sorted(found))

    # --- the journal --------------------------------------------------------------------------

    @cached_property
    def reads(self) -> Mapping[str, tuple[EventOf[JournalRead], ...]]:
        """All reads of the journal by session, oldest first."""
        found: dict[str, list[EventOf[JournalRead]]] = {}
        for event in self.of(JournalRead):
            found.setdefault(event.data.session, []).append(event)
        return {session: tuple(events) for session, events in found.items()}

    def begun(self, read: EventOf[JournalRead]) -> int:
        """Returns the position from which a read of the journal may miss events."""
        return read.position if read.data.since is None else read.data.since

    @cached_property
    def final_reads(self) -> Mapping[str, EventOf[JournalRead]]:
        """The last read of each session."""
        return {session: events[-1] for session, events in self.reads.items()}

    @cached_property
    def journal(self) -> Mapping[str, tuple[Item, ...]]:
        """The rows of each session at the end."""
        return {session: self.items(event) for session, event in self.final_reads.items()}

    @cached_property
    def rows(self) -> Mapping[str, tuple[Item, ...]]:
        """Rows at the end by the reference of their model or user message, in order."""
        found: dict[str, list[Item]] = {}
        for session, items in self.journal.items():
            for item, ref in zip(items, self.refs_in(self.final_reads[session]), strict=True):
                if ref is not None:
                    found.setdefault(ref, []).append(item)
        return {ref: tuple(items) for ref, items in found.items()}

    def was_seen(self, look: Look) -> bool:
        """Returns True if the harness saw the rows; the context of a model call may be unknown."""
        return not isinstance(look.data, ModelCalled) or look.data.context is not None

    def items(self, look: Look) -> tuple[Item, ...]:
        """Returns the items of a read or of a model context; flags of interruption become states."""
        key = (look.position, "items")
        if key not in self._made:
            data = look.data
            self._made[key] = as_states((data.context or ()) if isinstance(data, ModelCalled) else data.items)
        found: tuple[Item, ...] = self._made[key]
        return found

    def refs_in(self, look: Look) -> tuple[str | None, ...]:
        """Returns for each of :meth:`items` the reference of its message, or None."""
        key = (look.position, "refs")
        if key not in self._made:
            refs = self.refs(self.items(look), self.session(look))
            if not isinstance(look.data, JournalRead) and self._strangers:
                # a stranger in the journal is a stranger in the context of the model
                refs = tuple(
                    None if item.id in self._strangers else ref
                    for item, ref in zip(self.items(look), refs, strict=True)
                )
            self._made[key] = refs
        found: tuple[str | None, ...] = self._made[key]
        return found

    @cached_property
    def _strangers(self) -> tuple[str, ...]:
        """Ids of user and assistant rows at the end that match no message."""
        return tuple(
            item.id
            for read in self.final_reads.values()
            for item, ref in zip(self.items(read), self.refs_in(read), strict=True)
            if ref is None and item.id is not None and item.kind in ("user", "assistant")
        )

    def keyed(self, look: Look) -> Mapping[str, Sequence[Item]]:
        """Returns the items of :meth:`items` by the key that :func:`key_of` gives them."""
        key = (look.position, "keys")
        if key not in self._made:
            found: dict[str, list[Item]] = {}
            for item, ref in zip(self.items(look), self.refs_in(look), strict=True):
                found.setdefault(ref or key_of(item, ref), []).append(item)
            self._made[key] = found
        keyed: Mapping[str, Sequence[Item]] = self._made[key]
        return keyed

    def session(self, event: Event) -> str:
        """Returns the session of an event: the session that it names, else the session of its run."""
        run = self.runs.get(event.run or "")
        return event.data.session or (run.session if run is not None else "")

    def refs(self, items: Sequence[Item], session: str) -> tuple[str | None, ...]:
        """Returns for each item of a session the reference of its message, or None."""
        said = self._said_in(session)
        plain = said.plainly(items)
        if plain is not None:
            return plain
        sources = {} if all(i.aliases for i in items if i.kind == "assistant") else self.sources
        of_model = match_assistant_rows(items, said.messages, sources)
        of_users = match_user_rows(items, said.users, names_runs=self._names_runs)
        return tuple(a or b for a, b in zip(of_model, of_users, strict=True))

    @cached_property
    def _names_runs(self) -> bool:
        """True if the rows of the journal name runs as the server does."""
        return any(item.run_id in self.runs for items in self.journal.values() for item in items)

    def _said_in(self, session: str) -> Said:
        if session not in self._made:
            runs = self.runs
            messages = (m for m in self.messages.values() if m.run not in runs or runs[str(m.run)].session == session)
            users = (user for user in self.users.values() if user.session == session)
            self._made[session] = Said(tuple(messages), tuple(users))
        found: Said = self._made[session]
        return found

    def stored(self, ref: str) -> tuple[Item, ...]:
        """Returns the rows of one message at the end."""
        return self.rows.get(ref, ())

    @cached_property
    def markers(self) -> Mapping[str, tuple[Item, ...]]:
        """Terminals in the journal at the end, by run; terminals that name no run are assigned in order."""
        found: dict[str, list[Item]] = {}
        for session, items in self.journal.items():
            markers = [item for item in items if item.kind == "marker"]
            named = {item.run_id for item in markers}
            free = (run.id for run in self.runs.values() if run.session == session and run.id not in named)
            for item in markers:
                found.setdefault(item.run_id or next(free, ""), []).append(item)
        return {run: tuple(items) for run, items in found.items()}

    @cached_property
    def call_rows(self) -> Mapping[str, tuple[Item, ...]]:
        """Rows of tool calls at the end, requests and results, by call id."""
        found: dict[str, list[Item]] = {}
        for items in self.journal.values():
            for item in items:
                if item.kind in ("tool_call", "tool_result"):
                    found.setdefault(item.call_id or "", []).append(item)
        return {call_id: tuple(items) for call_id, items in found.items()}

    @cached_property
    def failed_appends(self) -> tuple[Item, ...]:
        """Rows whose append failed or has an unknown outcome."""
        return tuple(event.data.item for event in self.of(StoreFailed))

    @cached_property
    def unwritten(self) -> frozenset[str]:
        """References of messages whose append failed or has an unknown outcome."""
        if not self.failed_appends:
            return frozenset()
        sessions = dict.fromkeys(run.session for run in self.runs.values())
        refs = [ref for session in sessions for ref in self.refs(self.failed_appends, session)]
        return frozenset(ref for ref in refs if ref is not None)

    def rewritten(self, session: str, after: int) -> bool:
        """Returns True if maintenance may have removed rows of a session that existed at ``after``."""
        return any(
            event.position > after and event.data.verb in REWRITES and event.data.session == session
            for event in self.of(MaintenanceDone)
        ) or (bool(self.kills_in_rewrites) and self.kills_in_rewrites[-1] > after)

    @cached_property
    def kills_in_rewrites(self) -> tuple[int, ...]:
        """Positions at which the server went down during a rewrite, which may have taken effect without a report."""
        ends = (*self.of(MaintenanceDone), *self.of(MaintenanceRefused))
        kills = sorted((*self.crashes, *(event.position for event in self.of(ServerShutDown))))
        found = []
        for step in self.of(StepTaken) if kills else ():
            if step.data.verb in REWRITES:
                kill = next((position for position in kills if position > step.position), None)
                over = any(step.position < end.position < (kill or 0) for end in ends)
                found += [kill] if kill is not None and not over else []
        return tuple(found)
