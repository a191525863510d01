"""When FSx maintains a file system, and what it keeps of it."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import model_validator

from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.section import Api
from hyperpod_cdk.storage.retained import RetainedFiles

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
        _TimeOfWeek | None, Api("WeeklyMaintenanceStartTime")
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
