"""What a configuration may have, and templates cannot."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.helm.chart_rules import dependency_values, needs_registry
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cli.deliver.templates.parameters import PLACEHOLDER


def template_findings(config: Config) -> Iterator[Finding]:
    """Find what templates of no region, and of any name, cannot hold."""
    if len(config.name) > len(PLACEHOLDER):
        message = (
            f"must be at most {len(PLACEHOLDER)} characters for templates, which cannot shorten "
            "the names that begin with it; deploy it with the CDK, or take a shorter name"
        )
        yield error(("name",), config.name, message)
    yield from _network_findings(config.network)
    values = dependency_values(config.helm, region="", instance_types=config.cluster.instance_types)
    if needs_registry(config.helm, values=values):
        message = (
            "has its images in a registry of the region, which templates do not know; name one in "
            "helm.values.gpu-operator.gpu-operator.operator.repository, or deploy it with the CDK"
        )
        yield error(("helm", "components", "gpu_operator"), True, message)


def _network_findings(network: NetworkConfig) -> Iterator[Finding]:
    if network.vpc_id is not None:
        message = (
            "is a VPC of one account and region, and templates are for any: they make a network of "
            "their own; leave it out, or deploy it with the CDK"
        )
        yield error(("network", "vpc_id"), network.vpc_id, message)
        return
    named = [
        *network.zones,
        *(subnet.availability_zone_id for subnet in network.hyperpod_subnets),
    ]
    for zone in named:
        if zone is not None and is_zone_name(zone):
            message = (
                "is the name of a zone, which is another place in each account; templates take "
                "IDs, such as usw2-az1, as parameters"
            )
            yield error(("network", "availability_zone_ids"), zone, message)
            return
    homes = set(network.zones)
    for index, zone in enumerate(network.hyperpod_zone_ids):
        if zone not in homes:
            message = (
                "is not among network.availability_zone_ids, which are the parameters of "
                "templates; add it there"
            )
            path = ("network", "hyperpod_subnets", index, "availability_zone_id")
            yield error(path, zone, message)
