"""Which changes of a running file system FSx accepts. Pure functions.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html
https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html
https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreMetadataConfiguration.html
https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/managing-storage-capacity.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

Record = Mapping[str, Any]

_BETWEEN_SECONDS = 6 * 3600
_LEAST_PERCENT = 10  # of OpenZFS


def update_problem(found: Record, wanted: Record, *, now: float) -> str | None:
    """Return why FSx would refuse to change a file system, or None.

    Args:
        found: The file system as DescribeFileSystems returns it.
        wanted: Properties of AWS::FSx::FileSystem; numbers may be strings.
        now: Seconds since the epoch.
    """
    return next(_problems(found, wanted, now=now), None)


def changed(found: Record, wanted: Record) -> dict[str, Any]:
    """Return what changes and makes the next change wait: size and throughput.

    Args:
        found: The file system as DescribeFileSystems returns it.
        wanted: Properties of AWS::FSx::FileSystem; numbers may be strings.
    """
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
