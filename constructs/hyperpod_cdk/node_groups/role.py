"""The IAM role of the nodes of EKS node groups."""

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.hyperpod.node_permissions import network_statements
from hyperpod_cdk.hyperpod.orchestrator import Eks
from hyperpod_cdk.synthesis.reasons import acknowledge_inline_policies, attach_managed_policy

# To join and hand pods their roles, and to pull images:
# https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
_MANAGED = ("AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly")
# Only HyperPod's nodes are in an account of the service, which gets leave to attach an interface:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
_OF_SERVICE = {"ec2:CreateNetworkInterfacePermission", "ec2:DeleteNetworkInterfacePermission"}
# What the VPC CNI asks of EC2:
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKS_CNI_Policy.html
_INTERFACES = replace(
    Eks.interface_use,
    actions=(
        *(action for action in Eks.interface_use.actions if action not in _OF_SERVICE),
        "ec2:DetachNetworkInterface",
    ),
    attaches=False,
    of_service=False,
    added_by="`node_groups`",
)


class NodeRole(Construct):
    """The role of EC2 nodes. EKS makes its access entry with the first group that has it.

    The VPC CNI gives pods addresses by the rights of the node, as on HyperPod's nodes.

    Attributes:
        role: The role.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        security_group: ec2.ISecurityGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        statements = network_statements(
            self,
            use=_INTERFACES,
            vpc_id=vpc.vpc_id,
            subnet_ids=[subnet.subnet_id for subnet in subnets],
            group_ids=[security_group.security_group_id],
        )
        self.role = iam.Role(
            self,
            "Role",
            description="Nodes of EKS node groups",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            # In the role, so that what depends on it waits for its permissions, too.
            inline_policies={"Network": iam.PolicyDocument(statements=statements)},
        )
        acknowledge_inline_policies(self.role)
        for name in _MANAGED:
            attach_managed_policy(self.role, name, whose="one of EKS's nodes")
