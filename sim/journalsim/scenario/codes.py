"""The codes of all problems that a scenario file can have."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # the file and its YAML
    "E001": "the file or folder cannot be read",
    "E002": "the file is too large",
    "E003": "the file is not UTF-8, or holds a character that YAML does not allow",
    "E004": "the file is empty",
    "E005": "the YAML has a syntax error",
    "E006": "lists and mappings are nested too deeply",
    "E007": "aliases repeat too much of the file",
    "E008": "YAML tags are not used in scenarios",
    "E009": "a file holds exactly one document",
    "E010": "a key is given twice",
    "E011": "merge keys are not used in scenarios",
    "E012": "an alias names no earlier anchor",
    "E013": "a key is not a plain word",
    "E014": "there are too many problems to show",
    "E015": "a folder holds no scenarios",
    "E016": "a comment has no place in the canonical form",
    # values
    "E020": "a value is of the wrong kind",
    "E021": "a time needs a unit",
    "E022": "a time cannot be read, or is out of range",
    "E023": "a number cannot be read, or is out of range",
    "E024": "a text needs quotes",
    "E025": "a value is none of the allowed words",
    "E026": "a point or placement cannot be read",
    "E027": "a name is not well formed, or is taken",
    "E028": "the version of the language is not known",
    "E029": "something is empty that must not be",
    "E030": "a key is missing",
    "E031": "keys exclude one another",
    "E032": "something is too long",
    # unknown words
    "E101": "a key is not known",
    "E102": "an actor is not known",
    "E103": "an action is not known",
    "E104": "an expectation is not known",
    "E105": "a capability is not known",
    "E106": "a policy is not known",
    "E107": "an invariant is not known",
    "E108": "a step is not written as actor.action",
    # references within the file
    "E201": "an axis is not in the sweep",
    "E202": "an axis of the sweep is not used",
    "E203": "no earlier step has the label",
    "E204": "no text has the label",
    "E205": "a tool call's id is used twice",
    "E206": "a tool call is not in the model's script",
    "E207": "clients observe each other in a circle",
    "E208": "the sweep has more cases than its limit",
    "E209": "a turn, message, chunk or run is not in the script",
    "E210": "a scenario has no steps",
    "E211": "a turn of the model ends not at all, or too early",
    "E212": "a label is given twice",
    "E213": "an axis of the sweep is used as something else than it sweeps",
}
"""Every code and what it means."""
