"""``journalsim run``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from journalsim.cli.selection import select
from journalsim.cli.spans import Span
from journalsim.errors import NothingSelectedError, UsageError
from journalsim.version import __version__


def _shard(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", value)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise click.BadParameter(f"{value!r} is not K/N with 1 <= K <= N, such as 2/4")
    return int(match[1]), int(match[2])


@click.command("run")
@click.argument("wanted", nargs=-1, metavar="[PATH|NAME]...")
@click.option(
    "-a", "--adapter", default="ref", show_default=True, help="ref, python:pkg.mod:factory, asgi:pkg.mod:app, …"
)
@click.option(
    "-k", "expression", default="", metavar="EXPR", help="Only scenarios that match, as in 'stop and not tool'."
)
@click.option(
    "-t", "--tag", "tags", multiple=True, metavar="TAG", help="Only scenarios with this tag; may be repeated."
)
@click.option(
    "--profile",
    type=click.Choice(["quick", "ci", "deep"]),
    default="quick",
    show_default=True,
    help="quick: what the sweeps spell out; ci, deep: also some, or many, other schedules.",
)
@click.option("--seed", default=0, show_default=True, help="Of the other schedules in ci and deep.")
@click.option(
    "--shard",
    callback=_shard,
    default="1/1",
    metavar="K/N",
    show_default=True,
    help="Run only this part of the scenarios.",
)
@click.option("-j", "--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes.")
@click.option(
    "--time-budget", type=Span(), default=0.0, metavar="TIME", help="Begin no scenario after this much real time."
)
@click.option("--max-failures", type=click.IntRange(0), default=0, help="Begin no scenario after so many failed.")
@click.option(
    "--expected",
    type=click.Path(path_type=Path),
    help="Known failures of the adapter; expected-failures.yaml if it is there.",
)
@click.option("--report", type=click.Path(path_type=Path), help="Write report.txt, report.ndjson and junit.xml there.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write JUnit XML to this file.")
@click.option("--github", is_flag=True, help="Print annotations and write the job summary.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "ndjson"]),
    default="text",
    show_default=True,
    help="On standard output: for people, or one JSON object a line.",
)
@click.pass_context
def run_command(
    ctx: click.Context, /, wanted: tuple[str, ...], expression: str, tags: tuple[str, ...], **options: Any
) -> None:
    """Run race scenarios against a journal and judge it.

    Without PATH or NAME, all built-in scenarios. The exit code says how it ended: 0 all held, 1 an
    invariant violated, 2 nothing ran, 3 inconclusive, 4 nothing selected, 5 nondeterministic, 6 adapter error,
    130 stopped by Ctrl-C or SIGTERM.
    """
    scenarios = select(wanted, expression, tags)
    from journalsim.hosts.loading import load_adapter
    from journalsim.search.campaign import Campaign, run_campaign

    load_adapter(options["adapter"])  # a wrong name is said before anything else is
    known = _known_failures(options["expected"], options["adapter"])
    output = _Output(options)
    output.prepare()
    campaign = Campaign(
        scenarios=scenarios,
        adapter=options["adapter"],
        profile=options["profile"],
        seed=options["seed"],
        shard=options["shard"],
        jobs=options["jobs"],
        time_budget_s=options["time_budget"],
        max_failures=options["max_failures"],
        **known,
    )
    if not campaign.selected:
        k, n = options["shard"]
        raise NothingSelectedError(f"nothing selected: shard {k}/{n} is empty: there are only {len(scenarios)}")
    with output.following(len(campaign.selected)) as on_result:
        from attrs import evolve

        result = run_campaign(evolve(campaign, on_result=on_result))
    output.finish(result)
    ctx.exit(int(result.exit))


def _known_failures(path: Path | None, adapter: str) -> dict[str, Any]:
    from journalsim.oracle.invariants.judge import INVARIANTS
    from journalsim.scenario.known_failures import load_known_failures
    from journalsim.search.expected import FILE_NAME

    if path is None and not Path(FILE_NAME).is_file():
        return {}
    file = path or Path(FILE_NAME)
    known = load_known_failures(file, frozenset(INVARIANTS))
    return {"expected": known.expected, "expected_path": file} if known.adapter == adapter else {}


class _Output:
    """Everything that a run prints and writes."""

    def __init__(self, options: dict[str, Any]) -> None:
        from journalsim.oracle.invariants.judge import INVARIANTS
        from journalsim.report.about import About

        self._options = options
        self._unsaved = False
        self.about = About(
            version=__version__,
            statements={name: invariant.statement for name, invariant in INVARIANTS.items()},
            adapter=options["adapter"],
            report=str(options["report"] or options["junit"] or ""),
        )

    def prepare(self) -> None:
        """Makes sure that reports can be written, before anything runs."""
        from journalsim.report.files import prepare_file, prepare_folder

        if self._options["report"] is not None:
            prepare_folder(self._options["report"])
        if self._options["junit"] is not None:
            prepare_file(self._options["junit"])

    def following(self, total: int) -> Any:
        """Returns a context that yields what to call with each result, in order."""
        from contextlib import contextmanager

        from attrs import evolve

        from journalsim.report.ndjson import failure_line, run_line, scenario_line
        from journalsim.report.progress import progress
        from journalsim.report.text import header, scenario_lines

        options = self._options
        k, n = options["shard"]
        self.about = about = evolve(self.about, planned=total)
        circumstances: dict[str, Any] = {
            "adapter": options["adapter"],
            "profile": options["profile"],
            "seed": options["seed"],
            "shard": f"{k}/{n}",
        }
        text = options["form"] == "text"

        @contextmanager
        def follow() -> Any:
            click.echo(header(version=__version__, **circumstances) if text else run_line(about=about, **circumstances))
            with progress(total) as bar:

                def on_result(result: Any) -> None:
                    bar.hide()
                    click.echo(scenario_lines(result) if text else scenario_line(result))
                    for failure in result.failures:
                        self._save(failure)
                        if not text:
                            click.echo(failure_line(failure, about))
                    bar.advance(result.scenario.name)

                yield on_result

        return follow()

    def _save(self, failure: Any) -> None:
        """Saves a failing case; a folder that cannot be written must not cost the verdict."""
        from journalsim.search.saved import save_failure

        try:
            save_failure(failure, self._options["adapter"])
        except UsageError as error:
            if not self._unsaved:
                click.echo(f"warning: {error}: it cannot be replayed", err=True)
            self._unsaved = True

    def finish(self, result: Any) -> None:
        """Prints the end of the run and writes the reports."""
        from journalsim.report.files import write_file, write_report
        from journalsim.report.junit import junit_xml
        from journalsim.report.ndjson import end_lines

        options = self._options
        if options["form"] == "ndjson":
            for line in end_lines(result, self.about):
                click.echo(line)
        else:
            self._finish_text(result)
        if options["report"] is not None:
            write_report(result, options["report"], self.about)
        if options["junit"] is not None:
            write_file(options["junit"], junit_xml(result, self.about))
        if options["github"]:
            self._finish_github(result)

    def _finish_text(self, result: Any) -> None:
        from journalsim.report.text import failure_text, summary

        for failure in chosen_failures(result):
            click.echo("\n" + failure_text(failure, self.about))
        click.echo("\n" + summary(result, self.about))

    def _finish_github(self, result: Any) -> None:
        import os  # the summary's path is part of the job's environment, not of any case

        from journalsim.report.github import annotation_lines, append_summary

        click.echo(annotation_lines(result, self.about), nl=False)
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if path:
            append_summary(result, self.about, Path(path))


def chosen_failures(result: Any) -> list[Any]:
    """Returns the failures that a terminal shows in full: the smallest of each violated invariant."""
    chosen: dict[str, Any] = {}
    for scenario in result.scenarios:
        for failure in scenario.failures:
            known = chosen.get(failure.violation.invariant)
            if known is None or len(failure.history.events) < len(known.history.events):
                chosen[failure.violation.invariant] = failure
    return list(chosen.values())
