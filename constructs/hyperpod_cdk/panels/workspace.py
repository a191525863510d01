"""The rules in a workspace of Amazon Managed Service for Prometheus."""

from aws_cdk import aws_aps as aps
from constructs import Construct

from hyperpod_cdk.panels.definition import Watched
from hyperpod_cdk.panels.rules import rules


class PrometheusRules(Construct):
    """What is recorded of a deployment, and when somebody is told, in a workspace.

    Args:
        watched: What is watched.
        workspace_arn: ARN of the workspace.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, watched: Watched, workspace_arn: str
    ) -> None:
        super().__init__(scope, construct_id)
        # L1: the CDK has no other.
        aps.CfnRuleGroupsNamespace(
            self, "Rules", name=watched.name, workspace=workspace_arn, data=rules(watched)
        )
