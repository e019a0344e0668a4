"""The command line.

Each command lives in a module of its own that is imported when the command is
used, so that ``--help``, ``check`` and ``show`` start without trio and
Hypothesis.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from types import FrameType

import click

from journalsim.errors import Exit, SimError
from journalsim.scenario.shapes.near_words import did_you_mean
from journalsim.version import __version__

# command: (module, one line for --help)
COMMANDS = {
    "run": ("run", "Run race scenarios against a journal and judge it."),
    "explore": ("explore", "Run generated scenarios against a journal and judge it."),
    "replay": ("replay", "Run a saved failing case again: same trace, or fixed?"),
    "pin": ("pin", "Write a saved failing case as a small scenario of its own."),
    "show": ("show", "Print everything that happened in a saved case, or the points of a scenario."),
    "check": ("scenarios", "Check scenario files, without running anything."),
    "fmt": ("scenarios", "Print scenario files in canonical form, or rewrite them."),
    "new": ("scenarios", "Write a small scenario to start from."),
    "schema": ("scenarios", "Print the JSON Schema of scenario files, for editors."),
    "list": ("listing", "List scenarios, invariants, bugs, adapters, events, faults or saved failures."),
    "explain": ("listing", "Explain an invariant, a kind of event, an error code, or a bug of the zoo."),
    "doctor": ("doctor", "Run cases in fresh processes and compare their traces."),
    "demo": ("demo", "Show a failure and how to read it."),
}


JUDGES = ("run", "explore", "replay", "pin", "doctor", "demo")
"""Commands that must not exit 0 when their output was not read to the end."""

_OF_THE_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE)


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"journalsim.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name + "_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        meant = f"to run scenarios: journalsim run {name}" if "." in name or "/" in name else ""
        hint = meant or did_you_mean(name, COMMANDS)
        raise click.UsageError(f"no command {name!r}{'; ' + hint if hint else ''}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(cls=_Lazy, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="journalsim", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Find what an LLM agent's journal loses when a person presses Stop.

    Start with: journalsim demo
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(int(Exit.USAGE))  # a script whose command went missing must not look green


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and ends the process with the exit code of ``journalsim.errors.Exit``."""
    _survive_odd_terminals()
    try:
        with _sigterm_is_ctrl_c():
            code = cli.main(args=arguments, prog_name="journalsim", standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        click.echo(_usage_text(error), err=True)
        code = Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        code = _stopped()
    except SystemExit:  # how click ends when its output is closed
        command = next(iter(sys.argv[1:] if arguments is None else arguments), "")
        code = Exit.INTERRUPTED if command in JUDGES else Exit.HELD
    except SimError as error:
        text = str(error)
        click.echo(text if text.startswith(("error", "warning")) else f"error: {text}", err=True)
        code = error.exit_code
    except BaseExceptionGroup as group:  # how trio passes on what a task raised, a second Ctrl-C too
        code = _stopped() if group.subgroup(KeyboardInterrupt) else _unforeseen(group)
    except Exception as error:
        code = _unforeseen(error)
    sys.exit(int(code or 0))


@contextlib.contextmanager
def _sigterm_is_ctrl_c() -> Iterator[None]:
    """Lets SIGTERM do what Ctrl-C does for as long as the block lasts, where this thread can."""

    def terminate(signum: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)  # trio has one of its own while it runs
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    saved = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, saved)


def _stopped() -> Exit:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # impatience must not end in a traceback
    click.echo("stopped by the user", err=True)
    return Exit.INTERRUPTED


def _unforeseen(error: BaseException) -> Exit:
    """Returns the exit code of an unforeseen error: a full disk is not a bug in journalsim."""
    if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
        click.echo(f"error: {error.filename or 'output'}: {error.strerror}", err=True)
        return Exit.USAGE
    traceback.print_exc()
    click.echo(f"this is a bug in journalsim {__version__}: please report it with the lines above", err=True)
    return Exit.INTERNAL


def _usage_text(error: click.ClickException) -> str:
    """Returns what is wrong with the arguments, in the form of all our messages."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = " ".join(error.format_message().split())  # a list of choices comes one a line
    message = message[:1].lower() + message[1:]
    help = f"\n = help: {context.command_path} --help" if context is not None else ""
    return f"error: {message.removesuffix('.')}{help}"


def _survive_odd_terminals() -> None:
    """Prints what a terminal's encoding cannot show as an escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
