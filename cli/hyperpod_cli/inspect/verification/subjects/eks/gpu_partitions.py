"""Partitions of GPUs (MIG) that nodes offer to pods."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.facts import mig
from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.inspect.verification.nodes import allocatable, nodes_command
from hyperpod_cli.operate.nodes.health import GROUP_LABEL, labels_of


@subject(phase=Phase.NODES, needs_kubernetes=True, of_hyperpod=True)
def gpu_partitions(deployment: LiveDeployment) -> Checks:
    """Each node of a group with `mig_profile` offers the partitions of its GPUs."""
    for group in deployment.config.cluster.instance_groups:
        if group.mig_profile is not None and group.instance_count:
            yield from _check(group, group.mig_profile, deployment=deployment)


def _check(group: InstanceGroupConfig, layout: str, *, deployment: LiveDeployment) -> Checks:
    nodes = [node for node in deployment.nodes if labels_of(node).get(GROUP_LABEL) == group.name]
    wrong = [
        f"{node['metadata']['name']} {problem}"
        for node in nodes
        if (problem := _problem(node, _wanted(group, layout))) is not None
    ]
    if not nodes:
        wrong = ["no node of the group is there"]
    yield checked(
        f"{nodes_command(deployment.config, labels=f'{GROUP_LABEL}={group.name}')} "
        f"-L {mig.LABEL},{mig.STATE_LABEL}",
        problem=wrong,
        advice="GPUs are not partitioned while a pod has one: `kubectl drain <node> "
        "--ignore-daemonsets --delete-emptydir-data`, then deploy again; `kubectl logs -n "
        f"{deployment.config.helm.namespace} -l app=nvidia-mig-manager` says what went wrong",
    )


def _wanted(group: InstanceGroupConfig, layout: str) -> Mapping[str, str]:
    """Return what a node of the group offers."""
    [instance_type] = group.possible_instance_types
    facts = instance_facts(instance_type)
    gpus = 0 if facts is None or facts.accelerator is None else facts.accelerator.count
    return {
        mig.resource(profile): str(gpus * count)
        for profile, count in mig.partitioned(instance_type, layout).items()
    }


def _problem(node: Mapping[str, Any], wanted: Mapping[str, str]) -> str | None:
    offered = allocatable(node)
    lacking = [
        f"{offered.get(resource, 'none')} of {count} {resource}"
        for resource, count in wanted.items()
        if offered.get(resource) != count
    ]
    if not lacking:
        return None
    return f"offers {', '.join(lacking)} ({mig.STATE_LABEL}={labels_of(node).get(mig.STATE_LABEL)})"
