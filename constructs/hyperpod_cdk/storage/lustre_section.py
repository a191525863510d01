"""FSx for Lustre in the configuration."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from hyperpod_cdk.schema.availability_zones import AvailabilityZone
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import DNS_LABEL, ApiLimits, ListLimits, Matching, OneOf
from hyperpod_cdk.schema.section import Listed, Section, Task, members
from hyperpod_cdk.storage import lustre_rules as rules
from hyperpod_cdk.storage.claim_section import ClaimConfig, MaintainedFiles

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_S3_URI = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\s]*)?"
_DIRECTORY = r"/|(/[^/]+)+"
Event = Annotated[str, ApiLimits(shape_name="fsx.EventType", noun="an event of a data repository")]


class DataRepositoryConfig(Section):
    """A directory whose files are the objects of an S3 bucket (a data repository association)."""

    path: Annotated[
        str,
        ApiLimits(shape_name="fsx.Namespace", noun="a path of a data repository such as /s3"),
        Matching(
            pattern=_DIRECTORY, rule="must be a path such as /s3, from the file system's root"
        ),
        Field(examples=["/elsewhere"]),
    ] = "/s3"
    """Directory of the file system that shows the S3 objects. None may be inside another."""

    s3_uri: Annotated[
        Annotated[
            str, Matching(pattern=_S3_URI, rule="must be an S3 URI such as s3://bucket/prefix")
        ]
        | None,
        Field(examples=["s3://another-bucket/prefix"]),
        Task("read a data set from S3, and write checkpoints to it"),
    ] = None
    """Existing S3 bucket, or prefix in one: s3://bucket/prefix. Default: none, see new_bucket."""

    new_bucket: bool = False
    """Whether a bucket is created for it: encrypted, versioned, TLS only, and kept with its objects
    when the stack is deleted. Default: false, s3_uri names an existing one."""

    import_existing: bool = True
    """Whether the objects that are there appear as files at once. The contents of a file are copied
    when it is first read. Default: true; it cannot be changed later."""

    import_events: Annotated[
        Listed[Event],
        ListLimits(shape_name="fsx.EventTypes", noun="events of S3 objects"),
        Field(examples=[["NEW"]]),
    ] = ("NEW", "CHANGED", "DELETED")
    """What happens to objects and then to their files: NEW, CHANGED, DELETED. Default: all."""

    export_events: Annotated[
        Listed[Event],
        ListLimits(shape_name="fsx.EventTypes", noun="events of files"),
        Field(examples=[["NEW", "CHANGED"]]),
        Task("read a data set from S3, and write checkpoints to it"),
    ] = ()
    """What happens to files and then to their objects: NEW, CHANGED, DELETED. Default: nothing, S3
    is only read."""

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if self.new_bucket == (self.s3_uri is not None):
            beside = "leaves no place for s3_uri beside it: a new bucket gets its own name"
            message = beside if self.new_bucket else "must be true where there is no s3_uri"
            refuse([Finding(path=("new_bucket",), value=self.new_bucket, message=message)])
        return self


def overlap_findings(repositories: Sequence[DataRepositoryConfig]) -> Iterator[Finding]:
    """Find directories and S3 locations that are within another one.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    """
    for index, repository in enumerate(repositories):
        for earlier in repositories[:index]:
            for key in ("path", "s3_uri"):
                own, other = getattr(repository, key), getattr(earlier, key)
                if own is not None and other is not None and _overlap(own, other):
                    message = f"overlaps {other}: FSx links a place to one other only"
                    yield Finding(path=(index, key), value=own, message=message)


def _overlap(one: str, other: str) -> bool:
    first, second = (f"{place.rstrip('/')}/" for place in (one, other))
    return first.startswith(second) or second.startswith(first)


FileSystemId = Annotated[
    str,
    Matching(
        pattern=r"fs-[0-9a-f]{8}([0-9a-f]{9})?",
        rule="must be the ID of a file system, such as fs-0123456789abcdef0",
    ),
]
_MANY = "write storage.data_repositories: [{{path: /s3, s3_uri: s3://bucket/prefix{more}}}]"
_LINKED = _MANY.format(more="")


class LustreConfig(MaintainedFiles):
    """A shared FSx for Lustre file system (PERSISTENT_2)."""

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

    file_system_id: Annotated[
        FileSystemId | None,
        Field(examples=["fs-0123456789abcdef0"]),
        Task("use a file system that exists"),
    ] = None
    """ID of an existing FSx for Lustre file system, which is used and never changed or deleted: of
    the other keys, only claims go with it. Default: none, one is created."""

    storage_type: Annotated[
        str, OneOf(values=("SSD", rules.TIERED), noun="a storage type of PERSISTENT_2")
    ] = "SSD"
    """SSD, of a size; or INTELLIGENT_TIERING, which grows and shrinks with its files. It cannot be
    changed later."""

    capacity_gib: Annotated[
        int,
        AfterValidator(rules.capacity),
        Field(
            json_schema_extra={
                "minimum": rules.SMALLEST_GIB,
                "multipleOf": rules.SMALLEST_GIB,
            }
        ),
        Field(examples=[2400, 4800, 9600]),
        Task("size the shared file system, or do without"),
    ] = 1200
    """Size in GiB: 1200, 2400 or a multiple of 2400. It can grow later, every six hours, and never
    shrink."""

    throughput_mbps_per_tib: Annotated[
        int,
        OneOf(values=rules.THROUGHPUTS, noun="a throughput of PERSISTENT_2 in MB/s per TiB"),
        Task("size the shared file system, or do without"),
    ] = 250
    """Throughput in MB/s for each TiB of size: 125, 250, 500 or 1000."""

    throughput_mbps: Annotated[
        Annotated[
            int, ApiLimits(shape_name="fsx.ThroughputCapacityMbps", noun="a throughput in MB/s")
        ]
        | None,
        Field(examples=[320]),
    ] = None
    """Throughput of INTELLIGENT_TIERING in MB/s: a multiple of 4000. It can only grow."""

    read_cache: Annotated[
        str, ApiLimits(shape_name="fsx.LustreReadCacheSizingMode", noun="a sizing mode of FSx")
    ] = "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"
    """SSD read cache of INTELLIGENT_TIERING: as large as its throughput asks for, of
    read_cache_gib (USER_PROVISIONED), or NO_CACHE."""

    read_cache_gib: int | None = None
    """Size of a USER_PROVISIONED read cache in GiB: 32 to 131072 for each 4000 MB/s."""

    compression: Annotated[
        str, ApiLimits(shape_name="fsx.DataCompressionType", noun="a data compression of FSx")
    ] = "LZ4"
    """Data compression: LZ4, or NONE."""

    metadata_mode: (
        Annotated[
            str,
            ApiLimits(shape_name="fsx.MetadataConfigurationMode", noun="a metadata mode of FSx"),
        ]
        | None
    ) = None
    """Who sets the metadata IOPS, for creating and listing files: AUTOMATIC, by the size, or
    USER_PROVISIONED. It cannot be added later. Default: USER_PROVISIONED with metadata_iops and
    INTELLIGENT_TIERING, AUTOMATIC with efa_enabled, else none."""

    metadata_iops: Annotated[
        Annotated[int, ApiLimits(shape_name="fsx.MetadataIops", noun="metadata IOPS")] | None,
        Field(examples=[3000]),
    ] = None
    """Metadata IOPS: 1500, 3000, 6000, or a multiple of 12000 up to 192000; of INTELLIGENT_TIERING
    6000 or 12000. They can only grow. Default: none given; 6000 of INTELLIGENT_TIERING."""

    efa_enabled: Annotated[bool, Task("reach the file system by EFA")] = False
    """Whether nodes with EFA reach it by EFA, and GPUs by GPUDirect Storage. It has a smallest size
    then, by its throughput, and cannot be changed later. Default: false."""

    availability_zone_id: AvailabilityZone | None = None
    """Zone of the file system, by ID; one of the HyperPod subnets' zones. It cannot be changed
    later. Default: the first HyperPod subnet's."""

    data_repositories: Annotated[
        Listed[DataRepositoryConfig],
        Field(examples=[[{"path": "/other", "s3_uri": "s3://another-bucket"}]]),
    ] = ()
    """Directories whose files are the objects of S3 buckets, at most 8. Default: none."""

    claims: Annotated[
        Listed[ClaimConfig],
        ListLimits(shape_name="fsx.DataRepositoryAssociations", noun="claims"),
        Field(examples=[[{"namespace": "research"}]]),
    ] = (ClaimConfig(),)
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
        return self.storage_type == rules.TIERED

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
            return rules.TIERED_METADATA_IOPS[0]
        return self.metadata_iops

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

    @model_validator(mode="after")
    def _check_file_system(self) -> Self:
        refuse(self._findings())
        return self

    def _findings(self) -> Iterator[Finding]:
        if self.file_system_id is not None:
            yield from self._beside_an_existing_one()
            return
        yield from rules.size_findings(self)
        yield from rules.metadata_findings(self)
        yield from rules.efa_findings(self)
        yield from rules.backup_findings(self)
        if len(self.data_repositories) > rules.MOST_REPOSITORIES:
            message = f"must be at most {rules.MOST_REPOSITORIES}, the most of a file system"
            yield Finding(
                path=("data_repositories",),
                value=f"{len(self.data_repositories)} links",
                message=message,
            )
        for finding in overlap_findings(self.data_repositories):
            yield finding.under("data_repositories")

    def _beside_an_existing_one(self) -> Iterator[Finding]:
        for key in sorted(self.model_fields_set & LustreConfig.model_fields.keys()):
            if key not in _OF_EXISTING and getattr(self, key) != _default(key):
                message = "has no place beside file_system_id: the file system is used as it is"
                yield Finding(path=(key,), value=getattr(self, key), message=message)


_OF_EXISTING = frozenset({"file_system_id", "claims", "i_understand_all_files_are_deleted"})


def _default(key: str) -> object:
    return LustreConfig.model_fields[key].default


class NamedLustreConfig(LustreConfig):
    """A further FSx for Lustre file system, with the keys of the first."""

    name: Annotated[
        str,
        Matching(
            pattern=DNS_LABEL,
            longest=20,
            rule="must be 1 to 20 lower-case letters, digits and inner hyphens",
        ),
    ]
    """Name of the file system among those of the deployment. Its claim is fsx-<name>-claim."""

    @property
    def label(self) -> str:
        """What tells its volume and claims from those of others."""
        return f"fsx-{self.name}"

    @property
    def output_prefix(self) -> str:
        """What the names of its outputs begin with."""
        return "".join(word.capitalize() for word in self.name.split("-"))
