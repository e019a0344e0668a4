"""The command line.

Each command lives in a module of its own that is imported when the command is
used, so that ``--help``, ``check`` and ``show`` start without trio and
Hypothesis.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence

import click

from sim.errors import Exit, SimError
from sim.version import __version__

# command: (module, one line for --help)
COMMANDS = {
    "run": ("run", "Run race scenarios against a journal and judge it."),
    "replay": ("replay", "Run a saved failing case again: same trace, or fixed?"),
    "pin": ("pin", "Write a saved failing case as a small scenario of its own."),
    "show": ("show", "Print everything that happened in a saved case, or the points of a scenario."),
    "check": ("scenarios", "Check scenario files, without running anything."),
    "fmt": ("scenarios", "Print scenario files in canonical form, or rewrite them."),
    "new": ("scenarios", "Write a small scenario to start from."),
    "schema": ("scenarios", "Print the JSON Schema of scenario files, for editors."),
    "list": ("listing", "List scenarios, invariants, bugs, adapters, faults or saved failures."),
    "explain": ("listing", "Explain an invariant."),
    "doctor": ("doctor", "Run cases in fresh processes and compare their traces."),
    "demo": ("demo", "Show a failure and how to read it."),
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"sim.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name + "_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="journalsim")
def cli() -> None:
    """Find what an LLM agent's journal loses when a person presses Stop.

    Start with: journalsim demo
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and ends the process with the exit code of ``sim.errors.Exit``."""
    _survive_odd_terminals()
    try:
        code = cli.main(args=arguments, prog_name="journalsim", standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped by the user", err=True)
        code = Exit.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # nobody reads any more: end without a traceback
        code = Exit.HELD
    except SimError as error:
        text = str(error)
        click.echo(text if text.startswith(("error", "warning")) else f"error: {text}", err=True)
        code = error.exit_code
    except Exception:
        traceback.print_exc()
        click.echo(f"this is a bug in journalsim {__version__}: please report it with the lines above", err=True)
        code = Exit.INTERNAL
    sys.exit(int(code or 0))


def _survive_odd_terminals() -> None:
    """Prints what a terminal's encoding cannot show as an escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
