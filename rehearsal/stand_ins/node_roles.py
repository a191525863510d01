"""Existing roles for nodes, with the rights that nodes need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from emulator.aws.clients import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.section import MANAGED_POLICY
from hyperpod_cli.inspect.preflight.validator import Target
from rehearsal.stand_ins.policies import policy, trust


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
        """Create it unless it is there, with the managed policy and what nodes need beside it."""
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
