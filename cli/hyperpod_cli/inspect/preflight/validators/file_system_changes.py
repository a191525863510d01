"""Whether FSx accepts what a deployment changes of its file systems.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html
https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html
https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/managing-storage-capacity.html
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from hyperpod_cdk import Config, HomeDirectoriesConfig, LustreConfig
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cli.inspect.preflight.deployed import outputs
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_cli.inspect.preflight.validators.existing_file_systems import (
    Record,
    describe_command,
    file_system,
)

_BETWEEN = timedelta(hours=6)
_LEAST_GROWTH_PERCENT = 10  # of OpenZFS
_LUSTRE, _OPEN_ZFS = "LustreConfiguration", "OpenZFSConfiguration"


@validator(
    phase=Phase.EXISTING_RESOURCES, iam=["cloudformation:DescribeStacks", "fsx:DescribeFileSystems"]
)
def file_system_changes(config: Config, target: Target) -> Problems:
    """FSx would reject a change.

    Keys: storage.capacity_gib, storage.home_directories.capacity_gib, storage.metadata_iops

    [storage](storage.md)
    """
    if config.storage is None:
        return
    deployed = outputs(config, "storage", target)
    for path, files in config.storage.placed_files:
        identifier = deployed.get(f"{files.output_prefix}FileSystemId")
        record = None if identifier is None else file_system(identifier, target)
        is_existing = isinstance(files, LustreConfig) and files.file_system_id is not None
        if identifier is None or record is None or is_existing:
            continue
        for finding in change_findings(files, record, now=datetime.now(UTC)):
            placed = finding.under("storage", *path)
            yield placed, describe_command(identifier)


def change_findings(
    files: LustreConfig | HomeDirectoriesConfig, record: Record, *, now: datetime
) -> Iterator[Finding]:
    """Find what FSx refuses to change of a file system."""
    if not isinstance(files, LustreConfig) or not files.is_tiered:
        yield from _capacity_findings(files, record, now=now)
    if isinstance(files, LustreConfig):
        yield from _lustre_findings(files, record[_LUSTRE], record=record, now=now)
    elif files.throughput_mbps != record[_OPEN_ZFS]["ThroughputCapacity"]:
        yield from _wait(
            record, _OPEN_ZFS, key="throughput_mbps", value=files.throughput_mbps, now=now
        )


def _capacity_findings(
    files: LustreConfig | HomeDirectoriesConfig, record: Record, *, now: datetime
) -> Iterator[Finding]:
    # FSx tells none of one with Intelligent-Tiering, which becomes another in no update.
    key, wanted, current = "capacity_gib", files.capacity_gib, record.get("StorageCapacity")
    if current is None or wanted == current:
        return
    if wanted < current:
        message = f"is less than the {current} GiB that it has: a file system can only grow"
        yield Finding(path=(key,), value=wanted, message=message)
        return
    least = -(-current * (100 + _LEAST_GROWTH_PERCENT) // 100)
    if isinstance(files, HomeDirectoriesConfig) and wanted < least:
        message = f"must be {least} or more: FSx for OpenZFS grows by a tenth of {current} at least"
        yield Finding(path=(key,), value=wanted, message=message)
    yield from _wait(record, "StorageCapacity", key=key, value=wanted, now=now)


def _lustre_findings(
    files: LustreConfig, lustre: Record, *, record: Record, now: datetime
) -> Iterator[Finding]:
    key, current = "throughput_mbps_per_tib", lustre.get("PerUnitStorageThroughput")
    if not files.is_tiered and files.throughput_mbps_per_tib != current:
        if lustre.get("EfaEnabled"):
            message = f"cannot be changed from {current}: the file system is EFA-enabled"
            yield Finding(path=(key,), value=files.throughput_mbps_per_tib, message=message)
        yield from _wait(record, _LUSTRE, key=key, value=files.throughput_mbps_per_tib, now=now)
    whole, total = files.throughput_mbps, lustre.get("ThroughputCapacity")
    if whole is not None and total is not None and whole < total:
        message = f"is less than the {total} MB/s that it has: it can only grow"
        yield Finding(path=("throughput_mbps",), value=whole, message=message)
    iops = (lustre.get("MetadataConfiguration") or {}).get("Iops")
    asked = files.effective_metadata_iops
    if asked is not None and iops is not None and asked < iops:
        message = f"are less than the {iops} that it has: they can only grow"
        yield Finding(path=("metadata_iops",), value=asked, message=message)


def _wait(
    record: Record, changed: str, *, key: str, value: int, now: datetime
) -> Iterator[Finding]:
    """Find a change too soon after the last one of its kind, or while that one goes on."""
    for action in record.get("AdministrativeActions", ()):
        if changed not in action.get("TargetFileSystemValues", {}):
            continue
        until = action["RequestTime"] + _BETWEEN
        if now < until:
            when = until.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
            message = f"can be changed from {when} on: FSx changes it every six hours"
            yield Finding(path=(key,), value=value, message=message)
        elif action["Status"] in ("PENDING", "IN_PROGRESS"):
            message = f"can be changed when the last change is done; it is {action['Status']}"
            yield Finding(path=(key,), value=value, message=message)
        return  # the newest one is first
