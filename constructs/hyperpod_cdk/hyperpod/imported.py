"""An existing role for HyperPod nodes."""

from aws_cdk import aws_iam as iam
from constructs import Construct


class ImportedExecutionRole(Construct):
    """An IAM role that exists, with the attributes of `ExecutionRole`.

    Nothing of it is changed: its policies must allow what `node_statements` lists, and its trust
    policy SageMaker.

    Args:
        role_arn: Its ARN.

    Attributes:
        role: The role.
    """

    def __init__(self, scope: Construct, construct_id: str, *, role_arn: str) -> None:
        super().__init__(scope, construct_id)
        self.role = iam.Role.from_role_arn(self, "Role", role_arn, mutable=False)
