"""A role with the permissions that docs/operating.md names, and what its commands really call."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from botocore.client import BaseClient

from hyperpod_cli.commands import commands
from hyperpod_rehearsal.stage import Stage
from tests.support.operator import Operator

_NAME = "on-call"
# Lists nodes and pods of all namespaces, and no secrets:
# https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
_READS = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAdminViewPolicy"

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
ACTIONS = {
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "s3:GetPublicAccessBlock": "s3:GetBucketPublicAccessBlock",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "s3:ListObjectsV2": "s3:ListBucket",
}
"""IAM's name of a call where that is another."""

CALLS: dict[str, set[str]] = {}
"""What each command has called, of all tests of it."""


def documented_actions() -> dict[str, set[str]]:
    """Return the IAM actions of each command of the operating wing, as the page has them."""
    return {each.name: {*each.iam} for each in commands().values() if each.wing == "operate"}


def on_call_credentials(stage: Stage) -> Mapping[str, str]:
    """Return credentials of a role that may do what the page says, as environment variables."""
    clients = stage.environment.clients
    iam, eks, account = clients("iam"), clients("eks"), stage.environment.aws.account
    root = f"arn:aws:iam::{account}:root"
    trust = {"Effect": "Allow", "Principal": {"AWS": root}, "Action": "sts:AssumeRole"}
    iam.create_role(
        RoleName=_NAME,
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )
    actions = sorted(set().union(*documented_actions().values()))
    allowed = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    iam.put_role_policy(RoleName=_NAME, PolicyName=_NAME, PolicyDocument=policy)
    arn = f"arn:aws:iam::{account}:role/{_NAME}"
    entry = {"clusterName": stage.config.eks_cluster_name, "principalArn": arn}
    eks.create_access_entry(**entry)
    eks.associate_access_policy(**entry, policyArn=_READS, accessScope={"type": "cluster"})
    found = clients("sts").assume_role(RoleArn=arn, RoleSessionName=_NAME)["Credentials"]
    return {
        "AWS_ACCESS_KEY_ID": found["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": found["SecretAccessKey"],
        "AWS_SESSION_TOKEN": found["SessionToken"],
    }


@contextmanager
def noted_calls() -> Iterator[set[str]]:
    """Yield the IAM actions of the calls that boto3's clients make meanwhile."""
    made: set[str] = set()
    # Not in the stubs; the events of botocore are a client's own, and clients are made later.
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def noted(client: BaseClient, operation: str, parameters: object) -> object:
        # The local Kubernetes API asks the local EKS in threads of its own.
        if threading.current_thread() is threading.main_thread():
            action = f"{client.meta.service_model.signing_name}:{operation}"
            made.add(ACTIONS.get(action, action))
        return call(client, operation, parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", noted)
        yield made


def run(operator: Operator, *arguments: str, code: int = 0, **variables: str) -> str:
    """Run a command, note what it calls, and return all that it prints."""
    with noted_calls() as made:
        result = operator.run(*arguments, **variables)
    assert result.exit_code == code, result.output
    CALLS.setdefault(arguments[0], set()).update(made)
    return result.output
