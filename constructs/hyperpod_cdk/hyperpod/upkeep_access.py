"""Permissions to inspect a failed HyperPod cluster, and to delete what prevents its deletion."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.synthesis.acknowledge import wildcard_finding

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
_GOVERNANCE = {
    "compute-quota": "sagemaker:DeleteComputeQuota",
    "cluster-scheduler-config": "sagemaker:DeleteClusterSchedulerConfig",
}


def upkeep_access(scope: Construct, *, delete_task_governance: bool) -> list[iam.PolicyStatement]:
    """Return the statements of the principal that manages a HyperPod cluster.

    Args:
        scope: A construct of the cluster's stack.
        delete_task_governance: Whether compute quotas and cluster policies may be deleted.
    """
    statements = [
        iam.PolicyStatement(
            sid="FindTaskGovernance",
            actions=["sagemaker:ListClusterSchedulerConfigs", "sagemaker:ListComputeQuotas"],
            resources=["*"],
        ),
        iam.PolicyStatement(
            # A Delete does not say whether the stack is being deleted or rolled back.
            sid="AskForStack",
            actions=["cloudformation:DescribeStacks"],
            resources=[Stack.of(scope).stack_id],
        ),
    ]
    if delete_task_governance:
        statements += [
            iam.PolicyStatement(actions=[action], resources=[_any(scope, kind)])
            for kind, action in _GOVERNANCE.items()
        ]
    return statements


def upkeep_findings(scope: Construct, *, delete_task_governance: bool) -> dict[str, str]:
    """Return why each wildcard of `upkeep_access` is accepted, by cdk-nag's finding."""
    reasons = {"*": "Listing task governance: AWS takes no resource for it."}
    if delete_task_governance:
        reasons |= {
            _any(scope, kind): (
                "Task governance's ARNs end in ids that the service draws; it is deleted with "
                "the cluster because the configuration says so."
            )
            for kind in _GOVERNANCE
        }
    return {wildcard_finding(scope, resource): reason for resource, reason in reasons.items()}


def _any(scope: Construct, kind: str) -> str:
    return Stack.of(scope).format_arn(service="sagemaker", resource=kind, resource_name="*")
