"""Who deploys in a rehearsal, and with which rights: those that `deployer-policy` prints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.inspect.permissions.policies import Document, policies_of
from hyperpod_emulator.aws.local_aws import AwsClients, session_of


def key_of(user: str, *, clients: AwsClients) -> Mapping[str, str]:
    """Return a new key of an IAM user, who is made if need be, as SDKs and CLIs take it."""
    iam = clients("iam")
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_user(UserName=user)
    key = iam.create_access_key(UserName=user)["AccessKey"]
    return {
        "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
    }


def let_into(cluster: str, *, clients: AwsClients, user: str, account: str, policy: str) -> None:
    """Give an IAM user an access policy of EKS in a cluster, unless there is an entry already."""
    eks = clients("eks")
    entry = {"clusterName": cluster, "principalArn": f"arn:aws:iam::{account}:user/{user}"}
    with suppress(eks.exceptions.ResourceInUseException):
        eks.create_access_entry(**entry)
        arn = f"arn:aws:eks::aws:cluster-access-policy/{policy}"
        eks.associate_access_policy(**entry, policyArn=arn, accessScope={"type": "cluster"})


def client_of(service: str, key: Mapping[str, str], *, endpoint: str, region: str) -> AwsClient:
    """Return a client of a local AWS with a key, which may be of a session."""
    # Typed by its name's literal, which a variable is not.
    make: Callable[..., Any] = session_of(key, region=region).client
    return make(service, endpoint_url=endpoint)


@dataclass(kw_only=True, slots=True)
class Deployer:
    """A user who may do what deploying takes, and no more; CloudFormation's role likewise.

    The clients are those of the account's administrator, who gives the rights.
    """

    deployment: str
    clients: AwsClients
    region: str
    account: str
    _key: Mapping[str, str] = field(init=False, default_factory=dict)
    _clients: dict[str, AwsClient] = field(init=False, default_factory=dict)

    @property
    def user(self) -> str:
        """Name of the IAM user."""
        return f"{self.deployment}-deployer"

    def environment(self) -> Mapping[str, str]:
        """Return the deployer's credentials, as the AWS CLI, the SDKs and the CDK CLI take them."""
        if not self._key:
            self._key = key_of(self.user, clients=self.clients)
        return self._key

    def client(self, service: str) -> AwsClient:
        """Return a client with the deployer's credentials; each is made once."""
        if service not in self._clients:
            key, endpoint = self.environment(), self.clients(service).meta.endpoint_url
            made = client_of(service, key, endpoint=endpoint, region=self.region)
            self._clients[service] = made
        return self._clients[service]

    def allow(self, assembly: Path, *, bootstrapped: bool) -> list[str]:
        """Let the deployer deploy what is in a directory; return CloudFormation's policies.

        Once there are CloudFormation's roles (`bootstrapped`), they get them. What was allowed
        before stays: an update also deletes what is no longer in the templates.
        """
        self.environment()
        environment = Environment(partition="aws", region=self.region, account=self.account)
        policies = policies_of(assembly, deployment=self.deployment, environment=environment)
        iam = self.clients("iam")
        for arn in self._made(policies.deployer):
            iam.attach_user_policy(UserName=self.user, PolicyArn=arn)
        made = [*self._made(policies.cloudformation)]
        for role in policies.execution_roles if bootstrapped else ():
            for arn in made:
                iam.attach_role_policy(RoleName=role.rpartition("/")[2], PolicyArn=arn)
        return made

    def _made(self, documents: Iterable[Document]) -> Iterator[str]:
        """Create a managed policy of each document, unless it is there; yield the ARNs."""
        iam = self.clients("iam")
        for document in documents:
            text = json.dumps(document)
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            name = f"{self.deployment}-{digest}"
            with suppress(iam.exceptions.EntityAlreadyExistsException):
                iam.create_policy(PolicyName=name, PolicyDocument=text)
            yield f"arn:aws:iam::{self.account}:policy/{name}"
