"""The `storage` section: the shared FSx for Lustre file system."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from hyperpod_cdk.schema.availability_zones import AvailabilityZone
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import ApiLimits, Matching, OneOf
from hyperpod_cdk.schema.section import Section

# Sizes and throughputs of PERSISTENT_2 on SSD.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
_SMALLEST_GIB, _STEP_GIB = 1200, 2400
_THROUGHPUTS = (125, 250, 500, 1000)
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_S3_URI = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\s]*)?"
_DIRECTORY = r"/|(/[^/]+)+"


def _capacity(value: int) -> int:
    if value != _SMALLEST_GIB and (value < _STEP_GIB or value % _STEP_GIB):
        raise ValueError(
            f"must be {_SMALLEST_GIB}, {_STEP_GIB} or a multiple of {_STEP_GIB}: "
            "the sizes FSx for Lustre sells, in GiB"
        )
    return value


class StorageConfig(Section):
    """A shared FSx for Lustre file system (PERSISTENT_2, SSD)."""

    capacity_gib: Annotated[
        int,
        AfterValidator(_capacity),
        Field(json_schema_extra={"minimum": _SMALLEST_GIB, "multipleOf": _SMALLEST_GIB}),
    ] = 1200
    """Size in GiB: 1200, 2400 or a multiple of 2400. It can grow later, never shrink."""

    throughput_mbps_per_tib: Annotated[
        int, OneOf(values=_THROUGHPUTS, noun="a throughput of PERSISTENT_2 in MB/s per TiB")
    ] = 250
    """Throughput in MB/s for each TiB of size: 125, 250, 500 or 1000."""

    compression: Annotated[
        str, ApiLimits(shape_name="fsx.DataCompressionType", noun="a data compression of FSx")
    ] = "LZ4"
    """Data compression: LZ4, or NONE."""

    availability_zone_id: AvailabilityZone | None = None
    """Zone of the file system, by ID; one of the HyperPod subnets' zones. It cannot be changed
    later. Default: the first HyperPod subnet's."""

    stop_nodes_without_lustre: bool = False
    """Whether a new node fails that cannot use Lustre, because of its kernel modules, LNet or EFA.
    Scripts of your own do not look at it. Default: false, it joins the cluster with a warning in
    its log."""

    data_repository_s3_uri: (
        Annotated[
            str, Matching(pattern=_S3_URI, rule="must be an S3 URI such as s3://bucket/prefix")
        ]
        | None
    ) = None
    """S3 bucket, or prefix in one, whose objects appear as files (a data repository association):
    s3://bucket/prefix. New, changed and deleted objects become new, changed and deleted files.
    Default: none."""

    data_repository_path: Annotated[
        str,
        ApiLimits(shape_name="fsx.Namespace", noun="a path of a data repository such as /s3"),
        Matching(
            pattern=_DIRECTORY, rule="must be a path such as /s3, from the file system's root"
        ),
    ] = "/s3"
    """Directory of the file system that shows the S3 objects. Default: /s3."""

    data_repository_export: bool = False
    """Whether new and changed files of that directory become objects in S3. Default: false, S3 is
    only read."""

    data_repository_export_deletions: bool = False
    """Whether deleting a file of that directory deletes its object in S3; needs
    data_repository_export. Default: false, the object stays."""

    delete_with_stack: bool = False
    """First half of a two-step switch: whether deleting the stack deletes the file system. Default:
    false, the file system stays and goes on costing."""

    i_understand_all_files_are_deleted: bool = False
    """Second half of the switch; without it delete_with_stack is refused."""

    @property
    def lustre_failure(self) -> str:
        """What the lifecycle scripts do with a node that cannot use Lustre."""
        return "stop" if self.stop_nodes_without_lustre else "warn"

    @property
    def exported_events(self) -> tuple[str, ...]:
        """What of the linked directory is written to S3; nothing by default.

        https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoexport-data-repo-dra.html
        """
        deletions = ("DELETED",) if self.data_repository_export_deletions else ()
        return ("NEW", "CHANGED", *deletions) if self.data_repository_export else ()

    @model_validator(mode="after")
    def _check_export(self) -> Self:
        needs = {
            "data_repository_export": self.data_repository_s3_uri is not None,
            "data_repository_export_deletions": self.data_repository_export,
        }
        needed = {
            "data_repository_export": "data_repository_s3_uri",
            "data_repository_export_deletions": "data_repository_export: true",
        }
        refuse(
            Finding(path=(key,), value=True, message=f"needs {needed[key]} beside it")
            for key, is_met in needs.items()
            if getattr(self, key) and not is_met
        )
        return self

    @model_validator(mode="after")
    def _check_deletion_switch(self) -> Self:
        first, second = "delete_with_stack", "i_understand_all_files_are_deleted"
        if self.delete_with_stack != self.i_understand_all_files_are_deleted:
            path, other = (second, first) if self.delete_with_stack else (first, second)
            message = (
                f"must be true too when {other} is: both delete every file together with the "
                "stack; without both the file system stays"
            )
            refuse([Finding(path=(path,), value=False, message=message)])
        return self
