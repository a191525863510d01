"""What HyperPod refuses of a request for Slurm that its model allows.

The sentences that AWS publishes are AWS's:
https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html#smcluster-getting-started-slurm-cli-validation-errors
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html#sagemaker-hyperpod-slurm-api-config-migration-troubleshooting
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperpod_emulator.hyperpod.simulation.slurm_nodes import COMPUTE, CONTROLLER, LOGIN, node_type
from hyperpod_emulator.hyperpod.simulation.state import CONTINUOUS, Cluster

Members = Mapping[str, Any]
_FILE_SYSTEMS = ("FsxLustreConfig", "FsxOpenZfsConfig")


def broken_slurm_rules(settings: Members, specs: Iterable[Members]) -> Iterator[str]:
    """Yield a sentence for each rule that a cluster with Slurm, and all its groups, breaks."""
    slurm = settings.get("Orchestrator", {}).get("Slurm")
    specs = [*specs]
    if slurm is None:
        return
    yield from _broken_topology(specs)
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html:
    # "Passing any SlurmConfigStrategy value results in an API error."
    continuous = settings.get("NodeProvisioningMode") == CONTINUOUS
    if continuous and "SlurmConfigStrategy" in slurm:
        yield "SlurmConfigStrategy is not supported with NodeProvisioningMode Continuous."
    if not continuous and "AccountingDatabase" in slurm:
        yield "AccountingDatabase is supported only with NodeProvisioningMode Continuous."
    for spec in specs:
        for sentence in _broken_storage(spec, settings):
            yield f"Instance group '{spec['InstanceGroupName']}': {sentence}"


def _broken_topology(specs: list[Members]) -> Iterator[str]:
    types = Counter(node_type(spec) for spec in specs)
    if types[CONTROLLER] == 0:
        yield "Cluster must have exactly one InstanceGroup with Controller node type."
    if types[CONTROLLER] > 1:
        yield (
            f"{types[CONTROLLER]} Controller Groups found: SlurmConfig for InstanceGroups may only "
            "have one Controller Group."
        )
    if types[LOGIN] > 1:
        yield f"{types[LOGIN]} Login Groups found: at most one InstanceGroup may be one."
    for spec in specs:
        for sentence in _broken_group(spec):
            yield f"Instance group '{spec['InstanceGroupName']}': {sentence}"


def _broken_group(spec: Members) -> Iterator[str]:
    kind, partitions = node_type(spec), spec.get("SlurmConfig", {}).get("PartitionNames")
    if kind is None:
        yield "SlurmConfig must be specified."
    elif kind == COMPUTE and not partitions:
        yield "SlurmConfig.PartitionNames must be specified for the Compute node type."
    elif kind != COMPUTE and partitions:
        yield "Partitions can only be assigned to Compute node types."
    # "[...] not currently supported [...]: multi-head node configuration via API-based Slurm
    # topology" (sagemaker-hyperpod-scaling-slurm); in which words it is refused is not published.
    if kind == CONTROLLER and spec["InstanceCount"] != 1:
        yield "the InstanceCount of the Controller node type must be 1."


def _broken_storage(spec: Members, settings: Members) -> Iterator[str]:
    mounts = Counter(name for each in spec.get("InstanceStorageConfigs", ()) for name in each)
    for name in _FILE_SYSTEMS:
        if mounts[name] > 1:
            yield f"at most one {name} may be specified."
        if mounts[name] and "VpcConfig" not in settings:
            yield "FSx configurations are only supported for Custom VPC."


def broken_slurm_update_rules(request: Members, cluster: Cluster) -> Iterator[str]:
    """Yield a sentence for each rule that an UpdateCluster request breaks with Slurm."""
    specs = {name: group.spec for name, group in cluster.groups.items() if not group.deleting}
    for name in request.get("InstanceGroupsToDelete", ()):
        specs.pop(name, None)
    for spec in request.get("InstanceGroups", ()):
        name = spec["InstanceGroupName"]
        before = specs.get(name, {})
        kinds = [kind for each in (before, spec) if (kind := node_type(each))]
        if len(set(kinds)) > 1:
            yield f"Instance group '{name}': SlurmConfig.NodeType cannot be changed."
        specs[name] = with_kept_slurm_config(spec, before)
    orchestrator = with_kept_orchestrator(request, cluster.settings)
    yield from broken_slurm_rules({**cluster.settings, **orchestrator}, specs.values())


def with_kept_slurm_config(spec: Members, before: Members) -> Members:
    """Return a group of an update, with the SlurmConfig that it leaves out.

    "Omitting SlurmConfig from a later UpdateCluster request does not revert the cluster; the
    existing API-driven Slurm configuration is preserved": sagemaker-hyperpod-slurm-api-config-
    migration.
    """
    kept = {name: before[name] for name in ("SlurmConfig",) if name in before}
    return {**kept, **spec}


def with_kept_orchestrator(request: Members, settings: Members) -> dict[str, Any]:
    """Return the Orchestrator of an update, with what it leaves out of Slurm's.

    Believed: an AccountingDatabase can be changed, but not taken away ("you cannot revert that
    cluster to the internal MariaDB database": sagemaker-hyperpod-external-accounting-db-slurm).
    """
    wanted, before = request.get("Orchestrator"), settings.get("Orchestrator", {})
    if wanted is None:
        return {}
    if "Slurm" in wanted and "Slurm" in before:
        wanted = {"Slurm": {**before["Slurm"], **wanted["Slurm"]}}
    return {"Orchestrator": wanted}
