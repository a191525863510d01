"""`hyperpod-ops quota`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, AsJson, ConfigFile


@command()
def quota(
    action: Annotated[  # noqa: ARG001 - says what to do, and there is one thing
        Literal["simulate"], typer.Argument(metavar="simulate", help="What to do with quotas.")
    ],
    *,
    jobs: Annotated[
        Path, typer.Option(metavar="CSV", help="The jobs: a line each, as in docs/governance.md.")
    ],
    config: ConfigFile = DEFAULT_CONFIG,
    proposed: Annotated[
        Path | None,
        typer.Option(metavar="CONFIG", help="A configuration with other quotas, to compare."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="SVG", help="Draw who uses the nodes into this file.")
    ] = None,
    checkpoint_minutes: Annotated[
        int | None,
        typer.Option(min=1, help="How often jobs save where they are. Default: they begin again."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate what quotas of teams do to a list of jobs.

    Who would wait, borrow and make room, what stands idle, and what that costs.
    """
    from hyperpod_cli.operate.quotas.command import run

    run(
        jobs=jobs,
        config=config,
        proposed=proposed,
        picture=picture,
        checkpoint_minutes=checkpoint_minutes,
        as_json=as_json,
    )
