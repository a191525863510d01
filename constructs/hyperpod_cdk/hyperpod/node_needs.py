"""What instance groups need of their execution role beyond what every node needs."""

from collections.abc import Iterable, Iterator, Sequence

from aws_cdk import Aws, Fn
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.volume_keys import volume_key_statements
from hyperpod_cdk.synthesis.acknowledge import wildcard_nag_id
from hyperpod_cdk.synthesis.statements import statement


def need_statements(
    scope: Construct, groups: Sequence[NodeGroupConfig]
) -> Iterator[iam.PolicyStatement]:
    """Yield the rights for what the groups name, but for subnets and security groups."""
    uris = _lifecycle_s3_uris(groups)
    if uris:
        yield statement(
            scope,
            sid="ListOtherScripts",
            why="A node finds scripts of your own.",
            added_by="`lifecycle.source_s3_uri`",
            actions=["s3:ListBucket"],
            resources=list(dict.fromkeys(map(_bucket_arn, uris))),
        )
        yield statement(
            scope,
            sid="ReadOtherScripts",
            why="A node reads them, under their prefix.",
            added_by="`lifecycle.source_s3_uri`",
            actions=["s3:GetObject"],
            resources=_script_arns(uris),
        )
    if any(group.rolls_back_on_alarms for group in groups):
        # On named alarms alone, CloudWatch would hide composite ones.
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
        yield statement(
            scope,
            sid="ReadRollbackAlarms",
            why="HyperPod watches alarms during an update.",
            added_by="`rollback_alarms`",
            actions=["cloudwatch:DescribeAlarms"],
            resources=["*"],
        )
    keys = dict.fromkeys(key for group in groups for key in group.volume_key_ids)
    yield from volume_key_statements(scope, list(keys))


def need_acknowledgments(scope: Construct, groups: Sequence[NodeGroupConfig]) -> dict[str, str]:
    """Return why each wildcard of `need_statements` but `*` is accepted, by its cdk-nag id."""
    reason = (
        "Scripts of the configured prefix, whose names are not in the configuration; read only."
    )
    return {
        wildcard_nag_id(scope, resource): reason
        for resource in _script_arns(_lifecycle_s3_uris(groups))
    }


def _lifecycle_s3_uris(groups: Sequence[NodeGroupConfig]) -> list[str]:
    return [
        group.lifecycle.source_s3_uri
        for group in groups
        if isinstance(group, InstanceGroupConfig)
        and group.lifecycle is not None
        and group.lifecycle.source_s3_uri is not None
    ]


def _bucket_arn(s3_uri: str) -> str:
    location = _location(s3_uri)
    bucket = (
        Fn.select(0, Fn.split("/", location)) if _is_opaque(s3_uri) else location.partition("/")[0]
    )
    return f"arn:{Aws.PARTITION}:s3:::{bucket}"


def _script_arns(s3_uris: Iterable[str]) -> list[str]:
    arns = (f"arn:{Aws.PARTITION}:s3:::{_location(uri).rstrip('/')}/*" for uri in s3_uris)
    return list(dict.fromkeys(arns))


def _location(s3_uri: str) -> str:
    """Return the bucket and the prefix, without the scheme."""
    if _is_opaque(s3_uri):
        return Fn.select(1, Fn.split("s3://", s3_uri))
    return s3_uri.removeprefix("s3://")


def _is_opaque(s3_uri: str) -> bool:
    """Tell whether the URI is a CDK token as a whole, which only CloudFormation takes apart."""
    return not s3_uri.startswith("s3://")
