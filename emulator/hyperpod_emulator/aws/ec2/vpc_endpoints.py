"""Endpoints of a VPC, and the services that they reach.

Which zones of a region have endpoints of a service is no published fact; here EKS Pod Identity, the
youngest that a closed network needs, lacks one:
https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html. What EC2 says of
a zone is worded as in https://github.com/aws/aws-sdk-go-v2/issues/1024, and of a service as in
https://github.com/hashicorp/terraform-provider-aws/issues/24216.
"""

from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Properties, boolean, check_creation
from hyperpod_emulator.aws.ec2.zones import zones
from hyperpod_emulator.aws.ministack import Response, ec2, get_region
from hyperpod_emulator.aws.refused import Refused

# https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
_SERVICES = (
    "aps-workspaces",
    "autoscaling",
    "cloudformation",
    "dynamodb",
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "fsx",
    "grafana-workspace",
    "kms",
    "lambda",
    "logs",
    "monitoring",
    "sagemaker.api",
    "secretsmanager",
    "ssm",
    "ssmmessages",
    "sts",
)
WITHOUT: Mapping[str, frozenset[str]] = {"eks-auth": frozenset({"usw2-az4", "use1-az3"})}
"""The zones that the local EC2 has no endpoints of a service in."""


def endpoint_zones(service_name: str) -> list[str] | None:
    """Return the names of the zones of an endpoint service; None if the region has none of it.

    A service is such as `com.amazonaws.us-west-2.ecr.api`.
    """
    prefix = f"com.amazonaws.{get_region()}."
    service = service_name.removeprefix(prefix)
    if service_name == service or service not in _SERVICES:
        return None
    lacking = WITHOUT.get(service, frozenset())
    return [name for name, id_ in zones(get_region()).items() if id_ not in lacking]


def _describe_services(query: dict[str, list[str]]) -> Response:
    known = [f"com.amazonaws.{get_region()}.{each}" for each in _SERVICES]
    for name in ec2._parse_member_list(query, "ServiceName"):
        if name not in known:
            # As worded in https://github.com/hashicorp/terraform-provider-aws/issues/24216.
            message = f"The Vpc Endpoint Service '{name}' does not exist"
            return ec2._error("InvalidServiceName", message, HTTPStatus.BAD_REQUEST)
    wanted = ec2._parse_member_list(query, "ServiceName") or known
    filtered = ec2._parse_filters(query).get("service-name", wanted)
    items = "".join(_item(name) for name in known if name in wanted and name in filtered)
    return ec2._xml(
        HTTPStatus.OK,
        "DescribeVpcEndpointServicesResponse",
        f"<serviceDetailSet>{items}</serviceDetailSet>",
    )


def _item(name: str) -> str:
    there = "".join(f"<item>{zone}</item>" for zone in endpoint_zones(name) or ())
    return (
        f"<item><serviceName>{name}</serviceName><owner>amazon</owner><serviceType><item>"
        "<serviceType>Interface</serviceType></item></serviceType>"
        f"<availabilityZoneSet>{there}</availabilityZoneSet></item>"
    )


# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVpcEndpoints.html
_FILTERS = {"service-name": "ServiceName", "vpc-id": "VpcId", "vpc-endpoint-state": "State"}


def _check(properties: Properties) -> None:
    if properties.get("VpcEndpointType") != "Interface":
        return
    vpc_id, service = properties["VpcId"], properties["ServiceName"]
    offered = endpoint_zones(service)
    if offered is None:
        raise Refused(f"InvalidServiceName: The Vpc Endpoint Service '{service}' does not exist")
    for subnet in properties.get("SubnetIds", ()):
        if ec2._subnets[subnet]["AvailabilityZone"] not in offered:
            raise Refused(
                f"InvalidParameter: The VPC endpoint service {service} does not support the "
                f"availability zone of the subnet: {subnet}."
            )
    zones = Counter(
        ec2._subnets[subnet]["AvailabilityZone"] for subnet in properties.get("SubnetIds", ())
    )
    for zone, count in zones.items():
        if count > 1:
            raise Refused(
                "DuplicateSubnetsInSameZone: Found another VPC endpoint subnet in the availability "
                f"zone of {zone}"
            )
    if boolean(properties.get("PrivateDnsEnabled")) and any(
        other["VpcId"] == vpc_id
        and other["ServiceName"] == service
        and boolean(other["PrivateDnsEnabled"])
        for other in ec2._vpc_endpoints.values()
    ):
        raise Refused(
            "InvalidParameter: private-dns-enabled cannot be set because there is already a "
            f"conflicting DNS domain for {service} in the VPC {vpc_id}"
        )


def _describe_endpoints(query: Mapping[str, list[str]]) -> Any:  # noqa: ANN401 - MiniStack's answer
    """Describe endpoints; MiniStack passes over filters."""
    filters: Mapping[str, list[str]] = ec2._parse_filters(query)
    ids = ec2._parse_member_list(query, "VpcEndpointId")
    items = "".join(
        ec2._vpce_fields_xml(endpoint)
        for endpoint in ec2._vpc_endpoints.values()
        if (not ids or endpoint["VpcEndpointId"] in ids)
        and all(endpoint[_FILTERS[name]] in values for name, values in filters.items())
    )
    return ec2._xml(
        HTTPStatus.OK, "DescribeVpcEndpointsResponse", f"<vpcEndpointSet>{items}</vpcEndpointSet>"
    )


def install() -> None:
    """Check each interface endpoint that CloudFormation creates, and describe by filters.

    MiniStack lacks services, and gives each the same three zones.
    """
    ec2._ACTION_MAP["DescribeVpcEndpointServices"] = _describe_services
    ec2._ACTION_MAP["DescribeVpcEndpoints"] = _describe_endpoints
    check_creation("AWS::EC2::VPCEndpoint", _check)
