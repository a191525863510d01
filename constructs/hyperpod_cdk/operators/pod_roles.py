"""The roles that pods of SageMaker Spaces and of CSI drivers have by EKS Pod Identity."""

from collections.abc import Sequence
from functools import partial

from aws_cdk import Aws, Stack
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.hyperpod.access import of_stack
from hyperpod_cdk.hyperpod.data_bucket_section import DataBucketConfig
from hyperpod_cdk.hyperpod.node_permissions import (
    data_bucket_statements,
)
from hyperpod_cdk.synthesis.reasons import (
    attach_managed_policy,
    inline_policy,
    statement,
)

_CONTROLLER_POLICY = "AmazonSageMakerSpacesControllerPolicy"
_EBS_POLICY = "service-role/AmazonEBSCSIDriverPolicy"


class SpacesRole(Construct):
    """The role of the controller of SageMaker Spaces, by EKS Pod Identity.

    AWS documents it as always required. Its rights are for remote access and the web UI, which are
    off.
    https://docs.aws.amazon.com/sagemaker/latest/dg/permission-setup.html
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
        attach_managed_policy(
            role, _CONTROLLER_POLICY, whose="that of the controller of SageMaker Spaces"
        )


class VolumesRole(Construct):
    """The role of the CSI driver of EBS, by EKS Pod Identity.

    HyperPod's nodes are not instances of the account, so volumes are attached by HyperPod's API,
    to nodes of no cluster that is tagged with another deployment's stack.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-ebs.html
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        hyperpod_stack_name: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Driver",
            cluster=cluster,
            namespace="kube-system",
            service_account="ebs-csi-controller-sa",
            description="Makes EBS volumes and attaches them to nodes",
        ).role
        attach_managed_policy(role, _EBS_POLICY, whose="that of the CSI driver of EBS")
        clusters = Stack.of(self).format_arn(
            service="sagemaker", resource="cluster", resource_name="*"
        )
        add = partial(statement, self, added_by="`operators.ebs_csi_driver`")
        inline_policy(
            self,
            "Policy",
            role=role,
            statements=[
                add(
                    sid="AttachVolumes",
                    why="HyperPod attaches volumes of claims to its nodes, and takes them off.",
                    actions=[
                        "sagemaker:AttachClusterNodeVolume",
                        "sagemaker:DetachClusterNodeVolume",
                    ],
                    resources=[clusters],
                    conditions=of_stack(self, hyperpod_stack_name),
                    wildcard=(
                        "HyperPod draws the ID of its cluster, and another one when it is replaced."
                    ),
                ),
                add(
                    sid="DescribeCluster",
                    why="HyperPod looks at the EKS cluster on behalf of who attaches a volume.",
                    actions=["eks:DescribeCluster"],
                    resources=[cluster.cluster_arn],
                ),
            ],
        )


def jumpstart_bucket(region: str) -> str:
    """Return the name of the bucket of AWS with the models of SageMaker JumpStart.

    https://docs.aws.amazon.com/sagemaker/latest/dg/jumpstart-foundation-models-use-python-sdk.html
    """
    return f"jumpstart-cache-prod-{region}"


class ModelsRole(Construct):
    """The role of the CSI driver of Mountpoint for Amazon S3, by EKS Pod Identity; it only reads.

    The models of SageMaker JumpStart, and the data buckets that pods mount.
    https://github.com/awslabs/mountpoint-s3-csi-driver/blob/main/docs/CONFIGURATION.md
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        data_buckets: Sequence[DataBucketConfig] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Driver",
            cluster=cluster,
            namespace="kube-system",
            service_account="s3-csi-driver-sa",
            description="Reads models that pods mount from S3",
        ).role
        jumpstart = f"arn:{Aws.PARTITION}:s3:::{jumpstart_bucket(Stack.of(self).region)}"
        add = partial(statement, self, added_by="`operators.s3_csi_driver`")
        inline_policy(
            self,
            "Policy",
            role=role,
            statements=[
                add(
                    sid="FindModels",
                    why="It finds the models of SageMaker JumpStart, in a bucket of AWS.",
                    actions=["s3:ListBucket"],
                    resources=[jumpstart],
                ),
                add(
                    sid="ReadModels",
                    why="It reads the models of SageMaker JumpStart, in a bucket of AWS.",
                    actions=["s3:GetObject"],
                    resources=[f"{jumpstart}/*"],
                    wildcard="Models of JumpStart that AWS publishes; read only.",
                ),
                *data_bucket_statements(self, data_buckets),
            ],
        )
