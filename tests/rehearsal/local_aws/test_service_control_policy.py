"""What the service control policy of docs/security.md denies, and to whom."""

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing.stacks import client

# Roles as the stacks and `cdk bootstrap` name them.
NOBODY = "Scientist"
PROVISIONER = "ml-platform-ProvisionerRole6E1A7F10-a1B2c3D4e5F6"
WAITER = "ml-platform-ProvisionerProviderwaiterstatemachineRole-a1B2c3"
CLOUDFORMATION = "cdk-hnb659fds-cfn-exec-role-000000000000-us-east-1"
PUBLISHING = "cdk-hnb659fds-file-publishing-role-000000000000-us-east-1"
OPERATORS, DEPLOYERS = "ClusterOperators", "Deployers"
ROLES = (NOBODY, PROVISIONER, WAITER, CLOUDFORMATION, PUBLISHING, OPERATORS, DEPLOYERS)
CLUSTER = "arn:aws:sagemaker:us-east-1:000000000000:cluster/8ch4fb9jce2l"
FUNCTION = "arn:aws:lambda:us-east-1:000000000000:function:ml-platform-Provisioner-OnEvent-1a2b"
BUCKET = "arn:aws:s3:::sagemaker-ml-000000000000-us-east-1"
ASSET = "arn:aws:s3:::cdk-hnb659fds-assets-000000000000-us-east-1/1a2b.zip"
SCP = {
    "OnlyDeploymentsAndOperatorsChangeClusters": (
        CLUSTER,
        {PROVISIONER, CLOUDFORMATION, OPERATORS},
    ),
    "OnlyOperatorsStartSessions": (CLUSTER, {OPERATORS}),
    "OnlyCloudFormationAndItsWaiterUseTheProvisioner": (
        FUNCTION,
        {PROVISIONER, WAITER, CLOUDFORMATION},
    ),
    "OnlyCloudFormationChangesPoliciesOfScripts": (BUCKET, {CLOUDFORMATION}),
    "OnlyCdkPublishesAssets": (ASSET, {PUBLISHING}),
    "OnlyDeployersAssumeTheRolesOfCdk": (
        f"arn:aws:iam::000000000000:role/{CLOUDFORMATION}",
        {DEPLOYERS},
    ),
}
"""Of each statement: a resource that it is about, and who may still do what it denies."""


@pytest.fixture(scope="module")
def scp(aws: LocalAws, repository: Path) -> dict[str, Any]:
    """Give the service control policy of the docs to roles that may do everything."""
    page = (repository / "docs" / "security.md").read_text("utf-8")
    text = page.partition("<!-- scp -->\n```json\n")[2].partition("```")[0]
    iam = client(aws, "iam")
    allow = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    for name in ROLES:
        trust = json.dumps({"Version": "2012-10-17", "Statement": []})
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)
        everything = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
        iam.put_role_policy(RoleName=name, PolicyName="All", PolicyDocument=everything)
        iam.put_role_policy(RoleName=name, PolicyName="Scp", PolicyDocument=text)
    found: dict[str, Any] = json.loads(text)
    # https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
    assert len(json.dumps(found, separators=(",", ":"))) <= 5_120
    return found


@pytest.mark.parametrize("sid", SCP)
def test_the_service_control_policy_denies_to_all_but_those_it_names(
    aws: LocalAws, scp: dict[str, Any], sid: str
) -> None:
    resource, exempt = SCP[sid]
    (statement,) = [each for each in scp["Statement"] if each["Sid"] == sid]
    actions = statement["Action"]
    for name in ROLES:
        answer = client(aws, "iam").simulate_principal_policy(
            PolicySourceArn=f"arn:aws:iam::{ACCOUNT}:role/{name}",
            ActionNames=[actions] if isinstance(actions, str) else actions,
            ResourceArns=[resource],
        )
        decisions = {each["EvalDecision"] for each in answer["EvaluationResults"]}
        assert decisions == {"allowed" if name in exempt else "explicitDeny"}, name


def test_the_service_control_policy_has_no_other_statement(scp: dict[str, Any]) -> None:
    assert [each["Sid"] for each in scp["Statement"]] == [*SCP]
