"""Rules on what exists already: VPC, subnets, route tables, gateways and security group.

Values and paths are as in `subnet_rules`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cdk.schema.errors import Finding, KeyPath

# Keys that name, or allow to change, what is in a VPC, and are empty without one.
_OF_A_VPC = (
    "add_cidrs_to_vpc",
    "nat_gateway_ids",
    "internet_gateway_id",
    "eks_subnet_ids",
    "security_group_id",
)
_FEWEST_EKS_SUBNETS = 2

Values = Mapping[str, Any]


def with_defaults(value: Any) -> Any:  # noqa: ANN401 - what comes from YAML
    """Return a section with the defaults of one in an existing VPC, if it names such a VPC.

    Those of a new VPC are CIDR blocks that the existing one need not have.
    """
    if not isinstance(value, Mapping) or value.get("vpc_id") is None:
        return value
    makes_gateways = value.get("public_subnet_cidrs") and not value.get("nat_gateway_ids")
    return {
        "vpc_cidr": None,
        "nat_gateways": "one_per_zone" if makes_gateways else "none",
        "public_subnet_cidrs": (),
        "eks_subnet_cidrs": (),
        "hyperpod_subnets": (),
        **value,
    }


def vpc_findings(value: str | None, *, earlier: Values) -> Iterator[Finding]:
    """Judge the CIDR block of the VPC: there is one exactly if the VPC is new."""
    if "vpc_id" not in earlier:
        return
    if value is None and earlier["vpc_id"] is None:
        yield Finding(value=None, message="must be a CIDR block, unless vpc_id names a VPC")
    elif value is not None and earlier["vpc_id"] is not None:
        message = f"must be left out with vpc_id: {earlier['vpc_id']} has its CIDR blocks"
        yield Finding(value=value, message=message)


def repeated_findings(value: Sequence[str]) -> Iterator[Finding]:
    """Find entries that a list has twice."""
    for index, item in enumerate(value):
        if item in value[:index]:
            yield Finding(path=(index,), value=item, message="is listed twice; list it once")


def eks_subnet_findings(value: Sequence[str], *, earlier: Values) -> Iterator[Finding]:
    """Judge the existing subnets of the control plane: two at least, and no new ones."""
    yield from repeated_findings(value)
    if not value or "eks_subnet_cidrs" not in earlier or earlier.get("vpc_id") is None:
        return
    if earlier["eks_subnet_cidrs"]:
        message = (
            "must be left out with eks_subnet_cidrs: the control plane is in existing subnets, "
            "or in new ones"
        )
        yield Finding(value=list(value), message=message)
    elif len(value) < _FEWEST_EKS_SUBNETS:
        message = f"must list at least {_FEWEST_EKS_SUBNETS} subnets, in two availability zones"
        yield Finding(value=list(value), message=message)


def hyperpod_subnet_findings(subnet: Values) -> Iterator[Finding]:
    """Judge one HyperPod subnet: a block or an ID, and what goes with either."""
    cidr, subnet_id = subnet["cidr"], subnet["subnet_id"]
    if cidr is None and subnet_id is None:
        message = "is missing: give the CIDR block of a new subnet, or subnet_id of one that exists"
        yield Finding(path=("cidr",), value=None, message=message)
    if subnet_id is None:
        return
    if cidr is not None:
        message = f"must be left out with subnet_id: {subnet_id} has its CIDR block"
        yield Finding(path=("cidr",), value=cidr, message=message)
    if subnet["availability_zone_id"] is None:
        message = (
            f"is missing: name the zone of {subnet_id}, by which groups and file system find it; "
            f"`aws ec2 describe-subnets --subnet-ids {subnet_id}` shows it"
        )
        yield Finding(path=("availability_zone_id",), value=None, message=message)
    if subnet["route_table_id"] is not None:
        message = f"must be left out with subnet_id: {subnet_id} has its route table"
        yield Finding(path=("route_table_id",), value=subnet["route_table_id"], message=message)


def combination_findings(network: Values) -> Iterator[Finding]:
    """Judge the whole section: what needs an existing VPC, and what such a VPC needs.

    Whether it needs subnets for a control plane, `checks/existing_control_plane.py` judges.
    """
    if network["vpc_id"] is None:
        yield from _findings_without_vpc(network)
        return
    if network["public_subnet_cidrs"] and network["internet_gateway_id"] is None:
        message = (
            "is missing: name the VPC's internet gateway for the public subnets; `aws ec2 "
            "describe-internet-gateways --filters Name=attachment.vpc-id,Values="
            f"{network['vpc_id']}` shows it"
        )
        yield Finding(path=("internet_gateway_id",), value=None, message=message)
    new = [each for each in network["hyperpod_subnets"] if each["cidr"] is not None]
    unused = {
        "internet_gateway_id": (network["public_subnet_cidrs"], "there are no public_subnet_cidrs"),
        "add_cidrs_to_vpc": (new, "no HyperPod subnet is new"),
        "nat_gateway_ids": (
            [*network["eks_subnet_cidrs"], *new],
            "no private subnet is new, and those that exist have routes of their own",
        ),
    }
    for key, (used, why) in unused.items():
        if network[key] and not used:
            message = f"must be left out: {why}"
            yield Finding(path=(key,), value=_shown(network[key]), message=message)
    if network["add_security_group_rules"] and network["security_group_id"] is None:
        yield _rules_of_new_group(network)


def _findings_without_vpc(network: Values) -> Iterator[Finding]:
    needed: list[tuple[KeyPath, Any]] = [((key,), network[key]) for key in _OF_A_VPC]
    for index, subnet in enumerate(network["hyperpod_subnets"]):
        for key in ("subnet_id", "route_table_id"):
            needed.append((("hyperpod_subnets", index, key), subnet[key]))
    for path, value in needed:
        if value:
            message = "needs network.vpc_id: it is about a VPC that exists"
            yield Finding(path=path, value=_shown(value), message=message)
    if network["add_security_group_rules"]:
        yield _rules_of_new_group(network)


def _rules_of_new_group(network: Values) -> Finding:
    message = "needs network.security_group_id: a new group has all of them"
    value = list(network["add_security_group_rules"])
    return Finding(path=("add_security_group_rules",), value=value, message=message)


def _shown(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
