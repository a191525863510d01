"""Parts of a file system's section: claims, links to S3, and when AWS maintains it."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hyperpod_cdk.helm.section import Namespace
from hyperpod_cdk.schema.arns import BUCKET_NAME
from hyperpod_cdk.schema.errors import Finding, Findings
from hyperpod_cdk.schema.limits import DNS_LABEL, ApiLimits, ListLimits, Message
from hyperpod_cdk.schema.named_resources import Names
from hyperpod_cdk.schema.section import EKS, Api, Listed, OrchestratedBy, Section
from hyperpod_cdk.schema.words import after_deletion


class MaintainedFiles(Section):
    """What FSx for Lustre and OpenZFS have alike: whether it stays, its backups and maintenance."""

    mounts_key: ClassVar[str]
    """The key of a group that names such file systems for HyperPod to mount."""

    node_path: ClassVar[str]
    """Where HyperPod mounts it on nodes: its default, stated, for jobs name it."""

    delete_with_stack: bool = False
    """First half of a two-step switch: whether deleting the stack deletes the file system. Default:
    false, the file system stays and is billed."""

    i_understand_all_files_are_deleted: bool = False
    """Second half of the switch; without it delete_with_stack is refused."""

    backup_retention_days: Annotated[
        int | None,
        ApiLimits(shape_name="fsx.AutomaticBackupRetentionDays", noun="days to keep a backup"),
        Api("AutomaticBackupRetentionDays"),
    ] = None
    """Days for which FSx keeps its daily backups, up to 90; 0 for none. Deleting the file system
    deletes them. Default: none."""

    backup_start_time: Annotated[
        str | None,
        ApiLimits(shape_name="fsx.DailyTime", noun="a time of the day in UTC such as 02:00"),
        Api("DailyAutomaticBackupStartTime"),
    ] = None
    """When the daily backup starts, in UTC, such as "02:00", in quotes. Default: FSx's choice."""

    weekly_maintenance_start_time: Annotated[
        str | None,
        ApiLimits(shape_name="fsx.WeeklyTime", noun="a time of the week in UTC such as 7:03:00"),
        Api("WeeklyMaintenanceStartTime"),
        Field(examples=["7:03:00"]),
    ] = None
    """When FSx may maintain the file system, which stops it for minutes: day of the week (1 for
    Monday) and time in UTC, such as "7:03:00", in quotes. Default: FSx's choice."""

    @property
    def after_deletion(self) -> str:
        """What becomes of the files when their stack is deleted."""
        return after_deletion(delete_with_stack=self.delete_with_stack)

    def _findings(self) -> Findings:
        first, second = "delete_with_stack", "i_understand_all_files_are_deleted"
        if self.delete_with_stack != self.i_understand_all_files_are_deleted:
            path, other = (second, first) if self.delete_with_stack else (first, second)
            message = (
                f"must be true too when {other} is: both delete every file together with the "
                "stack; without both the file system stays"
            )
            yield Finding(path=(path,), value=False, message=message)
        if self.backup_start_time is not None and not self.backup_retention_days:
            yield Finding(
                path=("backup_start_time",),
                value=self.backup_start_time,
                message="needs backup_retention_days with it, 1 or more",
            )


READ_ONLY = "ReadOnlyMany"
# Kubernetes takes longer ones; this one is also part of the volume's name.
_ClaimName = Annotated[
    str,
    Field(pattern=rf"^{DNS_LABEL}$", max_length=63),
    Message("must be 1 to 63 lower-case letters, digits and inner hyphens"),
]


Directory = Annotated[
    str,
    Field(pattern=r"^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$", max_length=200),
    Message("must be a path such as /teams/research, from the file system's root"),
]


class ClaimConfig(Section):
    """A PersistentVolumeClaim of a file system, with a PersistentVolume of its own."""

    namespace: Namespace = "default"
    """Namespace of the pods."""

    name: _ClaimName | None = None
    """Name of the claim. Default: fsx-claim, fsx-<name>-claim for a further file system, and
    home-claim for home directories."""

    access: Literal["ReadWriteMany", "ReadOnlyMany"] = "ReadWriteMany"
    """ReadWriteMany: all its pods may write. ReadOnlyMany: none may. Cannot be changed later: name
    another claim."""

    directory: Annotated[Directory | None, Field(examples=["/teams/research"])] = None
    """Directory that its pods see as the whole: they reach no file outside, not even as root. It is
    made. Cannot be changed later: name another claim. Default: the whole file system."""

    create_namespace: bool = False
    """Whether the namespace is created, or taken over if no Helm release has it, and kept when the
    claim is deleted. Default: false, it exists."""

    @property
    def team(self) -> str | None:
        """The team whose directory it shows; None for one that is written in `storage`."""
        return None

    @property
    def owner(self) -> int | None:
        """The user that its directory is given to; None leaves it as it is."""
        return None


Claims = Annotated[
    Listed[ClaimConfig],
    OrchestratedBy(EKS),
    ListLimits(shape_name="fsx.DataRepositoryAssociations", noun="claims"),
    Field(examples=[[{"namespace": "research", "create_namespace": True}]]),
]


_S3_URI = rf"s3://{BUCKET_NAME}(/[^\s]*)?"
_DIRECTORY = r"/|(/[^/]+)+"
Event = Annotated[str, ApiLimits(shape_name="fsx.EventType", noun="an event of a data repository")]


class DataRepositoryConfig(Section):
    """A directory whose files are the objects of an S3 bucket (a data repository association)."""

    path: Annotated[
        str,
        Field(pattern=rf"^({_DIRECTORY})$"),
        Message("must be a path such as /s3, from the file system's root"),
        ApiLimits(shape_name="fsx.Namespace", noun="a path of a data repository such as /s3"),
        Field(examples=["/elsewhere"]),
    ] = "/s3"
    """Directory of the file system that shows the S3 objects. None may be inside another."""

    s3_uri: Annotated[
        str | None,
        Field(pattern=rf"^{_S3_URI}$"),
        Message("must be an S3 URI such as s3://bucket/prefix"),
        Names("bucket"),
        Field(examples=["s3://another-bucket/prefix"]),
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
    ] = ()
    """What happens to files and then to their objects: NEW, CHANGED, DELETED. Default: nothing, S3
    is only read."""

    def _findings(self) -> Findings:
        if self.new_bucket == (self.s3_uri is not None):
            taken = "leaves no place for s3_uri next to it: a new bucket gets its own name"
            message = taken if self.new_bucket else "must be true where there is no s3_uri"
            yield Finding(path=("new_bucket",), value=self.new_bucket, message=message)


def overlap_findings(repositories: Sequence[DataRepositoryConfig]) -> Findings:
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
