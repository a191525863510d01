"""How HyperPod updates the AMI of an instance group's nodes."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchSize:
    """How many nodes are updated at a time.

    Attributes:
        type: `INSTANCE_COUNT` or `CAPACITY_PERCENTAGE`.
        value: Number or percentage, at least 1.
    """

    type: str
    value: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment:
    """How an update rolls over the nodes. What is left out, HyperPod decides.

    Attributes:
        maximum_batch_size: Most nodes updated at a time.
        rollback_maximum_batch_size: Most nodes rolled back at a time; needs the former.
        wait_interval_seconds: Between two batches, 0 to 3600.
        rollback_alarms: CloudWatch alarms that roll the update back, at most 10.
    """

    maximum_batch_size: BatchSize | None = None
    rollback_maximum_batch_size: BatchSize | None = None
    wait_interval_seconds: int | None = None
    rollback_alarms: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduledUpdate:
    """Updates of the AMI at set times.

    Attributes:
        schedule_expression: `cron(…)` of six fields, in UTC.
        deployment: How the update rolls over the nodes.
    """

    schedule_expression: str
    deployment: Deployment | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DrainPolicy:
    """How pods leave a node before it is patched.

    Attributes:
        timeout_seconds: 0 to 5400. Default: HyperPod's, 3600.
        on_timeout: `Skip` or `Force`. Default: HyperPod's, `Skip`.
    """

    timeout_seconds: int | None = None
    on_timeout: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoPatch:
    """Patch releases of the AMI, applied as they come.

    Attributes:
        strategy: `WhenIdle`, `WhenAllIdle` or `DrainFirst`.
        next_patch_date: ISO 8601 with an offset. Default: HyperPod decides.
        deployment: How patching rolls over the nodes.
        idle_wait_window_seconds: 3600 to 2160000, for the two idle strategies. Default:
            HyperPod's, 86400.
        drain: How pods leave a node, for `DrainFirst`.
    """

    strategy: str
    next_patch_date: str | None = None
    deployment: Deployment | None = None
    idle_wait_window_seconds: int | None = None
    drain: DrainPolicy | None = None
