"""The registry that training images begin with is known, and in the region."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.deep_learning_containers import REGISTRY_ACCOUNTS
from hyperpod_cdk.helm.images import ecr_region
from hyperpod_cdk.schema.errors import Findings, error

_KEY = ("workloads", "base_registry")


def base_registry(config: Config) -> Findings:
    """Find a region without AWS's Deep Learning Containers, and a registry in another region.

    A build logs in to its own region's ECR alone, and a closed network reaches no other.

    https://aws.github.io/deep-learning-containers/reference/region_availability/
    """
    if config.workloads is None or config.region is None:
        return
    registry = config.workloads.base_registry
    if registry is None:
        if config.region not in REGISTRY_ACCOUNTS:
            message = (
                f"must be set: AWS names no registry of Deep Learning Containers in "
                f"{config.region}; copy them into ECR there, and name that registry"
            )
            yield error(_KEY, None, message)
        return
    place = ecr_region(registry.partition("/")[0])
    if place != config.region:
        yield error(_KEY, registry, f"must be in {config.region}; copy the containers there")
