"""Whether nodes can run as an existing role."""

import json
from collections.abc import Mapping, Sequence

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cdk.schema.named_resources import NamedResource
from hyperpod_cli.inspect.permissions.simulation import denied
from hyperpod_cli.inspect.preflight.iam_principals import principal_problem
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@validator(
    phase=Phase.EXISTING_RESOURCES,
    iam=["iam:GetPolicy", "iam:GetPolicyVersion", "iam:GetRole", "iam:SimulatePrincipalPolicy"],
)
def existing_role(config: Config, target: Target) -> Problems:
    """Your role lacks a permission that nodes need.

    Keys: cluster.execution_role_arn, cluster.instance_groups[].execution_role_arn

    [existing resources](existing-resources.md)
    """
    for arn, (path, groups) in _roles(config).items():
        # `iam_principals` tells what is wrong with the role itself.
        if principal_problem(NamedResource(path=path, kind="role", value=arn), target) is None:
            yield from _missing_rights(config, target, path=path, arn=arn, groups=groups)


def _roles(config: Config) -> Mapping[str, tuple[KeyPath, list[NodeGroupConfig]]]:
    """Return each role with the first key that names it, and the groups whose nodes run as it."""
    roles: dict[str, tuple[KeyPath, list[NodeGroupConfig]]] = {}
    of_cluster = config.cluster.execution_role_arn
    for path, group in config.cluster.groups_with_paths():
        arn, key = group.execution_role_arn, (*path, "execution_role_arn")
        if arn is None and of_cluster is not None:
            arn, key = of_cluster, ("cluster", "execution_role_arn")
        if arn is not None:
            roles.setdefault(arn, (key, []))[1].append(group)
    return roles


def _missing_rights(
    config: Config,
    target: Target,
    *,
    path: KeyPath,
    arn: str,
    groups: Sequence[NodeGroupConfig],
) -> Problems:
    # Only where there is such a role: it takes the CDK, which takes seconds to import.
    from hyperpod_cli.inspect.preflight.node_rights import (  # noqa: PLC0415
        managed_statements,
        needed_statements,
    )

    statements = [
        *managed_statements(target),
        *needed_statements(config, target, groups=groups),
    ]
    for statement in statements:
        missing = denied(statement, target.client("iam"), arn=arn)
        if not missing:
            continue
        to_add = json.dumps({**statement, "Action": missing})
        message = f"may not {', '.join(missing)}, as nodes do; add to its policies: {to_add}"
        command = (
            f"aws iam simulate-principal-policy --policy-source-arn {arn} "
            f"--action-names {' '.join(missing)}"
        )
        yield error(path, arn, message), command
