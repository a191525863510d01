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
    import time  # noqa: PLC0415
    from functools import partial  # noqa: PLC0415

    from hyperpod_cdk import load_config  # noqa: PLC0415
    from hyperpod_ops.session import aws_session  # noqa: PLC0415
    from hyperpod_ops.verification.display import show  # noqa: PLC0415
    from hyperpod_ops.verification.look import look  # noqa: PLC0415
    from hyperpod_ops.verification.waiting import Clock, held  # noqa: PLC0415

    loaded = load_config(config)
    checks = held(
        partial(look, loaded, session=aws_session(region=region, config=loaded)),
        seconds=60.0 * timeout if wait else 0.0,
        clock=Clock(now=time.monotonic, sleep=time.sleep),
        say=partial(typer.echo, err=True),
    )
    show(checks, as_json=as_json)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
