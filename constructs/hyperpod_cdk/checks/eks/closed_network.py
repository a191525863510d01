"""What a closed network needs: a private Kubernetes API, and a registry of images."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.own_images import own_images
from hyperpod_cdk.helm.images import CHART_REGISTRIES, DOCKER_HUB, ecr_region, split_image
from hyperpod_cdk.schema.errors import Finding, Findings, error, warning

_KEY = ("helm", "image_registry")


def closed_network(config: Config) -> Findings:
    """Find a public Kubernetes API, and images that nodes of a closed network cannot pull.

    They reach a private endpoint alone, and ECR in their own region. Where only listed names
    resolve, nodes pull from ECR and from the registries among these.

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
    if registry is None:
        yield from _unreachable(config)
        return
    host = registry.partition("/")[0].partition(":")[0]
    if not config.network.resolves(host):
        message = f"must be of a domain in network.allowed_domains: add {host} there"
        yield error(_KEY, registry, message)
    if not closed:
        return
    place = ecr_region(registry.partition("/")[0])
    if None not in (place, config.region) and place != config.region:
        message = f"must be in {config.region}: VPC endpoints reach ECR in their own region alone"
        yield error(_KEY, registry, message)


def _unreachable(config: Config) -> Findings:
    """Find the registries of the images of charts that nodes cannot pull from."""
    network, helm = config.network, config.helm
    registries = [*CHART_REGISTRIES]
    own = [split_image(image.used)[0] for image in own_images(config) if image.key == _KEY]
    registries += [host for host in dict.fromkeys(own) if host not in (*registries, DOCKER_HUB)]
    hosts = [each for each in registries if network.closed or not network.resolves(each)]
    if not hosts:
        return
    # Values, or a chart of one's own, may name other images; a closed network may get its way out
    # by a proxy or a mirror that the nodes' scripts name.
    is_open = network.closed or helm.values or helm.chart is not None
    components = config.components
    plugins = {
        "nvcr.io": components.nvidia_device_plugin,
        "public.ecr.aws": components.neuron_device_plugin,
    }
    without_plugin = any(plugins.get(host) for host in hosts) and not is_open
    finding, why = warning, ""
    if without_plugin:
        finding, why = error, ", and without their device plugin no accelerator is allocatable"
    remedy = (
        ""
        if network.closed
        else ", or add the registries, and the names to which they send clients on, to "
        "network.allowed_domains"
    )
    kind = "a closed network" if network.closed else "a network that resolves listed names alone"
    yield finding(
        _KEY,
        None,
        f"leaves images of charts in {', '.join(hosts)}, from where nodes of {kind} cannot pull "
        f"them{why}; mirror them with hyperpod-cdk images, and name the registry{remedy}",
    )
