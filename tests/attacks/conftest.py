"""Who attacks, and what: roles of a deployment, with what IAM says of them, and namespaces."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import pytest

from hyperpod_cdk import Config
from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing.kubernetes_api import Cluster
from hyperpod_emulator.testing.stacks import client
from tests.conftest import Assemble
from tests.support.isolated_cluster import isolated_cluster
from tests.support.laws import Deployment, Resource, Statement


@pytest.fixture(scope="session")
def aws() -> Iterator[LocalAws]:
    """Return a local AWS without a HyperPod API."""
    with LocalAws() as running:
        yield running


_KINDS = {"tag": "aws:ResourceTag/", "asked": "aws:RequestTag/"}


@dataclass(frozen=True, kw_only=True)
class Attacker:
    """A role of a deployment.

    Attributes:
        deployment: The deployment.
        role_name: The role in the local AWS that has the policies of the deployment's.
        aws: Says what IAM decides.
    """

    deployment: Deployment
    role_name: str
    aws: LocalAws

    def decision(self, action: str, resource: str, *context: str, **tags: str) -> str:
        """Return `allowed`, `implicitDeny` or `explicitDeny`.

        The context has a text `key=value` for each key. Of the tags, `tag` is one of the resource,
        `asked` one of the request, as `key=value`.
        """
        texts = [*context, *(f"{_KINDS[kind]}{text}" for kind, text in tags.items())]
        entries = [
            {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"}
            for key, _, value in (text.partition("=") for text in texts)
        ]
        (found,) = client(self.aws, "iam").simulate_principal_policy(
            PolicySourceArn=f"arn:aws:iam::{ACCOUNT}:role/{self.role_name}",
            ActionNames=[action],
            ResourceArns=[resource],
            ContextEntries=entries,
        )["EvaluationResults"]
        return str(found["EvalDecision"])


ActAs = Callable[[Config, str], Attacker]
_NUMBERS = count()


@pytest.fixture
def act_as(aws: LocalAws, assemble: Assemble) -> ActAs:
    """Return a function that acts as the only role of a deployment whose logical ID begins so."""

    def acting(config: Config, logical_id: str) -> Attacker:
        deployment = Deployment(
            config=config,
            templates=assemble(config).templates(),
            region=config.region or "us-west-2",
        )
        (role,) = [
            each
            for each in deployment.of_type("AWS::IAM::Role")
            if each.logical_id.startswith(logical_id)
        ]
        statements = [
            _written(each)
            for each in deployment.statements
            if _is_of(each.resource, role, deployment)
        ]
        name, iam = f"Attacker{next(_NUMBERS)}", client(aws, "iam")
        trust = json.dumps({"Version": "2012-10-17", "Statement": []})
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)
        document = json.dumps({"Version": "2012-10-17", "Statement": statements})
        iam.put_role_policy(RoleName=name, PolicyName="Own", PolicyDocument=document)
        return Attacker(deployment=deployment, role_name=name, aws=aws)

    return acting


def _is_of(resource: Resource, role: Resource, deployment: Deployment) -> bool:
    """Return whether the policies of a resource are a role's."""
    roles = resource.properties.get("Roles", [])
    return resource == role or any(
        deployment.referred(resource.stack, each) == role for each in roles
    )


def _written(statement: Statement) -> dict[str, object]:
    return {
        "Effect": statement.effect,
        "Action": [*statement.actions],
        "Resource": [*statement.resources],
        "Condition": {
            operator: {key: [*values] for key, values in keys.items()}
            for operator, keys in statement.conditions.items()
        },
    }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a cluster with the namespaces team-a, team-b and team-public."""
    with isolated_cluster(tmp_path_factory.mktemp("attacks")) as running:
        yield running
