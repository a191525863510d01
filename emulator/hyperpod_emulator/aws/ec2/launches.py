"""What instances are launched by: placement groups, and the interfaces of launch templates."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType
from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.ministack import ec2, get_account_id, get_region, wrap


def _create_placement_group(properties: Properties) -> Created:
    # CloudFormation names it; the type has no property for that.
    name = f"placement-{uuid.uuid4().hex[:12]}"
    ec2._placement_groups[name] = {
        "GroupName": name,
        "GroupId": f"pg-{uuid.uuid4().hex[:17]}",
        "State": "available",
        "Strategy": properties.get("Strategy", "cluster"),
        "GroupArn": f"arn:aws:ec2:{get_region()}:{get_account_id()}:placement-group/{name}",
        "PartitionCount": 0,
    }
    return name, {"GroupName": name}


def _delete_placement_group(name: str, _properties: Properties) -> None:
    ec2._placement_groups.pop(name, None)


PLACEMENT_GROUP = ResourceType(
    name="AWS::EC2::PlacementGroup",
    create=_create_placement_group,
    delete=_delete_placement_group,
)


_SHOWN = ("DeviceIndex", "NetworkCardIndex", "InterfaceType")


def install() -> None:
    """Describe of what type the interfaces of launch templates are, and on which card."""
    wrap(ec2, "_lt_data_xml", _data_xml)


def _data_xml(described: Callable[[Mapping[str, Any]], str], data: Mapping[str, Any]) -> str:
    shown = (
        {f"{name[0].lower()}{name[1:]}": each[name] for name in _SHOWN if name in each}
        for each in data.get("NetworkInterfaces") or ()
    )
    items = "".join(f"<item>{ec2_api.members(each)}</item>" for each in shown)
    rest = {name: value for name, value in data.items() if name != "NetworkInterfaces"}
    return f"{described(rest)}<networkInterfaceSet>{items}</networkInterfaceSet>"
