"""The policies that a role has."""

from typing import Any

from hyperpod_cli.aws.session import AwsClient, listed

Documents = dict[str, Any]
"""Policies by name or ARN."""


def role_policies(iam: AwsClient, role: str) -> tuple[Documents, Documents]:
    """Return the policies of a role, by its name, and the boundary of what they allow."""

    def document(arn: str) -> Any:  # noqa: ANN401 - JSON
        number = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        answer = iam.get_policy_version(PolicyArn=arn, VersionId=number)
        return answer["PolicyVersion"]["Document"]

    boundary = iam.get_role(RoleName=role)["Role"].get("PermissionsBoundary", {})
    bounds = {arn: document(arn) for arn in filter(None, [boundary.get("PermissionsBoundaryArn")])}
    attached = listed(iam, "list_attached_role_policies", "AttachedPolicies", RoleName=role)
    documents = {policy["PolicyArn"]: document(policy["PolicyArn"]) for policy in attached}
    for name in listed(iam, "list_role_policies", "PolicyNames", RoleName=role):
        documents[name] = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
    return documents, bounds
