"""Which nodes of a Slurm cluster deep health checks test."""

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, error, warning
from hyperpod_shared.clusters import COMPUTE

_CONNECTIVITY = "InstanceConnectivity"


def deep_health_checks_of_slurm(cluster: ClusterConfig) -> Findings:
    """Find deep health checks that HyperPod does not have with Slurm.

    They test compute nodes with GPUs: InstanceStress, and InstanceConnectivity between two nodes.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    """
    for where, group in cluster.instance_groups_with_paths():
        kind = None if group.slurm is None else group.slurm.node_type
        if group.deep_health_checks and kind not in (None, COMPUTE):
            message = f"must be left out for {kind} nodes: with Slurm they test compute nodes alone"
            yield error((*where, "deep_health_checks"), list(group.deep_health_checks), message)
            continue
        place, checks = (*where, "deep_health_checks"), list(group.deep_health_checks)
        if further := sorted({*checks} - {"InstanceStress", _CONNECTIVITY}):
            message = f"must be without {further[0]}, which HyperPod does not have with Slurm"
            yield error(place, checks, message)
        kinds = {facts.accelerator.kind for facts in group.facts if facts.accelerator}
        if checks and "Neuron" in kinds:
            yield error(
                place, checks, "must be empty for Trainium: with Slurm they test GPUs alone"
            )
        if _CONNECTIVITY in checks and group.instance_count == 1:
            message = f"has {_CONNECTIVITY}, which needs two nodes to test the network between them"
            yield warning(place, checks, message)
