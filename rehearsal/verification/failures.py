"""Why stacks failed, in CloudFormation's own words."""

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rehearsal.aws.clients import AwsClients

_OPERATIONS = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS")
"""Status of a stack in the first event of an operation."""


def failure_reasons(
    clients: AwsClients, names: Sequence[str], *, since: datetime | None = None
) -> list[str]:
    """Return CloudFormation's own words for each resource that failed first in its stack.

    Failures of operations before the last one of a stack do not count.

    Args:
        clients: SDK clients of the local AWS.
        names: Names of the stacks.
        since: When the last operations began, at the earliest. Default: any time.
    """
    client = clients("cloudformation")
    existing = {stack["StackName"] for stack in client.describe_stacks()["Stacks"]}
    reasons: list[str] = []
    for name in names:
        if name not in existing:
            continue
        latest_first = client.describe_stack_events(StackName=name)["StackEvents"]
        failed = [
            event
            for event in _last_operation(latest_first, stack=name)
            if event["ResourceStatus"].endswith("_FAILED")
            and event["LogicalResourceId"] != name
            and (since is None or event["Timestamp"] >= since)
            and "cancelled" not in event.get("ResourceStatusReason", "")
        ]
        reasons.extend(
            f"{name}: {event['LogicalResourceId']}: {_reason(event)}" for event in failed[:1]
        )
    return reasons


def _last_operation(
    latest_first: Sequence[Mapping[str, Any]], *, stack: str
) -> list[Mapping[str, Any]]:
    """Return the events since the last operation on a stack began, the earliest first."""
    since = itertools.takewhile(
        lambda event: (
            event["LogicalResourceId"] != stack or event["ResourceStatus"] not in _OPERATIONS
        ),
        latest_first,
    )
    return list(since)[::-1]


def _reason(event: Mapping[str, Any]) -> str:
    """Return the reason of a failure without the provider framework's own stack trace."""
    lines = event.get("ResourceStatusReason", "").splitlines()
    kept = [line for line in lines if line.strip() and not line.lstrip().startswith("at ")]
    return "\n".join(kept)
