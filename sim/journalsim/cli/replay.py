"""``journalsim replay``: a saved failing case once more."""

from __future__ import annotations

from typing import Any

import click

from journalsim.case import AtPoint
from journalsim.errors import Exit
from journalsim.search.saved import FOLDER, Saved, adapter_for, list_saved, load_saved
from journalsim.version import __version__


@click.command("replay")
@click.argument("name", required=False, metavar="[ID|FILE]")
@click.option("-a", "--adapter", help="Run it against this adapter instead of the one under which it failed.")
@click.pass_context
def replay_command(ctx: click.Context, name: str | None, adapter: str | None) -> None:
    """Run a saved failing case again: same trace, or fixed?

    ID is what the report printed after `journalsim replay`; its end is enough. Without it, the saved cases are
    listed. Exit 1 when the case still fails, 0 when it is fixed, 3 when its action can no longer be placed.
    """
    if name is None:
        _list()
        return
    saved = load_saved(name)
    ctx.exit(int(_replay(saved, adapter_for(saved, adapter))))


def _list() -> None:
    saved = list_saved()
    for known in saved:
        click.echo(known)
    if saved:
        click.echo("journalsim replay ID runs one of these again")
    else:
        click.echo(f"no saved failing cases in {FOLDER}; a failing `journalsim run` saves its cases there")


def _replay(saved: Saved, spec: str) -> Exit:
    from journalsim.engine.hosting import host
    from journalsim.history import trace_hash
    from journalsim.hosts.loading import load_adapter
    from journalsim.report.escape import visible
    from journalsim.report.text import help_lines
    from journalsim.search.execute import Executor, workspace

    adapter = load_adapter(spec)
    with workspace() as folder:
        executor = Executor(saved.scenario, adapter, folder)
        result = host(lambda it: executor.judge(it, saved.case))
    found = trace_hash(result.history.events)
    broken = {violation.invariant: violation for violation in result.violations}
    click.echo(f"journalsim {__version__}  {saved.id}  adapter {visible(spec)}")
    click.echo(f"case   {visible(str(saved.case))}")
    click.echo(f"trace  {found}  (saved: {saved.trace_hash})")
    still = [name for name in saved.broke if name in broken]
    for name in still:
        click.echo(
            f"violated {name}\n  promised: {visible(broken[name].promised)}\n  found:    {visible(broken[name].found)}"
        )
    if not result.reached:
        click.echo("note: an action of this case was placed at a point that was never reached: " + _lost(saved, result))
    if result.trouble is not None:
        click.echo("\n".join([f"adapter error: {visible(result.trouble)}", *help_lines(spec)]))
        return Exit.ADAPTER
    if not still and broken:
        click.echo(f"CHANGED: {', '.join(saved.broke)} holds now, but {', '.join(sorted(broken))} does not")
        return Exit.BROKEN
    if not still:
        if not result.reached:
            click.echo("NOT RACED: no invariant was violated, but the action of this case did not happen")
            return Exit.INCONCLUSIVE
        click.echo(f"FIXED: {', '.join(saved.broke)} holds in this case")
        return Exit.HELD
    if found == saved.trace_hash:
        click.echo("REPRODUCED: the same trace, event for event")
        return Exit.BROKEN
    click.echo("STILL VIOLATED, on another trace: the code under test, the adapter or journalsim has changed since")
    return Exit.BROKEN


def _lost(saved: Saved, result: Any) -> str:
    points = set(result.points)
    named = [str(value) for _, value in saved.case.axes if isinstance(value, AtPoint) and value.name not in points]
    return ", ".join(named) or "see journalsim show"
