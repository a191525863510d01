"""AWS::FSx::FileSystem, for Lustre."""

from collections.abc import Iterable
from typing import Any

from ministack.core.responses import get_account_id, get_region
from ministack.services import ec2

from rehearsal.aws.cloudformation import express_mode
from rehearsal.aws.cloudformation.resource_type import (
    Created,
    Properties,
    Refused,
    ResourceType,
    tag_map,
)
from rehearsal.aws.ec2 import api as ec2_api
from rehearsal.aws.fsx import rules, store
from rehearsal.aws.kms import keys

_NUMBERS = ("PerUnitStorageThroughput", "AutomaticBackupRetentionDays", "ThroughputCapacity")
LUSTRE_PORTS = (988, *range(1018, 1024))
"""TCP ports between file servers and clients, both ways (FSx for Lustre User Guide)."""


def _lustre(properties: Properties) -> dict[str, Any]:
    lustre = dict(properties.get("LustreConfiguration") or {})
    return lustre | {key: int(lustre[key]) for key in _NUMBERS if key in lustre}


def _created(record: dict[str, Any]) -> Created:
    shown = store.creating(record)
    attributes = {
        "DNSName": shown.get("DNSName"),
        "LustreMountName": shown["LustreConfiguration"].get("MountName"),
        "ResourceARN": record["ResourceARN"],
    }
    return record["FileSystemId"], {name: value for name, value in attributes.items() if value}


def _require_valid(properties: Properties) -> None:
    problem = rules.file_system_problem(properties)
    if problem:
        raise Refused(f"BadRequest: {problem}")
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html; the operation
    # names no other error for a key.
    key = properties.get("KmsKeyId")
    problem = None if key is None else keys.problem(key)
    if problem:
        raise Refused(f"BadRequest: The KMS key {key} {problem}.")


def _security_groups(properties: Properties, vpc_id: str) -> list[dict[str, Any]]:
    given = properties.get("SecurityGroupIds")
    if not given:
        return [
            group
            for group in ec2._security_groups.values()
            if group["VpcId"] == vpc_id and group["GroupName"] == "default"
        ]
    return [
        ec2_api.existing(
            ec2._security_groups, group_id, code="InvalidNetworkSettings", noun="security group"
        )
        for group_id in given
    ]


def _create(properties: Properties) -> Created:
    _require_valid(properties)
    [subnet_id] = properties["SubnetIds"]
    subnet = ec2_api.existing(
        ec2._subnets, subnet_id, code="InvalidNetworkSettings", noun="subnet ID"
    )
    groups = _security_groups(properties, subnet["VpcId"])
    _require_lustre_traffic(groups=groups)
    file_system_id = store.new_id("fs")
    record = {
        "OwnerId": get_account_id(),
        "CreationTime": store.now(),
        "FileSystemId": file_system_id,
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": str(properties.get("FileSystemTypeVersion", "2.15")),
        "Lifecycle": "AVAILABLE",
        "StorageCapacity": int(properties.get("StorageCapacity") or 0),
        "StorageType": properties.get("StorageType", "SSD"),
        "VpcId": subnet["VpcId"],
        "SubnetIds": [subnet_id],
        "NetworkInterfaceIds": [store.new_id("eni")],
        "DNSName": f"{file_system_id}.fsx.{get_region()}.amazonaws.com",
        "ResourceARN": store.arn(f"file-system/{file_system_id}"),
        "Tags": store.tag_list(tag_map(properties)),
        "LustreConfiguration": {
            "DeploymentType": "SCRATCH_1",
            "DataCompressionType": "NONE",
            **_lustre(properties),
            "MountName": store.new_mount_name(),
        },
    }
    if properties.get("KmsKeyId"):
        record["KmsKeyId"] = properties["KmsKeyId"]
    readiness = express_mode.readiness()
    if readiness is not None:
        store.READINESS[file_system_id] = (readiness.descriptions, readiness.file_system_failure)
    store.FILE_SYSTEMS[file_system_id] = record
    store.SECURITY_GROUPS[file_system_id] = [group["GroupId"] for group in groups]
    return _created(record)


def _update(file_system_id: str, _old: Properties, new: Properties) -> Created:
    _require_valid(new)
    record = store.file_system(file_system_id)
    capacity = int(new.get("StorageCapacity") or 0)
    if capacity < record["StorageCapacity"]:
        raise Refused(
            f"BadRequest: StorageCapacity {capacity} is below the current "
            f"{record['StorageCapacity']} GiB: a file system can only grow."
        )
    record["StorageCapacity"] = capacity
    record["LustreConfiguration"] |= _lustre(new)
    record |= {key: str(new[key]) for key in ("FileSystemTypeVersion", "StorageType") if key in new}
    record["Tags"] = store.tag_list(tag_map(new))
    return _created(record)


def _delete(file_system_id: str, _properties: Properties) -> None:
    if file_system_id in store.FILE_SYSTEMS:
        store.delete_file_system(file_system_id)


TYPE = ResourceType(
    name="AWS::FSx::FileSystem",
    create=_create,
    update=_update,
    delete=_delete,
)


def _covers(rule: dict[str, Any], port: int, group_ids: set[str]) -> bool:
    if rule["IpProtocol"] not in ("-1", "tcp"):
        return False
    if rule["IpProtocol"] == "tcp" and not rule.get("FromPort", 0) <= port <= rule.get("ToPort", 0):
        return False
    peers = {pair.get("GroupId") for pair in rule.get("UserIdGroupPairs", [])}
    return bool(peers & group_ids or rule.get("IpRanges"))


def _require_lustre_traffic(*, groups: Iterable[dict[str, Any]]) -> None:
    """Check that the groups allow Lustre traffic in and out, to themselves or to some CIDR.

    Args:
        groups: Security groups of the file system, as MiniStack's EC2 keeps them.

    Raises:
        Refused: a port is closed; FSx fails such a creation with InvalidNetworkSettings.
    """
    members = list(groups)
    group_ids = {group["GroupId"] for group in members}
    for direction, member in (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress")):
        permissions = [rule for group in members for rule in group[member]]
        for port in LUSTRE_PORTS:
            if not any(_covers(rule, port, group_ids) for rule in permissions):
                raise Refused(
                    f"InvalidNetworkSettings: the groups {', '.join(sorted(group_ids))} do "
                    f"not permit {direction} Lustre traffic on TCP port {port}."
                )
