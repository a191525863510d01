"""What EC2 refuses of AWS::EC2::VPCEndpoint and MiniStack does not.

https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
What it says of a zone is worded as in https://github.com/aws/aws-sdk-go-v2/issues/1024, and of a
service as in https://github.com/hashicorp/terraform-provider-aws/issues/24216.
"""

from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused, boolean
from emulator.aws.ec2.endpoint_services import endpoint_zones
from emulator.aws.ministack import ec2, provisioners

_TYPE = "AWS::EC2::VPCEndpoint"
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
        if ec2.subnets[subnet]["AvailabilityZone"] not in offered:
            raise Refused(
                f"InvalidParameter: The VPC endpoint service {service} does not support the "
                f"availability zone of the subnet: {subnet}."
            )
    zones = Counter(
        ec2.subnets[subnet]["AvailabilityZone"] for subnet in properties.get("SubnetIds", ())
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
        for other in ec2.vpc_endpoints.values()
    ):
        raise Refused(
            "InvalidParameter: private-dns-enabled cannot be set because there is already a "
            f"conflicting DNS domain for {service} in the VPC {vpc_id}"
        )


def _describe(query: Mapping[str, list[str]]) -> Any:  # noqa: ANN401 - MiniStack's answer
    """Describe endpoints; MiniStack passes over filters."""
    filters: Mapping[str, list[str]] = ec2.parse_filters(query)
    ids = ec2.parse_member_list(query, "VpcEndpointId")
    items = "".join(
        ec2.vpce_fields_xml(endpoint)
        for endpoint in ec2.vpc_endpoints.values()
        if (not ids or endpoint["VpcEndpointId"] in ids)
        and all(endpoint[_FILTERS[name]] in values for name, values in filters.items())
    )
    return ec2.xml(
        HTTPStatus.OK, "DescribeVpcEndpointsResponse", f"<vpcEndpointSet>{items}</vpcEndpointSet>"
    )


def install() -> None:
    """Check each interface endpoint that CloudFormation creates, and describe by filters."""
    ec2.ACTION_MAP["DescribeVpcEndpoints"] = _describe
    handlers: dict[str, Any] = provisioners.RESOURCE_HANDLERS[_TYPE]
    unchecked = handlers["create"]

    def create(logical_id: str, properties: Mapping[str, Any], stack_name: str) -> Created:
        _check(properties)
        created: Created = unchecked(logical_id, properties, stack_name)
        return created

    handlers["create"] = create
