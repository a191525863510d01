"""Options that several commands have, and commands as they are written."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from typer import Context

from hyperpod_cdk.schema.given_file import given_text
from hyperpod_cli.terminal.configuration import only_config, only_pipeline
from hyperpod_cli.terminal.errors import OpsError


def group_names(context: Context, incomplete: str) -> list[str]:
    """Return the groups whose names begin with what is written; none if they are not known."""
    # Not validated: a configuration that is still being written has names, too.
    import yaml  # noqa: PLC0415

    try:
        path = context.params.get("config") or only_config()
        document = yaml.safe_load(given_text(path))
        cluster = document["cluster"]
        listed = [
            *(cluster.get("instance_groups") or ()),
            *(cluster.get("restricted_instance_groups") or ()),
        ]
        names = [str(group["name"]) for group in listed]
    except (
        AttributeError,
        KeyError,
        OpsError,
        OSError,
        RecursionError,
        TypeError,
        ValueError,
        yaml.YAMLError,
    ):
        return []
    return [name for name in names if name.startswith(incomplete)]


_CONFIG = "Another spelling of FILE, the configuration. Default: the one in this folder."
ConfigFile = Annotated[
    Path,
    typer.Option(
        "--config", metavar="FILE", default_factory=only_config, show_default=False, help=_CONFIG
    ),
]
PipelineFile = Annotated[
    Path,
    typer.Option(
        "--config", metavar="FILE", default_factory=only_pipeline, show_default=False, help=_CONFIG
    ),
]
ConfigIfAny = Annotated[Path | None, typer.Option("--config", metavar="FILE", help=_CONFIG)]
"""Of commands that may be about a cluster without a configuration."""
ClusterName = Annotated[
    str | None,
    typer.Option("--cluster", help="Name a HyperPod cluster. Default: the configuration's."),
]
Region = Annotated[
    str | None,
    typer.Option(
        "--region", help="Use this AWS region. Default: the configuration's or the environment's."
    ),
]
Templates = Annotated[
    Path | None,
    typer.Option(help="Take this folder that `cdk synth` wrote. Default: synthesizes by itself."),
]
Express = Annotated[
    bool, typer.Option("--express", help="Use CloudFormation's express mode (docs: express).")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Write JSON to standard output, and nothing else.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
_NODE = typer.Argument(
    metavar="NODE",
    help="Name nodes by group, group/number, or instance ID.",
    autocompletion=group_names,
)
NodeName = Annotated[str, _NODE]
NodeNames = Annotated[list[str], _NODE]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is done.")]
Every = Annotated[float, typer.Option("--every", min=0.1, help="Look again after so many seconds.")]
GroupName = Annotated[
    str,
    typer.Argument(metavar="GROUP", help="Name an instance group.", autocompletion=group_names),
]


def command_line(command: str, config: Path, *options: str) -> str:
    """Return a command of `hyperpod-cdk` for a configuration, to be copied."""
    return shlex.join(["hyperpod-cdk", *command.split(), str(config), *options])
