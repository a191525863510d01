"""`hyperpod-cdk archive`, and `rehearse-change` on what it reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.inspect.archive import CALLS, IN_KUBERNETES
from hyperpod_cli.terminal.options import AsJson, ConfigFile, Region


@command(iam=CALLS, in_kubernetes=IN_KUBERNETES)
def archive(
    *,
    file: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="Write this file.")],
    config: ConfigFile,
    region: Region = None,
) -> None:
    """Read what is deployed into a file, to rehearse changes on.

    It leaves out what looks like a secret; that it has none is not guaranteed.
    """
    for line in _archived(config, region=region, path=file):
        typer.echo(line)


@command(iam=CALLS, in_kubernetes=IN_KUBERNETES)
def rehearse_change(
    *,
    config: ConfigFile,
    region: Region = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take from this file what is deployed. Default: it is read from AWS.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep what was read from AWS in this file.")
    ] = None,
    policy: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Deploy with what this policy allows; may be repeated."),
    ] = None,
    without_failure: Annotated[
        bool, typer.Option("--without-failure", help="Rehearse no failing step.")
    ] = False,
    assembly: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Take this folder, which `cdk synth` wrote. Default: synthesizes by itself.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Rehearse a change on a copy of what is deployed.

    It is deployed on a local AWS, which shows what it does.

    Exit code: 0 if nothing would be lost, 1 if it would fail, 4 if data or running pods would be
    lost, 2 if it cannot be rehearsed.
    """
    import tempfile

    from hyperpod_cli.commands.rehearsal import rehearsal
    from hyperpod_cli.terminal.errors import OpsError

    if archive is not None and save is not None:
        raise OpsError("--save: is for what is read from AWS; leave it, or --archive, out")
    if save is None:
        rehearsal()  # before AWS is asked
    with tempfile.TemporaryDirectory() as folder:
        path = archive or save or Path(folder, "deployed.zip")
        if archive is None:
            for line in _archived(config, region=region, path=path):
                typer.echo(line, err=True)
        code: int = rehearsal().change(
            config,
            archive=path,
            policies=policy or [],
            fails=not without_failure,
            assembly=assembly,
            as_json=as_json,
        )
    return code


def _archived(config: Path, *, region: str | None, path: Path) -> Iterator[str]:
    """Write what is deployed into a file; yield what is to be said of it."""
    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.session import aws_session
    from hyperpod_cli.inspect.archive.archive import written
    from hyperpod_cli.inspect.archive.reading import archive_of

    loaded = load_config(config)
    found = archive_of(loaded, session=aws_session(region=region, config=loaded))
    return written(found, path=path)
