"""Rules on the pods that nodes must have room for."""

from hyperpod_cdk.checks.inputs import Taint
from hyperpod_cdk.checks.pods_per_node import pods_per_node
from hyperpod_cdk.checks.system_pods import system_pods
from hyperpod_cdk.checks.unlisted_types import unlisted_types
from hyperpod_cdk.helm.hyperpod_components import HyperPodComponents
from tests.checks.deployments import (
    CPU,
    ERROR,
    GPU,
    TRAINIUM,
    UNDESCRIBED,
    WARNING,
    deployment,
    group,
    in_group,
    one,
)

_GROUPS = "cluster.instance_groups"
_TAINT = Taint(key="team", value="a", effect="NoSchedule")
_SOFT_TAINT = Taint(key="team", effect="PreferNoSchedule")
_SYSTEM_TAINT = Taint(key="CriticalAddonsOnly", effect="NoSchedule")
_CHECKS = ("InstanceStress",)
_NO_OPERATORS = HyperPodComponents(training_operator=False, mpi_operator=False)
_NO_PLUGINS = HyperPodComponents(
    nvidia_device_plugin=False,
    neuron_device_plugin=False,
    health_monitoring_agent=False,
    i_know_this_breaks_resiliency=True,
)

PODS_PER_NODE = [
    one(pods_per_node, "room", deployment(group(GPU), group("ml.t3.medium", index=1))),
    one(pods_per_node, "of an undescribed type", deployment(group(UNDESCRIBED))),
    one(
        pods_per_node,
        "no room for all DaemonSets",
        deployment(group("ml.c6g.medium")),
        in_group(ERROR, "instance_type", "for 3 pods, and 4 DaemonSets need one each (aws-node,"),
    ),
    one(
        pods_per_node,
        "no room for anything else",
        deployment(group("ml.c6g.medium"), storage=False),
        in_group(WARNING, "instance_type", "3 DaemonSets take one each"),
    ),
    one(
        pods_per_node,
        "second of two types",
        deployment(group(None, instance_types=(CPU, "ml.c6g.medium"))),
        in_group(ERROR, "instance_types[1]", "for 3 pods"),
    ),
]

SYSTEM_PODS = [
    one(system_pods, "one CPU node", deployment(group(GPU, taints=(_TAINT,)), group(index=1))),
    one(system_pods, "no groups", deployment()),
    one(system_pods, "taint that does not repel", deployment(group(taints=(_SOFT_TAINT,)))),
    one(system_pods, "undescribed nodes", deployment(group(UNDESCRIBED))),
    one(
        system_pods,
        "no node until one is needed",
        deployment(group(instance_count=0), auto_scaling="Karpenter"),
    ),
    one(
        system_pods,
        "deep health checks and Spot beside another group",
        deployment(
            group(GPU, deep_health_checks=_CHECKS), group(index=1), group(index=2, capacity="Spot")
        ),
    ),
    one(
        system_pods,
        "taints everywhere",
        deployment(group(taints=(_TAINT,)), group(GPU, index=1, taints=(_SYSTEM_TAINT, _TAINT))),
        (ERROR, _GROUPS, "must have one group without NoSchedule and NoExecute taints"),
    ),
    one(
        system_pods,
        "a taint that CoreDNS tolerates",
        deployment(group(taints=(_SYSTEM_TAINT,)), group(GPU, index=1, taints=(_TAINT,))),
        (WARNING, _GROUPS, "no node takes training operator, MPI operator, FSx CSI controller,"),
    ),
    one(
        system_pods,
        "a taint that CoreDNS tolerates, and nothing else to run",
        deployment(group(taints=(_SYSTEM_TAINT,)), storage=False, components=_NO_OPERATORS),
    ),
    one(
        system_pods,
        "restricted groups alone",
        deployment(group(GPU, restricted=True)),
        (WARNING, _GROUPS, "must have one group"),
    ),
    one(
        system_pods,
        "no nodes",
        deployment(group(instance_count=0), group(GPU, index=1, taints=(_TAINT,))),
        (WARNING, _GROUPS, "without taints have no nodes: CoreDNS, training operator"),
    ),
    one(
        system_pods,
        "deep health checks everywhere",
        deployment(group(GPU, deep_health_checks=_CHECKS), group(index=1, instance_count=0)),
        (WARNING, _GROUPS, "all start with deep health checks"),
    ),
    one(
        system_pods,
        "Spot everywhere",
        deployment(group(capacity="Spot")),
        (WARNING, _GROUPS, "all Spot; add an On-Demand group"),
    ),
    one(
        system_pods,
        "too little room",
        deployment(group("ml.t3.medium", instance_count=5)),
        (
            WARNING,
            _GROUPS,
            "room for 5 pods besides those of DaemonSets, and the cluster's own are 6",
        ),
    ),
    one(
        system_pods,
        "room enough without operators",
        deployment(group("ml.t3.medium", instance_count=4), components=_NO_OPERATORS),
    ),
    one(
        system_pods,
        "room enough without storage",
        deployment(group("ml.t3.medium", instance_count=2), storage=False),
    ),
]

UNLISTED_TYPES = [
    one(unlisted_types, "listed", deployment(group(GPU), group(TRAINIUM, index=1), group(index=2))),
    one(unlisted_types, "of an undescribed type", deployment(group(UNDESCRIBED))),
    one(unlisted_types, "restricted", deployment(group("ml.g7.2xlarge", restricted=True))),
    one(
        unlisted_types,
        "with plugins of one's own",
        deployment(group("ml.g4dn.xlarge"), components=_NO_PLUGINS),
    ),
    one(
        unlisted_types,
        "GPUs",
        deployment(group("ml.g4dn.xlarge")),
        in_group(WARNING, "instance_type", "runs nvidia-device-plugin and health-monitoring-agent"),
    ),
    one(
        unlisted_types,
        "Trainium, as the second type",
        deployment(group(None, instance_types=(TRAINIUM, "ml.trn2.3xlarge"))),
        in_group(WARNING, "instance_types[1]", "the chart runs neuron-device-plugin: pods get no"),
    ),
]

CASES = [*PODS_PER_NODE, *SYSTEM_PODS, *UNLISTED_TYPES]
