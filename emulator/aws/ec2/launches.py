"""What instances are launched by: placement groups, and launch templates as EC2 takes them."""

import uuid

from emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType
from emulator.aws.ministack import ec2, get_account_id, get_region


def _create_placement_group(properties: Properties) -> Created:
    # CloudFormation names it; the type has no property for that.
    name = f"placement-{uuid.uuid4().hex[:12]}"
    ec2.placement_groups[name] = {
        "GroupName": name,
        "GroupId": f"pg-{uuid.uuid4().hex[:17]}",
        "State": "available",
        "Strategy": properties.get("Strategy", "cluster"),
        "GroupArn": f"arn:aws:ec2:{get_region()}:{get_account_id()}:placement-group/{name}",
        "PartitionCount": 0,
    }
    return name, {"GroupName": name}


def _delete_placement_group(name: str, _properties: Properties) -> None:
    ec2.placement_groups.pop(name, None)


PLACEMENT_GROUP = ResourceType(
    name="AWS::EC2::PlacementGroup",
    create=_create_placement_group,
    delete=_delete_placement_group,
)
