"""Keys that only clusters of another orchestrator have, or HyperPod clusters alone."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error
from hyperpod_cdk.schema.section import (
    ORCHESTRATORS,
    OfHyperPod,
    OrchestratedBy,
    given_in_vain,
)


def orchestrator_keys(config: Config) -> Findings:
    """Find keys of EKS on a cluster that Slurm orchestrates, the reverse, and keys of no cluster.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestrator.html
    """
    cluster = config.cluster

    def why(mark: object) -> str:
        if isinstance(mark, OrchestratedBy) and mark.orchestrator != cluster.orchestrator:
            return (
                f"clusters that {ORCHESTRATORS[mark.orchestrator]} orchestrates, and "
                f"cluster.orchestrator is {cluster.orchestrator}"
            )
        if isinstance(mark, OfHyperPod) and not cluster.exists:
            return "a HyperPod cluster, and cluster is null"
        return ""

    for path, value, reason in given_in_vain(config, why):
        yield error(path, value, f"must be left out: it is for {reason}")
