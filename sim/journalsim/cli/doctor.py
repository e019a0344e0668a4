"""``journalsim doctor``."""

from __future__ import annotations

import click

from journalsim.cli.selection import select
from journalsim.errors import Exit
from journalsim.version import __version__


@click.command("doctor")
@click.argument("wanted", nargs=-1, metavar="[PATH|NAME]...")
@click.option("-a", "--adapter", default="ref", show_default=True, help="As for run.")
@click.option("-k", "expression", default="", metavar="EXPR", help="Only scenarios that match, as for run.")
@click.option("--processes", type=click.IntRange(2, 1000), default=4, show_default=True, help="Fresh processes.")
@click.pass_context
def doctor_command(ctx: click.Context, wanted: tuple[str, ...], adapter: str, expression: str, processes: int) -> None:
    """Run cases in fresh processes under different hash seeds and compare their traces.

    Exit 5 when a case took two ways; the first event that differs is shown.
    """
    from journalsim.hosts.loading import load_adapter
    from journalsim.report.escape import visible
    from journalsim.report.words import count
    from journalsim.search.doctor import examine

    scenarios = select(wanted, expression)
    load_adapter(adapter)
    click.echo(f"journalsim {__version__}  doctor  adapter {visible(adapter)}  {count(len(scenarios), 'scenario')}")
    found = examine(scenarios, adapter, processes)
    for difference in found.differences:
        click.echo(f"\nDIFFERENT  {difference.scenario}: {visible(str(difference.case))}")
        click.echo(f"  {len(difference.hashes)} traces in {processes} processes: {', '.join(difference.hashes)}")
        click.echo(f"  first difference, event {difference.position}:")
        click.echo(f"  - {visible(difference.ours)}\n  + {visible(difference.theirs)}")
    if found.hints:
        click.echo("\nsources of nondeterminism that the code under test uses (harmless unless they reach the trace):")
        for hint in found.hints:
            click.echo(f"  {visible(hint)}")
    click.echo(
        f"{count(found.cases, 'case')} in {processes} fresh processes, hash seeds 0 to {processes - 1}: "
        f"{len(found.differences) or 'no'} difference{'' if len(found.differences) == 1 else 's'}"
    )
    ctx.exit(int(Exit.NONDETERMINISTIC if found.differences else Exit.HELD))
