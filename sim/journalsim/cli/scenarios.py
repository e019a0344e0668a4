"""``journalsim check``, ``fmt``, ``new`` and ``schema``: files only, nothing is run."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from pathlib import Path

import click

from journalsim.cli.selection import load_all
from journalsim.cli.templates import ADAPTER, CI, EXPECTED
from journalsim.errors import Exit, UsageError
from journalsim.scenario.dump import format_text
from journalsim.scenario.files import SUFFIX, find_scenarios, read_bytes
from journalsim.scenario.schema import json_schema
from journalsim.scenario.shapes.problems import Problem, ScenarioError
from journalsim.scenario.template import new_scenario


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def check_command(paths: tuple[Path, ...]) -> None:
    """Check scenario files and report every problem of all of them, without running anything."""
    scenarios = load_all(find_scenarios(list(paths)))
    click.echo(f"{len(scenarios)} scenario{'' if len(scenarios) == 1 else 's'}: no problems (nothing was run)")


@click.command("fmt")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit 1 if a file would change.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the result instead of rewriting the file.")
@click.pass_context
def fmt_command(ctx: click.Context, paths: tuple[Path, ...], only_check: bool, to_stdout: bool) -> None:
    """Rewrite scenario files in canonical form."""
    texts = _formatted(find_scenarios(list(paths)))
    changed = [path for path, (before, after) in texts.items() if before != after]
    for path, (_, after) in texts.items():
        if to_stdout:
            click.echo(after, nl=False)
        elif path in changed and not only_check:
            _rewrite(path, after)
    if not to_stdout:
        for path in changed:
            click.echo(f"{'would rewrite' if only_check else 'rewrote'} {path}")
        count = f"{len(texts)} file{'' if len(texts) == 1 else 's'}"
        click.echo(f"{count}, {len(changed)} {'to change' if only_check else 'changed'}")
    ctx.exit(int(Exit.BROKEN if only_check and changed else Exit.HELD))


def _formatted(paths: list[Path]) -> dict[Path, tuple[str, str]]:
    """Formats every file before any is rewritten, so that a problem in one leaves all as they are."""
    problems: list[Problem] = []
    texts: dict[Path, tuple[str, str]] = {}
    for path in paths:
        data = read_bytes(path)
        try:
            texts[path] = (data.decode("utf-8", "replace"), format_text(data, str(path)))
        except ScenarioError as error:
            problems.extend(error.problems)
    if problems:
        raise ScenarioError(problems)
    return texts


def _rewrite(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


@click.command("new")
@click.argument("what", type=click.Choice(["scenario", "adapter", "expected", "ci"]))
@click.argument("name", default="")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; standard output without it.")
def new_command(what: str, name: str, output: Path | None) -> None:
    """Write a file to start from.

    scenario: a small race; NAME is its name. adapter, expected, ci: for a journal of your own; NAME is the Python
    module of the adapter.
    """
    if what == "scenario":
        text, hint = _scenario(name or "my-race"), f"journalsim run {output}"
    else:
        beside = output.stem if output is not None and what == "adapter" else "my_journal"
        module = name or beside
        template, hint = {
            "adapter": (ADAPTER, f"journalsim run -a python:{module}:make"),
            "expected": (EXPECTED, "journalsim run, which finds it under the name expected-failures.yaml"),
            "ci": (CI, f"bash {output}"),
        }[what]
        text = template.format(module=module)
    if output is None:
        click.echo(text, nl=False)
        return
    if output.exists():
        raise UsageError(f"{output} exists; choose another file")
    _rewrite(output, text)
    click.echo(f"wrote {output}; try: {hint}")
    if what == "scenario" and not output.name.endswith(SUFFIX):
        click.echo(f"note: only *{SUFFIX} is found when you name a folder", err=True)


def _scenario(name: str) -> str:
    try:
        return new_scenario(name)
    except ScenarioError:
        usual = "-".join(re.findall("[a-z0-9]+", name.lower()))
        hint = f", such as {usual}" if usual else ""
        raise UsageError(f"{name!r} is no name: use small letters and digits, words joined by -{hint}") from None


@click.command("schema")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; standard output without it.")
def schema_command(output: Path | None) -> None:
    """Print the JSON Schema (draft-07) of scenario files, for completion in editors."""
    text = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        _rewrite(output, text)
        click.echo(f"wrote {output}")
