"""What instance groups need of their execution role beyond what every node needs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.acknowledge import wildcard_finding
from hyperpod_cdk.volume_keys import volume_key_statements


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeNeeds:
    """What groups with this execution role use. Default: nothing of it.

    Attributes:
        subnet_ids: Subnets of groups outside the cluster's own.
        security_group_ids: Security groups of groups with their own.
        volume_key_ids: KMS keys of their volumes, by ID or ARN.
        lifecycle_s3_uris: `s3://bucket/prefix` of lifecycle scripts that are not the project's.
        rollback_alarms: Whether CloudWatch alarms roll their updates back.
    """

    subnet_ids: tuple[str, ...] = ()
    security_group_ids: tuple[str, ...] = ()
    volume_key_ids: tuple[str, ...] = ()
    lifecycle_s3_uris: tuple[str, ...] = ()
    rollback_alarms: bool = False


def need_statements(scope: Construct, needs: NodeNeeds) -> Iterator[iam.PolicyStatement]:
    """Yield the rights that the needs take, but for network interfaces, which all nodes have."""
    if needs.lifecycle_s3_uris:
        buckets = (_bucket_arn(uri) for uri in needs.lifecycle_s3_uris)
        yield iam.PolicyStatement(
            sid="ListOtherScripts", actions=["s3:ListBucket"], resources=_once(buckets)
        )
        yield iam.PolicyStatement(
            sid="ReadOtherScripts",
            actions=["s3:GetObject"],
            resources=_script_arns(needs.lifecycle_s3_uris),
        )
    if needs.rollback_alarms:
        # On named alarms alone, CloudWatch would hide composite ones.
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
        yield iam.PolicyStatement(
            sid="ReadRollbackAlarms", actions=["cloudwatch:DescribeAlarms"], resources=["*"]
        )
    yield from volume_key_statements(scope, needs.volume_key_ids)


def need_findings(scope: Construct, needs: NodeNeeds) -> dict[str, str]:
    """Return why each wildcard of `need_statements` but `*` is accepted, by cdk-nag's finding."""
    reason = (
        "Scripts of the configured prefix, whose names are not in the configuration; read only."
    )
    return {
        wildcard_finding(scope, resource): reason
        for resource in _script_arns(needs.lifecycle_s3_uris)
    }


def _bucket_arn(s3_uri: str) -> str:
    bucket, _, _ = s3_uri.removeprefix("s3://").partition("/")
    return f"arn:{Aws.PARTITION}:s3:::{bucket}"


def _script_arns(s3_uris: Iterable[str]) -> list[str]:
    return _once(
        f"arn:{Aws.PARTITION}:s3:::{uri.removeprefix('s3://').rstrip('/')}/*" for uri in s3_uris
    )


def _once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
