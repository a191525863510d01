"""What CloudFormation says about the stacks."""

from collections.abc import Mapping, Sequence
from typing import Any

from rehearsal.aws_clients import AwsClients
from rehearsal.report import StackReport


def stack_names(prefix: str, *, storage: bool) -> list[str]:
    """Return the names of a deployment's stacks in the order in which they are shown."""
    kinds = ["platform", *(["storage"] if storage else []), "hyperpod"]
    return [f"{prefix}-{kind}" for kind in kinds]


def stack_reports(clients: AwsClients, names: Sequence[str]) -> list[StackReport]:
    """Return status and duration of each stack that exists."""
    client = clients("cloudformation")
    existing = {stack["StackName"]: stack for stack in client.describe_stacks()["Stacks"]}
    reports = []
    for name in names:
        if name in existing:
            events = client.describe_stack_events(StackName=name)["StackEvents"]
            times = [event["Timestamp"] for event in events]
            reports.append(
                StackReport(
                    name=name,
                    status=existing[name]["StackStatus"],
                    seconds=round((max(times) - min(times)).total_seconds(), 1),
                )
            )
    return reports


def stack_outputs(clients: AwsClients, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the documented outputs of each stack that exists, without CDK's own."""
    client = clients("cloudformation")
    return {
        stack["StackName"]: {
            output["OutputKey"]: output["OutputValue"]
            for output in stack.get("Outputs", [])
            if not output["OutputKey"].startswith(("PublishOutput", "ExportsOutput"))
        }
        for stack in client.describe_stacks()["Stacks"]
        if stack["StackName"] in names
    }


def allow_termination(clients: AwsClients, names: Sequence[str]) -> list[str]:
    """Lift the termination protection of the stacks that have it; return their names."""
    client = clients("cloudformation")
    protected = [
        stack["StackName"]
        for stack in client.describe_stacks()["Stacks"]
        if stack["StackName"] in names and stack.get("EnableTerminationProtection")
    ]
    for name in protected:
        client.update_termination_protection(StackName=name, EnableTerminationProtection=False)
    return protected


def failure_reasons(clients: AwsClients, names: Sequence[str]) -> list[str]:
    """Return CloudFormation's own words for each resource that failed first in its stack."""
    client = clients("cloudformation")
    existing = {stack["StackName"] for stack in client.describe_stacks()["Stacks"]}
    reasons: list[str] = []
    for name in names:
        if name not in existing:
            continue
        events = client.describe_stack_events(StackName=name)["StackEvents"]
        failed = [
            event
            for event in sorted(events, key=lambda event: event["Timestamp"])
            if event["ResourceStatus"].endswith("_FAILED")
            and event["LogicalResourceId"] != name
            and "cancelled" not in event.get("ResourceStatusReason", "")
        ]
        reasons.extend(
            f"{name}: {event['LogicalResourceId']}: {_reason(event)}" for event in failed[:1]
        )
    return reasons


def _reason(event: Mapping[str, Any]) -> str:
    """Return the reason of a failure without the provider framework's own stack trace."""
    lines = event.get("ResourceStatusReason", "").splitlines()
    kept = [line for line in lines if line.strip() and not line.lstrip().startswith("at ")]
    return "\n".join(kept)
