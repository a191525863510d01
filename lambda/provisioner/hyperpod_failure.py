"""Why a HyperPod cluster failed, in one message."""

from collections.abc import Mapping, Sequence
from typing import Any

from provisioner.errors import ProvisioningError
from provisioner.hyperpod_plan import GROUP_LISTS, Plan

MOST_EVENTS = 3
_NEXT_STEPS = (
    (
        ("capacity", "insufficientinstancecapacity"),
        "Try again later, another Availability Zone, or reserve capacity with a training plan.",
    ),
    (
        ("quota", "resourcelimitexceeded", "limit exceeded"),
        "Request the quota named above for SageMaker in Service Quotas, then deploy again.",
    ),
    (
        ("lifecycle", "on_create"),
        "Read the log stream LifecycleConfig of the node in the log group "
        "/aws/sagemaker/Clusters, mend the script, then deploy again.",
    ),
    (("ip address", "insufficientfreeaddresses"), "Choose a larger subnet for the nodes."),
    (
        ("access entr",),
        "Check that the EKS authentication mode is API and the access entries of the cluster.",
    ),
)
_NEXT_STEP = "Mend the cause named above, then deploy again."


def failure(
    described: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    *,
    rolled_back: bool = False,
) -> ProvisioningError:
    """Return the failure of a cluster.

    Args:
        described: DescribeCluster's answer.
        events: ListClusterEvents' answer, newest first; empty for a cluster that has none.
        rolled_back: Whether it took back an update and serves again as before.
    """
    causes = [described.get("FailureMessage") or "", *_shortages(described)]
    causes += _errors(events)
    detail = "; ".join(cause.rstrip(". ") for cause in causes if cause)
    state = "took its update back" if rolled_back else f"is {described['ClusterStatus']}"
    return ProvisioningError(
        f"The HyperPod cluster {described.get('ClusterName')} {state}",
        detail=detail,
        next_step=_next_step(detail),
    )


def refusal(cluster_name: str, plan: Plan) -> ProvisioningError:
    """Return the failure for a plan that asks for what cannot be changed."""
    first = plan.refusals[0]
    where = f" of the instance group {first.group}" if first.group else ""
    others = ", ".join(refused.what for refused in plan.refusals[1:])
    return ProvisioningError(
        f"{first.what}{where} of the HyperPod cluster {cluster_name} cannot change after creation",
        detail=f"the same holds for {others}" if others else "",
        next_step=first.instead,
    )


def _shortages(described: Mapping[str, Any]) -> list[str]:
    return [
        f"group {group['InstanceGroupName']} has {group.get('CurrentCount', 0)} of "
        f"{group['TargetCount']} nodes"
        for key in GROUP_LISTS
        for group in described.get(key, ())
        if group.get("CurrentCount", 0) < group.get("TargetCount", 0)
    ]


def _errors(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the newest errors once each: a launch that is retried repeats its event."""
    texts = [
        " ".join(part for part in (event.get("InstanceGroupName"), event.get("InstanceId")) if part)
        + f": {event.get('Description', '')}"
        for event in events
        if event.get("EventLevel") == "Error"
    ]
    return [text.removeprefix(": ") for text in dict.fromkeys(texts)][:MOST_EVENTS]


def _next_step(detail: str) -> str:
    lowered = detail.lower()
    for words, step in _NEXT_STEPS:
        if any(word in lowered for word in words):
            return step
    return _NEXT_STEP
