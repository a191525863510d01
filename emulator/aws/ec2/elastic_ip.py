"""AWS::EC2::EIP."""

from typing import Any

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused, ResourceType
from emulator.aws.ec2 import api as ec2_api
from emulator.aws.ministack import ec2, provisioners


def by_allocation(allocation_id: object) -> dict[str, Any]:
    """Return the address with this allocation id.

    Raises:
        Refused: there is none.
    """
    return ec2_api.existing(
        ec2.addresses, allocation_id, code="InvalidAllocationID", noun="allocation ID"
    )


def _created(address: dict[str, Any]) -> Created:
    public_ip = address["PublicIp"]
    return public_ip, {"AllocationId": address["AllocationId"], "PublicIp": public_ip}


def _create(properties: Properties) -> Created:
    answer = ec2_api.call("AllocateAddress", Domain=properties.get("Domain", "vpc"))
    provisioners.ec2_apply_tags(answer["allocationId"], properties)
    return _created(by_allocation(answer["allocationId"]))


def _find(public_ip: str) -> dict[str, Any] | None:
    return next((a for a in ec2.addresses.values() if a["PublicIp"] == public_ip), None)


def _update(public_ip: str, old: Properties, new: Properties) -> Created:
    address = _find(public_ip)
    if address is None:
        raise Refused(f"InvalidAddress.NotFound: Address '{public_ip}' not found.")
    provisioners.ec2_apply_tags(address["AllocationId"], new, old)
    return _created(address)


def _delete(public_ip: str, _properties: Properties) -> None:
    address = _find(public_ip)
    if address is None:
        return
    if address["AssociationId"]:
        raise Refused(f"InvalidIPAddress.InUse: Address {public_ip} is in use.")
    ec2_api.call("ReleaseAddress", AllocationId=address["AllocationId"])


TYPE = ResourceType(
    name="AWS::EC2::EIP",
    create=_create,
    update=_update,
    delete=_delete,
)
