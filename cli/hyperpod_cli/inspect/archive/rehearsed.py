"""Hands an archive to the rehearsal, which is in the project's folder and not in the package."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hyperpod_cdk import load_config
from hyperpod_cli.aws.session import aws_session
from hyperpod_cli.inspect.archive.archive import read_archive, refuse_other, written
from hyperpod_cli.inspect.archive.reading import archive_of
from hyperpod_cli.terminal.errors import INTERRUPTED, OpsError

_REHEARSAL = Path("rehearsal", "hyperpod_rehearsal", "__main__.py")


def rehearse(
    config: Path, *, region: str | None, archive: Path | None, save: Path | None, options: list[str]
) -> int:
    """Read what is deployed unless an archive is given, rehearse, and return the exit code.

    What is read may be saved to a file. The options are those of the rehearsal itself.
    """
    if archive is not None and save is not None:
        raise OpsError("--save: is for what is read from AWS; leave it, or --archive, out")
    loaded = load_config(config)
    if archive is not None:
        refuse_other(read_archive(archive), config=loaded, path=config, source=str(archive))
        _require_rehearsal()
        return _run(config, archive=archive, options=options)
    if save is None:
        _require_rehearsal()
    found = archive_of(loaded, session=aws_session(region=region, config=loaded))
    refuse_other(found, config=loaded, path=config, source="what is deployed")
    with tempfile.TemporaryDirectory() as folder:
        path = save or Path(folder, "deployed.zip")
        for line in written(found, path=path):
            print(line, file=sys.stderr)
        _require_rehearsal()
        return _run(config, archive=path, options=options)


def _require_rehearsal() -> None:
    if not _REHEARSAL.is_file():
        raise OpsError(
            "rehearsal: is not in this folder; run it in the folder of the project, or keep "
            "what is deployed with --save and use it on a machine that has that folder"
        )


def _run(config: Path, *, archive: Path, options: list[str]) -> int:
    command = [sys.executable, "-m", "hyperpod_rehearsal", "change"]
    command += ["--config", str(config), "--archive", str(archive), *options]
    sys.stdout.flush()
    with subprocess.Popen(command, env={**os.environ}) as process:  # noqa: S603 - our own module
        try:
            return process.wait()
        except KeyboardInterrupt:
            # Ctrl-C is for the rehearsal, too, which then stops all that it has started.
            process.wait()
            return INTERRUPTED
