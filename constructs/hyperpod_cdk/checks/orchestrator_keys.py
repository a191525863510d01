"""Keys that only clusters of another orchestrator have."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.section import ORCHESTRATORS, Section, given_to_others


def orchestrator_keys(config: Config) -> Iterator[Finding]:
    """Find keys of EKS on a cluster that Slurm orchestrates, and the reverse.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestrator.html
    """
    orchestrator = config.cluster.orchestrator
    for path, value, owner in given_to_others(config, orchestrator=orchestrator):
        message = (
            f"must be left out: it is for clusters that {ORCHESTRATORS[owner]} orchestrates, and "
            f"cluster.orchestrator is {orchestrator}"
        )
        yield error(path, _brief(value), message)


def _brief(value: object) -> object:
    """Return a value as it was written."""
    if isinstance(value, tuple):
        return [_brief(item) for item in value]
    return value.model_dump(exclude_unset=True) if isinstance(value, Section) else value
