"""What file systems have in common: their claims, and when AWS maintains them."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from hyperpod_cdk.helm.section import Namespace
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import DNS_LABEL, ApiLimits, Matching, OneOf
from hyperpod_cdk.schema.section import Api, Section, Task


class RetainedFiles(Section):
    """A file system that its stack keeps."""

    delete_with_stack: Annotated[bool, Task("delete the file system with its stack")] = False
    """First half of a two-step switch: whether deleting the stack deletes the file system. Default:
    false, the file system stays and goes on costing."""

    i_understand_all_files_are_deleted: Annotated[
        bool, Task("delete the file system with its stack")
    ] = False
    """Second half of the switch; without it delete_with_stack is refused."""

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


_Days = Annotated[
    int, ApiLimits(shape_name="fsx.AutomaticBackupRetentionDays", noun="days to keep a backup")
]
_TimeOfDay = Annotated[
    str, ApiLimits(shape_name="fsx.DailyTime", noun="a time of the day in UTC such as 02:00")
]
_TimeOfWeek = Annotated[
    str,
    ApiLimits(
        shape_name="fsx.WeeklyTime",
        noun="a time of the week in UTC such as 7:03:00",
    ),
]


class MaintainedFiles(RetainedFiles):
    """Backups and maintenance of a file system, which FSx for Lustre and OpenZFS have alike."""

    backup_retention_days: Annotated[_Days | None, Api("AutomaticBackupRetentionDays")] = None
    """Days for which FSx keeps its daily backups, up to 90; 0 for none. Deleting the file system
    deletes them. Default: none."""

    backup_start_time: Annotated[_TimeOfDay | None, Api("DailyAutomaticBackupStartTime")] = None
    """When the daily backup starts, in UTC, such as "02:00", in quotes. Default: FSx's choice."""

    weekly_maintenance_start_time: Annotated[
        _TimeOfWeek | None, Api("WeeklyMaintenanceStartTime"), Field(examples=["7:03:00"])
    ] = None
    """When FSx may maintain the file system, which stops it for minutes: day of the week (1 for
    Monday) and time in UTC, such as "7:03:00", in quotes. Default: FSx's choice."""

    @model_validator(mode="after")
    def _check_backups(self) -> Self:
        refuse(self._backup_findings())
        return self

    def _backup_findings(self) -> Iterator[Finding]:
        if self.backup_start_time is not None and not self.backup_retention_days:
            yield Finding(
                path=("backup_start_time",),
                value=self.backup_start_time,
                message="needs backup_retention_days beside it, 1 or more",
            )


READ_ONLY = "ReadOnlyMany"
# Kubernetes takes longer ones; this one is also part of the volume's name.
_CLAIM_NAME = Matching(
    pattern=DNS_LABEL,
    longest=63,
    rule="must be 1 to 63 lower-case letters, digits and inner hyphens",
)


class ClaimConfig(Section):
    """A PersistentVolumeClaim of a file system, with a PersistentVolume of its own."""

    namespace: Annotated[Namespace, Task("mount a file system in a namespace")] = "default"
    """Namespace of the pods."""

    name: Annotated[str, _CLAIM_NAME] | None = None
    """Name of the claim. Default: fsx-claim, fsx-<name>-claim for a further file system, and
    home-claim for home directories."""

    access: Annotated[
        str, OneOf(values=("ReadWriteMany", READ_ONLY), noun="an access mode of a shared volume")
    ] = "ReadWriteMany"
    """ReadWriteMany: all its pods may write. ReadOnlyMany: none may. Cannot be changed later: name
    another claim."""

    create_namespace: bool = False
    """Whether the namespace is created, and kept when the claim goes. Default: false, it exists."""
