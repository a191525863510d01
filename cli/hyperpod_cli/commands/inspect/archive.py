"""`hyperpod-cdk archive`."""

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.inspect.archive import CALLS, IN_KUBERNETES
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile, Region


@command(calls=CALLS, in_kubernetes=IN_KUBERNETES)
def archive(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    config: ConfigFile = DEFAULT_CONFIG,
    region: Region = None,
) -> None:
    """Read what is deployed into a file, without secrets, to rehearse changes on."""
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.inspect.archive.archive import written
    from hyperpod_cli.inspect.archive.reading import archive_of

    loaded = load_config(config)
    found = archive_of(loaded, session=aws_session(region=region, config=loaded))
    for line in written(found, path=file):
        typer.echo(line)
