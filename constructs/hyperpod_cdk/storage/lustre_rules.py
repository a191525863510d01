"""What FSx for Lustre takes of a PERSISTENT_2 file system.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from hyperpod_cdk.schema.errors import Finding

TIERED = "INTELLIGENT_TIERING"
SMALLEST_GIB, _STEP_GIB = 1200, 2400
THROUGHPUTS = (125, 250, 500, 1000)
MOST_REPOSITORIES = 8
TIERED_METADATA_IOPS = (6000, 12000)
# Smallest size by throughput; sizes are multiples of it.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/increase-storage-capacity.html
_SMALLEST_WITH_EFA_GIB = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
# What AUTOMATIC gives the smallest of them; no AWS page has been found that names the limit.
_LEAST_METADATA_IOPS_WITH_EFA = 6000
_TIERED_STEP_MBPS = 4000
_CACHE_GIB = (32, 131072)
_SMALL_METADATA_IOPS = (1500, 3000, 6000)
_METADATA_IOPS_STEP, _MOST_METADATA_IOPS = 12000, 192000
_OF_SSD = ("capacity_gib", "throughput_mbps_per_tib")
_OF_TIERED = ("throughput_mbps", "read_cache", "read_cache_gib")


class LustreSettings(Protocol):
    """What the rules read of a file system's section."""

    @property
    def model_fields_set(self) -> set[str]:
        """The keys that were given."""

    @property
    def is_tiered(self) -> bool:
        """Whether it is as large as its files."""

    @property
    def storage_type(self) -> str:
        """As the section has it."""

    @property
    def capacity_gib(self) -> int:
        """As the section has it."""

    @property
    def throughput_mbps_per_tib(self) -> int:
        """As the section has it."""

    @property
    def throughput_mbps(self) -> int | None:
        """As the section has it."""

    @property
    def read_cache(self) -> str:
        """As the section has it."""

    @property
    def read_cache_gib(self) -> int | None:
        """As the section has it."""

    @property
    def metadata_mode(self) -> str | None:
        """As the section has it."""

    @property
    def metadata_iops(self) -> int | None:
        """As the section has it."""

    @property
    def efa_enabled(self) -> bool:
        """As the section has it."""

    @property
    def backup_retention_days(self) -> int | None:
        """As the section has it."""

    @property
    def data_repositories(self) -> Sequence[object]:
        """As the section has it."""


def capacity(value: int) -> int:
    """Return a size that FSx sells.

    Raises:
        ValueError: It sells no such one.
    """
    if value != SMALLEST_GIB and (value < _STEP_GIB or value % _STEP_GIB):
        raise ValueError(
            f"must be {SMALLEST_GIB}, {_STEP_GIB} or a multiple of {_STEP_GIB}: "
            "the sizes FSx for Lustre sells, in GiB"
        )
    return value


def size_findings(storage: LustreSettings) -> Iterator[Finding]:
    """Find keys of the other storage type, and sizes that Intelligent-Tiering does not have."""
    for key in _OF_SSD if storage.is_tiered else _OF_TIERED:
        if key in storage.model_fields_set and getattr(storage, key) is not None:
            other = "SSD" if storage.is_tiered else TIERED
            message = f"belongs to storage_type {other}, and this is {storage.storage_type}"
            yield _at(storage, key, message)
    if not storage.is_tiered:
        return
    throughput = storage.throughput_mbps
    if throughput is None:
        message = f"is missing: {TIERED} needs it, a multiple of {_TIERED_STEP_MBPS} MB/s"
        yield _at(storage, "throughput_mbps", message)
        return
    if throughput % _TIERED_STEP_MBPS:
        yield _at(storage, "throughput_mbps", f"must be a multiple of {_TIERED_STEP_MBPS}, in MB/s")
    yield from _cache_findings(storage, servers=max(1, throughput // _TIERED_STEP_MBPS))


def _cache_findings(storage: LustreSettings, *, servers: int) -> Iterator[Finding]:
    size = storage.read_cache_gib
    if (storage.read_cache == "USER_PROVISIONED") != (size is not None):
        message = (
            "goes with read_cache: USER_PROVISIONED"
            if size is not None
            else "is missing: read_cache: USER_PROVISIONED needs it"
        )
        yield _at(storage, "read_cache_gib", message)
    least, most = (limit * servers for limit in _CACHE_GIB)
    if size is not None and not least <= size <= most:
        message = f"must be {least} to {most} GiB at {storage.throughput_mbps} MB/s"
        yield _at(storage, "read_cache_gib", message)


def metadata_findings(storage: LustreSettings) -> Iterator[Finding]:
    """Find metadata IOPS that FSx does not have, and a mode that contradicts them."""
    iops = storage.metadata_iops
    if storage.metadata_mode == "AUTOMATIC":
        if storage.is_tiered:
            message = f"must be USER_PROVISIONED: {TIERED} has no other mode"
            yield _at(storage, "metadata_mode", message)
        elif iops is not None:
            message = "has no place beside metadata_mode: AUTOMATIC, in which the size sets them"
            yield _at(storage, "metadata_iops", message)
        return
    if storage.metadata_mode is not None and iops is None and not storage.is_tiered:
        message = "is missing: metadata_mode: USER_PROVISIONED needs it"
        yield _at(storage, "metadata_iops", message)
    if iops is None:
        return
    if storage.is_tiered:
        if iops not in TIERED_METADATA_IOPS:
            allowed = " or ".join(map(str, TIERED_METADATA_IOPS))
            yield _at(storage, "metadata_iops", f"must be {allowed} for {TIERED}")
        return
    is_step = iops % _METADATA_IOPS_STEP == 0 and iops <= _MOST_METADATA_IOPS
    if iops not in _SMALL_METADATA_IOPS and not is_step:
        small = ", ".join(map(str, _SMALL_METADATA_IOPS))
        message = (
            f"must be {small} or a multiple of {_METADATA_IOPS_STEP} up to {_MOST_METADATA_IOPS}"
        )
        yield _at(storage, "metadata_iops", message)


def efa_findings(storage: LustreSettings) -> Iterator[Finding]:
    """Find a file system that is too small for EFA, or between two of its sizes."""
    if not storage.efa_enabled or storage.is_tiered:
        return
    iops = storage.metadata_iops
    if iops is not None and iops < _LEAST_METADATA_IOPS_WITH_EFA:
        message = (
            f"must be {_LEAST_METADATA_IOPS_WITH_EFA} or more with efa_enabled: true, which the "
            "size brings along without this key"
        )
        yield _at(storage, "metadata_iops", message)
    step = _SMALLEST_WITH_EFA_GIB[storage.throughput_mbps_per_tib]
    if storage.capacity_gib % step:
        message = (
            f"must be a multiple of {step} with efa_enabled: true and throughput_mbps_per_tib: "
            f"{storage.throughput_mbps_per_tib}"
        )
        yield _at(storage, "capacity_gib", message)


def backup_findings(storage: LustreSettings) -> Iterator[Finding]:
    """Find backups of a file system that is linked to S3, which FSx does not make.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateBackup.html
    """
    if storage.backup_retention_days and storage.data_repositories:
        message = (
            "has no place beside data_repositories: FSx backs up no file system that is linked to "
            "S3, which keeps the exported files; put other files into a file system of their own"
        )
        yield _at(storage, "backup_retention_days", message)


def _at(storage: LustreSettings, key: str, message: str) -> Finding:
    value = getattr(storage, key)
    return Finding(
        path=(key,), value=value, message=message, is_default=key not in storage.model_fields_set
    )
