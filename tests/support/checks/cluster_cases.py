"""Rules on the whole cluster, and on what Kubernetes sees of its nodes."""

from hyperpod_cdk.checks.group_count import group_count
from hyperpod_cdk.checks.inputs import Group, Taint
from hyperpod_cdk.checks.karpenter import karpenter
from hyperpod_cdk.checks.kubernetes_version import kubernetes_version
from hyperpod_cdk.checks.node_labels import node_labels
from hyperpod_cdk.checks.node_taints import node_taints
from tests.checks.deployments import (
    ERROR,
    GPU,
    PLAN,
    WARNING,
    deployment,
    group,
    in_group,
    one,
)

_GROUPS = "cluster.instance_groups"
_TAINT = Taint(key="team", value="a", effect="NoSchedule")
_SOFT_TAINT = Taint(key="team", effect="PreferNoSchedule")
_CHECKS = ("InstanceStress",)


def _labelled(*keys: str) -> Group:
    return group(labels=dict.fromkeys(keys, "a"))


GROUP_COUNT = [
    one(
        group_count,
        "as many as the guide says",
        deployment(*(group(index=index, restricted=index > 19) for index in range(25))),
    ),
    one(
        group_count,
        "more",
        deployment(*(group(index=index) for index in range(21))),
        (WARNING, _GROUPS, "groups are more than the 20 of the HyperPod guide"),
    ),
]

KUBERNETES_VERSIONS = [
    *(
        one(kubernetes_version, version, deployment(kubernetes_version=version))
        for version in ("1.33", "1.34", "1.35")
    ),
    *(
        one(
            kubernetes_version,
            version,
            deployment(kubernetes_version=version),
            (WARNING, "eks.version", "is outside 1.33 to 1.35"),
        )
        for version in ("1.30", "1.32", "1.36")
    ),
]

KARPENTER = [
    one(karpenter, "off", deployment(group(), node_recovery="None")),
    one(
        karpenter,
        "with a group to scale",
        deployment(group(), group(GPU, index=1, instance_count=0), auto_scaling="Karpenter"),
    ),
    one(
        karpenter,
        "without node recovery",
        deployment(group(instance_count=0), auto_scaling="Karpenter", node_recovery="None"),
        (ERROR, "cluster.node_recovery", "must be Automatic with auto_scaling"),
    ),
    one(
        karpenter,
        "with nothing to scale",
        deployment(
            group(),
            group(GPU, index=1, instance_count=0, deep_health_checks=_CHECKS),
            group(GPU, index=2, instance_count=0, training_plan_arn=PLAN),
            auto_scaling="Karpenter",
        ),
        (WARNING, "cluster.auto_scaling", "finds no group to scale"),
    ),
]

LABELS = [
    one(
        node_labels,
        "of one's own",
        deployment(_labelled("team", "nvidia.com/mig.config", f"a.b/{'n' * 63}")),
    ),
    one(
        node_labels,
        "long domain",
        deployment(_labelled(f"{'d' * 254}/n")),
        in_group(ERROR, f"labels['{'d' * 34}", "a domain of at most 253 characters"),
    ),
    one(
        node_labels,
        "long name",
        deployment(_labelled("n" * 64)),
        in_group(ERROR, f"labels.{'n' * 64}", "must have at most 63 characters"),
    ),
    one(
        node_labels,
        "HyperPod's",
        deployment(_labelled("sagemaker.amazonaws.com/node-health-status")),
        in_group(ERROR, "labels['sagemaker", "whose keys HyperPod writes"),
    ),
    one(
        node_labels,
        "Kubernetes'",
        deployment(_labelled("node-role.kubernetes.io/worker")),
        in_group(WARNING, "labels['node-role", "a domain of kubernetes.io, which Kubernetes"),
    ),
]

TAINTS = [
    one(
        node_taints,
        "of one's own, two effects",
        deployment(group(taints=(_TAINT, _SOFT_TAINT, Taint(key="x.org/a", effect="NoExecute")))),
    ),
    one(
        node_taints,
        "twice the same",
        deployment(group(taints=(_TAINT, Taint(key="team", value="b", effect="NoSchedule")))),
        in_group(ERROR, "taints[1].key", "has effect NoSchedule a second time"),
    ),
    one(
        node_taints,
        "long name",
        deployment(group(taints=(Taint(key="n" * 64, effect="NoExecute"),))),
        in_group(ERROR, "taints[0].key", "must have at most 63 characters"),
    ),
    one(
        node_taints,
        "HyperPod's and Kubernetes'",
        deployment(
            group(
                taints=(
                    Taint(key="sagemaker.amazonaws.com/x", effect="NoSchedule"),
                    Taint(key="node.kubernetes.io/x", effect="NoSchedule"),
                )
            )
        ),
        in_group(ERROR, "taints[0].key", "whose keys HyperPod writes"),
        in_group(WARNING, "taints[1].key", "a domain of kubernetes.io"),
    ),
]

CASES = [
    *GROUP_COUNT,
    *KUBERNETES_VERSIONS,
    *KARPENTER,
    *LABELS,
    *TAINTS,
]
