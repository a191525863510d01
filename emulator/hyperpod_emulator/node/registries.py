"""From which registries a node pulls images, by the routes, endpoints and rules of its VPC."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from hyperpod_emulator.aws.ec2.network import firewall_action, leads_out, route_table_of
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.kubernetes.controllers.workloads import PullError

_JOINED_TOGETHER_SECONDS = 2.0
_DOCKER_HUB = "registry-1.docker.io"
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
_ECR = re.compile(r"\d{12}\.dkr[.-]ecr\.(?P<region>[a-z0-9-]+)\..+")
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
_ENDPOINTS = {"ecr.api", "ecr.dkr"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """What the nodes of a subnet reach.

    Attributes:
        region: Where the nodes are.
        leads_out: Whether the subnet has a default route.
        has_ecr: Whether the VPC has the endpoints of ECR in the region.
        rules: Action and domains of each rule of the DNS Firewall, in their order.
    """

    region: str
    leads_out: bool
    has_ecr: bool
    rules: tuple[tuple[str, tuple[str, ...]], ...]

    def error(self, image: str) -> str:
        """Return the kubelet's words if an image cannot be pulled, else "".

        A name that the firewall lets through by a rule is the owner's own, in a closed network too.
        """
        host = _host(image)
        of_ecr = _ECR.fullmatch(host)
        action = firewall_action(host, self.rules)
        is_near = action == "ALLOW"
        if of_ecr is not None:
            is_near = self.has_ecr and of_ecr["region"] == self.region
        if action == "BLOCK":
            why = f"dial tcp: lookup {host}: no such host"
        elif not (self.leads_out or is_near):
            why = "dial tcp: i/o timeout"
        else:
            return ""
        return (
            f'ErrImagePull: failed to pull and unpack image "{image}": failed to resolve '
            f'reference "{image}": failed to do request: Head "https://{host}/v2/": {why}'
        )


def _host(image: str) -> str:
    """Return the registry of an image: https://github.com/distribution/reference."""
    host, slash, _ = image.partition("/")
    is_host = slash and ("." in host or ":" in host or host == "localhost")
    return host if is_host and host != "docker.io" else _DOCKER_HUB


@dataclass(frozen=True, slots=True)
class RegistriesOfSubnets:
    """What the nodes of an account's subnets reach when they join."""

    clients: AwsClients
    _asked: dict[str, tuple[float, PullError]] = field(default_factory=dict)

    def pull_error(self, subnet_id: str) -> PullError:
        """Return `Registries.error` of a subnet; nodes that join together ask EC2 once."""
        at, error = self._asked.get(subnet_id, (-_JOINED_TOGETHER_SECONDS, None))
        if error is None or time.monotonic() - at > _JOINED_TOGETHER_SECONDS:
            error = cache(self.of(subnet_id).error)
            self._asked[subnet_id] = time.monotonic(), error
        return error

    def of(self, subnet_id: str) -> Registries:
        """Return what the nodes of a subnet reach now."""
        ec2 = self.clients("ec2")
        [subnet] = ec2.describe_subnets(SubnetIds=[subnet_id])["Subnets"]
        in_vpc = [{"Name": "vpc-id", "Values": [subnet["VpcId"]]}]
        tables = ec2.describe_route_tables(Filters=in_vpc)["RouteTables"]
        endpoints = ec2.describe_vpc_endpoints(Filters=in_vpc)["VpcEndpoints"]
        region = ec2.meta.region_name
        services = {each["ServiceName"].partition(f".{region}.")[2] for each in endpoints}
        return Registries(
            region=region,
            leads_out=leads_out(route_table_of(subnet_id, tables)),
            has_ecr=services >= _ENDPOINTS,
            rules=tuple(self._rules(subnet["VpcId"])),
        )

    def _rules(self, vpc_id: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        resolver = self.clients("route53resolver")
        found = resolver.list_firewall_rule_group_associations(VpcId=vpc_id)
        for association in found["FirewallRuleGroupAssociations"]:
            group = association["FirewallRuleGroupId"]
            for rule in resolver.list_firewall_rules(FirewallRuleGroupId=group)["FirewallRules"]:
                domains = resolver.list_firewall_domains(
                    FirewallDomainListId=rule["FirewallDomainListId"]
                )
                yield rule["Action"], tuple(domains["Domains"])
