"""How HyperPod updates the software of a group's nodes."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import ApiLimits, ListLimits, Message
from hyperpod_cdk.schema.section import Api, Listed, Section, members

_PERCENTAGE, _WHOLE = "CAPACITY_PERCENTAGE", 100

WaitInterval = Annotated[
    int,
    ApiLimits(shape_name="sagemaker.WaitTimeIntervalInSeconds", noun="a wait interval in seconds"),
]
AlarmName = Annotated[
    str,
    ApiLimits(
        shape_name="sagemaker.AlarmName", noun="a CloudWatch alarm's name such as training-errors"
    ),
]


class BatchSizeConfig(Section):
    """How many instances are updated, or rolled back, at a time."""

    type: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.NodeUnavailabilityType", noun="a batch size type"),
        Api("Type"),
    ]
    """INSTANCE_COUNT, or CAPACITY_PERCENTAGE of the group's instances."""

    value: Annotated[
        int,
        ApiLimits(shape_name="sagemaker.NodeUnavailabilityValue", noun="a batch size"),
        Api("Value"),
    ]
    """Number or percentage of instances."""

    def _findings(self) -> Iterator[Finding]:
        if self.type == _PERCENTAGE and self.value > _WHOLE:
            yield error(("value",), self.value, f"must be 1 to {_WHOLE}, being a percentage")


class RollingUpdateConfig(Section):
    """How an update rolls over the instances of a group."""

    maximum_batch_size: Annotated[
        BatchSizeConfig | None, Api("RollingUpdatePolicy.MaximumBatchSize")
    ] = None
    """Maximum number of instances to update at a time. Default: HyperPod's."""

    rollback_maximum_batch_size: Annotated[
        BatchSizeConfig | None, Api("RollingUpdatePolicy.RollbackMaximumBatchSize")
    ] = None
    """Maximum number of instances to roll back at a time. Default: HyperPod's."""

    wait_interval_seconds: Annotated[WaitInterval | None, Api("WaitIntervalInSeconds")] = None
    """Seconds between two batches, 0 to 3600. Default: HyperPod's."""

    rollback_alarms: Annotated[
        Listed[AlarmName], ListLimits(shape_name="sagemaker.AutoRollbackAlarms", noun="alarms")
    ] = ()
    """Names of CloudWatch alarms of this account and region; an alarm rolls the update back. The
    nodes' role gets permission to read alarms. Default: none."""

    def _findings(self) -> Iterator[Finding]:
        if self.rollback_maximum_batch_size is not None and self.maximum_batch_size is None:
            message = "is missing: rollback_maximum_batch_size needs it"
            yield error(("maximum_batch_size",), None, message)

    def to_request(self) -> dict[str, Any]:
        """Return a DeploymentConfiguration."""
        alarms = [{"AlarmName": name} for name in self.rollback_alarms]
        return members({**super().to_request(), "AutoRollbackConfiguration": alarms})


_IDLE_STRATEGIES = ("WhenIdle", "WhenAllIdle")
_DRAIN_STRATEGY = "DrainFirst"
# https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
_TIME = r"[0-9*,/-]+"
_MONTH = r"[0-9A-Z*,/-]+"
_DAY = r"[0-9A-Z*,/#-]+"


def _point_in_time(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("must be a date and time with its offset, such as 2027-01-31T03:00:00Z")
    return value


PointInTime = Annotated[str, AfterValidator(_point_in_time)]
DrainTimeout = Annotated[
    int,
    ApiLimits(shape_name="sagemaker.DrainTimeoutInSecondsValue", noun="a drain timeout in seconds"),
]
OnDrainTimeout = Annotated[
    str, ApiLimits(shape_name="sagemaker.ClusterOnDrainTimeout", noun="an action on timeout")
]
IdleWaitWindow = Annotated[
    int,
    ApiLimits(shape_name="sagemaker.IdleWaitWindowInSecondsValue", noun="an idle wait in seconds"),
]


class ScheduledUpdateConfig(Section):
    """Updates of the AMI at set times."""

    schedule_expression: Annotated[
        str,
        Field(
            pattern=rf"^cron\({_TIME} {_TIME} (\? {_MONTH} {_DAY}|{_DAY} {_MONTH} \?) {_TIME}\)$"
        ),
        Message(
            "must be a cron expression of six fields (minutes, hours, day of month, month, "
            "day of week, year) with a ? for one of the days, such as cron(0 3 ? * SUN *)"
        ),
        ApiLimits(shape_name="sagemaker.CronScheduleExpression", noun="a schedule expression"),
        Api("ScheduleExpression"),
    ]
    """Schedule in UTC: cron(0 3 ? * SUN *). Either day of month or day of week must be ?."""

    deployment: Annotated[RollingUpdateConfig | None, Api("DeploymentConfig")] = None
    """How the update rolls over the instances. Default: HyperPod's."""


class DrainConfig(Section):
    """How pods leave an instance before it is patched."""

    timeout_seconds: Annotated[DrainTimeout | None, Api("DrainTimeoutInSeconds")] = None
    """Seconds to wait for the pods to leave, 0 to 5400. Default: HyperPod's, 3600."""

    on_timeout: Annotated[OnDrainTimeout | None, Api("OnDrainTimeout")] = None
    """Skip: the instance is not patched. Force: its pods are deleted, whatever their disruption
    budgets. Default: HyperPod's, Skip."""


class AutoPatchConfig(Section):
    """Patch releases of the AMI, applied as they come."""

    strategy: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.ClusterPatchingStrategy", noun="a patching strategy"),
        Api("PatchingStrategy"),
    ]
    """WhenIdle: each instance once it is idle. WhenAllIdle: once all are. DrainFirst: after its
    pods are evicted."""

    next_patch_date: Annotated[PointInTime | None, Api("PatchSchedule.NextPatchDate")] = None
    """When the next patch is due, with the offset from UTC: 2027-01-31T03:00:00Z. Default:
    HyperPod decides when it finds a patch."""

    deployment: Annotated[RollingUpdateConfig | None, Api("DeploymentConfig")] = None
    """How patching rolls over the instances. Default: HyperPod's."""

    idle_wait_window_seconds: Annotated[IdleWaitWindow | None, Api("IdleWaitWindowInSeconds")] = (
        None
    )
    """Maximum time to wait for instances to become idle, in seconds, 3600 to 2160000; WhenIdle and
    WhenAllIdle only. Default: HyperPod's, 86400."""

    drain: Annotated[DrainConfig | None, Api("DrainPolicy")] = None
    """How pods leave an instance; DrainFirst only."""

    def _findings(self) -> Iterator[Finding]:
        idle, drain = self.idle_wait_window_seconds, self.drain
        if idle is not None and self.strategy not in _IDLE_STRATEGIES:
            message = f"must be left out with {self.strategy}; it is for WhenIdle and WhenAllIdle"
            yield error(("idle_wait_window_seconds",), idle, message)
        batches = self.deployment is not None and self.deployment.maximum_batch_size
        if self.strategy == _DRAIN_STRATEGY and not batches:
            message = f"is missing: {_DRAIN_STRATEGY} needs it"
            yield error(("deployment", "maximum_batch_size"), None, message)
        if drain is not None and self.strategy != _DRAIN_STRATEGY:
            message = f"must be left out with {self.strategy}; it is for {_DRAIN_STRATEGY}"
            yield error(("drain",), drain.model_dump(exclude_none=True), message)


def rolls_back_on_alarms(update: ScheduledUpdateConfig | AutoPatchConfig | None) -> bool:
    """Say whether CloudWatch alarms roll an update back."""
    deployment = None if update is None else update.deployment
    return deployment is not None and bool(deployment.rollback_alarms)
