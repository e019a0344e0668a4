"""Checks between the parts of a file, once every part has been read: every name refers to something."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from journalsim.case import NEVER, AtByte, AtCursor, AtFrame, Placement
from journalsim.scenario.shapes.nodes import List
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import Bad, Reference
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.links import LinkFault
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import Break, CallTool, Finish, NewMessage, Ping, SilentEnd, Text, Turn
from journalsim.scenario.words.place_words import MODEL_POINT, TOOL_POINT
from journalsim.scenario.words.scenario_reading import ScenarioReading, axis_at, step_at


def check_references(root: MappingNode, reading: ScenarioReading) -> None:
    """Reports references to things that the file does not have, and things that are never used."""
    for reference in reading.references:
        _CHECKS[reference.kind](reference, root, reading)
    _uncalled_tools(reading)
    steps = root.get("steps")
    if isinstance(steps, List):
        _unused_axes(reading)
        if not steps.items:
            reading.error("E210", root.span_of("steps"), "a scenario has at least one step")


Check = Callable[[Reference, MappingNode, ScenarioReading], object]


def _client(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    if not reading.actors_known or reading.actors.get(reference.name) in ("client", "?"):
        return
    known = [name for name, kind in reading.actors.items() if kind == "client"]
    note = f"clients: {', '.join(known)}"
    message = f"unknown client {quoted(reference.name)}"
    reading.error("E102", reference.at, message, note=note, near=known, word=reference.name)


def _tool(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    if reading.actors.get(reference.name, "tool") not in ("tool", "?"):
        reading.error("E102", reference.at, f"{quoted(reference.name)} is not a tool")


def _axis(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    sweep = root.get("sweep")
    if not reading.defines("axis", reference.name) and (sweep is None or isinstance(sweep, MappingNode)):
        known = reading.names("axis")
        message = f"the sweep has no axis {quoted(reference.name)}"
        help = "" if known else f"add sweep: {{{reference.name}: {{every: point}}}}"
        reading.error("E201", reference.at, message, help=help, near=known, word=reference.name)
    wanted, other = ("losses", "places") if reference.kind == "loss axis" else ("places", "losses")
    if reading.defines(f"axis of {other}", reference.name):
        help = "write at: $axis for places, and lose: $axis for losses"
        reading.error("E201", reference.at, f"the axis {quoted(reference.name)} has {other}, not {wanted}", help=help)


def _label(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    before = step_at(reference.path)
    if axis := axis_at(reference.path):
        users = [step_at(r.path) for r in reading.references if r.kind == "axis" and r.name == axis]
        before = min(users, default=0)
    _step_label(reference, reading, before, {label.name: label.step for label in reversed(reading.labels)}, "step")


def _send(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    sends = {label.name: label.step for label in reversed(reading.labels) if label.verb == "send"}
    _step_label(reference, reading, step_at(reference.path), sends, "send")


def _step_label(
    reference: Reference, reading: ScenarioReading, before: int, first: Mapping[str, int], noun: str
) -> None:
    """Reports a label that no step above step ``before`` has; 0 means no step at all."""
    if not reading.labels or (reference.name in first and (not before or first[reference.name] < before)):
        return
    known = [name for name, step in first.items() if not before or step < before]
    message = (
        f"no earlier {noun} has the label {quoted(reference.name)}"
        if before
        else f"no {noun} has the label {quoted(reference.name)}"
    )
    late = reference.name in first
    help = f"step {first[reference.name]} has it, but comes later" if late else ""
    note = f"labels above: {', '.join(known)}" if known and before else ""
    reading.error("E203", reference.at, message, note=note, help=help, near=known, word=reference.name)


def _text(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    if not reading.defines("text", reference.name):
        known = reading.names("text")
        help = "" if known else "give a text of the script a label: {words: 12, label: …}"
        message = f"no text has the label {quoted(reference.name)}"
        reading.error("E204", reference.at, message, help=help, near=known, word=reference.name)


def _call(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    if not reading.defines("call", reference.name) and reading.turns is not None:
        known = reading.names("call")
        message = f"no tool_call of the script has the id {quoted(reference.name)}"
        note = f"ids: {', '.join(known)}" if known else ""
        reading.error("E206", reference.at, message, note=note, near=known, word=reference.name)


def _invariant(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    known = reading.known_invariants
    if known is not None and reference.name not in known:
        message = f"unknown invariant {quoted(reference.name)}"
        reading.error(
            "E107", reference.at, message, note="see: journalsim list invariants", near=known, word=reference.name
        )


# --- what the model's script holds ---------------------------------------------------------------

_TURN = re.compile(r"model\.turn([1-9][0-9]*)")
_MESSAGE = re.compile(r"model\.turn([1-9][0-9]*)(?:\.m([0-9]+))?|user([0-9]+)")
_ENDS: Mapping[str, tuple[type, str]] = {
    "finish": (Finish, "does not finish"),
    "error": (Break, "has no error"),
    "end": (SilentEnd, "does not end silently"),
}


def _message(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    found = _MESSAGE.fullmatch(reference.name)
    assert found is not None, reference
    turn, message, user = found.groups()
    if user is not None:
        sends = sum(label.verb == "send" for label in reading.labels)
        return _bounded(reference, reading, int(user), sends, "send in the steps", "sends in the steps")
    parts = _turn(reference, int(turn), reading)
    if parts is None or message is None:
        return None
    messages = 1 + sum(isinstance(part, NewMessage) for part in parts.stream)
    return _bounded(reference, reading, int(message), messages, f"message in turn {turn}", f"messages in turn {turn}")


def _run(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    requests = sum(label.verb in ("send", "resubmit") for label in reading.labels)
    _bounded(reference, reading, int(reference.name[3:]), requests, "send in the steps", "sends in the steps")


def _bounded(reference: Reference, reading: ScenarioReading, number: int, most: int, one: str, many: str) -> None:
    if number > most:
        message = f"{quoted(reference.name)} does not exist"
        reading.error(
            "E209", reference.at, message, note=f"there is {most} {one}" if most == 1 else f"there are {most} {many}"
        )


def _turn(reference: Reference, number: int, reading: ScenarioReading) -> Turn | None:
    """Returns a turn of the script; None after reporting that it is missing, and when it could not be read."""
    if reading.turns is None:
        return None
    if number > len(reading.turns):
        _bounded(reference, reading, number, len(reading.turns), "turn in script.model", "turns in script.model")
        return None
    turn = reading.turns[number - 1]
    return None if isinstance(turn, Bad) else turn


def _prefix(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    found = _TURN.match(reference.name)
    if found:
        _turn(reference, int(found.group(1)), reading)


def _point(reference: Reference, root: MappingNode, reading: ScenarioReading) -> None:
    tool = TOOL_POINT.fullmatch(reference.name)
    if tool:
        call = Reference(kind="call", name=tool.group(1), at=reference.at)
        return _call(call, root, reading)
    found = MODEL_POINT.fullmatch(reference.name)
    turn = _turn(reference, int(found.group(1)), reading) if found else None
    if turn is None or found is None:
        return None
    if found.group(4):
        one = f"chunk in turn {found.group(1)}"
        return _bounded(reference, reading, int(found.group(4)), chunk_count(turn), one, one.replace("chunk", "chunks"))
    ending = _ENDS.get(found.group(3) or found.group(6) or "")
    last = turn.stream[-1]
    if ending is not None and not isinstance(last, ending[0]):
        reading.error(
            "E209", reference.at, f"{quoted(reference.name)} does not exist", note=f"turn {found.group(1)} {ending[1]}"
        )
    return None


def chunk_count(turn: Turn) -> int:
    """Returns how many chunks a turn streams: all parts but pauses, renames and the end."""
    count = 0
    for part in turn.stream:
        if isinstance(part, Text):
            count += len(part.chunks) or part.words
        elif isinstance(part, CallTool):
            count += 1 + len(part.args_chunks)
        elif isinstance(part, Ping):
            count += part.times
        else:
            count += isinstance(part, NewMessage)
    return count


_CHECKS: Mapping[str, Check] = {
    "client": _client,
    "tool": _tool,
    "axis": _axis,
    "loss axis": _axis,
    "label": _label,
    "send": _send,
    "text": _text,
    "call": _call,
    "invariant": _invariant,
    "message": _message,
    "run": _run,
    "prefix": _prefix,
    "point": _point,
}

# --- what is there but not used, or not possible -------------------------------------------------


def _unused_axes(reading: ScenarioReading) -> None:
    used = {reference.name for reference in reading.references if reference.kind in ("axis", "loss axis")}
    for (kind, name), at in reading.definitions.items():
        if kind == "axis" and name not in used:
            help = f"write at: ${name} in a step, or leave the axis out"
            reading.error("E202", at, f"no step uses the axis {quoted(name)}", help=help)


def _uncalled_tools(reading: ScenarioReading) -> None:
    called = {reference.name for reference in reading.references if reference.kind == "tool"}
    for (kind, name), at in reading.definitions.items():
        if kind == "script" and name not in called and name not in reading.actors:
            message = f"no tool_call names the tool {quoted(name)}"
            reading.error("E102", at, message, near={*called, "model"}, word=name)


def check_observers(clients: Iterable[ClientSpec], root: MappingNode, reading: ScenarioReading) -> None:
    """Reports clients that observe each other in a circle."""
    watched = {client.name: client.observes for client in clients}
    for name in watched:
        seen, current = [name], watched[name]
        while current is not None and current not in seen:
            seen.append(current)
            current = watched.get(current)
        if current == name:
            actors = root.get("actors")
            assert isinstance(actors, MappingNode)
            reading.error("E207", actors.span_of(name), f"{' observes '.join([*seen, name])}: a circle")


def check_axes(scenario: Scenario, reading: ScenarioReading) -> None:
    """Reports axes that sweep something else than where they are used."""
    uses = {step.timing.axis: "point" for step in scenario.steps}
    uses |= {step.cursor.axis: "cursor" for step in scenario.steps if step.cursor is not None}
    uses |= {fault.spot.axis: "byte" for fault in scenario.faults if isinstance(fault, LinkFault)}
    for axis in scenario.sweep.axes:
        found = {_use_of(value) for value in axis.values if value != NEVER}
        found |= {{"step": "point", "frame": "byte"}.get(axis.every, axis.every)} - {""}
        wanted = uses.get(axis.name, "point")
        if found - {wanted}:
            at = reading.definitions["axis", axis.name]
            use, help = _USES[wanted]
            reading.error("E213", at, f"the axis {quoted(axis.name)} is used {use}", help=help)


def _use_of(value: Placement) -> str:
    if isinstance(value, AtByte | AtFrame):
        return "byte"
    return "cursor" if isinstance(value, AtCursor) else "point"


_USES: Mapping[str, tuple[str, str]] = {
    "point": ("as a moment", "its values are points, steps or times: {every: point}"),
    "cursor": ("as a cursor", "its values are cursors: {every: cursor}"),
    "byte": ("as a place in a stream", "its values are bytes or frames: {every: byte}"),
}
