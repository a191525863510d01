"""Options of the commands that run jobs, or simulate them: `quota`, `train`, `validate-nodes`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from hyperpod_cli.terminal.options import (
    DEFAULT_CONFIG,
    AsJson,
    ConfigFile,
    Every,
    Region,
    Yes,
    group_names,
)
from hyperpod_shared.governance import namespace_of


@dataclass(frozen=True, kw_only=True)
class QuotaOptions:
    """Which jobs are simulated, with whose quotas."""

    jobs: Annotated[
        Path, typer.Option(metavar="CSV", help="The jobs: a line each, as in docs/governance.md.")
    ]
    config: ConfigFile = DEFAULT_CONFIG
    proposed: Annotated[
        Path | None,
        typer.Option(metavar="CONFIG", help="A configuration with other quotas, to compare."),
    ] = None
    picture: Annotated[
        Path | None, typer.Option(metavar="SVG", help="Draw who uses the nodes into this file.")
    ] = None
    checkpoint_minutes: Annotated[
        int | None,
        typer.Option(min=1, help="How often jobs save where they are. Default: they begin again."),
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class Given:
    """The job that is to be submitted, or stopped.

    What is not given is the values': the name, else that of their file; the image, else the
    deployment's; the nodes, else all of the group; the group, else one of their instance type.
    """

    files: Annotated[
        list[str],
        typer.Option("--values", "-f", help="File of values, or one of the chart's by its name."),
    ] = field(default_factory=list)
    name: Annotated[str | None, typer.Option("--name", help="Name of the job.")] = None
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Default: the first claim's.")
    ] = None
    group: Annotated[str | None, typer.Option("--group", help="Instance group.")] = None
    nodes: Annotated[int | None, typer.Option("--nodes", min=1, help="How many nodes.")] = None
    team: Annotated[
        str | None, typer.Option("--team", help="Team of task governance, whose queue it takes.")
    ] = None
    priority: Annotated[
        str | None, typer.Option("--priority", help="One of governance.priority_classes.")
    ] = None
    image: Annotated[str | None, typer.Option("--image", help="Container image.")] = None
    settings: Annotated[
        list[str], typer.Option("--set", metavar="KEY=VALUE", help="A value, as helm's.")
    ] = field(default_factory=list)
    config: ConfigFile = DEFAULT_CONFIG
    region: Region = None
    yes: Yes = False
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Wait for the job's end.")
    ] = True
    every: Every = 5
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check only, and print the values that the job also gets."),
    ] = False
    stop: Annotated[bool, typer.Option("--stop", help="Delete the job of --name.")] = False

    @property
    def namespace_of_job(self) -> str | None:
        """The namespace that is given, or the team's."""
        return namespace_of(self.team) if self.team is not None else self.namespace


CHECKS = ("node", "fabric", "storage", "rendezvous")


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is checked, and how."""

    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            help="An instance group. Default: all with GPUs or Trainium.",
            autocompletion=group_names,
        ),
    ] = None
    check: Annotated[
        list[str],
        typer.Option(
            "--check", help="node, fabric, storage or rendezvous; several times. Default: all."
        ),
    ] = field(default_factory=list)
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="Where the jobs run.")] = (
        "default"
    )
    claim: Annotated[str, typer.Option("--claim", help="The volume claim that is measured.")] = (
        "fsx-claim"
    )
    image: Annotated[
        str | None,
        typer.Option(
            "--image", help="Image of the jobs. Default: AWS's nccl-tests, and your training image."
        ),
    ] = None
    include_busy: Annotated[
        bool, typer.Option("--include-busy", help="Wait for nodes that run jobs, too.")
    ] = False
    timeout_minutes: Annotated[
        int, typer.Option("--timeout", min=1, help="Minutes until a job is given up.")
    ] = 30
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget what an interrupted run has found.")
    ] = False
    json: Annotated[Path | None, typer.Option("--json", help="Write JSON to a file.")] = None
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit's XML to a file.")] = (
        None
    )
    every_seconds: Every = 5

    @property
    def checks(self) -> Sequence[str]:
        """Those that are named, or all."""
        return self.check or CHECKS
