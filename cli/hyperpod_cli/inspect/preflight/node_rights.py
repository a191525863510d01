"""What a role of nodes must be allowed, from the statements of the one that is made."""

from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_eks_v2, aws_s3

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.node_permissions import node_statements
from hyperpod_cdk.hyperpod.orchestrator import Eks, Orchestrator, Slurm
from hyperpod_cdk.hyperpod.section import MANAGED_POLICY
from hyperpod_cdk.lifecycle_scripts.folder import homes
from hyperpod_cdk.slurm.accounting import ImportedAccountingDatabase, accounting_statements
from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from hyperpod_cli.inspect.preflight.validator import Target, as_list
from hyperpod_shared.clusters import CONTROLLER

Statement = dict[str, Any]


def needed_statements(
    config: Config, target: Target, *, groups: Sequence[NodeGroupConfig]
) -> list[Statement]:
    """Return the statements that the role of some groups needs, without HyperPod's managed policy.

    What the deployment makes has an ID that is not known yet, for which `*` stands.
    """
    stack = cdk.Stack(env=cdk.Environment(account=target.account, region=target.region))
    scripts = config.lifecycle_scripts
    default_name = f"sagemaker-{config.name}-{target.account}-{target.region}"
    key = scripts.existing_bucket_kms_key_arn
    bucket = aws_s3.Bucket.from_bucket_attributes(
        stack,
        "Bucket",
        bucket_name=scripts.existing_bucket_name or scripts.bucket_name or default_name,
        encryption_key=(None if key is None else cdk.aws_kms.Key.from_key_arn(stack, "Key", key)),
    )
    run = homes(
        config.project_scripts,
        own=scripts,
        folders=config.cluster.own_scripts,
        prefix=config.scripts_prefix,
    )
    statements = node_statements(
        stack,
        groups=groups,
        orchestrator=_orchestrator(stack, config),
        vpc_id="*",
        subnet_ids=["*"],
        security_group_id="*",
        bucket=bucket if any(run) else None,
        script_keys="*",
        data_buckets=config.cluster.data_buckets,
    )
    accounting = config.cluster.accounting
    is_controller = any(group in groups for group in config.cluster.groups_of_type(CONTROLLER))
    # A new database's secret has a name that RDS draws; only the secrets of RDS begin so.
    if accounting is not None and is_controller:
        arn = target.arn("secretsmanager", "secret:rds!db-*")
        known = accounting if accounting.exists else AccountingConfig(endpoint="x", secret_arn=arn)
        statements += accounting_statements(stack, ImportedAccountingDatabase(accounting=known))
    resolved = stack.resolve([statement.to_statement_json() for statement in statements])
    return [_known(statement, target) for statement in resolved]


def _orchestrator(stack: cdk.Stack, config: Config) -> Orchestrator:
    if config.control_plane is None:
        return Slurm()
    name = config.eks_cluster_name
    cluster = aws_eks_v2.Cluster.from_cluster_attributes(stack, "Cluster", cluster_name=name)
    return Eks(cluster=cluster)


def _known(value: Any, target: Target) -> Any:  # noqa: ANN401 - any JSON value
    """Return a template's value with what CloudFormation would put in."""
    match value:
        case {"Fn::Join": [separator, [*parts]]}:
            return str(separator).join(_known(part, target) for part in parts)
        case {"Ref": str(name)}:
            known = {
                "AWS::Partition": target.partition,
                "AWS::Region": target.region,
                "AWS::AccountId": target.account,
                "AWS::URLSuffix": (
                    "amazonaws.com.cn" if target.partition == "aws-cn" else "amazonaws.com"
                ),
            }
            return known[name]
        case dict():
            return {key: _known(item, target) for key, item in value.items()}
        case list():
            return [_known(item, target) for item in value]
        case _:
            return value


def managed_statements(target: Target) -> list[Statement]:
    """Return what HyperPod's managed policy allows nodes, but for what it allows on any bucket.

    `needed_statements` names the buckets.
    """
    iam = target.client("iam")
    arn = target.iam_arn(f"policy/{MANAGED_POLICY}", account="aws")
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    document = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]
    return [
        statement
        for statement in document["Statement"]
        if not any(action.startswith("s3:") for action in as_list(statement["Action"]))
    ]
