"""Software updates in the API's shape."""

from typing import Any

from hyperpod_cdk.request_fields import given
from hyperpod_cdk.software_update import AutoPatch, BatchSize, Deployment, ScheduledUpdate


def scheduled_update_request(update: ScheduledUpdate | None) -> dict[str, Any] | None:
    """Return a ScheduledUpdateConfig."""
    if update is None:
        return None
    return given(
        {
            "ScheduleExpression": update.schedule_expression,
            "DeploymentConfig": _deployment(update.deployment),
        }
    )


def auto_patch_request(patch: AutoPatch | None) -> dict[str, Any] | None:
    """Return a ClusterAutoPatchConfig; the date is text, which every SDK reads."""
    if patch is None:
        return None
    drain = patch.drain
    return given(
        {
            "PatchingStrategy": patch.strategy,
            "PatchSchedule": given({"NextPatchDate": patch.next_patch_date}),
            "DeploymentConfig": _deployment(patch.deployment),
            "IdleWaitWindowInSeconds": patch.idle_wait_window_seconds,
            "DrainPolicy": drain
            and given(
                {
                    "DrainTimeoutInSeconds": drain.timeout_seconds,
                    "OnDrainTimeout": drain.on_timeout,
                }
            ),
        }
    )


def _deployment(deployment: Deployment | None) -> dict[str, Any] | None:
    if deployment is None:
        return None
    return given(
        {
            "RollingUpdatePolicy": given(
                {
                    "MaximumBatchSize": _batch_size(deployment.maximum_batch_size),
                    "RollbackMaximumBatchSize": _batch_size(deployment.rollback_maximum_batch_size),
                }
            ),
            "WaitIntervalInSeconds": deployment.wait_interval_seconds,
            "AutoRollbackConfiguration": [
                {"AlarmName": name} for name in deployment.rollback_alarms
            ],
        }
    )


def _batch_size(size: BatchSize | None) -> dict[str, Any] | None:
    return None if size is None else {"Type": size.type, "Value": size.value}
