"""IAM roles and users that a configuration names, those of nodes with the rights they need."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from emulator.aws.local_aws import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.section import MANAGED_POLICY
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import AwsClient
from hyperpod_cli.inspect.preflight.validator import Target


def policy(*statements: Mapping[str, object]) -> str:
    """Return a policy of statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def trust(*services: str) -> str:
    """Return the trust policy of a role that services assume."""
    return policy(
        {"Effect": "Allow", "Principal": {"Service": services}, "Action": "sts:AssumeRole"}
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeRole:
    """An IAM role that HyperPod nodes run as.

    Attributes:
        arn: Its ARN.
        config: Whose nodes they are.
    """

    arn: str
    config: Config = field(hash=False)

    def __str__(self) -> str:
        return f"IAM role {self.arn}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there, with the managed policy and what else nodes need."""
        # The CDK takes a second to import, and few configurations name a role.
        from hyperpod_cli.inspect.preflight.node_rights import (  # noqa: PLC0415
            needed_statements,
        )

        iam = clients("iam")
        path, _, name = f"/{self.arn.partition(':role/')[2]}".rpartition("/")
        with suppress(iam.exceptions.EntityAlreadyExistsException):
            iam.create_role(
                RoleName=name,
                Path=f"{path}/",
                AssumeRolePolicyDocument=trust("sagemaker.amazonaws.com"),
            )
            iam.attach_role_policy(
                RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{MANAGED_POLICY}"
            )
            target = Target(
                partition="aws",
                account=self.arn.split(":")[4],
                region=iam.meta.region_name,
                client=clients,
            )
            groups = self.config.cluster.all_groups
            statements = needed_statements(self.config, target, groups=groups)
            iam.put_role_policy(
                RoleName=name, PolicyName="Nodes", PolicyDocument=policy(*statements)
            )


def node_roles(config: Config) -> Iterator[NodeRole]:
    """Yield the roles that a configuration names for its nodes."""
    groups = (group.execution_role_arn for group in config.cluster.all_groups)
    for arn in dict.fromkeys([config.cluster.execution_role_arn, *groups]):
        if arn is not None:
            yield NodeRole(arn=arn, config=config)


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
