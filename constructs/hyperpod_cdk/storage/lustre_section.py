"""FSx for Lustre in the configuration, and what FSx takes of a PERSISTENT_2 file system.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from hyperpod_cdk.hyperpod.node_settings import FsxLustreMountConfig, Mounts
from hyperpod_cdk.schema.arns import FileSystemId
from hyperpod_cdk.schema.availability_zones import AvailabilityZone
from hyperpod_cdk.schema.errors import Finding, Findings, error
from hyperpod_cdk.schema.limits import DNS_LABEL, ApiLimits, Message
from hyperpod_cdk.schema.section import Listed, members
from hyperpod_cdk.storage.claim_section import (
    ClaimConfig,
    Claims,
    DataRepositoryConfig,
    MaintainedFiles,
    overlap_findings,
)

TIERED = "INTELLIGENT_TIERING"
SMALLEST_GIB, _STEP_GIB = 1200, 2400
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


def _capacity(value: int) -> int:
    if value != SMALLEST_GIB and (value < _STEP_GIB or value % _STEP_GIB):
        raise ValueError(
            f"must be {SMALLEST_GIB}, {_STEP_GIB} or a multiple of {_STEP_GIB}: "
            "the sizes FSx for Lustre sells, in GiB"
        )
    return value


_MANY = "write storage.data_repositories: [{{path: /s3, s3_uri: s3://bucket/prefix{more}}}]"
_LINKED = _MANY.format(more="")


class LustreConfig(MaintainedFiles):
    """A shared FSx for Lustre file system (PERSISTENT_2)."""

    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterFsxLustreConfig.html
    mounts_key, node_path = "fsx_lustre_mounts", "/fsx"

    # Keys of release 0.1.0, and what replaces them.
    absent: ClassVar[Mapping[str, str]] = {
        "data_repository_s3_uri": _LINKED,
        "data_repository_path": _LINKED,
        "data_repository_export": _MANY.format(more=", export_events: [NEW, CHANGED]"),
        "data_repository_export_deletions": _MANY.format(
            more=", export_events: [NEW, CHANGED, DELETED]"
        ),
        "root_squash": "CloudFormation has no property for it; set it with aws fsx "
        "update-file-system --lustre-configuration RootSquashConfiguration=...",
    }

    file_system_id: FileSystemId | None = None
    """ID of an existing FSx for Lustre file system, which is never changed or deleted; of the other
    keys, only claims can be used with it. Default: none, one is created."""

    storage_type: Literal["SSD", "INTELLIGENT_TIERING"] = "SSD"
    """SSD, with a fixed size; or INTELLIGENT_TIERING, which grows and shrinks with its files. It
    cannot be changed later."""

    capacity_gib: Annotated[
        int,
        AfterValidator(_capacity),
        Field(
            json_schema_extra={
                "minimum": SMALLEST_GIB,
                "multipleOf": SMALLEST_GIB,
            }
        ),
        Field(examples=[2400, 4800, 9600]),
    ] = 1200
    """Size in GiB: 1200, 2400 or a multiple of 2400. It can grow later, every six hours, and never
    shrink."""

    throughput_mbps_per_tib: Literal[125, 250, 500, 1000] = 250
    """Throughput in MB/s for each TiB of size: 125, 250, 500 or 1000."""

    throughput_mbps: Annotated[
        int | None,
        ApiLimits(shape_name="fsx.ThroughputCapacityMbps", noun="a throughput in MB/s"),
        Field(examples=[4000]),
    ] = None
    """Throughput of INTELLIGENT_TIERING in MB/s: a multiple of 4000. It can only grow."""

    read_cache: Annotated[
        str, ApiLimits(shape_name="fsx.LustreReadCacheSizingMode", noun="a sizing mode of FSx")
    ] = "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"
    """SSD read cache of INTELLIGENT_TIERING: in proportion to its throughput, of read_cache_gib
    (USER_PROVISIONED), or NO_CACHE."""

    read_cache_gib: Annotated[int | None, Field(examples=[64])] = None
    """Size of a USER_PROVISIONED read cache in GiB: 32 to 131072 for each 4000 MB/s."""

    compression: Annotated[
        str, ApiLimits(shape_name="fsx.DataCompressionType", noun="a data compression of FSx")
    ] = "LZ4"
    """Data compression: LZ4, or NONE."""

    metadata_mode: Annotated[
        str | None,
        ApiLimits(shape_name="fsx.MetadataConfigurationMode", noun="a metadata mode of FSx"),
    ] = None
    """Who sets the metadata IOPS, for creating and listing files: AUTOMATIC, by the size, or
    USER_PROVISIONED. It cannot be added later. Default: USER_PROVISIONED with metadata_iops and
    INTELLIGENT_TIERING, AUTOMATIC with efa_enabled, else none."""

    metadata_iops: Annotated[
        int | None,
        ApiLimits(shape_name="fsx.MetadataIops", noun="metadata IOPS"),
        Field(examples=[3000]),
    ] = None
    """Metadata IOPS: 1500, 3000, 6000, or a multiple of 12000 up to 192000; of INTELLIGENT_TIERING
    6000 or 12000. They can only grow. Default: none given; 6000 of INTELLIGENT_TIERING."""

    efa_enabled: bool = False
    """Whether nodes with EFA reach it by EFA, and GPUs by GPUDirect Storage. It then has a minimum
    size that depends on its throughput. It cannot be changed later. Default: false."""

    availability_zone_id: AvailabilityZone | None = None
    """Zone of the file system, by ID; one of the HyperPod subnets' zones. It cannot be changed
    later. Default: the first HyperPod subnet's."""

    data_repositories: Annotated[
        Listed[DataRepositoryConfig],
        Field(examples=[[{"path": "/other", "s3_uri": "s3://another-bucket"}]]),
    ] = ()
    """Directories whose files are the objects of S3 buckets, at most 8. Default: none."""

    claims: Claims = (ClaimConfig(),)
    """What the pods of a namespace mount. Default: one claim, in the namespace default."""

    @property
    def label(self) -> str:
        """What tells its volume and claims from those of others."""
        return "fsx"

    @property
    def output_prefix(self) -> str:
        """What the names of its outputs begin with."""
        return ""

    @property
    def is_tiered(self) -> bool:
        """Whether it is as large as its files, and no larger."""
        return self.storage_type == TIERED

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        if self.file_system_id is not None:
            return f"FSx for Lustre {self.file_system_id}, which exists"
        size = f"of {self.capacity_gib} GiB at {self.throughput_mbps_per_tib} MB/s/TiB"
        if self.is_tiered:
            size = f"with Intelligent-Tiering at {self.throughput_mbps} MB/s"
        linked = "".join(f", linked to {link.s3_uri}" for link in self.data_repositories)
        return f"FSx for Lustre {size}, {self.after_deletion}{linked}"

    @property
    def created_as(self) -> str:
        """What it was created as, and cannot become later: FSx would make another file system."""
        if self.file_system_id is not None:
            return self.file_system_id
        metadata = "with" if self._metadata_mode is not None else "without"
        efa = "with" if self.efa_enabled else "without"
        return f"{self.storage_type} {efa} efa_enabled, {metadata} metadata_mode"

    @property
    def _metadata_mode(self) -> str | None:
        if self.metadata_mode is not None:
            return self.metadata_mode
        if self.metadata_iops is not None or self.is_tiered:
            return "USER_PROVISIONED"
        # FSx takes no EFA without a metadata configuration.
        # https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/fsx_lustre_file_system
        return "AUTOMATIC" if self.efa_enabled else None

    @property
    def effective_metadata_iops(self) -> int | None:
        """The metadata IOPS that are asked of FSx."""
        if self.metadata_iops is None and self.is_tiered:
            return TIERED_METADATA_IOPS[0]
        return self.metadata_iops

    def node_mounts(self, outputs: Mapping[str, str]) -> Mounts:
        """Return what HyperPod mounts on nodes, as outputs of the storage stack name it."""
        mount = FsxLustreMountConfig(
            dns_name=outputs[f"{self.output_prefix}FileSystemDnsName"],
            mount_name=outputs[f"{self.output_prefix}FileSystemMountName"],
            mount_path=self.node_path,
        )
        return Mounts(lustre=(mount,))

    def to_request(self) -> dict[str, Any]:
        """Return a CreateFileSystemLustreConfiguration, but for its deployment type."""
        sized = (
            {
                "ThroughputCapacity": self.throughput_mbps,
                "DataReadCacheConfiguration.SizingMode": self.read_cache,
                "DataReadCacheConfiguration.SizeGiB": self.read_cache_gib,
            }
            if self.is_tiered
            else {"PerUnitStorageThroughput": self.throughput_mbps_per_tib}
        )
        return members(
            {
                **super().to_request(),
                **sized,
                "DataCompressionType": self.compression,
                "EfaEnabled": self.efa_enabled or None,
                "MetadataConfiguration.Mode": self._metadata_mode,
                "MetadataConfiguration.Iops": self.effective_metadata_iops,
            }
        )

    def _findings(self) -> Findings:
        if self.file_system_id is not None:
            yield from self._beside_an_existing_one()
            return
        yield from _size_findings(self)
        yield from _metadata_findings(self)
        yield from _efa_findings(self)
        yield from _backup_findings(self)
        if len(self.data_repositories) > MOST_REPOSITORIES:
            message = f"must be at most {MOST_REPOSITORIES}, the most of a file system"
            yield error(("data_repositories",), f"{len(self.data_repositories)} links", message)
        for finding in overlap_findings(self.data_repositories):
            yield finding.under("data_repositories")

    def _beside_an_existing_one(self) -> Findings:
        for key in sorted(self.model_fields_set & LustreConfig.model_fields.keys()):
            default = LustreConfig.model_fields[key].default
            if key not in _OF_EXISTING and getattr(self, key) != default:
                message = "has no place next to file_system_id: the file system is used as it is"
                yield error((key,), getattr(self, key), message)


_OF_EXISTING = frozenset({"file_system_id", "claims", "i_understand_all_files_are_deleted"})


class NamedLustreConfig(LustreConfig):
    """A further FSx for Lustre file system, with the keys of the first."""

    name: Annotated[
        str,
        Field(pattern=rf"^{DNS_LABEL}$", max_length=20),
        Message("must be 1 to 20 lower-case letters, digits and inner hyphens"),
    ]
    """Name of the file system, unique in the deployment. Its claim is fsx-<name>-claim."""

    @property
    def label(self) -> str:
        """What tells its volume and claims from those of others."""
        return f"fsx-{self.name}"

    @property
    def output_prefix(self) -> str:
        """What the names of its outputs begin with."""
        return "".join(word.capitalize() for word in self.name.split("-"))


def _size_findings(storage: LustreConfig) -> Findings:
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


def _cache_findings(storage: LustreConfig, *, servers: int) -> Findings:
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


def _metadata_findings(storage: LustreConfig) -> Findings:
    """Find metadata IOPS that FSx does not have, and a mode that contradicts them."""
    iops = storage.metadata_iops
    if storage.metadata_mode == "AUTOMATIC":
        if storage.is_tiered:
            message = f"must be USER_PROVISIONED: {TIERED} has no other mode"
            yield _at(storage, "metadata_mode", message)
        elif iops is not None:
            message = "has no place next to metadata_mode: AUTOMATIC, in which the size sets them"
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


def _efa_findings(storage: LustreConfig) -> Findings:
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


def _backup_findings(storage: LustreConfig) -> Findings:
    """Find backups of a file system that is linked to S3, which FSx does not make.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateBackup.html
    """
    if storage.backup_retention_days and storage.data_repositories:
        message = (
            "has no place next to data_repositories: FSx backs up no file system that is linked to "
            "S3, which keeps the exported files; put other files into a file system of their own"
        )
        yield _at(storage, "backup_retention_days", message)


def _at(storage: LustreConfig, key: str, message: str) -> Finding:
    value = getattr(storage, key)
    return Finding(
        path=(key,), value=value, message=message, is_default=key not in storage.model_fields_set
    )
