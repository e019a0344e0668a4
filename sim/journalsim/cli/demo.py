"""``journalsim demo``: a failure, and how to read it."""

from __future__ import annotations

import click

from journalsim.errors import Exit
from journalsim.version import __version__

SCENARIO = "stop-vs-completion"
BUG = "ref:bug-partial-written-after-completion"


@click.command("demo")
@click.pass_context
def demo_command(ctx: click.Context) -> None:
    """Show a failure and how to read it: Stop lands around the end of an answer, and the answer is there twice."""
    from journalsim.cli.selection import select
    from journalsim.hosts.loading import load_adapter
    from journalsim.oracle.invariants.judge import INVARIANTS
    from journalsim.report.about import About
    from journalsim.report.text import failure_text, scenario_lines
    from journalsim.search.saved import save_failure
    from journalsim.search.scenario_run import run_scenario

    (scenario,) = select([SCENARIO])
    click.echo(f"journalsim {__version__}  demo\n")
    click.echo(f"The scenario {SCENARIO}: {scenario.summary}")
    click.echo("First against the reference journal, in which every invariant holds:\n")
    click.echo(scenario_lines(run_scenario(scenario, load_adapter("ref"))))
    click.echo("\nNow against the same journal with one seeded bug (-a " + BUG + "):\n")
    result = run_scenario(scenario, load_adapter(BUG))
    click.echo(scenario_lines(result))
    about = About(version=__version__, adapter=BUG, statements={name: i.statement for name, i in INVARIANTS.items()})
    for failure in result.failures[:1]:
        save_failure(failure, BUG)
        click.echo("\n" + failure_text(failure, about))
    click.echo(
        "\nNext: journalsim list scenarios; journalsim new scenario; journalsim run -a python:your.module:factory"
    )
    ctx.exit(int(Exit.BROKEN if result.failures else Exit.INCONCLUSIVE))
