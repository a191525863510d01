"""What nodes may do: the statements of their role's policy."""

from collections.abc import Sequence

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.hyperpod.access import any_hyperpod_cluster
from hyperpod_cdk.hyperpod.data_bucket import DataBucketConfig
from hyperpod_cdk.hyperpod.data_bucket_access import data_bucket_statements
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.node_needs import need_statements
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator
from hyperpod_cdk.lifecycle_scripts.scripts import use_of_bucket_key


def node_statements(
    scope: Construct,
    *,
    groups: Sequence[NodeGroupConfig],
    orchestrator: Orchestrator,
    vpc_id: str,
    subnet_ids: Sequence[str],
    security_group_id: str,
    bucket: s3.IBucket,
    script_keys: Sequence[str],
    data_buckets: Sequence[DataBucketConfig] = (),
) -> list[iam.PolicyStatement]:
    """Return what nodes need beside the managed policy.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html

    Args:
        scope: A construct of the policy's stack.
        groups: The groups that use the role; what they name is in its rights.
        orchestrator: What runs the jobs of the nodes.
        vpc_id: The VPC of the nodes.
        subnet_ids: Where nodes' network interfaces may be made.
        security_group_id: The group that they may carry.
        bucket: The bucket of the scripts that they run.
        script_keys: Keys of the scripts, or patterns of them.
        data_buckets: What they read beside. Default: nothing.
    """
    overrides = [group.override_vpc for group in groups if group.override_vpc is not None]
    return [
        *_network_statements(
            scope,
            vpc_id=vpc_id,
            subnet_ids=[*subnet_ids, *(name for vpc in overrides for name in vpc.subnet_ids)],
            group_ids=[
                security_group_id,
                *(name for vpc in overrides for name in vpc.security_group_ids),
            ],
        ),
        _pull_images(),
        *orchestrator.node_statements(),
        *_read_scripts(scope, bucket, keys=script_keys),
        *need_statements(scope, groups),
        *data_bucket_statements(data_buckets),
    ]


def any_repository() -> str:
    """Return the ARN pattern of ECR's repositories."""
    return f"arn:{Aws.PARTITION}:ecr:*:*:repository/*"


def ec2_arn(scope: Construct, resource: str, name: str) -> str:
    """Return the ARN of a resource of EC2 in the account and region of `scope`."""
    return Stack.of(scope).format_arn(service="ec2", resource=resource, resource_name=name)


def _network_statements(
    scope: Construct, *, vpc_id: str, subnet_ids: Sequence[str], group_ids: Sequence[str]
) -> list[iam.PolicyStatement]:
    interfaces = ec2_arn(scope, "network-interface", "*")
    return [
        iam.PolicyStatement(
            sid="ManageNetworkInterfaces",
            actions=[
                "ec2:AssignPrivateIpAddresses",
                "ec2:AttachNetworkInterface",
                "ec2:CreateNetworkInterface",
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
                "ec2:ModifyNetworkInterfaceAttribute",
                "ec2:UnassignPrivateIpAddresses",
            ],
            resources=[
                interfaces,
                ec2_arn(scope, "instance", "*"),
                *(ec2_arn(scope, "security-group", name) for name in dict.fromkeys(group_ids)),
                *(ec2_arn(scope, "subnet", name) for name in dict.fromkeys(subnet_ids)),
            ],
            # Requests about instances have no VPC in their conditions.
            conditions={"ArnEqualsIfExists": {"ec2:Vpc": ec2_arn(scope, "vpc", vpc_id)}},
        ),
        iam.PolicyStatement(
            sid="DetachNetworkInterfaces",
            # HyperPod's instances are in an account of the service, so no ARN names them.
            actions=["ec2:DetachNetworkInterface"],
            resources=["*"],
            conditions={"StringEquals": {"ec2:Region": Aws.REGION}},
        ),
        iam.PolicyStatement(
            sid="AttachNetworkInterfaces",
            # The VPC CNI asks HyperPod for further network interfaces of a node.
            # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AttachClusterNodeNetworkInterface.html
            actions=["sagemaker:AttachClusterNodeNetworkInterface"],
            resources=[any_hyperpod_cluster(scope)],
        ),
        iam.PolicyStatement(
            sid="TagNetworkInterfaces", actions=["ec2:CreateTags"], resources=[interfaces]
        ),
        iam.PolicyStatement(
            sid="DescribeNetwork",
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
        ),
    ]


def _pull_images() -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid="PullImages",
        actions=[
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:GetDownloadUrlForLayer",
        ],
        resources=[any_repository()],
    )


def _read_scripts(
    scope: Construct, bucket: s3.IBucket, *, keys: Sequence[str]
) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(
            sid="ListScripts", actions=["s3:ListBucket"], resources=[bucket.bucket_arn]
        ),
        iam.PolicyStatement(
            sid="ReadScripts",
            actions=["s3:GetObject"],
            resources=[bucket.arn_for_objects(each) for each in keys],
        ),
        *use_of_bucket_key(scope, bucket, sid="DecryptScripts", actions=["kms:Decrypt"]),
    ]
