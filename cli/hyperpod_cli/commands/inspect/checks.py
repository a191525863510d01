"""`hyperpod-cdk preflight`, before a deployment, and `verify`, after it."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import AsJson, ConfigFile, Region


@command()
def preflight(
    *,
    config: ConfigFile,
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


_MINUTES = 30

Wait = Annotated[bool, typer.Option("--wait", help="Look again until everything holds.")]
Timeout = Annotated[
    int | None,
    typer.Option(
        "--timeout",
        min=0,
        help="End --wait after so many minutes.",
        show_default=str(_MINUTES),
    ),
]


@command()
def verify(
    *,
    config: ConfigFile,
    region: Region = None,
    wait: Wait = False,
    timeout: Timeout = None,
    as_json: AsJson = False,
) -> None:
    """Check that what is deployed works.

    What does not is shown with what to do about it, and the exit code is 1.
    """
    from functools import partial

    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.inspect.verification.verify import (
        check_until_all_hold,
        look,
        not_readable,
        show,
    )
    from hyperpod_cli.terminal.errors import OpsError

    if timeout is not None and not wait:
        raise OpsError("--timeout: requires --wait; add --wait, or omit it")
    loaded = load_config(config)
    session = aws_session(region=region, config=loaded)
    checks = check_until_all_hold(
        partial(look, loaded, session=session),
        seconds=60.0 * (_MINUTES if timeout is None else timeout) if wait else 0.0,
        say=partial(typer.echo, err=True),
    )
    show(checks, as_json=as_json)
    options = [str(config), *(("--region", region) if region else ())]
    unknown = not_readable(loaded, options=options)
    if unknown and not as_json:
        typer.echo(unknown)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
