"""The small words of the language: texts, times, names and references."""

from __future__ import annotations

from typing import TypeVar, get_args, get_type_hints

from attrs import Attribute

from journalsim.contract.capabilities import POLICIES, Capabilities
from journalsim.scenario.shapes.durations import Duration
from journalsim.scenario.shapes.scalars import Choice, Name, Text

W = TypeVar("W", bound=str)

KEBAB = r"[a-z0-9]+(-[a-z0-9]+)*"
CALL_ID = r"[A-Za-z0-9][A-Za-z0-9_-]*"
_KEBAB_FORM = "small letters and digits, words joined by -"

TEXT = Text()
LINE = Text(what="a line of text", one_line=True)
DURATION = Duration()
COUNT_MAX = 100_000  # ten times what one case may last in steps

WORD = Name(what="a name")
TAG = Name(what="a tag", pattern=KEBAB, form=_KEBAB_FORM)
SCENARIO_NAME = Name(what="the name of a scenario", pattern=KEBAB, form=_KEBAB_FORM)
CATALOGUE_ID = Name(what="an entry of the failure catalogue", pattern="[A-Z]{2,5}-[1-9][0-9]*", form="such as DF-2")
CLIENT = Name(what="a client", refers="client")
AGENT = Name(what="the name of a sub-agent", refers="tool")
CALL = Name(what="the id of a tool call", pattern=CALL_ID, form="letters, digits, - and _", refers="call")
INVARIANT = Name(what="the id of an invariant", pattern=KEBAB, form=_KEBAB_FORM, refers="invariant")
AFTER = Name(what="the label of a step", refers="label")
SEND = Name(what="the label of a send", refers="send")
RUN = Name(what="a run", pattern="run[1-9][0-9]*", form="run1 is the first accepted run", refers="run")
TURN = Name(what="a turn of the model", pattern=r"model\.turn[1-9][0-9]*", form="such as model.turn1", refers="message")
MESSAGE = Name(
    what="a message",
    pattern=r"model\.turn[1-9][0-9]*(\.m([2-9]|[1-9][0-9]+))?|user[1-9][0-9]*",
    form="model.turn2, its second message model.turn2.m2, or user1",
    refers="message",
)
PREFIX = Name(
    what="the beginning of a point's name",
    pattern=r"[a-z][a-z0-9_-]*([.#][A-Za-z0-9_-]+)*[.#]?",
    form="such as model.turn2 or store.append",
    refers="prefix",
)


def words_of(cls: type, attribute: Attribute[W]) -> tuple[W, ...]:
    """Returns the words that a ``Literal`` attribute of a class may be, without the empty one."""
    return tuple(word for word in get_args(get_type_hints(cls)[attribute.name]) if word)


def capability_words() -> tuple[str, ...]:
    """Returns what a scenario can need: a capability, or ``capability.value`` for one that has several."""
    words: list[str] = []
    for name, hint in get_type_hints(Capabilities).items():
        values = [value for part in (hint, *get_args(hint)) for value in get_args(part) if isinstance(value, str)]
        words += [name, *(f"{name}.{value}" for value in values if value not in ("none", "undefined"))]
    words += [f"policies.{policy}" for policy in POLICIES]
    return tuple(words)


CAPABILITY = Choice(capability_words(), "a capability", "E105")
