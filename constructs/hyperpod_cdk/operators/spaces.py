"""The roles of SageMaker Spaces, and of the driver that gives them volumes."""

from aws_cdk import Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    acknowledge_inline_policies,
    managed_policy_nag_id,
    statement,
    wildcard_nag_id,
)

_CONTROLLER_POLICY = "AmazonSageMakerSpacesControllerPolicy"
_EBS_POLICY = "service-role/AmazonEBSCSIDriverPolicy"


class SpacesRole(Construct):
    """The role of the controller of SageMaker Spaces, by EKS Pod Identity.

    AWS documents it as always required. Its rights are for remote access and the web UI, which are
    off.
    https://docs.aws.amazon.com/sagemaker/latest/dg/permission-setup.html

    Args:
        cluster: The EKS cluster.
    """

    def __init__(self, scope: Construct, construct_id: str, *, cluster: eks.ICluster) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Controller",
            cluster=cluster,
            namespace="jupyter-k8s-system",
            service_account="jupyter-k8s-controller-manager",
            description="Manages SageMaker Spaces",
        ).role
        _attach(role, _CONTROLLER_POLICY, owner="the controller of SageMaker Spaces")


class VolumesRole(Construct):
    """The role of the CSI driver of EBS, by EKS Pod Identity.

    HyperPod's nodes are not instances of the account, so volumes are attached by HyperPod's API.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-ebs.html

    Args:
        cluster: The EKS cluster.
    """

    def __init__(self, scope: Construct, construct_id: str, *, cluster: eks.ICluster) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Driver",
            cluster=cluster,
            namespace="kube-system",
            service_account="ebs-csi-controller-sa",
            description="Makes EBS volumes and attaches them to nodes",
        ).role
        _attach(role, _EBS_POLICY, owner="the CSI driver of EBS")
        clusters = Stack.of(self).format_arn(
            service="sagemaker", resource="cluster", resource_name="*"
        )
        switch = "`operators.ebs_csi_driver`"
        policy = iam.Policy(
            self,
            "Policy",
            roles=[role],
            statements=[
                statement(
                    self,
                    sid="AttachVolumes",
                    why="HyperPod attaches volumes of claims to its nodes, and takes them off.",
                    added_by=switch,
                    actions=[
                        "sagemaker:AttachClusterNodeVolume",
                        "sagemaker:DetachClusterNodeVolume",
                    ],
                    resources=[clusters],
                ),
                statement(
                    self,
                    sid="DescribeCluster",
                    why="HyperPod looks at the EKS cluster on behalf of who attaches a volume.",
                    added_by=switch,
                    actions=["eks:DescribeCluster"],
                    resources=[cluster.cluster_arn],
                ),
            ],
        )
        acknowledge_inline_policies(policy)
        reason = "HyperPod draws the ID of its cluster, and another one when it is replaced."
        acknowledge(policy, {wildcard_nag_id(self, clusters): reason})


def _attach(role: iam.Role, policy: str, *, owner: str) -> None:
    role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name(policy))
    reason = f"AWS documents this managed policy as that of {owner}, and keeps it."
    acknowledge(role, {managed_policy_nag_id(policy): reason})
