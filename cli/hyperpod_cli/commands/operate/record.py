"""`hyperpod-cdk record`: what AWS really does."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import ConfigFile, Region


@command(
    iam=[
        "cloudformation:ListStackResources",
        "lambda:GetFunctionConfiguration",
        "lambda:UpdateFunctionConfiguration",
        "logs:FilterLogEvents",
    ]
)
def record(
    action: Annotated[
        Literal["on", "off", "get"],
        typer.Argument(metavar="on|off|get", help="Begin, end, or get what was recorded."),
    ],
    *,
    config: ConfigFile,
    region: Region = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="JSONL", help="Let get write this file.")
    ] = Path("recorded.jsonl"),
    since: Annotated[
        str, typer.Option("--since", help="Let get go so far back: 30m, 6h or 2d.")
    ] = "7d",
) -> None:
    """Record the calls of AWS that the provisioner makes.

    They get into the logs of its functions, with their answers and without secrets. Off by default.
    """
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.operate.recording import Recording
    from hyperpod_cli.terminal.console import parsed_duration
    from hyperpod_stacks.table import stack_name

    age = parsed_duration(since, option="--since")
    loaded = load_config(config)
    session = aws_session(region=region, config=loaded)
    recording = Recording(session=session, platform=stack_name(loaded, "platform"))
    if action == "get":
        count = recording.save(output, since=datetime.now(UTC) - age)
        typer.echo(f"{output}: {count} calls; names, ARNs and account IDs are in it.")
        return
    for name in recording.switch(on=action == "on") or ["Each function"]:
        typer.echo(f"{name} {'records its calls' if action == 'on' else 'records nothing'}.")
    if action == "on":
        typer.echo("A deployment that changes the functions ends it: run this again after it.")
