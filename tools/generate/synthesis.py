"""Templates of configurations, which pictures and pages show."""

import json
import os
import tempfile
from functools import cache
from pathlib import Path

from hyperpod_stacks.app import main
from tools.generate import REPOSITORY

DEFAULT = REPOSITORY / "config" / "default.yaml"

_FAST = {
    # Neither the provisioner's package nor copies of assets are needed to read a template.
    "aws:cdk:bundling-stacks": [],
    "aws:cdk:disable-asset-staging": True,
    # The CDK CLI shows warnings, and here there is none.
    "@aws-cdk/core:failSynthOnValidationErrors": False,
}
_FOLDER = tempfile.TemporaryDirectory()


@cache
def assembly(config: Path = DEFAULT) -> Path:
    """Synthesize a configuration, once; return the folder of its templates."""
    folder = Path(_FOLDER.name, config.stem)
    context = os.environ.get("CDK_CONTEXT_JSON")
    os.environ["CDK_CONTEXT_JSON"] = json.dumps(_FAST)
    try:
        if main(config=config, output=folder) != 0:
            raise RuntimeError(f"{config} cannot be synthesized")
    finally:
        del os.environ["CDK_CONTEXT_JSON"]
        if context is not None:
            os.environ["CDK_CONTEXT_JSON"] = context
    return folder
