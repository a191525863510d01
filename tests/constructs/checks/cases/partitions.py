"""Rules on the partitions of GPUs (MIG)."""

from typing import Any

from hyperpod_cdk.checks.eks.gpu_partitioning import gpu_partitioning
from hyperpod_cdk.facts import mig
from hyperpod_cdk.hyperpod.checks.continuous_provisioning import continuous_provisioning
from hyperpod_cdk.hyperpod.checks.mig_profiles import mig_profiles
from tests.support.rule_cases import CPU, ERROR, GPU, Cases, cluster, config, group, in_group

_LAYOUT = "all-1g.10gb"
_A100, _B200 = "ml.p4d.24xlarge", "ml.p6-b200.48xlarge"
_ON: dict[str, Any] = {"helm": {"components": {"gpu_operator": True}}}
_EVERY_LABEL = {f"example.com/label-{index}": "1" for index in range(50)}

CASES: Cases = {}
CASES[mig_profiles] = {
    "none": cluster(group(GPU), group(CPU, index=1)),
    "alike on each GPU": cluster(group(GPU, mig_profile=_LAYOUT)),
    "mixed on each GPU": cluster(group(_A100, mig_profile="mixed-1-3g.20gb-1-4g.20gb")),
    "a layout of another GPU": (
        cluster(group(_A100, mig_profile=_LAYOUT)),
        in_group(ERROR, "mig_profile"),
    ),
    "a type without MIG": (
        cluster(group("ml.g5.12xlarge", mig_profile=_LAYOUT)),
        in_group(ERROR, "mig_profile"),
    ),
    "a GPU that the chart does not know": (
        cluster(group(_B200, mig_profile="all-1g.23gb")),
        in_group(ERROR, "mig_profile"),
    ),
    "several types": (
        cluster(group(None, instance_types=[GPU, _A100], mig_profile=_LAYOUT)),
        in_group(ERROR, "mig_profile"),
    ),
    "its label too": (
        cluster(group(GPU, mig_profile=_LAYOUT, labels={mig.LABEL: "all-7g.80gb"})),
        in_group(ERROR, f"labels['{mig.LABEL}']"),
    ),
    "one label too many": (
        cluster(group(GPU, mig_profile=_LAYOUT, labels=_EVERY_LABEL)),
        in_group(ERROR, "mig_profile"),
    ),
}
CASES[continuous_provisioning] = {
    "partitions without it": (
        cluster(group(GPU, mig_profile=_LAYOUT), node_provisioning_mode=None),
        in_group(ERROR, "mig_profile"),
    )
}
CASES[gpu_partitioning] = {
    "no partitions": config(group(GPU)),
    "with the GPU operator": config(group(GPU, mig_profile=_LAYOUT), **_ON),
    "without the GPU operator": (
        config(group(GPU, mig_profile=_LAYOUT)),
        in_group(ERROR, "mig_profile"),
    ),
}
