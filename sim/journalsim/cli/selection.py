"""Which scenarios a command is about: paths, names, ``-k`` and ``-t``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from journalsim.errors import NothingSelectedError, UsageError
from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim.scenario.builtin import builtin_folder
from journalsim.scenario.files import find_scenarios, load_file
from journalsim.scenario.shapes.near_words import did_you_mean
from journalsim.scenario.shapes.problems import Problem, ScenarioError
from journalsim.scenario.values.scenario import Scenario


def select(wanted: Sequence[str], expression: str = "", tags: Sequence[str] = ()) -> tuple[Scenario, ...]:
    """Returns the scenarios that the arguments name; all built-in ones when there are none.

    Args:
        wanted: files, folders, or names of built-in scenarios.
        expression: words with ``and``, ``or``, ``not`` and parentheses, matched against name, path and tags.
        tags: any of these.

    Raises:
        UsageError: a path does not exist, files have errors, or names are used twice.
        NothingSelectedError: nothing is left.
    """
    scenarios = load_all(_files(wanted))
    matches = compile_expression(expression)
    chosen = tuple(s for s in scenarios if matches(_words(s)) and (not tags or set(tags) & set(s.tags)))
    if not chosen:
        raise NothingSelectedError(
            f"nothing selected: none of {len(scenarios)} scenarios fits -k/-t; see: journalsim list scenarios"
        )
    return chosen


def load_all(paths: Iterable[Path]) -> tuple[Scenario, ...]:
    """Loads files, collecting the problems of all of them before giving up.

    Raises:
        UsageError: some file has errors, or two scenarios have one name.
    """
    problems: list[Problem] = []
    scenarios: list[Scenario] = []
    for path in paths:
        try:
            scenarios.append(load_file(path, known_invariants=frozenset(INVARIANTS)))
        except ScenarioError as error:
            problems.extend(error.problems)
    if problems:
        raise ScenarioError(problems)
    by_name: dict[str, Scenario] = {}
    for scenario in scenarios:
        other = by_name.setdefault(scenario.name, scenario)
        if other is not scenario:
            raise UsageError(f"two scenarios are named {scenario.name!r}: {other.path} and {scenario.path}")
    return tuple(scenarios)


def _files(wanted: Sequence[str]) -> list[Path]:
    if not wanted:
        return find_scenarios([builtin_folder()])
    files: list[Path] = []
    for word in wanted:
        if os.path.exists(word) or "/" in word or word.endswith((".yaml", ".yml")):
            files += find_scenarios([Path(word)])
        else:
            files.append(_builtin(word))
    return list({path.resolve(): path for path in files}.values())


def _builtin(name: str) -> Path:
    by_name = {path.name.removesuffix(".race.yaml"): path for path in find_scenarios([builtin_folder()])}
    if name not in by_name:
        hint = did_you_mean(name, by_name)
        raise UsageError(f"no file, folder or built-in scenario {name!r}{'; ' + hint if hint else ''}")
    return by_name[name]


def _words(scenario: Scenario) -> str:
    return " ".join((scenario.name, scenario.path, *scenario.tags)).lower()


def compile_expression(expression: str) -> Callable[[str], bool]:
    """Returns a test for texts; ``stop and not (tool or slow)`` looks for those words anywhere in the text.

    Raises:
        UsageError: the expression is not of that form.
    """
    tokens = re.findall(r"\(|\)|[^\s()]+", expression)
    if not tokens:
        return lambda text: True
    parsed, rest = _either(tokens, expression)
    if rest:
        raise UsageError(f"-k {expression!r}: cannot read {rest[0]!r} here")
    return parsed


Parsed = tuple[Callable[[str], bool], list[str]]


def _either(tokens: list[str], whole: str) -> Parsed:
    left, rest = _both(tokens, whole)
    while rest and rest[0] == "or":
        right, rest = _both(rest[1:], whole)
        left = (lambda a, b: lambda text: a(text) or b(text))(left, right)
    return left, rest


def _both(tokens: list[str], whole: str) -> Parsed:
    left, rest = _one(tokens, whole)
    while rest and rest[0] == "and":
        right, rest = _one(rest[1:], whole)
        left = (lambda a, b: lambda text: a(text) and b(text))(left, right)
    return left, rest


def _one(tokens: list[str], whole: str) -> Parsed:
    if not tokens or tokens[0] in (")", "and", "or"):
        raise UsageError(f"-k {whole!r}: a word is missing{f' before {tokens[0]!r}' if tokens else ' at the end'}")
    head, rest = tokens[0], tokens[1:]
    if head == "not":
        inner, rest = _one(rest, whole)
        return (lambda text: not inner(text)), rest
    if head == "(":
        inner, rest = _either(rest, whole)
        if not rest or rest[0] != ")":
            raise UsageError(f"-k {whole!r}: a closing parenthesis is missing")
        return inner, rest[1:]
    return (lambda text: head.lower() in text), rest
