"""Rules on the pods that nodes must have room for."""

from hyperpod_cdk.checks.eks.pods_per_node import pods_per_node
from hyperpod_cdk.checks.eks.system_pods import system_pods
from tests.support.rule_cases import (
    CHECKS,
    CPU,
    ERROR,
    GPU,
    SOFT_TAINT,
    TAINT,
    UNDESCRIBED,
    WARNING,
    config,
    group,
    in_group,
    one,
)

_GROUPS = "cluster.instance_groups"
_SYSTEM_TAINT = {"key": "CriticalAddonsOnly", "effect": "NoSchedule"}
_NO_OPERATORS = {"components": {"training_operator": False, "mpi_operator": False}}

PODS_PER_NODE = [
    one(pods_per_node, "room", config(group(GPU), group("ml.t3.medium", index=1))),
    one(pods_per_node, "of an undescribed type", config(group(UNDESCRIBED))),
    one(
        pods_per_node,
        "no room for all DaemonSets",
        config(group("ml.c6g.medium")),
        in_group(ERROR, "instance_type", "for 3 pods, and 4 DaemonSets need one each (aws-node,"),
    ),
    one(
        pods_per_node,
        "no room for anything else",
        config(group("ml.c6g.medium"), storage=None),
        in_group(WARNING, "instance_type", "3 DaemonSets take one each"),
    ),
    one(
        pods_per_node,
        "second of two types",
        config(group(None, instance_types=[CPU, "ml.c6g.medium"])),
        in_group(ERROR, "instance_types[1]", "for 3 pods"),
    ),
]

SYSTEM_PODS = [
    one(system_pods, "one CPU node", config(group(GPU, taints=[TAINT]), group(index=1))),
    one(system_pods, "taint that does not repel", config(group(taints=[SOFT_TAINT]))),
    one(system_pods, "undescribed nodes", config(group(UNDESCRIBED))),
    one(
        system_pods,
        "no node until one is needed",
        config(group(instance_count=0), of_cluster={"auto_scaling": "Karpenter"}),
    ),
    one(
        system_pods,
        "deep health checks and Spot beside another group",
        config(
            group(GPU, deep_health_checks=CHECKS), group(index=1), group(index=2, capacity="Spot")
        ),
    ),
    one(
        system_pods,
        "taints everywhere",
        config(group(taints=[TAINT]), group(GPU, index=1, taints=[_SYSTEM_TAINT, TAINT])),
        (ERROR, _GROUPS, "must have one group without NoSchedule and NoExecute taints"),
    ),
    one(
        system_pods,
        "a taint that CoreDNS tolerates",
        config(group(taints=[_SYSTEM_TAINT]), group(GPU, index=1, taints=[TAINT])),
        (WARNING, _GROUPS, "no node takes training operator, MPI operator, FSx CSI controller,"),
    ),
    one(
        system_pods,
        "a taint that CoreDNS tolerates, and nothing else to run",
        config(group(taints=[_SYSTEM_TAINT]), storage=None, helm=_NO_OPERATORS),
    ),
    one(
        system_pods,
        "restricted groups beside tainted ones",
        config(group(taints=[TAINT]), restricted=[group(GPU, index=1)]),
        (ERROR, _GROUPS, "must have one group"),
    ),
    one(
        system_pods,
        "no nodes",
        config(group(instance_count=0), group(GPU, index=1, taints=[TAINT])),
        (WARNING, _GROUPS, "without taints have no nodes: CoreDNS, training operator"),
    ),
    one(
        system_pods,
        "deep health checks everywhere",
        config(group(GPU, deep_health_checks=CHECKS), group(index=1, instance_count=0)),
        (WARNING, _GROUPS, "all start with deep health checks"),
    ),
    one(
        system_pods,
        "Spot everywhere",
        config(group(capacity="Spot")),
        (WARNING, _GROUPS, "all Spot; add an On-Demand group"),
    ),
    one(
        system_pods,
        "too little room",
        config(group("ml.t3.medium", instance_count=5)),
        (
            WARNING,
            _GROUPS,
            "room for 5 pods besides those of DaemonSets, and the cluster's own are 6",
        ),
    ),
    one(
        system_pods,
        "room enough without operators",
        config(group("ml.t3.medium", instance_count=4), helm=_NO_OPERATORS),
    ),
    one(
        system_pods,
        "room enough without storage",
        config(group("ml.t3.medium", instance_count=2), storage=None),
    ),
]


CASES = [*PODS_PER_NODE, *SYSTEM_PODS]
