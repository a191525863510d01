"""An update of the platform that somebody cancels while it changes the lifecycle scripts."""

import threading
import time

from rehearsal.stage import Stage

_LONGEST_SECONDS = 600.0
_PAUSE_SECONDS = 0.02


def deploy_and_cancel(stage: Stage) -> bool:
    """Deploy, cancel the platform's update as soon as it changes the scripts; return if it failed.

    The scripts are the last that it changes.
    """
    user = threading.Thread(target=_cancel, args=[stage, _script_events(stage)], daemon=True)
    user.start()
    failed = stage.deploy() is not None
    user.join(timeout=_LONGEST_SECONDS)
    return failed


def _cancel(stage: Stage, known: set[str]) -> None:
    cloudformation = stage.environment.clients("cloudformation")
    deadline = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < deadline:
        if _script_events(stage) - known:
            cloudformation.cancel_update_stack(StackName=stage.stack("platform"))
            return
        time.sleep(_PAUSE_SECONDS)


def _script_events(stage: Stage) -> set[str]:
    events = stage.environment.clients("cloudformation").describe_stack_events(
        StackName=stage.stack("platform")
    )
    return {
        event["EventId"]
        for event in events["StackEvents"]
        if event["ResourceType"] == "Custom::LifecycleScripts"
    }
