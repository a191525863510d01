"""What FSx refuses of file systems and of the security groups in front of them. Pure functions.

Source: FSx User Guide and the FSx API model (`CreateFileSystemLustreConfiguration`,
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_emulator.aws.ec2.network import covers
from hyperpod_emulator.aws.refused import Refused

Properties = Mapping[str, Any]

_THROUGHPUT = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
_SSD_STEP = {"SCRATCH_1": 3600, "SCRATCH_2": 2400, "PERSISTENT_1": 2400, "PERSISTENT_2": 2400}
_SSD_SMALL = (1200, 2400)
_HDD_STEP = {12: 6000, 40: 1800}
_VERSIONS = ("2.10", "2.12", "2.15")
_METADATA_IOPS_SMALL = (1500, 3000, 6000)
_METADATA_IOPS_STEP, _METADATA_IOPS_MAX = 12000, 192000
_INTELLIGENT_THROUGHPUT_STEP = 4000
_CACHE_GIB_FOR_A_STEP = (32, 131072)
_INTELLIGENT_METADATA_IOPS = (6000, 12000)
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/increase-storage-capacity.html
_EFA_STEP = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}


def _capacity_problem(deployment: str, storage: str, capacity: int, throughput: int) -> str | None:
    if storage == "HDD":
        step = _HDD_STEP[throughput]
        return None if capacity and capacity % step == 0 else f"a multiple of {step} GiB"
    step = _SSD_STEP[deployment]
    if capacity in _SSD_SMALL or (capacity and capacity % step == 0):
        return None
    return f"1200, 2400 or a multiple of {step} GiB"


def _intelligent_problem(properties: Properties, lustre: Properties) -> str | None:
    if properties.get("StorageCapacity") is not None:
        return "StorageCapacity is not allowed with StorageType INTELLIGENT_TIERING."
    throughput = int(lustre.get("ThroughputCapacity") or 0)
    if not throughput or throughput % _INTELLIGENT_THROUGHPUT_STEP:
        return f"ThroughputCapacity {throughput} is invalid: use a multiple of 4000 MB/s."
    cache = lustre.get("DataReadCacheConfiguration")
    if not cache:
        return "StorageType INTELLIGENT_TIERING requires DataReadCacheConfiguration."
    size = int(cache.get("SizeGiB") or 0)
    servers = throughput // _INTELLIGENT_THROUGHPUT_STEP
    least, most = (limit * servers for limit in _CACHE_GIB_FOR_A_STEP)
    if cache.get("SizingMode") == "USER_PROVISIONED" and not least <= size <= most:
        return f"DataReadCacheConfiguration SizeGiB {size} is invalid: use {least} to {most}."
    return _intelligent_metadata_problem(lustre)


def _intelligent_metadata_problem(lustre: Properties) -> str | None:
    metadata = lustre.get("MetadataConfiguration") or {}
    if metadata.get("Mode") != "USER_PROVISIONED":
        return "StorageType INTELLIGENT_TIERING requires metadata Mode USER_PROVISIONED."
    if int(metadata.get("Iops") or 0) not in _INTELLIGENT_METADATA_IOPS:
        return f"Metadata Iops {metadata.get('Iops')} is invalid: use 6000 or 12000."
    return None


def _efa_problem(properties: Properties, lustre: Properties) -> str | None:
    if not _is_true(lustre.get("EfaEnabled")):
        return None
    if lustre.get("DeploymentType") != "PERSISTENT_2":
        return "EfaEnabled requires DeploymentType PERSISTENT_2."
    # https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/fsx_lustre_file_system
    if not lustre.get("MetadataConfiguration"):
        return "EfaEnabled requires MetadataConfiguration."
    if properties.get("StorageType") == "INTELLIGENT_TIERING":
        return None
    throughput = int(lustre["PerUnitStorageThroughput"])
    capacity, step = int(properties["StorageCapacity"]), _EFA_STEP[throughput]
    if capacity % step:
        return (
            f"StorageCapacity {capacity} is invalid for EfaEnabled at {throughput} MB/s/TiB: use a "
            f"multiple of {step} GiB."
        )
    return None


def _is_true(value: object) -> bool:
    return str(value).lower() == "true"


def backup_problem(properties: Properties, *, is_linked: bool) -> str | None:
    """Return why FSx would refuse the backups of a file system, or None.

    It does if there is a data repository association:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateBackup.html
    """
    lustre = properties.get("LustreConfiguration") or {}
    if is_linked and int(lustre.get("AutomaticBackupRetentionDays") or 0):
        return "Backups cannot be enabled on S3-linked file systems."
    return None


def _metadata_problem(lustre: Properties, version: str) -> str | None:
    metadata = lustre.get("MetadataConfiguration")
    if not metadata:
        return None
    if version != "2.15":
        return "MetadataConfiguration requires FileSystemTypeVersion 2.15."
    iops = metadata.get("Iops")
    if metadata.get("Mode") == "AUTOMATIC":
        return "Iops is not allowed with metadata Mode AUTOMATIC." if iops else None
    value = int(iops or 0)
    large = value and value % _METADATA_IOPS_STEP == 0 and value <= _METADATA_IOPS_MAX
    if value in _METADATA_IOPS_SMALL or large:
        return None
    return f"Metadata Iops {value} is invalid: use 1500, 3000, 6000 or a multiple of 12000."


def _provisioned_problem(properties: Properties, lustre: Properties) -> str | None:
    deployment = lustre.get("DeploymentType", "SCRATCH_1")
    storage = properties.get("StorageType", "SSD")
    given = lustre.get("PerUnitStorageThroughput")
    if deployment.startswith("SCRATCH"):
        if given is not None:
            return f"PerUnitStorageThroughput is not allowed with DeploymentType {deployment}."
        if storage != "SSD":
            return f"StorageType {storage} is not allowed with DeploymentType {deployment}."
    else:
        allowed = _THROUGHPUT.get((deployment, storage))
        if allowed is None:
            return f"StorageType {storage} is not allowed with DeploymentType {deployment}."
        if given is None or int(given) not in allowed:
            return (
                f"PerUnitStorageThroughput {given} is invalid for {deployment} {storage}: use one "
                f"of {', '.join(map(str, allowed))}."
            )
    capacity = int(properties.get("StorageCapacity") or 0)
    problem = _capacity_problem(deployment, storage, capacity, int(given or 0))
    return (
        f"StorageCapacity {capacity} is invalid for {deployment}: use {problem}."
        if problem
        else None
    )


def file_system_problem(properties: Properties) -> str | None:
    """Return why FSx would refuse properties of a file system for Lustre, or None."""
    if properties.get("FileSystemType") != "LUSTRE":
        kind = properties.get("FileSystemType")
        return f"FileSystemType {kind}: only LUSTRE and OPENZFS are available here."
    if len(properties.get("SubnetIds") or []) != 1:
        return "SubnetIds: a Lustre file system takes exactly one subnet."
    lustre = properties.get("LustreConfiguration") or {}
    deployment = lustre.get("DeploymentType", "SCRATCH_1")
    version = str(properties.get("FileSystemTypeVersion", "2.15"))
    if deployment not in _SSD_STEP:
        return f"DeploymentType {deployment} is invalid: use one of {', '.join(_SSD_STEP)}."
    if version not in _VERSIONS or (deployment == "PERSISTENT_2" and version == "2.10"):
        return f"FileSystemTypeVersion {version} is not supported with {deployment}."
    intelligent = properties.get("StorageType") == "INTELLIGENT_TIERING"
    rules = _intelligent_problem if intelligent else _provisioned_problem
    return (
        rules(properties, lustre)
        or _metadata_problem(lustre, version)
        or _efa_problem(properties, lustre)
    )


_FIRST = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
_OPEN_ZFS_THROUGHPUT = {
    "MULTI_AZ_1": _SECOND,
    "SINGLE_AZ_1": _FIRST,
    "SINGLE_AZ_2": _SECOND,
    "SINGLE_AZ_HA_1": _FIRST,
    "SINGLE_AZ_HA_2": _SECOND,
}
_SMALLEST_GIB, _LARGEST_GIB = 64, 524288


def open_zfs_problem(properties: Properties) -> str | None:
    """Return why FSx would refuse properties of a file system of type OPENZFS, or None."""
    settings = properties.get("OpenZFSConfiguration") or {}
    deployment = settings.get("DeploymentType")
    if deployment not in _OPEN_ZFS_THROUGHPUT:
        return (
            f"DeploymentType {deployment} is invalid: use one of {', '.join(_OPEN_ZFS_THROUGHPUT)}."
        )
    subnets = len(properties.get("SubnetIds") or [])
    if subnets != (2 if deployment == "MULTI_AZ_1" else 1):
        return f"SubnetIds: {deployment} does not take {subnets} subnets."
    throughput = int(settings.get("ThroughputCapacity") or 0)
    if throughput not in _OPEN_ZFS_THROUGHPUT[deployment]:
        allowed = ", ".join(map(str, _OPEN_ZFS_THROUGHPUT[deployment]))
        return f"ThroughputCapacity {throughput} is invalid for {deployment}: use {allowed}."
    capacity = int(properties.get("StorageCapacity") or 0)
    if not _SMALLEST_GIB <= capacity <= _LARGEST_GIB:
        return f"StorageCapacity {capacity} is invalid: use {_SMALLEST_GIB} to {_LARGEST_GIB} GiB."
    return None


Group = dict[str, Any]

LUSTRE_PORTS = (988, *range(1018, 1024))
"""TCP ports between file servers and clients, both ways (FSx for Lustre User Guide)."""
# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
_NFS_PORTS = (111, 2049, 20001, 20002, 20003)
_DIRECTIONS = (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress"))


def require_lustre_traffic(groups: Iterable[Group], *, efa: bool) -> None:
    """Refuse groups that do not allow Lustre traffic in and out, to themselves or to some CIDR.

    An EFA-enabled file system takes all traffic of the groups by name; no CIDR counts:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html
    """
    members = list(groups)
    group_ids = {group["GroupId"] for group in members}
    named = ", ".join(sorted(group_ids))
    for direction, member in _DIRECTIONS:
        rules = [rule for group in members for rule in group[member]]
        for port in LUSTRE_PORTS:
            if not any(_covers(rule, port, group_ids) for rule in rules):
                raise Refused(
                    f"InvalidNetworkSettings: the groups {named} do not permit {direction} Lustre "
                    f"traffic on TCP port {port}."
                )
        if efa and not any(_is_of_members(rule, group_ids) for rule in rules):
            raise Refused(
                f"InvalidNetworkSettings: Insufficient security group permissions: the groups "
                f"{named} do not permit all {direction} traffic of themselves, which EFA needs."
            )


def require_nfs_traffic(groups: Iterable[Group]) -> None:
    """Refuse groups that do not allow NFS in. FSx itself does not; clients would wait for ever."""
    members = list(groups)
    group_ids = {group["GroupId"] for group in members}
    rules = [rule for group in members for rule in group["IpPermissions"]]
    for port in _NFS_PORTS:
        if not any(_covers(rule, port, group_ids) for rule in rules):
            raise Refused(f"InvalidNetworkSettings: no rule permits NFS on TCP port {port}.")


def _is_of_members(rule: dict[str, Any], group_ids: set[str]) -> bool:
    return rule["IpProtocol"] == "-1" and bool(_peers(rule) & group_ids)


def _covers(rule: dict[str, Any], port: int, group_ids: set[str]) -> bool:
    return covers(rule, port) and bool(_peers(rule) & group_ids or rule.get("IpRanges"))


def _peers(rule: dict[str, Any]) -> set[str]:
    return {pair.get("GroupId") for pair in rule.get("UserIdGroupPairs", [])}
