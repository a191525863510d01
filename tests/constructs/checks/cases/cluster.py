"""Rules on a cluster as a whole, and on what Kubernetes sees of its nodes."""

from typing import Any

from hyperpod_cdk import ClusterConfig
from hyperpod_cdk.hyperpod.checks.group_count import group_count
from hyperpod_cdk.hyperpod.checks.karpenter import karpenter
from hyperpod_cdk.hyperpod.checks.native_resource import native_resource
from hyperpod_cdk.hyperpod.checks.node_labels import node_labels
from hyperpod_cdk.hyperpod.checks.node_pools import node_pools
from hyperpod_cdk.hyperpod.checks.node_taints import node_taints
from tests.support.rule_cases import (
    CHECKS,
    ERROR,
    GPU,
    PLAN,
    SOFT_TAINT,
    TAINT,
    WARNING,
    Cases,
    cluster,
    group,
    in_group,
)

_GROUPS = "cluster.instance_groups"
_NATIVE: dict[str, Any] = {"resource": "native"}


def _labelled(*keys: str) -> ClusterConfig:
    return cluster(group(labels=dict.fromkeys(keys, "a")))


def _tainted(*taints: dict[str, Any]) -> ClusterConfig:
    return cluster(group(taints=list(taints)))


CASES: Cases = {}
CASES[group_count] = {
    "as many as the guide says": cluster(
        *(group(index=index) for index in range(20)),
        restricted=[group(GPU, index=index) for index in range(20, 25)],
    ),
    "more": (cluster(*(group(index=index) for index in range(21))), (WARNING, _GROUPS)),
}

CASES[karpenter] = {
    "off": cluster(group(), node_recovery="None"),
    "with a group to scale": cluster(
        group(), group(GPU, index=1, instance_count=0), auto_scaling="Karpenter"
    ),
    "without node recovery": (
        cluster(group(instance_count=0), auto_scaling="Karpenter", node_recovery="None"),
        (ERROR, "cluster.node_recovery"),
    ),
    "with nothing to scale": (
        cluster(
            group(),
            group(GPU, index=1, instance_count=0, deep_health_checks=CHECKS),
            group(GPU, index=2, instance_count=0, training_plan_arn=PLAN),
            auto_scaling="Karpenter",
        ),
        (WARNING, "cluster.auto_scaling"),
    ),
}

_SCALED: dict[str, Any] = {"instance_count": 0}


def _pools(*groups: dict[str, Any], names: list[str], **changes: Any) -> ClusterConfig:
    pool = {"name": "gpu", "instance_groups": names}
    return cluster(*groups, **{"auto_scaling": "Karpenter", "node_pools": [pool], **changes})


_OF_POOL = "cluster.node_pools[0].instance_groups"
CASES[node_pools] = {
    "groups of several types, with the same taints in another order": _pools(
        group(GPU, taints=[TAINT, SOFT_TAINT], **_SCALED),
        group(index=1, taints=[SOFT_TAINT, TAINT], **_SCALED),
        names=["group-0", "group-1"],
    ),
    "without autoscaling": (
        _pools(group(**_SCALED), names=["group-0"], auto_scaling=None),
        (ERROR, "cluster.node_pools"),
    ),
    "a group that there is not": (
        _pools(group(**_SCALED), names=["grup-0"]),
        (ERROR, f"{_OF_POOL}[0]"),
    ),
    "groups that Karpenter does not scale": (
        _pools(group(GPU, deep_health_checks=CHECKS, training_plan_arn=PLAN), names=["group-0"]),
        in_group(ERROR, "instance_count"),
        in_group(ERROR, "deep_health_checks"),
        in_group(ERROR, "training_plan_arn"),
    ),
    "other taints": (
        _pools(
            group(taints=[TAINT], **_SCALED),
            group(index=1, **_SCALED),
            names=["group-0", "group-1"],
        ),
        (ERROR, f"{_OF_POOL}[1]"),
    ),
}

CASES[node_labels] = {
    "the user's": _labelled("team", "nvidia.com/mig.config", f"a.b/{'n' * 63}"),
    "long domain": (_labelled(f"{'d' * 254}/n"), in_group(ERROR, f"labels['{'d' * 34}")),
    "long name": (_labelled("n" * 64), in_group(ERROR, f"labels.{'n' * 64}")),
    "HyperPod's": (
        _labelled("sagemaker.amazonaws.com/node-health-status"),
        in_group(ERROR, "labels['sagemaker"),
    ),
    "Kubernetes'": (
        _labelled("node-role.kubernetes.io/worker"),
        in_group(WARNING, "labels['node-role"),
    ),
}

CASES[node_taints] = {
    "the user's, two effects": _tainted(
        TAINT, SOFT_TAINT, {"key": "x.org/a", "effect": "NoExecute"}
    ),
    "twice the same": (_tainted(TAINT, {**TAINT, "value": "b"}), in_group(ERROR, "taints[1].key")),
    "long name": (
        _tainted({"key": "n" * 64, "effect": "NoExecute"}),
        in_group(ERROR, "taints[0].key"),
    ),
    "HyperPod's and Kubernetes'": (
        _tainted(
            {"key": "sagemaker.amazonaws.com/x", "effect": "NoSchedule"},
            {"key": "node.kubernetes.io/x", "effect": "NoSchedule"},
        ),
        in_group(ERROR, "taints[0].key"),
        in_group(WARNING, "taints[1].key"),
    ),
}


CASES[native_resource] = {
    "all that both take": cluster(group(threads_per_core=1), **_NATIVE),
    "the custom resource's keys, with it": cluster(
        group(), wait_for="nodes", auto_scaling="Karpenter"
    ),
    "keys without effect, defaults among them": (
        cluster(group(), wait_for="nodes", software_update="1", **_NATIVE),
        (ERROR, "cluster.wait_for"),
        (ERROR, "cluster.software_update"),
    ),
    "Karpenter": (
        cluster(group(), auto_scaling="Karpenter", **_NATIVE),
        (ERROR, "cluster.auto_scaling"),
    ),
    "values and members that the type lacks": (
        cluster(
            group(
                GPU,
                deep_health_checks=[*CHECKS, "MultiNodeTrainingValidation"],
                auto_patch={"strategy": "WhenIdle", "idle_wait_window_seconds": 3600},
            ),
            **_NATIVE,
        ),
        in_group(ERROR, "auto_patch.idle_wait_window_seconds"),
        in_group(ERROR, "deep_health_checks[1]"),
    ),
}
