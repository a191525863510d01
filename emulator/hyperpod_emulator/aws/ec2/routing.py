"""Route tables, the subnets that use them, and the NAT gateways and addresses behind them.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AssociateRouteTable.html
https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html
"""

import secrets
from collections.abc import Callable
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    check_creation,
)
from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.ministack import Query, Response, ec2, provisioners, wrap
from hyperpod_emulator.aws.refused import Refused


def by_allocation(allocation_id: object) -> dict[str, Any]:
    """Return the address with this allocation id, or refuse what names none."""
    return ec2_api.existing(
        ec2._addresses, allocation_id, code="InvalidAllocationID", noun="allocation ID"
    )


def _created(address: dict[str, Any]) -> Created:
    public_ip = address["PublicIp"]
    return public_ip, {"AllocationId": address["AllocationId"], "PublicIp": public_ip}


def _create_address(properties: Properties) -> Created:
    answer = ec2_api.call("AllocateAddress", Domain=properties.get("Domain", "vpc"))
    provisioners._ec2_apply_tags(answer["allocationId"], properties)
    return _created(by_allocation(answer["allocationId"]))


def _find(public_ip: str) -> dict[str, Any] | None:
    return next((a for a in ec2._addresses.values() if a["PublicIp"] == public_ip), None)


def _update_address(public_ip: str, old: Properties, new: Properties) -> Created:
    address = _find(public_ip)
    if address is None:
        raise Refused(f"InvalidAddress.NotFound: Address '{public_ip}' not found.")
    provisioners._ec2_apply_tags(address["AllocationId"], new, old)
    return _created(address)


def _delete_address(public_ip: str, _properties: Properties) -> None:
    address = _find(public_ip)
    if address is None:
        return
    if address["AssociationId"]:
        raise Refused(f"InvalidIPAddress.InUse: Address {public_ip} is in use.")
    ec2_api.call("ReleaseAddress", AllocationId=address["AllocationId"])


ELASTIC_IP = ResourceType(
    name="AWS::EC2::EIP",
    create=_create_address,
    update=_update_address,
    delete=_delete_address,
)


def _create_nat_gateway(properties: Properties) -> Created:
    subnet_id = properties.get("SubnetId", "")
    ec2_api.existing(ec2._subnets, subnet_id, code="InvalidSubnetID", noun="subnet ID")
    connectivity = properties.get("ConnectivityType", "public")
    allocation_id = properties.get("AllocationId", "")
    if connectivity == "public":
        address = by_allocation(allocation_id)
        if address["AssociationId"]:
            raise Refused(
                f"Resource.AlreadyAssociated: Elastic IP address [{allocation_id}] is already "
                "associated"
            )
        address["AssociationId"] = f"eipassoc-{secrets.token_hex(9)[:17]}"
    answer = ec2_api.call(
        "CreateNatGateway",
        SubnetId=subnet_id,
        AllocationId=allocation_id,
        ConnectivityType=connectivity,
    )
    nat_gateway_id = answer["natGatewayId"]
    provisioners._ec2_apply_tags(nat_gateway_id, properties)
    return nat_gateway_id, {"NatGatewayId": nat_gateway_id}


def _update_nat_gateway(nat_gateway_id: str, old: Properties, new: Properties) -> Created:
    provisioners._ec2_apply_tags(nat_gateway_id, new, old)
    return nat_gateway_id, {"NatGatewayId": nat_gateway_id}


def _delete_nat_gateway(nat_gateway_id: str, _properties: Properties) -> None:
    gateway = ec2._nat_gateways.get(nat_gateway_id)
    if gateway is None:
        return
    address = ec2._addresses.get(gateway["AllocationId"])
    if address is not None:
        address["AssociationId"] = None
    ec2_api.call("DeleteNatGateway", NatGatewayId=nat_gateway_id)


NAT_GATEWAY = ResourceType(
    name="AWS::EC2::NatGateway",
    create=_create_nat_gateway,
    update=_update_nat_gateway,
    delete=_delete_nat_gateway,
)


def _table(properties: Properties) -> dict[str, Any]:
    return ec2_api.existing(
        ec2._route_tables,
        properties.get("RouteTableId"),
        code="InvalidRouteTableID",
        noun="routeTable ID",
    )


def _check_association(properties: Properties) -> None:
    table = _table(properties)
    subnet_id = properties.get("SubnetId")
    subnet = ec2_api.existing(ec2._subnets, subnet_id, code="InvalidSubnetID", noun="subnet ID")
    if subnet["VpcId"] != table["VpcId"]:
        raise Refused(
            f"InvalidParameterValue: Route table {table['RouteTableId']} and subnet {subnet_id} "
            "belong to different networks"
        )
    # https://github.com/hashicorp/terraform-provider-aws/issues/38960
    for other in ec2._route_tables.values():
        if any(each.get("SubnetId") == subnet_id for each in other["Associations"]):
            raise Refused(
                "Resource.AlreadyAssociated: the specified association for route table "
                f"{table['RouteTableId']} conflicts with an existing association"
            )


def _check_route(properties: Properties) -> None:
    table = _table(properties)
    _check_internet_gateway(table, properties.get("GatewayId"))
    nat_gateway_id = properties.get("NatGatewayId")
    if not nat_gateway_id:
        return
    there = {id_: each for id_, each in ec2._nat_gateways.items() if each["State"] != "deleted"}
    gateway = ec2_api.existing(
        there, nat_gateway_id, code="InvalidNatGatewayID", noun="NAT gateway"
    )
    if gateway["VpcId"] != table["VpcId"]:
        raise Refused(
            f"InvalidParameterValue: route table {table['RouteTableId']} and NAT gateway "
            f"{nat_gateway_id} belong to different networks"
        )


def _check_internet_gateway(table: dict[str, Any], gateway_id: str | None) -> None:
    """Refuse an internet gateway that is not attached to the table's VPC.

    https://github.com/smoketurner/serverless-vpc-plugin/issues/147
    """
    if gateway_id is None or gateway_id not in ec2._internet_gateways:
        return
    attached = ec2._internet_gateways[gateway_id]["Attachments"]
    if all(each["VpcId"] != table["VpcId"] for each in attached):
        raise Refused(
            f"InvalidParameterValue: route table {table['RouteTableId']} and network gateway "
            f"{gateway_id} belong to different networks"
        )


def _check_endpoint(properties: Properties) -> None:
    """Refuse a second endpoint of a service on a route table.

    https://github.com/eksctl-io/eksctl/issues/2510
    """
    for table_id in properties.get("RouteTableIds", ()):
        if any(
            table_id in endpoint["RouteTableIds"]
            and endpoint["ServiceName"] == properties["ServiceName"]
            for endpoint in ec2._vpc_endpoints.values()
        ):
            raise Refused(
                f"RouteAlreadyExists: route table {table_id} already has a route with "
                f"destination-prefix-list-id of {properties['ServiceName']}"
            )


def install() -> None:
    """Check what is created of these types; route to VPC endpoints, which MiniStack passes over."""
    for operation in ("CreateRoute", "ReplaceRoute"):
        wrap(ec2._ACTION_MAP, operation, _with_endpoint_as_gateway)
    check_creation("AWS::EC2::SubnetRouteTableAssociation", _check_association)
    check_creation("AWS::EC2::Route", _check_route)
    check_creation("AWS::EC2::VPCEndpoint", _check_endpoint)


def _with_endpoint_as_gateway(call: Callable[[Query], Response], query: Query) -> Response:
    """Keep a VPC endpoint as the gateway of a route: EC2's Route has no member for endpoints.

    https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/ec2/vpc_route.go
    """
    endpoint = query.get("VpcEndpointId")
    return call({**query, "GatewayId": endpoint} if endpoint else query)
