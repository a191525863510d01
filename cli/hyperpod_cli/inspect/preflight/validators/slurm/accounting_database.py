"""Whether Slurm's accounting can be where the configuration wants it."""

import json
from collections.abc import Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from hyperpod_cli.aws.session import answer_of, listed
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_KEY: KeyPath = ("cluster", "slurm", "accounting")
_FIELDS = ("username", "password")


@validator(
    phase=Phase.EXISTING_RESOURCES,
    iam=[
        "ec2:DescribeSubnets",
        "sagemaker:DescribeCluster",
        "secretsmanager:DescribeSecret",
        "secretsmanager:GetSecretValue",
    ],
)
def accounting_database(config: Config, target: Target) -> Problems:
    """The secret of accounting does not exist, or a cluster would lose its accounting.

    Keys: cluster.slurm.accounting.subnet_ids

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html)
    """
    section = config.cluster.accounting
    if section is None:
        yield from _taken_away(config, target)
    elif section.exists:
        yield from _secret_problems(section, target)
    elif section.subnet_ids:
        yield from _subnet_problems(section, target)


def _taken_away(config: Config, target: Target) -> Problems:
    """Find a cluster with a database, which it cannot exchange for the one on the controller.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
    """
    name = config.cluster.name
    cluster = answer_of(target.client("sagemaker").describe_cluster, ClusterName=name) or {}
    slurm = cluster.get("Orchestrator", {}).get("Slurm", {})
    if "AccountingDatabase" in slurm:
        message = (
            f"must stay: the cluster {name} keeps its accounting in "
            f"{slurm['AccountingDatabase']['Endpoint']}, and HyperPod does not take that back; "
            "restore it, or deploy under another name"
        )
        command = f"aws sagemaker describe-cluster --cluster-name {name} --query Orchestrator"
        yield error(_KEY, None, message), command


def _secret_problems(section: AccountingConfig, target: Target) -> Problems:
    arn = str(section.secret_arn)
    path, command = (*_KEY, "secret_arn"), f"aws secretsmanager describe-secret --secret-id {arn}"
    client = target.client("secretsmanager")
    described = answer_of(client.describe_secret, SecretId=arn)
    if described is None:
        message = f"is no secret in {target.region}"
        yield error(path, arn, message), command
        return
    key = described.get("KmsKeyId")
    if key and not key.endswith("alias/aws/secretsmanager") and section.secret_kms_key_arn is None:
        message = f"is encrypted with the key {key}; name it in secret_kms_key_arn, for the nodes"
        yield error(path, arn, message), command
    value = client.get_secret_value(SecretId=arn).get("SecretString", "")
    lacking = [field for field in _FIELDS if not _object(value).get(field)]
    if lacking:
        message = (
            f"has no {' and no '.join(lacking)}; its value must be JSON such as "
            '{"username": "slurm", "password": "..."}'
        )
        yield error(path, arn, message), command


def _object(value: str) -> Mapping[str, Any]:
    try:
        content = json.loads(value)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _subnet_problems(section: AccountingConfig, target: Target) -> Problems:
    ids = list(section.subnet_ids)
    path, command = (*_KEY, "subnet_ids"), f"aws ec2 describe-subnets --subnet-ids {' '.join(ids)}"
    # `vpc` tells of those that are not there, which a filter passes over.
    filters = [{"Name": "subnet-id", "Values": ids}]
    subnets = [*listed(target.client("ec2"), "describe_subnets", "Subnets", Filters=filters)]
    zones = {subnet["AvailabilityZone"] for subnet in subnets}
    if len(zones) == 1 and len(subnets) == len(ids):
        message = f"are all in {zones.pop()}; RDS wants them in two zones at least"
        yield error(path, ids, message), command
