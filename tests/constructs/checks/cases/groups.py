"""Rules of a cluster on single instance groups."""

from hyperpod_cdk import ClusterConfig
from hyperpod_cdk.hyperpod.checks.continuous_provisioning import continuous_provisioning
from hyperpod_cdk.hyperpod.checks.custom_images import custom_images
from hyperpod_cdk.hyperpod.checks.deep_health_checks import deep_health_checks
from hyperpod_cdk.hyperpod.checks.ebs_volumes import ebs_volumes
from hyperpod_cdk.hyperpod.checks.efa_interfaces import efa_interfaces
from hyperpod_cdk.hyperpod.checks.threads_per_core import threads_per_core
from hyperpod_cdk.hyperpod.checks.training_plan_types import training_plan_types
from hyperpod_cdk.hyperpod.checks.undescribed_types import undescribed_types
from tests.support.rule_cases import (
    CHECKS,
    CPU,
    ERROR,
    GPU,
    GPU_WITHOUT_EFA,
    KEY,
    PLAN,
    TAINT,
    TRAINIUM,
    UNDESCRIBED,
    WARNING,
    Cases,
    cluster,
    group,
    in_group,
)

_AMI = "ami-0123456789abcdef0"
_ARM, _X86 = "ml.m7g.large", "ml.m5.large"
_ROOT = {"root_volume": True, "kms_key_id": KEY}
_DATA = {"volume_size_gib": 100}
_DATA_WITH_KEY = {**_DATA, "kms_key_id": KEY}
_CONTINUOUS = "needs cluster.node_provisioning_mode: Continuous"


def _threads(name: str, threads: int | None) -> ClusterConfig:
    return cluster(group(name, threads_per_core=threads))


CASES: Cases = {}
CASES[threads_per_core] = {
    "left out": _threads(GPU, None),
    "two on a GPU type": _threads(GPU, 2),
    "one on a CPU type": _threads(CPU, 1),
    "two on G5, of which EC2 lists no values": _threads("ml.g5.12xlarge", 2),
    "of an undescribed type": _threads(UNDESCRIBED, 2),
    "one on a GPU type": (_threads(GPU, 1), in_group(WARNING, "threads_per_core")),
    "two without multithreading": (
        _threads("ml.g7.2xlarge", 2),
        in_group(ERROR, "threads_per_core"),
    ),
    "one without multithreading": _threads("ml.g7.2xlarge", 1),
    "two, which one type of several lacks": (
        cluster(group(None, instance_types=[CPU, "ml.m8a.16xlarge"], threads_per_core=2)),
        in_group(ERROR, "threads_per_core"),
    ),
}
CASES[deep_health_checks] = {
    "alone": cluster(group(GPU, deep_health_checks=CHECKS)),
    "taint alone": cluster(group(GPU, taints=[TAINT])),
    "with a taint": (
        cluster(group(GPU, deep_health_checks=CHECKS, taints=[TAINT])),
        in_group(ERROR, "deep_health_checks"),
    ),
}

CASES[continuous_provisioning] = {
    "everything with continuous provisioning": cluster(
        group(None, instance_types=[GPU, TRAINIUM], min_instance_count=1, capacity="Spot"),
        auto_scaling="Karpenter",
    ),
    "nothing without": cluster(
        group(capacity="OnDemand", ebs_volumes=[_DATA]), node_provisioning_mode=None
    ),
    "everything without": (
        cluster(
            group(min_instance_count=1, capacity="Spot", ebs_volumes=[_ROOT, _DATA]),
            group(None, index=1, instance_types=[CPU]),
            restricted=[group(GPU, index=2, ebs_volumes=[_DATA_WITH_KEY])],
            auto_scaling="Karpenter",
            node_provisioning_mode=None,
        ),
        in_group(ERROR, "min_instance_count"),
        in_group(ERROR, "capacity"),
        in_group(ERROR, "ebs_volumes[0].kms_key_id"),
        in_group(ERROR, "instance_types", index=1),
        (ERROR, "cluster.restricted_instance_groups[0].ebs_volumes[0].kms_key_id"),
        (ERROR, "cluster.auto_scaling"),
    ),
}

CASES[ebs_volumes] = {
    "two volumes": cluster(group(ebs_volumes=[_ROOT, _DATA_WITH_KEY])),
    "none but an instance store": cluster(group(GPU, volume_size_gib=None)),
    "none of an undescribed type": cluster(group(UNDESCRIBED, volume_size_gib=None)),
    "root volume alone": (
        cluster(group(ebs_volumes=[_ROOT])),
        in_group(WARNING, "volume_size_gib"),
    ),
    "key in a restricted group": (
        cluster(restricted=[group(GPU, index=1, ebs_volumes=[_DATA_WITH_KEY])]),
        (ERROR, "cluster.restricted_instance_groups[0].ebs_volumes[0].kms_key_id"),
    ),
    "no volume": (cluster(group(volume_size_gib=None)), in_group(WARNING, "volume_size_gib")),
}

CASES[custom_images] = {
    "release of HyperPod's own": cluster(group(image_release_version="1.2.3", image_id="default")),
    "custom AMI everywhere": cluster(group(image_id=_AMI), group(index=1, image_id=_AMI)),
    "inherited where nothing is inherited": cluster(
        group(image_id=_AMI), group(index=1), node_provisioning_mode=None
    ),
    "restricted group, which chooses no image": cluster(
        group(image_id=_AMI), restricted=[group(GPU, index=1)]
    ),
    "release of a custom AMI": (
        cluster(group(image_id=_AMI, image_release_version="1.2.3")),
        in_group(ERROR, "image_release_version"),
    ),
    "one AMI for two architectures": (
        cluster(group(None, instance_types=[_ARM, _X86], image_id=_AMI)),
        in_group(ERROR, "image_id"),
    ),
    "inherited": (
        cluster(group(image_id=_AMI), group(index=1)),
        in_group(WARNING, "image_id", index=1),
    ),
}

CASES[training_plan_types] = {
    "reserved": cluster(group(GPU, training_plan_arn=PLAN)),
    "no plan": cluster(group(CPU)),
    "of an undescribed type": cluster(group(UNDESCRIBED, training_plan_arn=PLAN)),
    "type that no plan reserves": (
        cluster(group(CPU, training_plan_arn=PLAN)),
        in_group(ERROR, "instance_type"),
    ),
    "type that no plan reserves, in a restricted group": (
        cluster(restricted=[group(CPU, index=1, training_plan_arn=PLAN)]),
        (ERROR, "cluster.restricted_instance_groups[0].instance_type"),
    ),
    "Spot": (
        cluster(group(GPU, training_plan_arn=PLAN, capacity="Spot")),
        in_group(ERROR, "capacity"),
    ),
}

CASES[undescribed_types] = {
    "described": cluster(group(GPU), group(GPU_WITHOUT_EFA, index=1)),
    "undescribed": (cluster(group(UNDESCRIBED)), in_group(WARNING, "instance_type")),
}

CASES[efa_interfaces] = {
    "on EFA": cluster(group(GPU, network_interface_type="efa-only")),
    "left out": cluster(group(CPU)),
    "on a type without EFA": (
        cluster(group(GPU_WITHOUT_EFA, network_interface_type="efa")),
        in_group(ERROR, "network_interface_type"),
    ),
}
