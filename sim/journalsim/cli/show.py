"""``journalsim show``: everything that happened in a case."""

from __future__ import annotations

from typing import Any

import click

from journalsim.errors import UsageError
from journalsim.search.saved import adapter_for, list_saved, load_saved


@click.command("show")
@click.argument("name", metavar="ID|FILE|SCENARIO")
@click.option("--points", is_flag=True, help="List the points of a scenario, where actions can be placed.")
@click.option("--trace", is_flag=True, help="Print the events as NDJSON.")
@click.option("-a", "--adapter", help="Run against this adapter instead.")
def show_command(name: str, points: bool, trace: bool, adapter: str | None) -> None:
    """Print everything that happened in a saved case, or in the baseline run of a scenario."""
    scenario, case, spec, broke = _subject(name, adapter)
    ran = _run(scenario, case, spec)
    if points:
        for point in ran.points:
            click.echo(point)
    elif trace:
        from journalsim.history import as_json

        for event in ran.history.events:
            click.echo(as_json(event))
    else:
        from journalsim.report.show import show_text

        evidence = [e for violation in ran.violations if violation.invariant in broke for e in violation.evidence]
        click.echo(show_text(ran.history, title=f"{scenario.name}: {case}", evidence=evidence))


def _subject(name: str, adapter: str | None) -> tuple[Any, Any, str, tuple[str, ...]]:
    if name.endswith((".yaml", ".yml")) or ("@" not in name and not name.endswith(".json") and name not in _ids()):
        from journalsim.cli.selection import select
        from journalsim.search.sweep import baseline

        (scenario, *more) = select([name])
        if more:
            raise UsageError(f"{name} holds {len(more) + 1} scenarios: name one")
        return scenario, baseline(scenario), adapter or "ref", ()
    saved = load_saved(name)
    return saved.scenario, saved.case, adapter_for(saved, adapter), saved.broke


def _ids() -> list[str]:
    return [known.rpartition("@")[2] for known in list_saved()]


def _run(scenario: Any, case: Any, spec: str) -> Any:
    from journalsim.engine.hosting import host
    from journalsim.hosts.loading import load_adapter
    from journalsim.search.execute import Executor, workspace

    with workspace() as folder:
        executor = Executor(scenario, load_adapter(spec), folder)
        return host(lambda it: executor.judge(it, case))
