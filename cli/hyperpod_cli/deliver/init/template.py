"""A configuration made from the default one, with its comments."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk.facts.instance_types import (
    default_threads_per_core,
    instance_facts,
    instance_types,
    is_accelerated,
)
from hyperpod_cdk.helm.components import device_plugins
from hyperpod_cdk.schema.section import EKS, SLURM
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.deliver.yaml_text import YamlText, scalar
from hyperpod_cli.terminal.options import command_line
from hyperpod_shared.clusters import COMPUTE

DEFAULT = asset_directory("config") / "default.yaml"
SCHEMA = DEFAULT.with_name("schema.json")
_TEMPLATES = {EKS: DEFAULT, SLURM: DEFAULT.with_name("slurm.yaml")}
_GROUPS = ("cluster", "instance_groups")
_VENDORS = {"GPU": "NVIDIA", "Neuron": "AWS"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """What is asked for a configuration; a text is for a number that is none.

    The first zone is that of the nodes; without a capacity, there is no file system, and
    without an admin, nobody administers the EKS cluster.
    """

    name: str
    region: str
    zones: tuple[str, ...]
    instance_type: str
    instance_count: int | str
    capacity_gib: int | str | None
    orchestrator: str = EKS
    admin: str | None = None


@cache
def default_answers() -> Answers:
    """Return the answers that give the default configuration."""
    document: dict[str, Any] = yaml.safe_load(DEFAULT.read_text(encoding="utf-8"))
    group = document["cluster"]["instance_groups"][0]
    nodes = document["network"]["hyperpod_subnets"][0]["availability_zone_id"]
    others = [zone for zone in document["network"]["availability_zone_ids"] if zone != nodes]
    return Answers(
        name=document["name"],
        region=document["region"],
        zones=(nodes, *others),
        instance_type=group["instance_type"],
        instance_count=group["instance_count"],
        capacity_gib=document["storage"]["capacity_gib"],
    )


def configuration(answers: Answers, *, path: Path) -> str:
    """Return the text of a configuration file, with what cannot be deployed, to be refused."""
    default = _TEMPLATES[answers.orchestrator].read_text(encoding="utf-8")
    document: dict[str, Any] = yaml.safe_load(default)
    groups: list[dict[str, Any]] = document["cluster"]["instance_groups"]
    index = next(n for n, each in enumerate(groups) if _is_of_workers(each))
    file = YamlText(_renamed(default, answers))
    file.set(("name",), scalar(answers.name))
    if answers.capacity_gib is None:
        file.replace(("storage",), "storage: null")
    else:
        file.set(("storage", "capacity_gib"), _written(answers.capacity_gib))
    if answers.admin is not None:
        file.set(("eks", "admins"), f"[{scalar(answers.admin)}]")
    file.set((*_GROUPS, index, "instance_count"), _written(answers.instance_count))
    file.set((*_GROUPS, index, "instance_type"), scalar(answers.instance_type))
    if answers.instance_type in instance_types():
        _fit(file, answers.instance_type, index=index, document=document)
    head, _, rest = file.text.partition("\n\n")
    return "\n".join((*_head(head.splitlines(), path=path), "", rest))


def _is_of_workers(group: Mapping[str, Any]) -> bool:
    return "slurm" not in group or str(group["slurm"]["node_type"]) == COMPUTE


def _renamed(text: str, answers: Answers) -> str:
    """Put names in the place of the default ones, in comments too."""
    default = default_answers()
    names = {default.region: answers.region} | dict(zip(default.zones, answers.zones, strict=False))
    words = "|".join(map(re.escape, names))
    text = re.sub(words, lambda found: scalar(names[found[0]]), text)
    # Of stacks and the cluster. Instance types have it too: ml.m5.2xlarge.
    prefix = f"{answers.name}-"
    is_plain = scalar(f"{prefix}cluster") == f"{prefix}cluster"
    return re.sub(rf"\b{default.name}-(?=[a-z])", prefix, text) if is_plain else text


def _fit(file: YamlText, instance_type: str, *, index: int, document: Mapping[str, Any]) -> None:
    """Fit the first group of workers, and what else depends on its hardware, to a type."""
    group, given = (*_GROUPS, index), document["cluster"]["instance_groups"][index]
    facts, threads = instance_facts(instance_type), default_threads_per_core([instance_type])
    file.set((*group, "instance_type"), instance_type, comment=_hardware(instance_type))
    if threads is None:
        file.remove((*group, "threads_per_core"))
    else:
        file.set((*group, "threads_per_core"), str(threads))
    if facts is not None and facts.efa_interfaces and facts.network_cards > 1:
        interfaces = "network_interface_type: efa # or efa-only, which takes fewer addresses"
        file.add_after((*group, "volume_size_gib"), interfaces)
    if not is_accelerated(instance_type):
        # The second group is for pods that must not wait for the checks of the first.
        if "deep_health_checks" in given:
            file.remove((*group, "deep_health_checks"))
        file.remove((*_GROUPS, index + 1))
    elif "slurm" in given and _partition(instance_type) != "gpu" and "deep_health_checks" in given:
        file.remove((*group, "deep_health_checks"))
    if "slurm" in given:
        file.set((*group, "slurm", "partition"), _partition(instance_type))
    elif device_plugins([instance_type])["neuron_device_plugin"]:
        # Which the default one says is not needed.
        file.remove(("helm", "components"))


def _partition(instance_type: str) -> str:
    facts = instance_facts(instance_type)
    device = None if facts is None else facts.accelerator
    if device is None:
        return "accelerated" if is_accelerated(instance_type) else "cpu"
    return device.kind.lower()


def _hardware(instance_type: str) -> str:
    facts = instance_facts(instance_type)
    if facts is None:
        return "accelerators" if is_accelerated(instance_type) else "no accelerator"
    device = facts.accelerator
    if device is None:
        return f"no accelerator, {facts.vcpus} vCPUs"
    return f"{device.count} {_VENDORS[device.kind]} {device.name}"


def _head(lines: Sequence[str], *, path: Path) -> tuple[str, ...]:
    """Return the comment that the file begins with, in place of the default one's."""
    return (
        schema_comment(path),
        lines[1],
        "# Written by `hyperpod-cdk init`. Change it as you like, and use it with",
        f"# `{command_line('deploy', path)}`.",
        lines[-1],
    )


def schema_of(path: Path) -> Path:
    """Return the schema of a file: the project's in a checkout, else a copy beside the file.

    What is installed has another place on a colleague's machine.
    """
    in_checkout = SCHEMA.parents[1] in path.resolve().parents
    return SCHEMA if in_checkout else path.resolve().with_name("hyperpod-cdk.schema.json")


def schema_comment(path: Path) -> str:
    """Return the line by which editors check and complete a file."""
    schema = Path(os.path.relpath(schema_of(path), path.resolve().parent)).as_posix()
    return f"# yaml-language-server: $schema={schema}"


def _written(value: int | str) -> str:
    return scalar(value) if isinstance(value, str) else str(value)
