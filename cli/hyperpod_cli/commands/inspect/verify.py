"""`hyperpod-ops verify`."""

from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, AsJson, ConfigFile, Region

_MINUTES = 30

Wait = Annotated[bool, typer.Option("--wait", help="Look again until everything holds.")]
Timeout = Annotated[
    int | None,
    typer.Option(
        "--timeout",
        min=0,
        help="How long --wait looks again, in minutes.",
        show_default=str(_MINUTES),
    ),
]


@command()
def verify(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
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
    from hyperpod_cli.inspect.verification.verify import check_once, check_until_all_hold, show
    from hyperpod_cli.terminal.errors import OpsError

    if timeout is not None and not wait:
        raise OpsError("--timeout: is for --wait, which is not given; add --wait, or leave it out")
    loaded = load_config(config)
    session = aws_session(region=region, config=loaded)
    checks = check_until_all_hold(
        lambda: list(check_once(loaded, session=session)),
        seconds=60.0 * (_MINUTES if timeout is None else timeout) if wait else 0.0,
        say=partial(typer.echo, err=True),
    )
    show(checks, as_json=as_json)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
