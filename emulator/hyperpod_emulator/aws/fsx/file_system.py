"""AWS::FSx::FileSystem, for Lustre and OpenZFS, the API behind it, and the changes it accepts.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html
https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html
https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreMetadataConfiguration.html
https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/managing-storage-capacity.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_emulator.aws.cloudformation import express_mode
from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    boolean,
    tag_map,
)
from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.encryption import key_problem
from hyperpod_emulator.aws.fsx import rules, store
from hyperpod_emulator.aws.fsx.rules import open_zfs_problem
from hyperpod_emulator.aws.ministack import ec2, get_account_id, get_region
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.settings import FILE_SYSTEM_ID

Record = Mapping[str, Any]

_BETWEEN_SECONDS = 6 * 3600
_LEAST_PERCENT = 10  # of OpenZFS


def update_problem(found: Record, wanted: Record, *, now: float) -> str | None:
    """Return why FSx refuses the properties for a file system as it is described, or None."""
    return next(_problems(found, wanted, now=now), None)


def changed(found: Record, wanted: Record) -> dict[str, Any]:
    """Return what changes and makes the next change wait: size and throughput."""
    values: dict[str, Any] = {}
    capacity = int(wanted.get("StorageCapacity") or 0)
    if capacity and capacity != found.get("StorageCapacity"):
        values["StorageCapacity"] = capacity
    for kind, keys in _THROUGHPUTS.items():
        before, after = found.get(kind) or {}, wanted.get(kind) or {}
        for key in keys:
            if key in after and int(after[key]) != before.get(key):
                values.setdefault(kind, {})[key] = int(after[key])
    return values


_LUSTRE = "LustreConfiguration"
_THROUGHPUTS = {
    _LUSTRE: ("PerUnitStorageThroughput", "ThroughputCapacity"),
    "OpenZFSConfiguration": ("ThroughputCapacity",),
}


def _problems(found: Record, wanted: Record, *, now: float) -> Iterator[str]:
    change = changed(found, wanted)
    before, after = found.get(_LUSTRE) or {}, wanted.get(_LUSTRE) or {}
    if str(wanted.get("StorageType", "SSD")) != found.get("StorageType", "SSD"):
        yield "StorageType cannot be changed."
    # UpdateFileSystem has no such member.
    for key in ("EfaEnabled", "DeploymentType"):
        default = {"EfaEnabled": "false"}.get(key, "")
        values = (str(each.get(key, default)).lower() for each in (before, after))
        if len({*values}) > 1:
            yield f"{key} cannot be changed."
    if "StorageCapacity" in change:
        yield from _capacity_problems(found, change["StorageCapacity"], now=now)
    for kind in _THROUGHPUTS:
        if kind in change and _is_recent(found, kind, now=now):
            yield "The throughput was changed less than 6 hours ago."
    if "PerUnitStorageThroughput" in change.get(_LUSTRE, {}) and before.get("EfaEnabled"):
        yield "PerUnitStorageThroughput of an EFA-enabled file system cannot be changed."
    tiered = change.get(_LUSTRE, {}).get("ThroughputCapacity")
    if tiered is not None and tiered < before["ThroughputCapacity"]:
        yield f"ThroughputCapacity {tiered} is below the current {before['ThroughputCapacity']}."
    yield from _metadata_problems(before, after)


def _capacity_problems(found: Record, capacity: int, *, now: float) -> Iterator[str]:
    current = int(found["StorageCapacity"])
    if capacity < current:
        yield (
            f"StorageCapacity {capacity} is below the current {current} GiB: a file system can "
            "only grow."
        )
    least = current * (100 + _LEAST_PERCENT) / 100
    if found["FileSystemType"] == "OPENZFS" and capacity < least:
        yield f"StorageCapacity {capacity} is not {_LEAST_PERCENT} percent above {current} GiB."
    if _is_recent(found, "StorageCapacity", now=now):
        yield "The storage capacity was increased less than 6 hours ago."


def _metadata_problems(before: Record, after: Record) -> Iterator[str]:
    found, wanted = (each.get("MetadataConfiguration") or {} for each in (before, after))
    if bool(found) != bool(wanted):
        yield "MetadataConfiguration can only be set when a file system is created."
    current, asked = int(found.get("Iops") or 0), int(wanted.get("Iops") or 0)
    if asked and asked < current:
        yield f"Metadata Iops {asked} is below the current {current}."


def _is_recent(found: Record, key: str, *, now: float) -> bool:
    return any(
        key in action["TargetFileSystemValues"] and now - action["RequestTime"] < _BETWEEN_SECONDS
        for action in found.get("AdministrativeActions", ())
    )


_NUMBERS = (
    "AutomaticBackupRetentionDays",
    "PerUnitStorageThroughput",
    "ThroughputCapacity",
)
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html
_CHANGEABLE = (
    *_NUMBERS,
    "DailyAutomaticBackupStartTime",
    "DataCompressionType",
    "DataReadCacheConfiguration",
    "WeeklyMaintenanceStartTime",
)
_LUSTRE_FILE_SYSTEM, _OPEN_ZFS = "LustreConfiguration", "OpenZFSConfiguration"
# What AUTOMATIC gives, by the size up to which it does; above, 12000 for each 24000 GiB.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html
_AUTOMATIC_IOPS = ((1200, 1500), (2400, 3000), (9600, 6000))


def create(properties: Properties) -> dict[str, Any]:
    """Create a file system by the properties of type or API, and return its record."""
    _require_valid(properties)
    subnet_id = properties["SubnetIds"][0]
    subnet = ec2_api.existing(
        ec2._subnets, subnet_id, code="InvalidNetworkSettings", noun="subnet ID"
    )
    groups = _security_groups(properties, subnet["VpcId"])
    file_system_id = tag_map(properties).get(FILE_SYSTEM_ID) or store.new_id("fs")
    record = {
        "OwnerId": get_account_id(),
        "CreationTime": store.now(),
        "FileSystemId": file_system_id,
        "FileSystemType": properties["FileSystemType"],
        "Lifecycle": "AVAILABLE",
        "StorageCapacity": int(properties.get("StorageCapacity") or 0),
        "StorageType": properties.get("StorageType", "SSD"),
        "VpcId": subnet["VpcId"],
        "SubnetIds": [subnet_id],
        "NetworkInterfaceIds": [_interface(subnet, groups)],
        "DNSName": f"{file_system_id}.fsx.{get_region()}.amazonaws.com",
        "ResourceARN": store.arn(f"file-system/{file_system_id}"),
        "Tags": store.tag_list(tag_map(properties)),
        **_of_kind(properties, groups=groups),
    }
    if properties.get("KmsKeyId"):
        record["KmsKeyId"] = properties["KmsKeyId"]
    readiness = express_mode.readiness()
    if readiness is not None:
        store.READINESS[file_system_id] = (readiness.descriptions, readiness.file_system_failure)
    store.FILE_SYSTEMS[file_system_id] = record
    store.SECURITY_GROUPS[file_system_id] = [group["GroupId"] for group in groups]
    return record


def update(file_system_id: str, wanted: Properties) -> dict[str, Any]:
    """Change a file system to all of the properties of its type, and return its record."""
    _require_valid(wanted)
    record = store.file_system(file_system_id)
    problem = update_problem(record, wanted, now=store.now()) or rules.backup_problem(
        wanted, is_linked=store.is_linked(file_system_id)
    )
    if problem:
        raise Refused(f"BadRequest: {problem}")
    values = changed(record, wanted)
    if values:
        action = {
            "AdministrativeActionType": "FILE_SYSTEM_UPDATE",
            "RequestTime": store.now(),
            "Status": "UPDATED_OPTIMIZING",
            "TargetFileSystemValues": values,
        }
        record["AdministrativeActions"] = [action, *record.get("AdministrativeActions", ())]
    if "StorageCapacity" in values:
        record["StorageCapacity"] = values["StorageCapacity"]
    for kind in (_LUSTRE_FILE_SYSTEM, _OPEN_ZFS):
        if kind in record:
            settings = _settings(wanted, kind)
            record[kind] |= {key: value for key, value in settings.items() if key in _CHANGEABLE}
    if "MetadataConfiguration" in record.get(_LUSTRE_FILE_SYSTEM, {}):
        record[_LUSTRE_FILE_SYSTEM]["MetadataConfiguration"] = _metadata(wanted)
    if "FileSystemTypeVersion" in wanted:
        record["FileSystemTypeVersion"] = str(wanted["FileSystemTypeVersion"])
    return record


def _of_kind(properties: Properties, *, groups: list[dict[str, Any]]) -> dict[str, Any]:
    if properties["FileSystemType"] == "OPENZFS":
        rules.require_nfs_traffic(groups)
        settings = _settings(properties, _OPEN_ZFS)
        # What it is made of, its volumes tell.
        settings.pop("RootVolumeConfiguration", None)
        return {_OPEN_ZFS: {**settings, "RootVolumeId": store.new_id("fsvol")}}
    settings = _settings(properties, _LUSTRE_FILE_SYSTEM)
    rules.require_lustre_traffic(groups, efa=settings.get("EfaEnabled", False))
    metadata = _metadata(properties)
    return {
        "FileSystemTypeVersion": str(properties.get("FileSystemTypeVersion", "2.15")),
        _LUSTRE_FILE_SYSTEM: {
            "DeploymentType": "SCRATCH_1",
            "DataCompressionType": "NONE",
            **settings,
            **({"MetadataConfiguration": metadata} if metadata else {}),
            "MountName": store.new_mount_name(),
        },
    }


def _settings(properties: Properties, kind: str) -> dict[str, Any]:
    given: Mapping[str, Any] = properties.get(kind) or {}
    settings = {key: int(value) if key in _NUMBERS else value for key, value in given.items()}
    if "EfaEnabled" in settings:
        settings["EfaEnabled"] = boolean(settings["EfaEnabled"])
    return settings


def _metadata(properties: Properties) -> dict[str, Any]:
    given = (properties.get(_LUSTRE_FILE_SYSTEM) or {}).get("MetadataConfiguration")
    if not given:
        return {}
    size = int(properties.get("StorageCapacity") or 0)
    automatic = next(
        (iops for most, iops in _AUTOMATIC_IOPS if size <= most), 12000 * max(1, -(-size // 24000))
    )
    return {"Mode": given["Mode"], "Iops": int(given.get("Iops") or automatic)}


def _interface(subnet: Mapping[str, Any], groups: list[dict[str, Any]]) -> str:
    members = {
        f"SecurityGroupId__{index + 1}": group["GroupId"] for index, group in enumerate(groups)
    }
    made = ec2_api.call("CreateNetworkInterface", SubnetId=subnet["SubnetId"], **members)
    return made["networkInterfaceId"]


def _created(record: dict[str, Any]) -> Created:
    shown = store.creating(record)
    attributes = {
        "DNSName": shown.get("DNSName"),
        "LustreMountName": shown.get(_LUSTRE_FILE_SYSTEM, {}).get("MountName"),
        "RootVolumeId": shown.get(_OPEN_ZFS, {}).get("RootVolumeId"),
        "ResourceARN": record["ResourceARN"],
    }
    return record["FileSystemId"], {name: value for name, value in attributes.items() if value}


def _require_valid(properties: Properties) -> None:
    is_open_zfs = properties.get("FileSystemType") == "OPENZFS"
    problem = (open_zfs_problem if is_open_zfs else rules.file_system_problem)(properties)
    if problem:
        raise Refused(f"BadRequest: {problem}")
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html; the operation
    # names no other error for a key.
    key = properties.get("KmsKeyId")
    problem = None if key is None else key_problem(key)
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


def _update(file_system_id: str, _old: Properties, new: Properties) -> Created:
    record = update(file_system_id, new)
    record["Tags"] = store.tag_list(tag_map(new))
    return _created(record)


def _delete(file_system_id: str, _properties: Properties) -> None:
    if file_system_id in store.FILE_SYSTEMS:
        store.delete_file_system(file_system_id)


FILE_SYSTEM = ResourceType(
    name="AWS::FSx::FileSystem",
    create=lambda properties: _created(create(properties)),
    update=_update,
    delete=_delete,
)
