"""AWS::EC2::NatGateway."""

import secrets

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused, ResourceType
from emulator.aws.ec2 import api as ec2_api
from emulator.aws.ec2 import elastic_ip
from emulator.aws.ministack import ec2, provisioners


def _create(properties: Properties) -> Created:
    subnet_id = properties.get("SubnetId", "")
    ec2_api.existing(ec2.subnets, subnet_id, code="InvalidSubnetID", noun="subnet ID")
    connectivity = properties.get("ConnectivityType", "public")
    allocation_id = properties.get("AllocationId", "")
    if connectivity == "public":
        address = elastic_ip.by_allocation(allocation_id)
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
    provisioners.ec2_apply_tags(nat_gateway_id, properties)
    return nat_gateway_id, {"NatGatewayId": nat_gateway_id}


def _update(nat_gateway_id: str, old: Properties, new: Properties) -> Created:
    provisioners.ec2_apply_tags(nat_gateway_id, new, old)
    return nat_gateway_id, {"NatGatewayId": nat_gateway_id}


def _delete(nat_gateway_id: str, _properties: Properties) -> None:
    gateway = ec2.nat_gateways.get(nat_gateway_id)
    if gateway is None:
        return
    address = ec2.addresses.get(gateway["AllocationId"])
    if address is not None:
        address["AssociationId"] = None
    ec2_api.call("DeleteNatGateway", NatGatewayId=nat_gateway_id)


TYPE = ResourceType(
    name="AWS::EC2::NatGateway",
    create=_create,
    update=_update,
    delete=_delete,
)
