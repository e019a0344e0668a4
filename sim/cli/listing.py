"""``journalsim list`` and ``journalsim explain``."""

from __future__ import annotations

import click

from sim.errors import UsageError
from sim.invariants.judge import INVARIANTS
from sim.scenario.problems import did_you_mean


@click.command("list")
@click.argument("what", type=click.Choice(["scenarios", "invariants", "bugs", "adapters", "faults", "failures"]))
def list_command(what: str) -> None:
    """List what there is, one per line: the name first, then what it is."""
    rows = {
        "scenarios": _scenarios,
        "invariants": _invariants,
        "bugs": _bugs,
        "adapters": _adapters,
        "faults": _faults,
        "failures": _failures,
    }[what]()
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        click.echo(f"{name:{width}}  {text}".rstrip())


Rows = list[tuple[str, str]]


def _scenarios() -> Rows:
    from sim.cli.selection import select

    return [(s.name, s.summary + (f"  [{', '.join(s.covers)}]" if s.covers else "")) for s in select(())]


def _invariants() -> Rows:
    return [(name, invariant.promise) for name, invariant in INVARIANTS.items()]


def _bugs() -> Rows:
    from sim.adapters.loading import zoo

    return [(bug.name, f"{bug.failure_mode}  {bug.summary}  breaks: {', '.join(bug.trips)}") for bug in zoo()]


def _adapters() -> Rows:
    return [
        ("ref", "the reference journal on a SQLite file"),
        ("ref:memory", "the reference journal in memory"),
        ("ref:bug-NAME", "the reference journal with one known bug; see: journalsim list bugs"),
        ("python:pkg.mod:factory", "your own adapter, store level or runner level"),
    ]


def _faults() -> Rows:
    return [
        ("late", "a request arrives later: alice.stop: {at: …, late: 50ms}"),
        ("lost", "a request never arrives: alice.send: {text: …, lost: true}"),
        ("doubled", "a request arrives twice: alice.send: {text: …, doubled: 30ms}"),
        ("crash", "the server process dies: server.crash: {at: …}"),
        ("jump", "the wall clock moves: clock.jump: {by: -1h}"),
        ("error", "the model breaks off: - error: overloaded"),
        ("silent", "the model's stream just ends: - end: silent"),
        ("stall", "the model's stream goes quiet for ever: - stall: forever"),
        ("late completion", "the model completes after it was cancelled: after_close: {complete: 20ms}"),
        ("rename", "the provider changes the message's id: - rename: msg-2"),
        ("hang", "a tool never returns: - hang: t1"),
    ]


def _failures() -> Rows:
    from sim.search.saved import list_saved

    return [(name, "journalsim replay " + name) for name in list_saved()]


@click.command("explain")
@click.argument("name", metavar="INVARIANT")
def explain_command(name: str) -> None:
    """Explain an invariant: what it promises, an example, the usual cause, public cases."""
    invariant = INVARIANTS.get(name)
    if invariant is None:
        hint = did_you_mean(name, INVARIANTS)
        raise UsageError(f"no invariant {name!r}{'; ' + hint if hint else ''}; see: journalsim list invariants")
    click.echo(f"{name}\n\n{invariant.promise}\n\n{invariant.explain}")
