"""Which nodes of a Slurm cluster deep health checks test."""

from collections.abc import Iterator

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_shared.clusters import COMPUTE


def deep_health_checks_of_slurm(cluster: ClusterConfig) -> Iterator[Finding]:
    """Find deep health checks of the controller or of login nodes, which HyperPod does not test.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    """
    for where, group in cluster.instance_groups_with_paths():
        kind = None if group.slurm is None else group.slurm.node_type
        if group.deep_health_checks and kind not in (None, COMPUTE):
            message = f"must be left out for {kind} nodes: with Slurm they test compute nodes alone"
            yield error((*where, "deep_health_checks"), list(group.deep_health_checks), message)
