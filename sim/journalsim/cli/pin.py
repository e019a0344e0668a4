"""``journalsim pin``: a failing case as a scenario that a person edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from journalsim.errors import Exit, UsageError
from journalsim.search.saved import Saved, adapter_for, load_saved


@click.command("pin")
@click.argument("name", metavar="ID|FILE")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; standard output without it.")
@click.option("-a", "--adapter", help="Shrink against this adapter instead of the one under which it failed.")
@click.option("--whole", is_flag=True, help="Keep script and steps as they are; only place the actions.")
@click.pass_context
def pin_command(ctx: click.Context, name: str, output: Path | None, adapter: str | None, whole: bool) -> None:
    """Write a saved failing case as a small scenario of its own, which `run` accepts and which fails alike."""
    saved = load_saved(name)
    if output is not None and output.exists():
        raise UsageError(f"{output} exists; choose another file")
    spec = adapter_for(saved, adapter)
    scenario, runs = _smallest(saved, spec, whole)
    if scenario is None:
        click.echo(f"{saved.id} no longer fails under {spec}: nothing to pin", err=True)
        ctx.exit(int(Exit.INCONCLUSIVE))
    from journalsim.scenario.dump import dump_scenario

    text = dump_scenario(scenario)
    if output is None:
        click.echo(text, nl=False)
        return
    from journalsim.report.files import write_file

    write_file(output, text)
    click.echo(f"wrote {output} after {runs} runs; it fails under: journalsim run {output} -a {spec}")


def _smallest(saved: Saved, spec: str, whole: bool) -> tuple[Any, int]:
    from attrs import evolve

    from journalsim.engine.hosting import host
    from journalsim.hosts.loading import load_adapter
    from journalsim.search.candidates import CANDIDATES
    from journalsim.search.execute import workspace
    from journalsim.search.reduce import smallest

    adapter, candidates = load_adapter(spec), () if whole else CANDIDATES
    with workspace() as folder:
        for cause in saved.causes:
            found = host(
                lambda it, c=cause: smallest(  # type: ignore[misc]
                    it, adapter, folder, saved.scenario, saved.case, c, candidates=candidates
                )
            )
            if found.violation is not None:
                name = f"{saved.scenario.name}-{saved.case.id}"
                summary = f"Pinned: {cause[0]} violated in {saved.id}"
                return evolve(found.scenario, name=name, summary=summary, why="", tags=(), covers=()), found.runs
    return None, 0
