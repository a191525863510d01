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
    Cases,
    config,
    group,
    in_group,
)

_GROUPS = "cluster.instance_groups"
_SYSTEM_TAINT = {"key": "CriticalAddonsOnly", "effect": "NoSchedule"}
_GRAFANA = {"prometheus": {}, "grafana": {"kind": "in_cluster"}}
_NO_OPERATORS = {"components": {"training_operator": False, "mpi_operator": False}}

CASES: Cases = {}
CASES[pods_per_node] = {
    "room": config(group(GPU), group("ml.t3.medium", index=1)),
    "of an undescribed type": config(group(UNDESCRIBED)),
    "no room for all DaemonSets": (
        config(group("ml.c6g.medium")),
        in_group(ERROR, "instance_type"),
    ),
    "no room for anything else": (
        config(group("ml.c6g.medium"), storage=None),
        in_group(WARNING, "instance_type"),
    ),
    "second of two types": (
        config(group(None, instance_types=[CPU, "ml.c6g.medium"])),
        in_group(ERROR, "instance_types[1]"),
    ),
}

CASES[system_pods] = {
    "one CPU node": config(group(GPU, taints=[TAINT]), group(index=1)),
    "taint that does not repel": config(group(taints=[SOFT_TAINT])),
    "undescribed nodes": config(group(UNDESCRIBED)),
    "no node until one is needed": config(
        group(instance_count=0), of_cluster={"auto_scaling": "Karpenter"}
    ),
    "deep health checks and Spot beside another group": config(
        group(GPU, deep_health_checks=CHECKS), group(index=1), group(index=2, capacity="Spot")
    ),
    "taints everywhere": (
        config(group(taints=[TAINT]), group(GPU, index=1, taints=[_SYSTEM_TAINT, TAINT])),
        (ERROR, _GROUPS),
    ),
    "a taint that CoreDNS tolerates": (
        config(group(taints=[_SYSTEM_TAINT]), group(GPU, index=1, taints=[TAINT])),
        (WARNING, _GROUPS),
    ),
    "a taint that CoreDNS tolerates, and nothing else to run": config(
        group(taints=[_SYSTEM_TAINT]), storage=None, helm=_NO_OPERATORS
    ),
    "restricted groups beside tainted ones": (
        config(group(taints=[TAINT]), restricted=[group(GPU, index=1)]),
        (ERROR, _GROUPS),
    ),
    "no nodes": (
        config(group(instance_count=0), group(GPU, index=1, taints=[TAINT])),
        (WARNING, _GROUPS),
    ),
    "deep health checks everywhere": (
        config(group(GPU, deep_health_checks=CHECKS), group(index=1, instance_count=0)),
        (WARNING, _GROUPS),
    ),
    "Spot everywhere": (config(group(capacity="Spot")), (WARNING, _GROUPS)),
    "too little room": (
        config(group("ml.t3.medium", instance_count=5), observability=_GRAFANA),
        (WARNING, _GROUPS),
    ),
    "room enough without operators": config(
        group("ml.t3.medium", instance_count=4), helm=_NO_OPERATORS
    ),
    "room enough without storage": config(group("ml.t3.medium", instance_count=2), storage=None),
}
