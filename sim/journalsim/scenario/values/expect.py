"""What a scenario expects of the end of its cases, beyond the invariants."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import field, frozen

from journalsim.contract.items import Cause, ItemKind, ItemState


@frozen(kw_only=True)
class TextMatch:
    """A condition on a text. ``$label`` stands for the whole text of that label.

    Attributes:
        equals: the text is exactly this.
        prefix_of: the text is a prefix of this.
    """

    equals: str | None = None
    prefix_of: str | None = None


@frozen(kw_only=True)
class ItemMatch:
    """Items: those that fit everything that is given. ``state`` and ``text`` say how the item has to be.

    Attributes:
        message: the message that the model or a person said.
        kind: items of this kind.
        call: the item of this tool call.
        run: items of this run; ``run1`` is the first accepted one.
        state: how the item ended.
        text: its text.
    """

    message: str | None = None
    kind: ItemKind | None = None
    call: str | None = None
    run: str | None = None
    state: ItemState | None = None
    text: TextMatch | None = None


@frozen(kw_only=True)
class ItemAbsence(ItemMatch):
    """No such item, ``unless`` a client displayed some of it."""

    unless: Literal["any_chunk_applied"] | None = None


@frozen(kw_only=True)
class ItemCount(ItemMatch):
    """So many such items: exactly ``is_``, or between the others."""

    is_: int | None = None
    at_least: int | None = None
    at_most: int | None = None


@frozen(kw_only=True)
class ItemView(ItemMatch):
    """Such an item in the view of each client of ``of``."""

    of: tuple[str, ...]


@frozen(kw_only=True)
class MessageOrder:
    """Messages in this order."""

    messages: tuple[str, ...]


@frozen(kw_only=True)
class EqualViews:
    """The view of each client of ``of`` equals ``to``: the journal, or the view of another client."""

    of: tuple[str, ...]
    to: str


@frozen(kw_only=True)
class RunEnd:
    """The announced end of a run."""

    run: str
    state: Literal["completed", "interrupted", "failed"] | None = None
    cause: Cause | None = None


@frozen(kw_only=True)
class ToolExecutions:
    """So many executions of a tool call."""

    call: str
    times: int


@frozen(kw_only=True)
class ModelCalls:
    """So many calls of the model for a turn."""

    turn: str
    times: int


@frozen(kw_only=True)
class Refusal:
    """The refusal of a send, by its label."""

    of: str


Arguments: TypeAlias = (
    ItemMatch
    | ItemAbsence
    | ItemCount
    | ItemView
    | MessageOrder
    | EqualViews
    | RunEnd
    | ToolExecutions
    | ModelCalls
    | Refusal
)
"""The arguments of a condition."""


@frozen(kw_only=True)
class Expectation:
    """A condition on the end of a case.

    Attributes:
        name: a key of :data:`journalsim.scenario.words.conditions.EXPECTATIONS`, such as ``journal.contains``,
            or one of ``exactly_one_of``, ``any_of``, ``all_of``, ``none_of``.
        arguments: its arguments; None for the four combining words.
        parts: for the four combining words, the conditions that they combine.
        line: line of the file, from 1; 0 if there is none.
    """

    name: str
    arguments: Arguments | None = None
    parts: tuple[Expectation, ...] = ()
    line: int = field(default=0, eq=False)


@frozen(kw_only=True)
class Exemption:
    """An invariant that is not checked here, and the reason."""

    invariant: str
    reason: str


@frozen(kw_only=True)
class Expect:
    """What a scenario expects beyond the invariants.

    Attributes:
        finally_: holds at the end of every case that the sweep spells out.
        sometimes: holds at the end of at least one of them; otherwise the scenario is inconclusive.
        exercises: invariants that must be exercised in at least one case, or it is inconclusive.
        exempt: invariants that are not checked here.
    """

    finally_: tuple[Expectation, ...] = ()
    sometimes: tuple[Expectation, ...] = ()
    exercises: tuple[str, ...] = ()
    exempt: tuple[Exemption, ...] = ()
