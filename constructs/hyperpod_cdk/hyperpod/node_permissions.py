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
from hyperpod_cdk.synthesis.statements import statement


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
        _pull_images(scope),
        *orchestrator.node_statements(),
        *_read_scripts(scope, bucket, keys=script_keys),
        *need_statements(scope, groups),
        *data_bucket_statements(scope, data_buckets),
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
        statement(
            scope,
            sid="ManageNetworkInterfaces",
            why=(
                "The VPC CNI gives pods addresses, in the VPC of the deployment, its node subnets "
                "and its security group."
            ),
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
        statement(
            scope,
            sid="DetachNetworkInterfaces",
            why=(
                "The same, for an instance that HyperPod keeps in an account of the service, which "
                "no ARN names."
            ),
            actions=["ec2:DetachNetworkInterface"],
            resources=["*"],
            conditions={"StringEquals": {"ec2:Region": Aws.REGION}},
        ),
        statement(
            scope,
            sid="AttachNetworkInterfaces",
            why="The VPC CNI asks HyperPod for further network interfaces.",
            # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AttachClusterNodeNetworkInterface.html
            actions=["sagemaker:AttachClusterNodeNetworkInterface"],
            resources=[any_hyperpod_cluster(scope)],
        ),
        statement(
            scope,
            sid="TagNetworkInterfaces",
            why="The VPC CNI marks the network interfaces it makes.",
            actions=["ec2:CreateTags"],
            resources=[interfaces],
        ),
        statement(
            scope,
            sid="DescribeNetwork",
            why=(
                "The VPC CNI, the login to ECR and Lustre over EFA look up what is there. AWS "
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
        resources=[any_repository()],
    )


def _read_scripts(
    scope: Construct, bucket: s3.IBucket, *, keys: Sequence[str]
) -> list[iam.PolicyStatement]:
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
            resources=[bucket.arn_for_objects(each) for each in keys],
        ),
        *use_of_bucket_key(
            scope,
            bucket,
            sid="DecryptScripts",
            why="A node reads scripts that S3 encrypts with the key.",
            actions=["kms:Decrypt"],
        ),
    ]
