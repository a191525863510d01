"""Hands an archive to the rehearsal, which is in the project's folder and not in the package."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk import load_config
from hyperpod_cli.aws.session import aws_session
from hyperpod_cli.inspect.archive.archive import read_archive, refuse_other, written
from hyperpod_cli.inspect.archive.reading import archive_of
from hyperpod_cli.terminal.errors import INTERRUPTED, OpsError

_REHEARSAL = Path("rehearsal", "__main__.py")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What to rehearse.

    Attributes:
        config: File of the changed configuration.
        region: The region, if it was given.
        archive: What is deployed; None to read it from AWS.
        save: Where to keep what was read.
        policies: Files of policies of who deploys.
        without_failure: Whether to leave the failing step out.
        assembly: What was synthesized of the configuration; None to do that.
        as_json: Whether to write JSON.
    """

    config: Path
    region: str | None
    archive: Path | None
    save: Path | None
    policies: tuple[Path, ...]
    without_failure: bool
    assembly: Path | None
    as_json: bool


def rehearse(request: Request) -> int:
    """Read what is deployed unless an archive is given, rehearse, and return the exit code."""
    if request.archive is not None and request.save is not None:
        raise OpsError("--save: is for what is read from AWS; leave it, or --archive, out")
    config = load_config(request.config)
    if request.archive is not None:
        archive = read_archive(request.archive)
        refuse_other(archive, config=config, path=request.config, source=str(request.archive))
        _require_rehearsal()
        return _run(request, archive=request.archive)
    if request.save is None:
        _require_rehearsal()
    found = archive_of(config, session=aws_session(region=request.region, config=config))
    refuse_other(found, config=config, path=request.config, source="what is deployed")
    with tempfile.TemporaryDirectory() as folder:
        path = request.save or Path(folder, "deployed.zip")
        for line in written(found, path=path):
            print(line, file=sys.stderr)
        _require_rehearsal()
        return _run(request, archive=path)


def _require_rehearsal() -> None:
    if not _REHEARSAL.is_file():
        raise OpsError(
            "rehearsal: is not in this folder; run it in the folder of the project, or keep what "
            "is deployed with --save and send it to who has that folder"
        )


def _run(request: Request, *, archive: Path) -> int:
    command = [sys.executable, "-m", "rehearsal", "change"]
    command += ["--config", str(request.config), "--archive", str(archive)]
    for policy in request.policies:
        command += ["--policy", str(policy)]
    command += ["--without-failure"] if request.without_failure else []
    command += [] if request.assembly is None else ["--assembly", str(request.assembly)]
    command += ["--json"] if request.as_json else []
    sys.stdout.flush()
    with subprocess.Popen(command, env={**os.environ}) as process:  # noqa: S603 - our own module
        try:
            return process.wait()
        except KeyboardInterrupt:
            # Ctrl-C is for the rehearsal, too, which then stops all that it has started.
            process.wait()
            return INTERRUPTED
