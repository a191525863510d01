"""What makes no sense beside `network.closed`. Values and paths are as in `subnet_rules`."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.schema.errors import Finding

Values = Mapping[str, Any]


def with_defaults(value: Any) -> Any:  # noqa: ANN401 - what comes from YAML
    """Return a section with the defaults of a closed network, if it is one: no ways out."""
    if not isinstance(value, Mapping) or value.get("closed") is not True:
        return value
    return {"nat_gateways": "none", "public_subnet_cidrs": (), **value}


def combination_findings(network: Values) -> Iterator[Finding]:
    """Judge the whole section: a closed network is new, and has no ways out."""
    if not network["closed"]:
        return
    if network["vpc_id"] is not None:
        message = (
            "must be left out beside network.closed, which is about a new VPC: an existing one is "
            "closed if its owner gave it VPC endpoints and no gateways"
        )
        yield Finding(path=("vpc_id",), value=network["vpc_id"], message=message)
    if network["public_subnet_cidrs"]:
        message = (
            "must be left out beside network.closed: a closed network has no public subnets, "
            "because nothing routes to the internet"
        )
        value = list(network["public_subnet_cidrs"])
        yield Finding(path=("public_subnet_cidrs",), value=value, message=message)
    if network["nat_gateways"] != "none":
        message = "must be none, or left out, beside network.closed"
        yield Finding(path=("nat_gateways",), value=network["nat_gateways"], message=message)
    if network["availability_zone_ids"] is None:
        for index, subnet in enumerate(network["hyperpod_subnets"]):
            zone = subnet["availability_zone_id"]
            if zone is not None:
                message = (
                    "needs network.availability_zone_ids too: a VPC endpoint takes one subnet of "
                    "each zone, so it must be known which subnets share one"
                )
                path = ("hyperpod_subnets", index, "availability_zone_id")
                yield Finding(path=path, value=zone, message=message)
