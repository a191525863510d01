"""The subnets and security groups that EKS takes for a control plane, at creation and later.

https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
"""

from http import HTTPStatus
from typing import Any

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused
from emulator.aws.eks.api import EksResponse
from emulator.aws.ministack import ec2, eks, provisioners

_MIN_ZONES = 2
_MIN_ADDRESSES = 6
_ZONES_WITHOUT_EKS = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})
_REFUSAL = "InvalidParameterException"


def install() -> None:
    """Check the network of each cluster that is created or updated."""
    handlers = provisioners.RESOURCE_HANDLERS["AWS::EKS::Cluster"]
    created, updated = eks.create_cluster, handlers["update"]
    zones_at_creation: dict[str, set[str]] = {}

    def create(body: dict[str, Any], creator_arn: str | None = None) -> EksResponse:
        vpc_config = body.get("resourcesVpcConfig", {})
        problem = _problem(vpc_config)
        refusal = (_REFUSAL, problem) if problem else _place_problem(body["name"], vpc_config)
        response: EksResponse = (
            eks.error(HTTPStatus.BAD_REQUEST, *refusal) if refusal else created(body, creator_arn)
        )
        if response[0] < HTTPStatus.BAD_REQUEST:
            zones_at_creation[eks.clusters[body["name"]]["arn"]] = _zones(vpc_config)
        return response

    def update(physical_id: str, old: Properties, new: Properties, *names: str) -> Created:
        vpc_config = provisioners.eks_cluster_fields(new)["resourcesVpcConfig"]
        zones = zones_at_creation[eks.clusters[physical_id]["arn"]]
        problem = _problem(vpc_config) or _new_zones_problem(vpc_config, zones=zones)
        if problem:
            raise Refused(f"{_REFUSAL}: {problem}")
        result: Created = updated(physical_id, old, new, *names)
        return result

    eks.create_cluster = create
    handlers["update"] = update


def _problem(vpc_config: dict[str, Any]) -> str | None:
    """Return what is wrong with the subnets and security groups of a cluster, or None."""
    subnet_ids = vpc_config.get("subnetIds", [])
    for identifier in subnet_ids:
        if identifier not in ec2.subnets:
            return f"The subnet ID '{identifier}' does not exist"
    for identifier in vpc_config.get("securityGroupIds", []):
        if identifier not in ec2.security_groups:
            return f"The security group '{identifier}' does not exist"
    vpcs = {ec2.subnets[identifier]["VpcId"] for identifier in subnet_ids}
    if len(vpcs) != 1:
        return "Subnets must all belong to one VPC."
    for identifier in vpc_config.get("securityGroupIds", []):
        if ec2.security_groups[identifier]["VpcId"] not in vpcs:
            return f"Security group {identifier} does not belong to the VPC of the subnets"
    if len(_zones(vpc_config)) < _MIN_ZONES:
        return "Subnets specified must be in at least two different AZs"
    return None


def _place_problem(name: str, vpc_config: dict[str, Any]) -> tuple[str, str] | None:
    """Return code and message of EKS's refusal to place a new control plane in subnets, or None.

    Worded as in https://github.com/aws-samples/aws-deeplearning-labs/issues/1 and, of an update,
    https://github.com/elastic-ipfs/infrastructure/pull/221.
    """
    subnets = [ec2.subnets[identifier] for identifier in vpc_config["subnetIds"]]
    without = [each for each in subnets if each["AvailabilityZoneId"] in _ZONES_WITHOUT_EKS]
    if without:
        return (
            "UnsupportedAvailabilityZoneException",
            f"Cannot create cluster '{name}' because {without[0]['AvailabilityZone']}, the "
            "targeted availability zone, does not currently have sufficient capacity to support "
            "the cluster.",
        )
    free = {each["SubnetId"]: each["AvailableIpAddressCount"] for each in subnets}
    if min(free.values()) < _MIN_ADDRESSES:
        counts = " ".join(f"{identifier} Free IPs: {count}" for identifier, count in free.items())
        return (
            "InvalidRequestException",
            f"Provided subnets {counts}, need at least {_MIN_ADDRESSES} IPs in each subnet to be "
            "free for this operation",
        )
    return None


def _new_zones_problem(vpc_config: dict[str, Any], *, zones: set[str]) -> str | None:
    added = _zones(vpc_config) - zones
    if not added:
        return None
    return (
        "Subnets must be in the same set of AZs as originally provided when the cluster was "
        f"created ({', '.join(sorted(zones))}), not in {', '.join(sorted(added))}"
    )


def _zones(vpc_config: dict[str, Any]) -> set[str]:
    return {ec2.subnets[identifier]["AvailabilityZone"] for identifier in vpc_config["subnetIds"]}
