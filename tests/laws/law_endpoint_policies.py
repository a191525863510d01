"""The policy of each VPC endpoint lets through what the roles behind it may do.

https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from tests.support.arn_forms import intersect
from tests.support.laws import ACCOUNT, Deployment, Resource, Statement

_ROLES = ("AWS::IAM::Role", "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
_OWN_ACCOUNT = "aws:ResourceAccount"


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each right of a role that an endpoint holds back."""
    return [
        right.resource.violation(f"{right.sid}: the endpoint refuses {what}", allowed=name)
        for endpoint in deployment.of_type("AWS::EC2::VPCEndpoint")
        for name in [deployment.text(endpoint.stack, endpoint.properties["ServiceName"])]
        for policy in [[*_policy(deployment, endpoint)]]
        if policy
        for right in deployment.statements
        if right.resource.type in _ROLES and right.effect == "Allow" and right.resources
        if not _is_outside(deployment, right.resource)
        for what in _held_back(deployment, right, policy, prefix=_prefix(name))
    ]


def _policy(deployment: Deployment, endpoint: Resource) -> Iterator[Statement]:
    return (each for each in deployment.statements if each.resource is endpoint)


def _is_outside(deployment: Deployment, resource: Resource) -> bool:
    """Return whether what has a right are functions outside the network."""
    names = resource.properties.get("Roles") or [{"Ref": resource.logical_id}]
    roles = [deployment.referred(resource.stack, name) for name in names]
    functions = [
        function
        for function in deployment.of_type("AWS::Lambda::Function")
        if deployment.referred(function.stack, function.properties["Role"]) in roles
    ]
    return bool(functions) and not any("VpcConfig" in each.properties for each in functions)


# By the end of the name of an endpoint's service, where actions begin otherwise; pulls of images go
# by a token of ECR, without IAM.
_PREFIXES = {
    "aps-workspaces": "aps",
    "ecr.api": "ecr",
    "ecr.dkr": "",
    "monitoring": "cloudwatch",
    "sagemaker.api": "sagemaker",
}
# HyperPod makes these calls with its caller's rights, and not from the network.
_OF_HYPERPOD = {
    "eks:AssociateAccessPolicy",
    "eks:CreateAccessEntry",
    "eks:DeleteAccessEntry",
    "eks:DescribeAccessEntry",
    "eks:DisassociateAccessPolicy",
    "eks:ListAssociatedAccessPolicies",
}


def _prefix(service_name: str) -> str:
    name = service_name.split(".", 3)[3]
    return _PREFIXES.get(name, name)


def _held_back(
    deployment: Deployment, right: Statement, policy: list[Statement], *, prefix: str
) -> Iterator[str]:
    for action in right.actions:
        if action.partition(":")[0] != prefix or action in _OF_HYPERPOD:
            continue
        for resource in right.resources:
            is_own = _is_own(deployment, resource)
            if not any(_passes(each, action, resource, is_own=is_own) for each in policy):
                yield f"{action} on {resource}"


def _is_own(deployment: Deployment, resource: str) -> bool:
    """Return whether all that a pattern of ARNs means is certainly of the deployment's account."""
    _, _, _, _, account, name = f"{resource}:::::".split(":", 5)
    if account:
        return account == ACCOUNT
    bucket = name.rstrip(":").partition("/")[0]
    made = {deployment.name(each) for each in deployment.of_type("AWS::S3::Bucket")}
    of_assets = f"-assets-{ACCOUNT}-{deployment.region}"
    is_of_assets = bucket.startswith("cdk-") and bucket.endswith(of_assets)
    # `preflight` asks S3 whether the account owns the last one.
    scripts = deployment.config.lifecycle_scripts
    return bucket in made or is_of_assets or bucket == scripts.existing_bucket_name


def _passes(statement: Statement, action: str, resource: str, *, is_own: bool) -> bool:
    limited = any(_OWN_ACCOUNT in keys for keys in statement.conditions.values())
    return (
        statement.effect == "Allow"
        and (is_own or not limited)
        and any(fnmatchcase(action, each) or each == "*" for each in statement.actions)
        and any(intersect(resource, each) for each in statement.resources)
    )
