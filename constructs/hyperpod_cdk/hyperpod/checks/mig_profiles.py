"""Partitions of GPUs (MIG) that the instance type has."""

from hyperpod_cdk.facts import mig
from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error
from hyperpod_cdk.schema.limits import nearest

_MOST_LABELS = shape("sagemaker.ClusterKubernetesLabels").maximum or 0


def mig_profiles(cluster: ClusterConfig) -> Findings:
    """Find groups whose GPUs cannot be partitioned as they ask for.

    That they need continuous provisioning is a rule of `continuous_provisioning`, and what they
    need of the chart one of `gpu_partitioning`.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-gpu-partitioning.html
    """
    for where, group in cluster.instance_groups_with_paths():
        if group.mig_profile is not None:
            for finding in _findings(group, group.mig_profile):
                yield finding.under(*where)


def _findings(group: InstanceGroupConfig, profile: str) -> Findings:
    path = ("mig_profile",)
    if mig.LABEL in group.labels:
        message = f"must be left out with mig_profile, which sets {mig.LABEL}"
        yield error(("labels", mig.LABEL), group.labels[mig.LABEL], message)
    elif len(group.node_labels) > _MOST_LABELS:
        message = f"is a label too, of which nodes have {_MOST_LABELS} at most; leave one out"
        yield error(path, profile, message)
    if group.instance_type is None:
        message = "must be left out with instance_types: AWS partitions groups of one type alone"
        yield error(path, profile, message)
        return
    known = mig.layouts(group.instance_type)
    if not known:
        yield error(path, profile, _without_layouts(group.instance_type))
    elif profile not in known:
        message = (
            f"is no layout of {group.instance_type} that the HyperPod chart knows"
            f"{nearest(profile, known=known)} (layouts: {', '.join(known)}); one of a "
            f"configuration of your own is a label: {mig.LABEL}"
        )
        yield error(path, profile, message)


def _without_layouts(instance_type: str) -> str:
    if mig.partitions(instance_type):
        return (
            f"must be left out: the HyperPod chart has no layouts for {instance_type}; one of a "
            f"configuration of your own is a label: {mig.LABEL}"
        )
    return (
        f"must be left out: {instance_type} has no GPUs that can be partitioned; "
        f"{', '.join(mig.types_with_layouts())} have"
    )
