"""What only clusters with continuous provisioning have."""

from collections.abc import Iterator

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Finding, KeyPath, error


def continuous_provisioning(cluster: ClusterConfig) -> Iterator[Finding]:
    """Find features of continuous provisioning on a cluster without it.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-eks.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-gpu-partitioning-setup.html
    """
    if cluster.is_continuous:
        return
    needs = (
        "needs cluster.node_provisioning_mode: Continuous, which is set when the cluster is created"
    )
    for where, group in cluster.groups_with_paths():
        for path, value in _uses(group):
            yield error((*where, *path), value, needs)
    if cluster.auto_scaling is not None:
        yield error(("cluster", "auto_scaling"), cluster.auto_scaling, needs)


def _uses(group: NodeGroupConfig) -> Iterator[tuple[KeyPath, object]]:
    if isinstance(group, InstanceGroupConfig):
        if group.min_instance_count is not None:
            yield ("min_instance_count",), group.min_instance_count
        if group.instance_types:
            yield ("instance_types",), list(group.instance_types)
        if group.is_spot:
            yield ("capacity",), group.capacity
        if group.mig_profile is not None:
            yield ("mig_profile",), group.mig_profile
    for index, volume in enumerate(group.ebs_volumes):
        if volume.kms_key_id is not None:
            yield ("ebs_volumes", index, "kms_key_id"), volume.kms_key_id
