"""Pools of groups that Karpenter scales."""

from collections.abc import Iterator

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_pool_section import NodePoolConfig, pool_taints
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Finding, KeyPath, error
from hyperpod_cdk.schema.limits import allowed, nearest


def node_pools(cluster: ClusterConfig) -> Iterator[Finding]:
    """Find pools without autoscaling, and groups that Karpenter does not scale.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html
    """
    if cluster.node_pools and cluster.auto_scaling is None:
        names = [pool.name for pool in cluster.node_pools]
        message = "needs cluster.auto_scaling: Karpenter, which scales their groups"
        yield error(("cluster", "node_pools"), names, message)
    for index, pool in enumerate(cluster.node_pools):
        yield from _pool_findings(
            pool, cluster=cluster, where=("cluster", "node_pools", index, "instance_groups")
        )


def _pool_findings(
    pool: NodePoolConfig, *, cluster: ClusterConfig, where: KeyPath
) -> Iterator[Finding]:
    groups = {group.name: group for group in cluster.instance_groups}
    places = {name: place for place, name in enumerate(groups)}
    first: InstanceGroupConfig | None = None
    for place, name in enumerate(pool.instance_groups):
        group = groups.get(name)
        if group is None:
            known = [*groups]
            message = (
                f"is none of cluster.instance_groups{nearest(name, known=known)}{allowed(known)}"
            )
            yield error((*where, place), name, message)
            continue
        for key, value, message in _fixed(group, pool):
            yield error(("cluster", "instance_groups", places[name], key), value, message)
        first = first or group
        if pool_taints(group) != pool_taints(first):
            message = (
                f"has other taints than {first.name!r}; Karpenter gives the nodes of a pool the "
                "same ones: make a pool for each"
            )
            yield error((*where, place), name, message)


def _fixed(group: InstanceGroupConfig, pool: NodePoolConfig) -> Iterator[tuple[str, object, str]]:
    """Yield what keeps Karpenter from scaling a group: key, value, why."""
    within = f"in the node pool {pool.name!r}"
    if group.instance_count:
        message = f"must be 0 {within}: Karpenter takes away nodes that it has not added"
        yield "instance_count", group.instance_count, message
    if group.deep_health_checks:
        checks = list(group.deep_health_checks)
        message = f"must be empty {within}: pods would wait for the checks, and add more nodes"
        yield "deep_health_checks", checks, message
    if group.training_plan_arn is not None:
        plan = group.training_plan_arn
        message = f"must be left out {within}: Karpenter does not scale reserved capacity"
        yield "training_plan_arn", plan, message
