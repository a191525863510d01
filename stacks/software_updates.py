"""The configuration's AMI updates as the constructs take them."""

from hyperpod_cdk.config.rolling_update import BatchSizeConfig, DeploymentConfig
from hyperpod_cdk.config.software_update import AutoPatchConfig, ScheduledUpdateConfig
from hyperpod_cdk.software_update import (
    AutoPatch,
    BatchSize,
    Deployment,
    DrainPolicy,
    ScheduledUpdate,
)


def scheduled_update(section: ScheduledUpdateConfig | None) -> ScheduledUpdate | None:
    """Return the updates at set times."""
    if section is None:
        return None
    return ScheduledUpdate(
        schedule_expression=section.schedule_expression,
        deployment=_deployment(section.deployment),
    )


def auto_patch(section: AutoPatchConfig | None) -> AutoPatch | None:
    """Return the patching as releases come."""
    if section is None:
        return None
    drain = section.drain
    return AutoPatch(
        strategy=section.strategy,
        next_patch_date=section.next_patch_date,
        deployment=_deployment(section.deployment),
        idle_wait_window_seconds=section.idle_wait_window_seconds,
        drain=(
            None
            if drain is None
            else DrainPolicy(timeout_seconds=drain.timeout_seconds, on_timeout=drain.on_timeout)
        ),
    )


def _deployment(section: DeploymentConfig | None) -> Deployment | None:
    if section is None:
        return None
    return Deployment(
        maximum_batch_size=_batch_size(section.maximum_batch_size),
        rollback_maximum_batch_size=_batch_size(section.rollback_maximum_batch_size),
        wait_interval_seconds=section.wait_interval_seconds,
        rollback_alarms=section.rollback_alarms,
    )


def _batch_size(section: BatchSizeConfig | None) -> BatchSize | None:
    return None if section is None else BatchSize(type=section.type, value=section.value)
