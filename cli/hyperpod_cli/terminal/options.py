"""Options that several commands have, and the make targets that are commands."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.terminal.completion import group_names

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
Templates = Annotated[
    Path | None,
    typer.Option(help="Folder that `cdk synth` wrote. Default: synthesizes by itself."),
]
Express = Annotated[bool, typer.Option("--express", help="CloudFormation's express mode.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
NodeName = Annotated[
    str,
    typer.Argument(
        metavar="NODE", help="Group, group/number, or instance ID.", autocompletion=group_names
    ),
]
NodeNames = Annotated[
    list[str],
    typer.Argument(
        metavar="NODE", help="Group, group/number, or instance ID.", autocompletion=group_names
    ),
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is done.")]
Every = Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks.")]
GroupName = Annotated[
    str,
    typer.Argument(metavar="GROUP", help="An instance group.", autocompletion=group_names),
]


def make_command(target: str, config: Path) -> str:
    """Return a make target as it is run for a configuration.

    Args:
        target: Name of the target.
        config: File of the configuration.
    """
    return f"make {target} CONFIG={shlex.quote(str(config))}"
