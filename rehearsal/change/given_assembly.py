"""A cloud assembly that was synthesized elsewhere, such as in a build of a pipeline."""

import json
import os
import shutil
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import stacks_in
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_stacks.table import stack_names


def given_assembly(folder: Path, *, config: Config) -> Path:
    """Return a cloud assembly that was given, if it is of a configuration.

    Args:
        folder: The assembly.
        config: The configuration.

    Raises:
        OpsError: It is none, or of another configuration.
    """
    try:
        found = {each.name for each in stacks_in(folder)}
    except (OSError, ValueError, KeyError):
        raise OpsError(
            f"--assembly: {folder} is no cloud assembly; name the folder that `make synth` wrote"
        ) from None
    if found != {*stack_names(config).values()}:
        raise OpsError(
            f"--assembly: {folder} has the stacks {', '.join(sorted(found)) or 'of nothing'}, and "
            f"the configuration {', '.join(stack_names(config).values())}; synthesize it again"
        )
    return folder.absolute()


def copied(folder: Path, *, to: Path) -> None:
    """Copy a cloud assembly, whose files may be next to its folder.

    Args:
        folder: The assembly.
        to: The copy, made anew.
    """
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
    for path in to.glob("*.assets.json"):
        manifest = json.loads(path.read_text("utf-8"))
        for file in manifest["files"].values():
            source = file["source"]
            source["path"] = os.path.relpath(folder / source["path"], to)
        path.write_text(json.dumps(manifest), encoding="utf-8")
