"""There is an image to build: a group has accelerators that one is for."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import is_accelerated
from hyperpod_cdk.schema.errors import Findings, error


def training_images(config: Config) -> Findings:
    """Find a section of workloads for a cluster in which no group has GPUs or Trainium.

    https://aws.github.io/deep-learning-containers/reference/available_images/
    """
    # Of types that no public source describes, image_platform says more.
    if config.workloads is not None and not any(map(is_accelerated, config.instance_types)):
        message = (
            "has nothing to build: no instance group has GPUs or Trainium; add one, or leave "
            "workloads out"
        )
        yield error(("workloads",), config.workloads.model_dump(exclude_unset=True), message)
