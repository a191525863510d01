"""IAM roles and users that a configuration names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from emulator.aws.clients import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import AwsClient
from rehearsal.stand_ins.node_roles import node_roles
from rehearsal.stand_ins.policies import policy, trust

_PRINCIPAL = re.compile(r"arn:[^:]+:iam::(?P<account>\d{12}):(?P<kind>role|user)/(?P<path>.*)")
# The services that assume a role that a configuration names.
_SERVICES = ("sagemaker.amazonaws.com", "hyperpod.sagemaker.amazonaws.com")


@dataclass(frozen=True, kw_only=True, slots=True)
class Principal:
    """An IAM role or user.

    Attributes:
        arn: Its ARN; in the local AWS its account is the one that the configuration names most.
    """

    arn: str

    def __str__(self) -> str:
        return f"IAM {self._parts['kind']} {self.arn}"

    @property
    def account(self) -> str:
        """The account of the ARN."""
        return self._parts["account"]

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there.

        SageMaker and HyperPod may assume a role, and it reads every bucket.
        """
        iam = clients("iam")
        path, _, name = f"/{self._parts['path']}".rpartition("/")
        with suppress(iam.exceptions.EntityAlreadyExistsException):
            self._create(iam, name=name, path=f"{path}/")

    def _create(self, iam: AwsClient, *, name: str, path: str) -> None:
        if self._parts["kind"] == "user":
            iam.create_user(UserName=name, Path=path)
            return
        iam.create_role(RoleName=name, Path=path, AssumeRolePolicyDocument=trust(*_SERVICES))
        read = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "*"}
        iam.put_role_policy(RoleName=name, PolicyName="Read", PolicyDocument=policy(read))

    @property
    def _parts(self) -> dict[str, str]:
        found = _PRINCIPAL.fullmatch(self.arn)
        return {} if found is None else found.groupdict()


def principals(config: Config) -> Iterator[Principal]:
    """Yield the roles and users that a configuration names, but for those of nodes."""
    named = named_resources(config)
    nodes = {role.arn for role in node_roles(config)}
    arns = (each.value for each in named if each.kind == "principal")
    yield from (Principal(arn=arn) for arn in arns if arn not in nodes)
