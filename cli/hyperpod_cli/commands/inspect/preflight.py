"""`hyperpod-ops preflight`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, AsJson, ConfigFile, Region


@command()
def preflight(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    region: Region = None,
    as_json: AsJson = False,
    skip: Annotated[
        list[str] | None,
        typer.Option("--skip", metavar="NAME", help="Leave a validator out; may be repeated."),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            "--training-plan",
            metavar="NAME",
            help="Look at this plan for the groups of its instance type, by name or ARN.",
        ),
    ] = None,
) -> None:
    """Look, read-only, for what would make a deployment fail.

    Exit code: 0 if nothing would fail, 1 if something would, 2 if AWS does not say.
    """
    from hyperpod_cli.inspect.preflight.run import exit_code, preflight_report

    report = preflight_report(config, region=region, skip=skip or [], plan=plan)
    report.show(as_json=as_json)
    raise typer.Exit(exit_code(report.results))
