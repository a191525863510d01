"""IAM roles and users that a configuration names, those of nodes with the rights they need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.section import MANAGED_POLICY
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_rehearsal.existing_resources.resource import ExistingResource

# The services that assume a role that a configuration names: for nodes, and to scale the cluster.
_SERVICES = ("sagemaker.amazonaws.com", "hyperpod.sagemaker.amazonaws.com")


def policy(*statements: Mapping[str, object]) -> str:
    """Return a policy of statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def trust(*services: str) -> str:
    """Return the trust policy of a role that services assume."""
    return policy(
        {"Effect": "Allow", "Principal": {"Service": services}, "Action": "sts:AssumeRole"}
    )


def node_role(arn: str, config: Config) -> ExistingResource:
    """Return the IAM role that nodes run as, with the managed policy and what else they need."""

    def make(clients: AwsClients) -> None:
        # The CDK takes a second to import, and few configurations name a role.
        from hyperpod_cli.inspect.preflight.node_rights import (  # noqa: PLC0415
            needed_statements,
        )

        iam = clients("iam")
        path, _, name = f"/{arn.partition(':role/')[2]}".rpartition("/")
        trusted = trust(*(_SERVICES if arn == config.cluster.role_arn else _SERVICES[:1]))
        with suppress(iam.exceptions.EntityAlreadyExistsException):
            iam.create_role(RoleName=name, Path=f"{path}/", AssumeRolePolicyDocument=trusted)
            iam.attach_role_policy(
                RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{MANAGED_POLICY}"
            )
            target = Target(
                partition="aws",
                account=arn.split(":")[4],
                region=iam.meta.region_name,
                client=clients,
            )
            statements = needed_statements(config, target, groups=config.cluster.all_groups)
            iam.put_role_policy(
                RoleName=name, PolicyName="Nodes", PolicyDocument=policy(*statements)
            )

    return ExistingResource(f"IAM role {arn}", make)


def _node_role_arns(config: Config) -> Iterable[str]:
    groups = (group.execution_role_arn for group in config.cluster.all_groups)
    return dict.fromkeys(filter(None, [config.cluster.execution_role_arn, *groups]))


def node_roles(config: Config) -> Iterator[ExistingResource]:
    """Yield the roles that a configuration names for its nodes."""
    yield from (node_role(arn, config) for arn in _node_role_arns(config))


def principal(arn: str) -> ExistingResource:
    """Return an IAM role or user; in the local AWS its account is the one that is named most.

    SageMaker and HyperPod may assume a role, and it reads every bucket.
    """
    kind, _, rest = arn.rpartition(":")[2].partition("/")
    path, _, name = f"/{rest}".rpartition("/")

    def make(clients: AwsClients) -> None:
        iam, named = clients("iam"), {"Path": f"{path}/"}
        with suppress(iam.exceptions.EntityAlreadyExistsException):
            if kind == "user":
                iam.create_user(UserName=name, **named)
                return
            iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust(*_SERVICES), **named)
            read = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "*"}
            iam.put_role_policy(RoleName=name, PolicyName="Read", PolicyDocument=policy(read))

    return ExistingResource(f"IAM {kind} {arn}", make)


def principals(config: Config) -> Iterator[ExistingResource]:
    """Yield the roles and users that a configuration names, but for those of nodes."""
    arns = (name.value for name in named_resources(config, "principal", "role"))
    yield from (principal(arn) for arn in arns if arn not in _node_role_arns(config))
