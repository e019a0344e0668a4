"""A scenario as a value: what an author writes, after every check.

The YAML loader, the Python builder and the generator all make these classes;
``dump`` prints them in canonical form.  The loader refuses what breaks a rule of
the language, and :func:`journalsim.scenario.dump.checked` holds a scenario that was
built in Python to the same rules.  Durations are integer nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from attrs import field, frozen

from journalsim.case import Delay
from journalsim.scenario.values.axes import Sweep
from journalsim.scenario.values.cast import ClientSpec, Limits, ModelSpec, StoreSpec, ToolSpec
from journalsim.scenario.values.disk_fault import DiskFault
from journalsim.scenario.values.expect import Expect
from journalsim.scenario.values.links import LinkFault, LinkShape
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.speech import CallTool

LANGUAGE_VERSION = 1

AnyFault: TypeAlias = LinkFault | LinkShape | DiskFault


@frozen(kw_only=True)
class Scenario:
    """A race, told once.

    Attributes:
        name: kebab-case, unique in a collection.
        summary: one line.
        why: what the race is about, for a reader who does not know the system.
        tags: words to select by.
        covers: entries of the failure catalogue.
        needs: capabilities without which it cannot be asked of an adapter.
        policies: options of :data:`journalsim.contract.capabilities.POLICIES`.
        limits: time limits that the system is to keep.
        model: the scripted model.
        tools: the scripted tools.
        clients: the people, in order.
        store: the storage below the journal.
        faults: faults of links and of the disk.
        steps: what happens.
        sweep: where it happens.
        schedule: deviations from first in, first out, as a search found them.
        expect: what must come out.
        path: the file, for messages; not part of the value.
    """

    name: str
    summary: str = ""
    why: str = ""
    tags: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    policies: Mapping[str, str] = field(factory=dict)
    limits: Limits = field(factory=Limits)
    model: ModelSpec = field(factory=ModelSpec)
    tools: tuple[ToolSpec, ...] = ()
    clients: tuple[ClientSpec, ...] = (ClientSpec(name="client"),)
    store: StoreSpec = field(factory=StoreSpec)
    faults: tuple[AnyFault, ...] = ()
    steps: tuple[Step, ...]
    sweep: Sweep = field(factory=Sweep)
    schedule: tuple[Delay, ...] = ()
    expect: Expect = field(factory=Expect)
    path: str = field(default="", eq=False)

    def tool(self, name: str) -> ToolSpec:
        """Returns the tool of this name; one that nobody scripted answers at once."""
        return next((tool for tool in self.tools if tool.name == name), ToolSpec(name=name))

    @property
    def uses_wire(self) -> bool:
        """Whether clients have to watch byte by byte: something here is about connections or cursors."""
        links = any(not isinstance(fault, DiskFault) for fault in self.faults)
        return links or any(client.wire for client in self.clients) or any(map(_on_wire, self.steps))

    def calls(self) -> Iterator[CallTool]:
        """Yields every tool call in the model's script."""
        for turn in self.model.turns:
            yield from (part for part in turn.stream if isinstance(part, CallTool))


def _on_wire(step: Step) -> bool:
    return step.verb in ("hide", "show", "switch") or step.cursor is not None
