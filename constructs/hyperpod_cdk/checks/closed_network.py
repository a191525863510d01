"""What a closed network needs: a private Kubernetes API, and a registry of images."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.images import ecr_region
from hyperpod_cdk.schema.errors import Finding, error, warning


def closed_network(config: Config) -> Iterator[Finding]:
    """Find a public Kubernetes API, and images that nodes of a closed network cannot pull.

    They reach a private endpoint alone, and ECR in their own region.

    https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
    """
    if not config.network.closed:
        return
    access, registry = config.eks.endpoint_access, config.helm.image_registry
    if access != "private":
        yield Finding(
            path=("eks", "endpoint_access"),
            value=access,
            message="must be private with network.closed: nothing in it reaches the internet",
            is_default="endpoint_access" not in config.eks.model_fields_set,
        )
    key = ("helm", "image_registry")
    if registry is None:
        yield warning(
            key,
            registry,
            "leaves images of the chart where no node of a closed network pulls them; mirror them "
            "with make images, and name the registry",
        )
        return
    place = ecr_region(registry.partition("/")[0])
    if None not in (place, config.region) and place != config.region:
        message = f"must be in {config.region}: VPC endpoints reach ECR in their own region alone"
        yield error(key, registry, message)
