"""What a scenario expects: conditions, invariants to exercise, and exemptions."""

from __future__ import annotations

from attrs import fields, frozen

from journalsim.scenario.shapes.derived import Converted
from journalsim.scenario.shapes.keys import Key
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.nodes import Node
from journalsim.scenario.shapes.reading import Bad, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Text
from journalsim.scenario.values.expect import Exemption, Expect
from journalsim.scenario.words.conditions import CONDITIONS
from journalsim.scenario.words.names import INVARIANT


@frozen(kw_only=True)
class _Exemption:
    """An exemption as it is written: ``id`` is another word for ``invariant``."""

    invariant: str | None = None
    id: str | None = None
    reason: str


class ExemptionShape(Record[_Exemption]):
    """An invariant that is not checked, and why."""

    def wrong(self, node: Node, reading: Reading) -> Bad:
        help = "write {invariant: …, reason: …}"
        return reading.error("E030", node.at, "an exemption needs a reason", help=help)


_EXEMPTION = Converted(
    written=ExemptionShape(
        what="an exemption",
        cls=_Exemption,
        described=Exemption,
        keys={
            "invariant": Key(INVARIANT, fields(_Exemption).invariant, doc="the invariant that is not checked"),
            "id": Key(INVARIANT, fields(_Exemption).id, doc="the same as invariant"),
            "reason": Key(
                Text(what="a reason", one_line=True, empty=False),
                fields(_Exemption).reason,
                required=True,
                doc="why it is not checked",
            ),
        },
        exclusive=(("invariant", "id"),),
        one_of=("invariant", "id"),
    ),
    convert=lambda written: Exemption(invariant=written.invariant or written.id or "", reason=written.reason),
    revert=lambda exemption: _Exemption(invariant=exemption.invariant, reason=exemption.reason),
)
_E = fields(Expect)
EXPECT = Record(
    what="expect",
    cls=Expect,
    keys={
        "finally": Key(CONDITIONS, _E.finally_),
        "sometimes": Key(CONDITIONS, _E.sometimes),
        "exercises": Key(ListOf(of=INVARIANT, what="a list of invariants"), _E.exercises),
        "except": Key(ListOf(of=_EXEMPTION, what="a list of exemptions"), _E.exempt),
    },
    nullable=True,
)
