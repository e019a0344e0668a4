"""``journalsim explore``: generated scenarios."""

from __future__ import annotations

import sys
from typing import Any

import click

from journalsim.cli.spans import Span
from journalsim.errors import UsageError
from journalsim.version import __version__

FOR_S = 60.0


@click.command("explore")
@click.option("-a", "--adapter", default="ref", show_default=True, help="ref, ref:bug-NAME, python:pkg.mod:factory …")
@click.option(
    "--for", "for_s", type=Span(), metavar="TIME", help="Begin no case after this much real time.  [default: 60s]"
)
@click.option("--cases", type=click.IntRange(1), metavar="N", help="End with this case, whatever the time.")
@click.option("--seed", default=0, show_default=True, help="Another seed, other scenarios.")
@click.option("--wire", is_flag=True, help="Also watch over links that break; one find in many is the harness's own.")
@click.option("-j", "--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes.")
@click.pass_context
def explore_command(ctx: click.Context, /, **options: Any) -> None:
    """Run generated scenarios against a journal and judge it.

    Each violated invariant is shown once, with the smallest scenario that violates it; replay, show and pin take it
    from there. With --cases the output depends on the seed alone. The exit code says how it ended, as for run.
    """
    from journalsim.hosts.loading import load_adapter
    from journalsim.report.explored import Watcher, explored_failure, explored_summary, header
    from journalsim.search.exploration import Search, explore
    from journalsim.search.saved import save_failure

    load_adapter(options["adapter"])  # a wrong name is said before anything else is
    watcher = Watcher(click.echo, sys.stderr)
    search = Search(
        adapter=options["adapter"],
        seed=options["seed"],
        for_s=_seconds(options["for_s"], options["cases"]),
        cases=options["cases"] or 0,
        jobs=options["jobs"],
        wire=options["wire"],
        on_batch=watcher.look,
        on_shrink=watcher.shrink,
    )
    click.echo(header(search, __version__))
    result = explore(search)
    watcher.hide()
    for failure in result.failures:
        save_failure(failure, search.adapter)
        click.echo("\n" + explored_failure(failure, _about(search.adapter)))
    click.echo("\n" + explored_summary(result))
    ctx.exit(int(result.exit))


def _seconds(for_s: float | None, cases: int | None) -> float:
    """Returns the time limit; without any limit it is a minute, and a number of cases is a limit of its own."""
    if for_s is None:
        return 0.0 if cases else FOR_S
    if not for_s:
        raise UsageError("--for 0s leaves no time for a single case; write 60s or 10m")
    return for_s


def _about(adapter: str) -> Any:
    from journalsim.oracle.invariants.judge import INVARIANTS
    from journalsim.report.about import About

    statements = {name: invariant.statement for name, invariant in INVARIANTS.items()}
    return About(version=__version__, statements=statements, adapter=adapter)
