"""What is known of a scenario while its file is read, beyond what every reading knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen, mutable

from journalsim.scenario.shapes.reading import Bad, Reading
from journalsim.scenario.values.speech import Turn
from journalsim.scenario.words.other_words import OTHER_WORDS

_ALWAYS = {"model": "llm", "server": "server", "maintenance": "maintenance", "clock": "clock"}


@frozen(kw_only=True)
class StepLabel:
    """The label of a step, as far as it could be read."""

    name: str
    step: int
    verb: str


@mutable(kw_only=True)
class ScenarioReading(Reading):
    """The reading of a scenario file.

    Attributes:
        known_invariants: ids that ``exercises`` and ``except`` may name; None accepts any.
        actors: the kind of each actor, by name; ``?`` if the file does not say it well.
        actors_known: whether these are all actors.
        turns: the turns of the model, wrong ones included; None if they could not be read.
        labels: the labels of the steps, in order.
    """

    other_words: Mapping[str, Sequence[str]] = OTHER_WORDS
    known_invariants: frozenset[str] | None = None
    actors: dict[str, str] = field(factory=lambda: dict(_ALWAYS))
    actors_known: bool = True
    turns: Sequence[Turn | Bad] | None = ()
    labels: list[StepLabel] = field(factory=list)


def of_scenario(reading: Reading) -> ScenarioReading:
    """Returns the reading as that of a scenario; shapes of scenarios are read with no other."""
    assert isinstance(reading, ScenarioReading), reading
    return reading


def step_at(path: Sequence[str | int]) -> int:
    """Returns the number of the step, from 1, in which a part of the file stands; 0 outside of steps."""
    match path:
        case ["steps", int(number), *_]:
            return number + 1
    return 0


def axis_at(path: Sequence[str | int]) -> str:
    """Returns the name of the sweep axis in which a part of the file stands; empty outside of axes."""
    match path:
        case ["sweep", str(name), *_]:
            return name
    return ""
