"""Compute groups are in a partition, and only they."""

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error
from hyperpod_shared.clusters import COMPUTE

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
_OF_ALL_NODES = "dev"


def partitions(cluster: ClusterConfig) -> Findings:
    """Find compute groups without a partition of their own, and other groups with one.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html
    """
    for where, group in cluster.instance_groups_with_paths():
        if group.slurm is None:
            continue
        place, partition = (*where, "slurm", "partition"), group.slurm.partition
        kind = group.slurm.node_type
        if kind == COMPUTE and partition is None:
            yield error(place, None, "is missing: name the partition of these compute nodes")
        elif partition == _OF_ALL_NODES:
            message = "must be another name: HyperPod puts every compute node into that partition"
            yield error(place, partition, message)
        elif kind != COMPUTE and partition is not None:
            message = f"must be left out: {kind} nodes run no jobs, so they are in no partition"
            yield error(place, partition, message)
