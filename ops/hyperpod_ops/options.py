"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_CONFIG = Path("config/default.yaml")

ConfigFile = Annotated[
    Path, typer.Option("--config", envvar="CONFIG", help="File of the configuration.")
]
ClusterName = Annotated[
    str | None,
    typer.Option("--cluster", help="A HyperPod cluster. Default: the configuration's."),
]
Region = Annotated[
    str | None,
    typer.Option("--region", help="AWS region. Default: the configuration's or the environment's."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
