"""The IAM roles of HyperPod: that of the nodes, made or existing, and that of autoscaling."""

from collections.abc import Sequence
from typing import TypedDict, Unpack

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.hyperpod.access import (
    CLUSTER_ARN_IS_DRAWN,
    any_hyperpod_cluster,
    volume_key_statements,
)
from hyperpod_cdk.hyperpod.node_permissions import node_statements
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator
from hyperpod_cdk.hyperpod.section import MANAGED_POLICY, ClusterConfig
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.subnets import NodeSubnets
from hyperpod_cdk.synthesis.reasons import (
    acknowledge_inline_policies,
    attach_managed_policy,
    inline_policy,
    statement,
)
from hyperpod_cdk.synthesis.refusals import FixedValue, refuse_large_policy
from hyperpod_cdk.synthesis.trust import SOURCE_ACCOUNT_IF_SENT


class AutoScalingRole(Construct):
    """The role that HyperPod assumes to add and remove nodes as pods need them.

    For clusters of this account and region, and assumed by HyperPod for this account only.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html

    Args:
        volume_key_ids: KMS keys of the nodes' volumes, by ID or ARN. Default: none.

    Attributes:
        role: The role.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, volume_key_ids: Sequence[str] = ()
    ) -> None:
        super().__init__(scope, construct_id)
        rights = iam.PolicyDocument(
            statements=[
                statement(
                    self,
                    sid="ScaleClusters",
                    why=(
                        "As AWS documents it. The ARN of a cluster ends in an id that HyperPod "
                        "draws."
                    ),
                    added_by="`cluster.auto_scaling`",
                    actions=["sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"],
                    resources=[any_hyperpod_cluster(self)],
                    wildcard=CLUSTER_ARN_IS_DRAWN,
                ),
                *volume_key_statements(self, volume_key_ids),
            ]
        )
        self.role = iam.Role(
            self,
            "Role",
            description="Adds and removes nodes of the HyperPod cluster",
            assumed_by=iam.ServicePrincipal(
                "hyperpod.sagemaker.amazonaws.com",
                conditions=SOURCE_ACCOUNT_IF_SENT,
            ),
            # A child of the role, so that what depends on the role waits for its permissions, too.
            inline_policies={"ScaleClusters": rights},
        )
        acknowledge_inline_policies(self.role)


class ImportedExecutionRole(Construct):
    """An IAM role that exists, with the attributes of `ExecutionRole`.

    Nothing of it is changed: its policies must allow what `node_statements` lists, and its trust
    policy SageMaker.

    Args:
        role_arn: Its ARN.

    Attributes:
        role: The role.
    """

    def __init__(self, scope: Construct, construct_id: str, *, role_arn: str) -> None:
        super().__init__(scope, construct_id)
        self.role = iam.Role.from_role_arn(self, "Role", role_arn, mutable=False)


class RoleUse(TypedDict):
    """What the nodes of a role are among."""

    orchestrator: Orchestrator
    vpc: ec2.IVpc
    subnets: NodeSubnets
    security_group: ec2.ISecurityGroup
    lifecycle_scripts: LifecycleScripts


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
        **use: Unpack[RoleUse],
    ) -> None:
        super().__init__(scope, construct_id)
        scripts = use["lifecycle_scripts"]
        groups = [group for group in cluster.all_groups if group.execution_role_arn is None]
        self.role = iam.Role(
            self,
            "Role",
            role_name=cluster.execution_role_name,
            description="HyperPod cluster nodes",
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com",
                # HyperPod is not documented to send it, and AWS's own templates do not ask for it.
                conditions=SOURCE_ACCOUNT_IF_SENT,
            ),
        )
        attach_managed_policy(self.role, MANAGED_POLICY, whose="that of HyperPod's nodes")
        # A single policy resource, so that the cluster can depend on it.
        self.policy = inline_policy(
            self,
            "Policy",
            role=self.role,
            statements=node_statements(
                self,
                groups=groups,
                orchestrator=use["orchestrator"],
                vpc_id=use["vpc"].vpc_id,
                subnet_ids=use["subnets"].ids,
                security_group_id=use["security_group"].security_group_id,
                bucket=scripts.bucket if scripts.are_run else None,
                script_keys=scripts.pattern,
                data_buckets=cluster.data_buckets,
            ),
        )
        refuse_large_policy(
            self.policy,
            to_do="let instance groups share subnets, security groups, keys and script locations, "
            "give some an execution_role_arn of your own, or list fewer data_buckets",
        )


def execution_role_of(
    scope: Construct,
    construct_id: str,
    *,
    cluster: ClusterConfig,
    **use: Unpack[RoleUse],
) -> ExecutionRole | ImportedExecutionRole:
    """Return the nodes' role: one that is made, or the one that `cluster` names.

    The arguments are those of `ExecutionRole`.
    """
    existing = cluster.execution_role_arn
    FixedValue(
        scope,
        f"{construct_id}Name",
        key=("cluster", "execution_role_name" if existing is None else "execution_role_arn"),
        value=cluster.execution_role_name if existing is None else existing,
        reason="the role would be deleted under the nodes that run as it",
        instead="deploy under another name",
    )
    if existing is not None:
        return ImportedExecutionRole(scope, construct_id, role_arn=existing)
    return ExecutionRole(scope, construct_id, cluster=cluster, **use)
