"""Batch jobs of a cluster that Slurm orchestrates: prints one that fits, to be submitted there.

Nothing reaches the nodes but a shell: HyperPod's know no `ssm send-command`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.facts.instance_types import is_accelerated
from hyperpod_cdk.facts.job_resources import GPU, job_resources
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.schema.given_file import given_text
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.operate.job_options import Given
from hyperpod_cli.operate.training.command import cost_of_nodes
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.clusters import COMPUTE, CONTROLLER, LOGIN

# An option of sbatch, a variable of the shell, or an argument of the program: key and value.
_PARAMETER = re.compile(
    r"^(?P<before>#SBATCH --(?P<option>[a-z-]+)="
    r"|(?:export )?(?P<variable>[A-Z_]+)=(?:\$\{(?P=variable)-)?"
    r"|  --(?P<argument>[a-z-]+) )"
    r"(?P<value>[^\s}\\]*)(?P<after>\}?(?: \\| #.*)?\n)",
    re.MULTILINE,
)
# Options of a job that is submitted from here.
_OF_KUBERNETES = ("namespace", "team", "priority", "yes", "dry_run", "follow", "every")
_VALUE = re.compile(r"[\w.,:/@#%+=-]*")


def run(given: Given) -> None:
    """Print a job that is filled in, and, next to it, where it runs and how to submit it.

    Its values are a job of `examples/slurm`, or a file. Options that mean nothing here are refused
    if they are not their defaults. The region is for the price.
    """
    for option in _OF_KUBERNETES:
        value = getattr(given, option)
        if value != getattr(Given, option):
            flag = f"{'--no' if value is False else '-'}-{option.replace('_', '-')}"
            raise OpsError(
                f"{flag}: has no effect with Slurm, where train prints a job for you to submit; "
                "omit it"
            )
    configured = load_config(given.config)
    text = _text(given)
    group = _group(given, config=configured)
    instance_type = next(filter(is_accelerated, group.possible_instance_types), None)
    instance_type = instance_type or group.possible_instance_types[0]
    nodes = given.nodes or group.instance_count
    if nodes > group.instance_count:
        raise OpsError(
            f"nodes: {nodes} are asked for, and {group.name} has {group.instance_count}; give "
            f"--nodes, or `hyperpod-cdk scale {group.name} {nodes}`"
        )
    values = {
        **_of_group(group, instance_type=instance_type, text=text),
        "nodes": nodes,
        # Where HyperPod mounts Lustre is always the same.
        **({} if configured.storage else {"FSX": ""}),
    }
    typer.echo(filled(text, values | _given(given, text)), nl=False)
    typer.echo(
        f"  nodes      {nodes} x {instance_type} of {group.name}, partition {values['partition']}",
        err=True,
    )
    if region := given.region or configured.region:
        cost = cost_of_nodes(group.name, nodes, instance_type, region=region)
        typer.echo(f"  its nodes  {cost}", err=True)
    if "#SBATCH" in text:
        typer.echo(
            f"To submit it: `{_shell(configured)}`; there, in a folder that all nodes share, "
            "`sbatch`, what was printed, and Ctrl-D.",
            err=True,
        )


def stop(given: Given) -> None:
    """Say where a job is stopped, and refuse: Slurm alone stops its jobs."""
    shell = _shell(load_config(given.config))
    raise OpsError(
        f"--stop: Slurm's jobs are stopped on the cluster: `{shell}`, there "
        f"`scancel --name={given.name or 'NAME'}`"
    )


def filled(text: str, values: Mapping[str, Any]) -> str:
    """Return a job with other values instead of its own.

    They are by option of sbatch, variable or argument; the line of one that is None goes, and one
    that the job does not have is left out.
    """

    def line(match: re.Match[str]) -> str:
        key = _key(match)
        if key not in values:
            return match[0]
        return "" if values[key] is None else f"{match['before']}{values[key]}{match['after']}"

    return _PARAMETER.sub(line, text)


def _key(match: re.Match[str]) -> str:
    return match["option"] or match["variable"] or match["argument"]


def _text(given: Given) -> str:
    folder = asset_directory("examples") / "slurm"
    jobs = {path.stem: path for path in folder.glob("*.sh")}
    known = ", ".join(sorted(jobs))
    if len(given.files) != 1:
        raise OpsError(f"--values: name one job, a file of yours or one of these: {known}")
    name = given.files[0]
    path = jobs.get(name, Path(name))
    try:
        return given_text(path)
    except (OSError, UnicodeDecodeError):
        raise OpsError(
            f"--values: {name!r} is no file that can be read, and no job of these: {known}"
        ) from None


def _group(given: Given, *, config: Config) -> InstanceGroupConfig:
    """Return the group that is named, else the one that has accelerators."""
    compute = {group.name: group for group in config.cluster.groups_of_type(COMPUTE)}
    able = [
        item for item in compute.values() if any(map(is_accelerated, item.possible_instance_types))
    ]
    fitting = able if given.group is None else [compute[x] for x in [given.group] if x in compute]
    if len(fitting) != 1:
        what = "is missing" if given.group is None else f"{given.group!r} is no compute group"
        raise OpsError(f"--group: {what}; name one of: {', '.join(compute) or 'none'}")
    return fitting[0]


def _of_group(
    group: InstanceGroupConfig, *, instance_type: str, text: str
) -> dict[str, str | int | None]:
    assert group.slurm is not None  # noqa: S101 - a compute group has it
    has = job_resources(instance_type)
    if has is None:
        raise OpsError(
            f"--group: of {instance_type} no public source says what it has; name another group, "
            "or write the job by hand"
        )
    gpus = has.accelerators if has.accelerator == GPU else 0
    if not gpus and "\n#SBATCH --gres=gpu" in text:
        raise OpsError(f"--group: the job takes GPUs, and {instance_type} of {group.name} has none")
    return {
        "partition": group.slurm.partition,
        # A task for each GPU; Neuron's processes are torchrun's, a task of a node.
        "ntasks-per-node": gpus or 1,
        "gres": f"gpu:{gpus}",
        "GPUS": gpus,
        "NEURON_DEVICES": has.accelerators - gpus,
        "EFA": has.efa,
        "FI_PROVIDER": "efa" if has.efa else None,
    }


def _given(given: Given, text: str) -> dict[str, str]:
    """Return what options set, each of which wins over the configuration."""
    options = {"job-name": given.name, "CONTAINER": given.image}
    pairs = [(setting, *setting.partition("=")[::2]) for setting in given.settings]
    pairs += [(f"{key}={value}", key, value) for key, value in options.items() if value is not None]
    known = {_key(match) for match in _PARAMETER.finditer(text)}
    for setting, key, value in pairs:
        if key not in known:
            raise OpsError(f"--set {setting}: the job sets {', '.join(sorted(known))}; name one")
        if not _VALUE.fullmatch(value):
            raise OpsError(f"--set {setting}: the value may have letters, digits and .,:/@#%+=-_")
    return {key: value for _, key, value in pairs}


def _shell(config: Config) -> str:
    """Return the command that opens a shell where jobs are submitted."""
    group = (config.cluster.groups_of_type(LOGIN) or config.cluster.groups_of_type(CONTROLLER))[0]
    number = "/1" if group.instance_count > 1 else ""
    return f"hyperpod-cdk connect {group.name}{number}"
