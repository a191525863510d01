"""From the configuration to what a deployment of the HyperPod cluster waits for."""

from hyperpod_cdk.config.waiting import WaitingConfig
from hyperpod_cdk.hyperpod_waiting import Waiting


def cluster_waiting(config: WaitingConfig) -> Waiting:
    """Return what the configuration says about waiting and failing."""
    return Waiting(
        wait_for=config.wait_for,
        wait_minutes=config.wait_minutes,
        on_shortage=config.on_shortage,
        on_create_failure=config.on_create_failure,
        software_update=config.software_update,
        delete_task_governance=config.delete_task_governance,
    )
