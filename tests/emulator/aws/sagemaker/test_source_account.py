"""Roles whose trust policy asks for `aws:SourceAccount`, whether HyperPod sends it or not.

AWS documents for some services that they send it, and HyperPod is not among them:
https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from aws_cdk import App, Stack
from botocore.exceptions import ClientError

from emulator.aws.local_aws import ACCOUNT
from hyperpod_cdk.hyperpod.access import SOURCE_ACCOUNT_IF_SENT
from tests.support import hyperpod_site
from tests.support.hyperpod_site import INSTANCE_ROLE_POLICY, Site
from tests.support.local_aws import client

NODES, SCALING = "sagemaker.amazonaws.com", "hyperpod.sagemaker.amazonaws.com"
OTHER_ACCOUNT = "111122223333"
STRICT = {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
FOREIGN = {"StringEqualsIfExists": {"aws:SourceAccount": OTHER_ACCOUNT}}


@pytest.fixture(scope="module")
def sites(shared_site: Site) -> Iterator[dict[str, Site]]:
    """Return a local AWS whose HyperPod sends the account, and one whose HyperPod does not."""
    with ExitStack() as stack:
        sending = stack.enter_context(hyperpod_site.site(source_account=True))
        yield {"sent": sending, "not-sent": shared_site}


def ours() -> dict[str, Any]:
    """Return the condition that the app puts on the roles, as it is in an account's template."""
    stack = Stack(App(), "Stack")
    text = json.dumps(stack.resolve(SOURCE_ACCOUNT_IF_SENT))
    condition: dict[str, Any] = json.loads(
        text.replace('{"Ref": "AWS::AccountId"}', json.dumps(ACCOUNT))
    )
    return condition


def role_arn(site: Site, *, service: str, condition: dict[str, Any]) -> str:
    iam = client(site.aws, "iam")
    name = f"role-{len(iam.list_roles()['Roles'])}"
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
        "Condition": condition,
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    arn: str = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document)["Role"]["Arn"]
    iam.attach_role_policy(RoleName=name, PolicyArn=INSTANCE_ROLE_POLICY)
    return arn


@pytest.mark.parametrize("service", [NODES, SCALING])
@pytest.mark.parametrize(
    ("condition", "sending", "works"),
    [
        pytest.param(ours(), "sent", True, id="ours-sent"),
        pytest.param(ours(), "not-sent", True, id="ours-not-sent"),
        pytest.param(STRICT, "sent", True, id="strict-sent"),
        pytest.param(STRICT, "not-sent", False, id="strict-not-sent"),
        pytest.param(FOREIGN, "sent", False, id="of-another-account"),
    ],
)
def test_a_role_that_asks_for_the_account(
    *,
    sites: dict[str, Site],
    service: str,
    condition: dict[str, Any],
    sending: str,
    works: bool,
) -> None:
    site = sites[sending]
    site.hyperpod.clusters.clear()
    role = role_arn(site, service=service, condition=condition)
    nodes = role if service == NODES else site.names["ExecutionRole"]
    request = site.request(ExecutionRole=nodes)
    if service == SCALING:
        request["ClusterRole"] = role
    sagemaker = client(site.aws, "sagemaker")

    if works:
        sagemaker.create_cluster(**request)
        assert site.hyperpod.clusters.keys() == {"c1"}
    else:
        with pytest.raises(ClientError, match=f"Could not assume role {role}"):
            sagemaker.create_cluster(**request)
        assert site.hyperpod.clusters == {}
