"""The `cluster.node_pools` section: which groups Karpenter scales, how far, and when it stops."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_settings import key_reservation
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.limits import DNS_LABEL, Message, listed_twice, same_names
from hyperpod_cdk.schema.section import Api, Listed, Section, judged, members

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html
_MOST_GROUPS = 10
# https://karpenter.sh/docs/concepts/nodepools/#specweight
_MOST_WEIGHT = 100
_MOST_MINUTES = 7 * 24 * 60
# https://karpenter.sh/docs/concepts/disruption/#consolidation
_POLICIES = {"empty": "WhenEmpty", "underutilized": "WhenEmptyOrUnderutilized"}
# Nodes of which something has changed in the pool are replaced whatever runs on them, unless a
# budget keeps them; the most restrictive one holds. Without any, there is the last of these.
# https://karpenter.sh/docs/concepts/disruption/#nodepool-disruption-budgets
_BUDGETS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "empty": (
        {"nodes": "0", "reasons": ["Drifted", "Underutilized"]},
        {"nodes": "100%", "reasons": ["Empty"]},
    ),
    "underutilized": ({"nodes": "10%"},),
}
_FIELD = r"[0-9A-Za-z*/,-]+"
_MOST_HOURS = 7 * 24


def _group_findings(names: Sequence[str]) -> Iterator[Finding]:
    if not 1 <= len(names) <= _MOST_GROUPS:
        message = f"must list 1 to {_MOST_GROUPS} groups, HyperPod's limits"
        yield Finding(value=list(names), message=message)
    yield from listed_twice(names)


def _limit_findings(limits: Mapping[str, int]) -> Iterator[Finding]:
    for resource, most in limits.items():
        if most < 1:
            message = "must be 1 or more; leave it out for no limit"
            yield Finding(path=(resource,), value=most, message=message)


class KeptHoursConfig(Section):
    """Hours in which no node of a pool is removed."""

    schedule: Annotated[
        str,
        Field(pattern=rf"^{_FIELD}( {_FIELD}){{4}}$"),
        Message('must be five fields of cron, in UTC, such as "0 7 * * mon-fri"'),
        Field(examples=["0 7 * * mon-fri"]),
        Api("schedule"),
    ]
    """When the hours begin, in UTC: minute, hour, day of the month, month, day of the week."""

    hours: Annotated[int, Field(ge=1, le=_MOST_HOURS)]
    """Duration in hours, 1 to 168."""

    def to_request(self) -> dict[str, Any]:
        """Return the budget of a NodePool."""
        return {**super().to_request(), "nodes": "0", "duration": f"{self.hours}h"}


class NodePoolConfig(Section):
    """A Karpenter NodePool, and the HyperpodNodeClass of its groups."""

    name: Annotated[
        str,
        Field(pattern=rf"^{DNS_LABEL}$", max_length=63),
        Message("must be 1 to 63 lower-case letters, digits and inner hyphens"),
        Api("name"),
    ]
    """Name of the NodePool and of its HyperpodNodeClass, unique in the list."""

    instance_groups: Annotated[Listed[str], judged(_group_findings), Api("instanceGroups")]
    """Names of the instance groups whose nodes Karpenter adds and removes, 1 to 10, each in one
    pool, with instance_count: 0. Pods see their labels and taints."""

    limits: Annotated[
        dict[str, int],
        judged(_limit_findings),
        Field(examples=[{"nvidia.com/gpu": 16}]),
        Api("limits"),
    ] = Field(default_factory=dict)
    """Maximum of a resource in all nodes of the pool together, such as {nvidia.com/gpu: 16}; memory
    in bytes. Without limits, pending pods add nodes up to the quotas of the account. Default:
    none."""

    consolidate: Literal["empty", "underutilized"] = "empty"
    """empty: a node is removed when only pods of DaemonSets run on it. underutilized: pods,
    including training, are also evicted if they fit on fewer or cheaper nodes, or if their node no
    longer matches the pool. Default: empty."""

    consolidate_after_minutes: Annotated[int, Field(ge=0, le=_MOST_MINUTES)] = 10
    """Minutes for which a node is empty or underutilized before it is removed, 0 to 10080. Default:
    10."""

    keep_nodes: Annotated[
        Listed[KeptHoursConfig], Field(examples=[[{"schedule": "0 8 * * 1-5", "hours": 10}]])
    ] = ()
    """Hours in which no node is removed, so that the next pod does not wait for one. Default:
    none."""

    weight: Annotated[
        int | None, Field(ge=1, le=_MOST_WEIGHT), Field(examples=[50]), Api("weight")
    ] = None
    """If pods fit several pools, the one with the highest weight is used first, 1 to 100. Default:
    none, lower than all others."""

    def to_request(self) -> dict[str, Any]:
        """Return the pool as the chart `node-pools` takes it."""
        kept = [each.to_request() for each in self.keep_nodes]
        return {
            **super().to_request(),
            "budgets": [*(dict(each) for each in _BUDGETS[self.consolidate]), *kept],
            "consolidationPolicy": _POLICIES[self.consolidate],
            "consolidateAfter": f"{self.consolidate_after_minutes}m",
        }


def pool_values(pool: NodePoolConfig, groups: Mapping[str, InstanceGroupConfig]) -> dict[str, Any]:
    """Return the values of a pool for the chart, with the taints and labels of its groups.

    HyperPod writes them on the nodes; Karpenter must know them to tell which pods a node takes.
    """
    own = [groups[name] for name in pool.instance_groups]
    taints = [{key.lower(): text for key, text in each.items()} for each in pool_taints(own[0])]
    shared = dict(own[0].labels.items())
    for group in own[1:]:
        shared = {key: value for key, value in shared.items() if group.labels.get(key) == value}
    # Karpenter refuses a NodePool with labels of domains that Kubernetes keeps for itself.
    # https://karpenter.sh/docs/concepts/scheduling/#well-known-labels
    labels = {key: value for key, value in sorted(shared.items()) if key_reservation(key) is None}
    return members({**pool.to_request(), "taints": taints, "labels": labels})


def pool_taints(group: InstanceGroupConfig) -> list[dict[str, str]]:
    """Return the taints of a group in an order of their own, to be compared."""
    taints: list[dict[str, str]] = [taint.to_request() for taint in group.taints]
    return sorted(taints, key=lambda taint: (taint["Key"], taint["Effect"]))


def node_pool_findings(pools: Sequence[NodePoolConfig]) -> Iterator[Finding]:
    """Find pools that share a name or a group.

    Pools are to be exclusive, and a group that leaves a class has its nodes replaced:
    https://karpenter.sh/docs/concepts/nodepools/
    """
    yield from same_names(pools)
    owners: dict[str, int] = {}
    for index, pool in enumerate(pools):
        for place, group in enumerate(pool.instance_groups):
            if owners.setdefault(group, index) != index:
                message = f"is already in {pools[owners[group]].name!r}; a group is in one pool"
                yield Finding(path=(index, "instance_groups", place), value=group, message=message)
