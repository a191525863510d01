"""What nodes may do: the statements of their role's policy."""

from collections.abc import Iterator, Sequence
from functools import partial

from aws_cdk import Aws, Fn, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.hyperpod.access import (
    CLUSTER_ARN_IS_DRAWN,
    any_hyperpod_cluster,
    volume_key_statements,
)
from hyperpod_cdk.hyperpod.data_bucket_section import DataBucketConfig
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.orchestrator import InterfaceUse, Orchestrator
from hyperpod_cdk.lifecycle_scripts.scripts import use_of_bucket_key
from hyperpod_cdk.synthesis.reasons import statement


def data_bucket_statements(
    scope: Construct, buckets: Sequence[DataBucketConfig]
) -> Iterator[iam.PolicyStatement]:
    """Yield the rights to read the buckets; none without one."""
    add = partial(statement, scope, added_by="`cluster.data_buckets`")
    whole = [_data_bucket_arn(bucket.name) for bucket in buckets if bucket.prefix is None]
    if whole:
        yield add(
            sid="ListDataBuckets",
            why="A node finds data in the buckets of `cluster.data_buckets`.",
            actions=["s3:ListBucket"],
            resources=whole,
        )
    for number, bucket in enumerate(each for each in buckets if each.prefix is not None):
        yield add(
            sid=f"ListDataPrefix{number}",
            why="A node finds data below a prefix of `cluster.data_buckets`.",
            actions=["s3:ListBucket"],
            resources=[_data_bucket_arn(bucket.name)],
            conditions={"StringLike": {"s3:prefix": [bucket.prefix, f"{bucket.prefix}/*"]}},
        )
    if buckets:
        yield add(
            sid="ReadData",
            why="A node reads the data of `cluster.data_buckets`.",
            actions=["s3:GetObject"],
            resources=[f"{_data_bucket_arn(each.path)}/*" for each in buckets],
            wildcard="Objects of a bucket or prefix of data that is named; read only.",
        )
    keys = dict.fromkeys(each.kms_key_arn for each in buckets if each.kms_key_arn is not None)
    if keys:
        yield add(
            sid="DecryptData",
            why="A node reads data that a key of yours encrypts, through S3 alone.",
            actions=["kms:Decrypt"],
            resources=list(keys),
            # Any region: a bucket and its key may be in another one than the nodes.
            conditions={"StringLike": {"kms:ViaService": f"s3.*.{Aws.URL_SUFFIX}"}},
        )


def _data_bucket_arn(name: str) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{name}"


def need_statements(
    scope: Construct, groups: Sequence[NodeGroupConfig]
) -> Iterator[iam.PolicyStatement]:
    """Yield the rights for what the groups name, but for subnets and security groups."""
    add = partial(statement, scope, added_by="`lifecycle.source_s3_uri`")
    uris = _lifecycle_s3_uris(groups)
    if uris:
        yield add(
            sid="ListOtherScripts",
            why="A node finds scripts of your own.",
            actions=["s3:ListBucket"],
            resources=list(dict.fromkeys(map(_script_bucket_arn, uris))),
        )
        yield add(
            sid="ReadOtherScripts",
            why="A node reads them, under their prefix.",
            actions=["s3:GetObject"],
            resources=list(dict.fromkeys(map(_script_arn, uris))),
            wildcard="Scripts of the configured prefix, whose names are not known; read only.",
        )
    if any(group.rolls_back_on_alarms for group in groups):
        # On named alarms alone, CloudWatch would hide composite ones.
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
        yield add(
            sid="ReadRollbackAlarms",
            why="HyperPod watches alarms during an update.",
            added_by="`rollback_alarms`",
            actions=["cloudwatch:DescribeAlarms"],
            resources=["*"],
            wildcard="It only reads, and of named alarms alone CloudWatch hides composite ones.",
        )
    keys = dict.fromkeys(key for group in groups for key in group.volume_key_ids)
    yield from volume_key_statements(scope, list(keys))


def _lifecycle_s3_uris(groups: Sequence[NodeGroupConfig]) -> list[str]:
    return [
        group.lifecycle.source_s3_uri
        for group in groups
        if isinstance(group, InstanceGroupConfig)
        and group.lifecycle is not None
        and group.lifecycle.source_s3_uri is not None
    ]


def _script_bucket_arn(s3_uri: str) -> str:
    location = _location(s3_uri)
    bucket = (
        Fn.select(0, Fn.split("/", location)) if _is_opaque(s3_uri) else location.partition("/")[0]
    )
    return f"arn:{Aws.PARTITION}:s3:::{bucket}"


def _script_arn(s3_uri: str) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{_location(s3_uri).rstrip('/')}/*"


def _location(s3_uri: str) -> str:
    """Return the bucket and the prefix, without the scheme."""
    if _is_opaque(s3_uri):
        return Fn.select(1, Fn.split("s3://", s3_uri))
    return s3_uri.removeprefix("s3://")


def _is_opaque(s3_uri: str) -> bool:
    """Tell whether the URI is a CDK token as a whole, which only CloudFormation takes apart."""
    return not s3_uri.startswith("s3://")


def node_statements(
    scope: Construct,
    *,
    groups: Sequence[NodeGroupConfig],
    orchestrator: Orchestrator,
    vpc_id: str,
    subnet_ids: Sequence[str],
    security_group_id: str,
    bucket: s3.IBucket | None,
    script_keys: str,
    data_buckets: Sequence[DataBucketConfig] = (),
) -> list[iam.PolicyStatement]:
    """Return what nodes need in addition to the managed policy, with what their groups name.

    `bucket` is that of the scripts that they run, whose keys match `script_keys`; None if none runs
    any.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    """
    overrides = [group.override_vpc for group in groups if group.override_vpc is not None]
    return [
        *network_statements(
            scope,
            use=orchestrator.interface_use,
            vpc_id=vpc_id,
            subnet_ids=[*subnet_ids, *(name for vpc in overrides for name in vpc.subnet_ids)],
            group_ids=[
                security_group_id,
                *(name for vpc in overrides for name in vpc.security_group_ids),
            ],
        ),
        _pull_images(scope),
        *orchestrator.node_statements(),
        *(() if bucket is None else _read_scripts(scope, bucket, keys=script_keys)),
        *need_statements(scope, groups),
        *data_bucket_statements(scope, data_buckets),
    ]


# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
_ON_INSTANCES = {"ec2:AttachNetworkInterface", "ec2:ModifyNetworkInterfaceAttribute"}


def ec2_arn(scope: Construct, resource: str, name: str) -> str:
    """Return the ARN of a resource of EC2 in the account and region of `scope`."""
    return Stack.of(scope).format_arn(service="ec2", resource=resource, resource_name=name)


def network_statements(
    scope: Construct,
    *,
    use: InterfaceUse,
    vpc_id: str,
    subnet_ids: Sequence[str],
    group_ids: Sequence[str],
) -> list[iam.PolicyStatement]:
    """Return what nodes may do with network interfaces in these subnets, with these groups."""
    add = partial(statement, scope)
    interfaces = ec2_arn(scope, "network-interface", "*")
    attach = add(
        sid="AttachNetworkInterfaces",
        why=f"{use.user} asks HyperPod for further network interfaces.",
        # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AttachClusterNodeNetworkInterface.html
        actions=["sagemaker:AttachClusterNodeNetworkInterface"],
        resources=[any_hyperpod_cluster(scope)],
        wildcard=CLUSTER_ARN_IS_DRAWN,
    )
    detach = add(
        sid="DetachNetworkInterfaces",
        why=(
            "The same, for an instance that HyperPod keeps in an account of the service, which "
            "no ARN names."
        ),
        actions=["ec2:DetachNetworkInterface"],
        resources=["*"],
        conditions={"StringEquals": {"ec2:Region": Aws.REGION}},
        wildcard="Detaching names instances in an account of the service, which no ARN names.",
    )
    return [
        add(
            sid="ManageNetworkInterfaces",
            why=(
                f"{use.user} {use.why}, in the VPC of the deployment, its node subnets and its "
                "security group."
            ),
            added_by=use.added_by,
            actions=sorted(use.actions),
            resources=[
                interfaces,
                *([ec2_arn(scope, "instance", "*")] if _ON_INSTANCES & {*use.actions} else []),
                *(ec2_arn(scope, "security-group", name) for name in dict.fromkeys(group_ids)),
                *(ec2_arn(scope, "subnet", name) for name in dict.fromkeys(subnet_ids)),
            ],
            # Requests about instances have no VPC in their conditions.
            conditions={"ArnEqualsIfExists": {"ec2:Vpc": ec2_arn(scope, "vpc", vpc_id)}},
            wildcard=(
                f"{use.user} makes and changes network interfaces, and attaches them to nodes, "
                "whose ids are not known ahead."
            ),
        ),
        *([detach] if use.of_service else []),
        *([attach] if use.attaches else []),
        add(
            sid="TagNetworkInterfaces",
            why=f"{use.user} marks the network interfaces it makes.",
            actions=["ec2:CreateTags"],
            resources=[interfaces],
        ),
        add(
            sid="DescribeNetwork",
            why=(
                f"{use.user}, the login to ECR and Lustre over EFA look up what is there. AWS "
                "takes no resource for these."
            ),
            actions=[
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeInstances",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeTags",
                "ec2:DescribeVpcs",
                "ecr:GetAuthorizationToken",
                # Whether a file system serves Lustre over EFA.
                "fsx:DescribeFileSystems",
            ],
            resources=["*"],
            wildcard="They only read, or log in to ECR, and AWS takes no resource for them.",
        ),
    ]


def _pull_images(scope: Construct) -> iam.PolicyStatement:
    return statement(
        scope,
        sid="PullImages",
        why=(
            "Containers of HyperPod, EKS and your own come from ECR in several accounts and "
            "regions."
        ),
        actions=[
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:GetDownloadUrlForLayer",
        ],
        resources=[f"arn:{Aws.PARTITION}:ecr:*:*:repository/*"],
        wildcard="Images come from repositories of several AWS accounts and regions; pull only.",
    )


def _read_scripts(scope: Construct, bucket: s3.IBucket, *, keys: str) -> list[iam.PolicyStatement]:
    return [
        statement(
            scope,
            sid="ListScripts",
            why="A node finds its lifecycle scripts.",
            actions=["s3:ListBucket"],
            resources=[bucket.bucket_arn],
        ),
        statement(
            scope,
            sid="ReadScripts",
            why=(
                "A node reads its lifecycle scripts. The managed policy lets it read all buckets "
                "of the account whose names begin with `sagemaker-`."
            ),
            actions=["s3:GetObject"],
            resources=[bucket.arn_for_objects(keys)],
            wildcard="A prefix of the bucket that holds lifecycle scripts alone; read only.",
        ),
        *use_of_bucket_key(
            scope,
            bucket,
            sid="DecryptScripts",
            why="A node reads scripts that S3 encrypts with the key.",
            actions=["kms:Decrypt"],
        ),
    ]
