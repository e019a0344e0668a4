"""``journalsim list`` and ``journalsim explain``."""

from __future__ import annotations

import inspect
import textwrap

import click

from journalsim.contract.events.event_table import RECORDS, FieldDoc, field_docs, summary
from journalsim.errors import UsageError
from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim.scenario.codes import CODES
from journalsim.scenario.shapes.near_words import did_you_mean

KINDS = ("scenarios", "invariants", "bugs", "adapters", "events", "faults", "losses", "failures", "coverage")
WIDTH = 100  # as wide as a report


@click.command("list")
@click.argument("what", type=click.Choice(KINDS), metavar="WHAT")
def list_command(what: str) -> None:
    """List things of one kind, one per line: the name, then a description.

    WHAT is scenarios, invariants, bugs, adapters, events (the kinds of events in a history), faults, losses,
    failures (saved failing cases), or coverage: which entries of the catalogue of public failure modes the
    scenarios cover, per system.
    """
    rows = {
        "scenarios": _scenarios,
        "invariants": _invariants,
        "bugs": _bugs,
        "adapters": _adapters,
        "events": _events,
        "faults": _faults,
        "losses": _losses,
        "failures": _failures,
        "coverage": _coverage,
    }[what]()
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        click.echo(f"{name:{width}}  {text}".rstrip())


Rows = list[tuple[str, str]]


def _scenarios() -> Rows:
    from journalsim.cli.selection import select

    return [(s.name, s.summary + (f"  [{', '.join(s.covers)}]" if s.covers else "")) for s in select(())]


def _invariants() -> Rows:
    return [(name, invariant.statement) for name, invariant in INVARIANTS.items()]


def _bugs() -> Rows:
    from journalsim.hosts.loading import zoo

    return [(bug.name, f"{bug.failure_mode:5}  {bug.summary}  breaks: {', '.join(bug.trips)}") for bug in zoo()]


def _adapters() -> Rows:
    from journalsim.hosts.loading import stores

    return [
        ("ref", "the reference journal: SQLite, or the store that a scenario asks for"),
        *((f"ref:{name}", what) for name, what in stores().items()),
        ("ref:bug-NAME", "the reference journal with one known bug; see: journalsim list bugs"),
        ("python:pkg.mod:factory", "your own adapter, store level or runner level"),
        ("asgi:pkg.mod:app", "an ASGI application, or a factory of one that takes the ports; in virtual time"),
        ("http://host:port", "a server that runs already; in real time, not bit-exact"),
    ]


def _events() -> Rows:
    return [(kind, summary(cls)) for kind, cls in RECORDS.items()]


def _losses() -> Rows:
    from journalsim.contract.disk_faults import LOSSES

    return [("memory", "what the process held in memory: a kill"), *LOSSES.items()]


def _faults() -> Rows:
    from journalsim.scenario.words.disk_words import disk_faults

    return [
        ("late", "a request arrives later: alice.stop: {at: …, late: 50ms}"),
        ("lost", "a request never arrives: alice.send: {text: …, lost: true}"),
        ("doubled", "a request arrives twice: alice.send: {text: …, doubled: 30ms}"),
        ("cut", "a stream breaks: faults: [{link: {from: server, to: alice}, cut: {after_frames: 5}}]"),
        ("reset", "a stream breaks, and what is under way is lost: reset: {after_bytes: 300}"),
        ("end", "a stream ends cleanly before its time: end: {after_frames: 5}"),
        ("half_open", "a connection lets nothing through, and neither side notices: half_open: {after_frames: 5}"),
        ("crash", "the server process dies, or its power fails: server.crash: {at: …, lose: …}; see: list losses"),
        *((f"disk {kind}", f"{what}: disk: {{at: …, kind: {kind}}}") for kind, what in disk_faults().items()),
        ("jump", "the wall clock moves: clock.jump: {by: -1h}"),
        ("error", "the model breaks off: - error: overloaded"),
        ("silent", "the model's stream just ends: - end: silent"),
        ("stall", "the model's stream goes quiet for ever: - stall: forever"),
        ("late completion", "the model completes after it was cancelled: after_close: {complete: 20ms}"),
        ("rename", "the provider changes the message's id: - rename: msg-2"),
        ("hang", "a tool never returns: - hang: t1"),
    ]


def _coverage() -> Rows:
    from journalsim.cli.selection import select
    from journalsim.scenario.catalogue import coverage

    rows = []
    for row in coverage(covers for scenario in select(()) for covers in scenario.covers):
        total = len(row.covered) + len(row.missing)
        rows.append((row.system, f"{len(row.covered):2} of {total:2} covered: {' '.join(row.covered) or '-'}"))
        rows.append((f"{row.system}, not yet", " ".join(row.missing) or "-"))
    return rows


def _failures() -> Rows:
    from journalsim.search.saved import list_saved

    return [(name, "journalsim replay " + name) for name in list_saved()]


@click.command("explain")
@click.argument("name", metavar="NAME")
def explain_command(name: str) -> None:
    """Explain an invariant, a kind of event, an error code, a bug of the zoo, or an entry of the catalogue.

    An invariant (partial-is-prefix): its statement, an example, the usual cause, public cases. A kind of event
    (run.ended): its fields, as a trace writes them. An error code (E103), a bug (ref:bug-NAME), an entry of the
    catalogue of public failure modes (DF-2). http: the requests that a system behind HTTP answers.
    """
    text = _explained(name)
    if text is None:
        raise UsageError(_unknown(name))
    click.echo("\n\n".join(map(_wrapped, text.split("\n\n"))))


def _wrapped(paragraph: str) -> str:
    """Returns prose in lines of at most ``WIDTH`` columns, and a table as it is."""
    table = paragraph.startswith(("=", "  "))
    return paragraph if table else textwrap.fill(paragraph, WIDTH, break_on_hyphens=False)


def _unknown(name: str) -> str:
    alike = [known for known in (*INVARIANTS, *RECORDS) if name in known]
    hint = f"did you mean {' or '.join(alike)}?" if alike else did_you_mean(name, [*INVARIANTS, *CODES, *RECORDS])
    see = "journalsim list events" if "." in name else "journalsim list invariants"
    return f"nothing is called {name!r}{'; ' + hint if hint else ''}; see: {see}"


def _explained_event(kind: str) -> str:
    cls = RECORDS[kind]
    docs = field_docs(cls)
    named = max((len(doc.name) for doc in docs), default=0)
    typed = max((len(doc.type) for doc in docs), default=0)
    rows = [_hanging(f"  {doc.name:{named}}  {doc.type:{typed}}  ", _field_text(doc)) for doc in docs]
    table = ["\n".join(rows)] if rows else []
    return "\n\n".join([kind, summary(cls), *table, f"In Python: from {cls.__module__} import {cls.__name__}"])


def _field_text(doc: FieldDoc) -> str:
    """Returns the description of a field, with how Python and traces differ."""
    text = doc.doc.replace("``", "")
    text += f" In Python: {doc.attribute}." if doc.attribute != doc.name else ""
    return text + (" Left out while it has its default." if doc.optional else "")


def _hanging(label: str, text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=label, subsequent_indent=" " * len(label), break_on_hyphens=False)


def _explained(name: str) -> str | None:
    if name in RECORDS:
        return _explained_event(name)
    if name == "http":
        from journalsim.hosts import http_contract

        return inspect.getdoc(http_contract)
    if name in INVARIANTS:
        return f"{name}\n\n{INVARIANTS[name].statement}\n\n{INVARIANTS[name].explain}"
    if name in CODES:
        return f"{name}: {CODES[name]}\n\nscenarios/README.md teaches the language."
    from journalsim.hosts.loading import zoo
    from journalsim.scenario.catalogue import catalogue

    if name in catalogue():
        mode = catalogue()[name]
        seen = f"\n\nSeen in public: {', '.join(mode.seen)}" if mode.seen else ""
        evidence = {"stated": "reported", "read": "read in the code", "inferred": "inferred from the code"}[
            mode.evidence
        ]
        where = f"{mode.system}, {evidence}; it may have been fixed since."
        return f"{name}: {mode.title}\n\nWrong: {mode.wrong}\n\nRight: {mode.right}\n\n{where}{seen}"
    for bug in zoo():
        if name.removeprefix("ref:").removeprefix("bug-") == bug.name:
            seen = f"\n\nSeen in public: {bug.failure_mode} of the catalogue" if bug.failure_mode else ""
            breaks = f"Breaks: {', '.join(bug.trips)}"
            return f"{bug.name}\n\n{bug.summary}\n\n{breaks}{seen}\n\nTry it: journalsim run -a ref:bug-{bug.name}"
    return None
