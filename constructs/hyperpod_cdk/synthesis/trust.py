"""Who acts for whom: services for this account alone, deployers on their own stacks' resources.

https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
"""

from collections.abc import Mapping
from typing import Any, Final

from aws_cdk import Aws, Stack, Tags
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from hyperpod_shared.owner import STACK_TAG

SOURCE_ACCOUNT: Final = {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
"""For a service that is documented to send the account that it acts for."""

SOURCE_ACCOUNT_IF_SENT: Final = {"StringEqualsIfExists": SOURCE_ACCOUNT["StringEquals"]}
"""For any other, of which a missing key would deny every call."""


def mark_own(resource: IConstruct) -> None:
    """Tag a resource that CloudFormation does not tag, for policies of deployers to know it by."""
    Tags.of(resource).add(STACK_TAG, Stack.of(resource).stack_id)


def limit_trust(role: iam.IRole | None, condition: Mapping[str, Any]) -> None:
    """Set the condition under which a service assumes a role that the CDK makes for it."""
    # The CDK takes conditions only for a role of one's own, which would replace what has this one.
    resource = None if role is None else role.node.default_child
    assert isinstance(resource, iam.CfnRole)  # noqa: S101 - what the CDK makes
    resource.add_property_override("AssumeRolePolicyDocument.Statement.0.Condition", condition)
