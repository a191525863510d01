"""What an orchestrator adds to the stacks of a deployment, a file each."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.schema.section import EKS
from hyperpod_stacks.orchestration.eks import EksOrchestration
from hyperpod_stacks.orchestration.orchestration import Orchestration
from hyperpod_stacks.orchestration.slurm import SlurmOrchestration


def orchestration_of(config: Config, *, chart: HyperPodChart | None) -> Orchestration:
    """Return what the orchestrator of a configuration adds to its stacks.

    Without a chart of the HyperPod dependencies, EKS takes the one to deploy, or a placeholder.

    Raises:
        HyperPodChartError: The chart cannot be read.
    """
    if config.cluster.orchestrator == EKS:
        return EksOrchestration(config=config, chart=chart)
    return SlurmOrchestration(config=config)
