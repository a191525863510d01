"""Finds the binaries of the kubectl layer."""

import os
from collections.abc import Mapping
from pathlib import Path

from provisioner.framework.errors import ProvisioningError

_LAYERS = Path("/opt")


def layer_binary(name: str, environment: Mapping[str, str]) -> Path:
    """Return a binary of the kubectl layer.

    Args:
        name: ``helm`` or ``kubectl``.
        environment: Where ``_LAMBDA_LAYERS_DIRS`` may name folders that hold layers.

    Raises:
        ProvisioningError: No layer has it.
    """
    folders = [
        Path(folder)
        for folder in environment.get("_LAMBDA_LAYERS_DIRS", "").split(os.pathsep)
        if folder
    ]
    for folder in [_LAYERS, *folders]:
        if (folder / name / name).is_file():
            return folder / name / name
    raise ProvisioningError(
        f"The provisioner function has no {name} binary ({_LAYERS / name / name})",
        next_step="Attach the kubectl layer that fits the EKS version to the function.",
    )
