"""What a closed network needs: a private Kubernetes API, and a registry of images."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.images import ecr_region
from hyperpod_cdk.schema.errors import Finding, Findings, error, warning


def closed_network(config: Config) -> Findings:
    """Find a public Kubernetes API, and images that nodes of a closed network cannot pull.

    They reach a private endpoint alone, and ECR in their own region. Where no names but those of
    AWS resolve, nodes pull from ECR too.

    https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
    """
    closed = config.network.closed
    access, registry = config.eks.endpoint_access, config.helm.image_registry
    if closed and access != "private":
        yield Finding(
            path=("eks", "endpoint_access"),
            value=access,
            message="must be private with network.closed: nothing in it reaches the internet",
            is_default="endpoint_access" not in config.eks.model_fields_set,
        )
    key = ("helm", "image_registry")
    if config.network.resolves_aws_alone and registry is None:
        network = "a closed network" if closed else "a network that resolves AWS's names alone"
        yield warning(
            key,
            registry,
            f"leaves images of the chart where no node of {network} pulls them; mirror them "
            "with hyperpod-cdk images, and name the registry",
        )
    if registry is None:
        return
    host = registry.partition("/")[0].partition(":")[0]
    if not config.network.resolves(host):
        message = f"must be of a domain in network.allowed_domains: add {host} there"
        yield error(key, registry, message)
    if not closed:
        return
    place = ecr_region(registry.partition("/")[0])
    if None not in (place, config.region) and place != config.region:
        message = f"must be in {config.region}: VPC endpoints reach ECR in their own region alone"
        yield error(key, registry, message)
