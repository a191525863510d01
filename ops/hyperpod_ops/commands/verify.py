"""`hyperpod-ops verify`."""

from typing import Annotated

import typer

from hyperpod_ops.options import DEFAULT_CONFIG, AsJson, ConfigFile, Region

Wait = Annotated[bool, typer.Option("--wait", help="Look again until everything holds.")]
Timeout = Annotated[
    int, typer.Option("--timeout", min=0, help="How long --wait looks again, in minutes.")
]


def verify(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    region: Region = None,
    wait: Wait = False,
    timeout: Timeout = 30,
    as_json: AsJson = False,
) -> None:
    """Check that what is deployed works.

    What does not is shown with what to do about it, and the exit code is 1.
    """
    import time
    from functools import partial

    from hyperpod_cdk import load_config
    from hyperpod_ops.session import aws_session
    from hyperpod_ops.verification.display import show
    from hyperpod_ops.verification.look import look
    from hyperpod_ops.verification.waiting import Clock, held

    loaded = load_config(config)
    session = aws_session(region=region, config=loaded)
    checks = held(
        lambda: list(look(loaded, session=session)),
        seconds=60.0 * timeout if wait else 0.0,
        clock=Clock(now=time.monotonic, sleep=time.sleep),
        say=partial(typer.echo, err=True),
    )
    show(checks, as_json=as_json)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
