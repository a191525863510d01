"""A closed network has a private endpoint of the Kubernetes API."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding


def closed_network(config: Config) -> Iterator[Finding]:
    """Find a Kubernetes API that is reached from the internet although the network is closed.

    Nodes of a closed network reach a private endpoint alone.

    https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
    """
    access = config.eks.endpoint_access
    if config.network.closed and access != "private":
        yield Finding(
            path=("eks", "endpoint_access"),
            value=access,
            message="must be private beside network.closed: nothing in it reaches the internet",
            is_default="endpoint_access" not in config.eks.model_fields_set,
        )
