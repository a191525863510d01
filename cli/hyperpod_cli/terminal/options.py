"""Options that several commands have, and the make targets that are commands."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from typer import Context


def group_names(context: Context, incomplete: str) -> list[str]:
    """Return the groups whose names begin with what is written; none if they are not known."""
    # Not validated: a configuration that is still being written has names, too.
    import yaml  # noqa: PLC0415

    path = context.params.get("config")
    if not isinstance(path, Path):
        return []
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
        cluster = document["cluster"]
        listed = [
            *(cluster.get("instance_groups") or ()),
            *(cluster.get("restricted_instance_groups") or ()),
        ]
        names = [str(group["name"]) for group in listed]
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError, KeyError, AttributeError):
        return []
    return [name for name in names if name.startswith(incomplete)]


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
_NODE = typer.Argument(
    metavar="NODE", help="Group, group/number, or instance ID.", autocompletion=group_names
)
NodeName = Annotated[str, _NODE]
NodeNames = Annotated[list[str], _NODE]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is done.")]
Every = Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks.")]
GroupName = Annotated[
    str,
    typer.Argument(metavar="GROUP", help="An instance group.", autocompletion=group_names),
]


def make_command(target: str, config: Path) -> str:
    """Return a make target as it is run for a configuration."""
    return f"make {target} CONFIG={shlex.quote(str(config))}"
