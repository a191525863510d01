"""Roles of one's own that nodes cannot run as, and principals of other accounts."""

import json
from typing import Any

from hyperpod_rehearsal.existing_resources.roles import node_role
from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.failure import Failure, Step, creating, everything
from tests.support.partial_deployment import ACCOUNT_IN_FILES, Deployment, example

_ROLES = f"arn:aws:iam::{ACCOUNT_IN_FILES}:role"
_ARN = f"{_ROLES}/Nodes"
_EC2_ALONE = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "ec2.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}


def _made(deployment: Deployment, arn: str = _ARN) -> Any:  # noqa: ANN401 - a client
    """Make a role that nodes can run as; return a client of IAM."""
    own = arn.replace(ACCOUNT_IN_FILES, deployment.account)
    node_role(own, deployment.config).make(deployment.client)
    return deployment.client("iam")


def _untrusting(deployment: Deployment) -> None:
    document = json.dumps(_EC2_ALONE)
    _made(deployment).update_assume_role_policy(RoleName="Nodes", PolicyDocument=document)


def _poor(deployment: Deployment) -> None:
    everything(deployment)
    iam = deployment.client("iam")
    iam.delete_role_policy(RoleName="HyperPodNodes", PolicyName="Nodes")


def _role(name: str, *, key: str = "execution_role_arn", **case: Any) -> Failure:
    document = merged(MINIMUM, {"cluster": {key: _ARN}})
    return Failure(case=f"iam-principals: {name}", document=document, **case)


def _admin(name: str, resource: str, before: Step | None = None) -> Failure:
    arn = f"arn:aws:iam::{ACCOUNT_IN_FILES}:{resource}"
    return Failure(
        case=f"iam-principals: {name}",
        document=merged(MINIMUM, {"eks": {"admins": [arn]}}),
        before=before,
        deploy=creating("platform", "AWS::EKS::AccessEntry"),
        said="The specified principalArn is invalid",
    )


def _sso_role(deployment: Deployment) -> None:
    deployment.client("iam").create_role(
        Path="/aws-reserved/sso.amazonaws.com/",
        RoleName="AWSReservedSSO_Admin_1f9ff1193219",
        AssumeRolePolicyDocument=json.dumps(_EC2_ALONE),
    )


FAILURES = (
    _role("no role of nodes", said="Could not assume role .*:role/Nodes"),
    _role(
        "a role of nodes with a path",
        before=lambda deployment: _made(deployment, f"{_ROLES}/team/Nodes"),
        said="Could not assume role .*:role/Nodes",
    ),
    _role(
        "a role that SageMaker may not assume",
        before=_untrusting,
        said="Could not assume role .*:role/Nodes.*principal 'sagemaker.amazonaws.com'",
    ),
    _role(
        "a role that HyperPod may not assume",
        key="role_arn",
        before=_untrusting,
        said="Could not assume role .*:role/Nodes.*principal 'hyperpod.sagemaker.amazonaws.com'",
    ),
    _admin("a role that is not there", "role/Admin"),
    _admin("a user that is not there", "user/ana"),
    _admin("a role without its path", "role/AWSReservedSSO_Admin_1f9ff1193219", before=_sso_role),
    Failure(
        case="other-accounts: an admin of another account",
        document=merged(MINIMUM, {"eks": {"admins": ["arn:aws:iam::999999999999:role/Admin"]}}),
    ),
    Failure(
        case="existing-role: without rights",
        document=merged(
            example("existing-eks"),
            {"lifecycle_scripts": {"existing_bucket_name": f"research-{ACCOUNT_IN_FILES}"}},
        ),
        before=_poor,
        said="HyperPodNodes is not allowed s3:GetObject",
    ),
)
