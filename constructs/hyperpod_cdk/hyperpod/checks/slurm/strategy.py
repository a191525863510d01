"""A strategy for edits of slurm.conf, where HyperPod takes one."""

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error


def strategy(cluster: ClusterConfig) -> Findings:
    """Find a strategy on a cluster with continuous provisioning, which always merges.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html
    """
    slurm = cluster.slurm
    if slurm is not None and slurm.strategy is not None and cluster.is_continuous:
        yield error(
            ("cluster", "slurm", "strategy"),
            slurm.strategy,
            "must be left out with cluster.node_provisioning_mode Continuous: HyperPod then always "
            "keeps edits of slurm.conf, and takes no strategy",
        )
