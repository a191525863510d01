"""The IAM role of HyperPod nodes."""

from collections.abc import Sequence

from aws_cdk import Aws, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.hyperpod.access import any_hyperpod_cluster
from hyperpod_cdk.hyperpod.data_buckets import (
    data_bucket_acknowledgments,
    data_bucket_statements,
)
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.hyperpod.node_needs import need_acknowledgments, need_statements
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.hyperpod.trust import SOURCE_ACCOUNT_IF_SENT
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.node_subnets import NodeSubnets
from hyperpod_cdk.synthesis.acknowledge import (
    acknowledge,
    acknowledge_inline_policies,
    managed_policy_nag_id,
    wildcard_nag_id,
)
from hyperpod_cdk.synthesis.sizes import refuse_large_policy

_MANAGED_POLICY = "AmazonSageMakerClusterInstanceRolePolicy"


class ExecutionRole(Construct):
    """The role that HyperPod nodes run as.

    The managed policy of HyperPod nodes, plus what the VPC CNI, image pulls and Pod Identity need
    (https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html).
    Actions that change EC2 are limited to network interfaces and instances of this account and
    region and to the given subnets and security group. SageMaker may assume it for this account
    only.

    Args:
        cluster: Its groups without an execution role of their own use this one; what they name
            (subnets, security groups, keys, scripts, alarms) is in its rights, as are the data
            buckets.
        orchestrator: What runs the jobs of the nodes.
        vpc: The VPC of the nodes.
        subnets: Where nodes' network interfaces may be made.
        security_group: The group that they may carry.
        lifecycle_scripts: Scripts that nodes read.

    Attributes:
        role: The role.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: ClusterConfig,
        orchestrator: Orchestrator,
        vpc: ec2.IVpc,
        subnets: NodeSubnets,
        security_group: ec2.ISecurityGroup,
        lifecycle_scripts: LifecycleScripts,
    ) -> None:
        super().__init__(scope, construct_id)
        groups = [group for group in cluster.all_groups if group.execution_role_arn is None]
        self.role = iam.Role(
            self,
            "Role",
            description="HyperPod cluster nodes",
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com",
                conditions=SOURCE_ACCOUNT_IF_SENT,
            ),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(_MANAGED_POLICY)],
        )
        # One policy resource, so that a cluster can wait for it.
        self.policy = iam.Policy(
            self,
            "Policy",
            roles=[self.role],
            statements=[
                *self._network_statements(
                    groups, vpc=vpc, subnets=subnets, security_group=security_group
                ),
                _pull_images(),
                *orchestrator.node_statements(),
                *_read_scripts(lifecycle_scripts),
                *need_statements(self, groups),
                *data_bucket_statements(cluster.data_buckets),
            ],
        )
        refuse_large_policy(
            self.policy,
            to_do="let instance groups share subnets, security groups, keys and script locations, "
            "give some an execution_role_arn of your own, or list fewer data_buckets",
        )
        acknowledge_inline_policies(self.policy)
        acknowledge(
            self,
            {
                **self._acknowledgments(),
                **self._script_acknowledgments(lifecycle_scripts),
                **need_acknowledgments(self, groups),
                **data_bucket_acknowledgments(self, cluster.data_buckets),
            },
        )

    def _network_statements(
        self,
        groups: Sequence[NodeGroupConfig],
        *,
        vpc: ec2.IVpc,
        subnets: NodeSubnets,
        security_group: ec2.ISecurityGroup,
    ) -> list[iam.PolicyStatement]:
        overrides = [group.override_vpc for group in groups if group.override_vpc is not None]
        subnet_ids = [*subnets.ids, *(name for vpc in overrides for name in vpc.subnet_ids)]
        group_ids = [
            security_group.security_group_id,
            *(name for vpc in overrides for name in vpc.security_group_ids),
        ]
        interfaces = self._ec2_arn("network-interface", "*")
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
                    self._ec2_arn("instance", "*"),
                    *(self._ec2_arn("security-group", name) for name in dict.fromkeys(group_ids)),
                    *(self._ec2_arn("subnet", name) for name in dict.fromkeys(subnet_ids)),
                ],
                # Instances have no VPC in their conditions.
                conditions={"ArnEqualsIfExists": {"ec2:Vpc": self._ec2_arn("vpc", vpc.vpc_id)}},
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
                resources=[any_hyperpod_cluster(self)],
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

    def _acknowledgments(self) -> dict[str, str]:
        return {
            managed_policy_nag_id(_MANAGED_POLICY): (
                "HyperPod documents this managed policy as the nodes', and AWS keeps it."
            ),
            wildcard_nag_id(self, self._ec2_arn("network-interface", "*")): (
                "The CNI makes and changes network interfaces whose ids are not known ahead."
            ),
            wildcard_nag_id(self, self._ec2_arn("instance", "*")): (
                "Network interfaces are attached to nodes whose ids are not known ahead."
            ),
            wildcard_nag_id(self, "*"): (
                "Detaching names instances in an account of the service; the others only "
                "read, or log in to ECR, and AWS takes no resource for them."
            ),
            wildcard_nag_id(self, any_hyperpod_cluster(self)): (
                "A HyperPod cluster's ARN ends in an id that the service draws at creation; "
                "the cluster needs this role before it has one."
            ),
            wildcard_nag_id(self, _any_repository()): (
                "Images come from repositories of several AWS accounts and regions; pull only."
            ),
        }

    def _script_acknowledgments(self, scripts: LifecycleScripts) -> dict[str, str]:
        return {
            wildcard_nag_id(self, scripts.bucket.arn_for_objects(pattern)): (
                "A prefix of the bucket that holds lifecycle scripts alone; read only."
            )
            for pattern in scripts.patterns
            if pattern.endswith("*")
        }

    def _ec2_arn(self, resource: str, name: str) -> str:
        return Stack.of(self).format_arn(service="ec2", resource=resource, resource_name=name)


def _any_repository() -> str:
    return f"arn:{Aws.PARTITION}:ecr:*:*:repository/*"


def _pull_images() -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid="PullImages",
        actions=[
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:GetDownloadUrlForLayer",
        ],
        resources=[_any_repository()],
    )


def _read_scripts(scripts: LifecycleScripts) -> list[iam.PolicyStatement]:
    bucket = scripts.bucket
    return [
        iam.PolicyStatement(
            sid="ListScripts", actions=["s3:ListBucket"], resources=[bucket.bucket_arn]
        ),
        iam.PolicyStatement(
            sid="ReadScripts",
            actions=["s3:GetObject"],
            resources=[bucket.arn_for_objects(pattern) for pattern in scripts.patterns],
        ),
    ]
