"""The Cluster Autoscaler: what it may do, what it runs as, and the sizes that it leaves."""

from functools import partial
from typing import Final

from aws_cdk import ArnFormat, Stack, Token
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.facts.addon_versions import autoscaler_image
from hyperpod_cdk.facts.job_resources import EFA, job_resources
from hyperpod_cdk.helm.images import mirrored
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.synthesis.reasons import (
    inline_policy,
    statement,
)

RELEASE: Final = "cluster-autoscaler"
"""Name of its Helm release, its Deployment and its service account."""
NAMESPACE: Final = "kube-system"
# https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupConfig.html
_BESIDE_SIZE: Final = {"labels", "taints", "max_unavailable", "update_strategy", "node_repair"}
_TAG: Final = "k8s.io/cluster-autoscaler/node-template/resources"


def autoscaler_tags(group: ManagedNodeGroupConfig) -> dict[str, str]:
    """Return the tags from which the Cluster Autoscaler knows a node that there is not yet.

    Labels and taints are EKS's, CPUs and memory EC2's, of the group's first type; the rest no API
    tells it. It asks EKS for the tags of the group.
    https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
    """
    tags = {"ephemeral-storage": f"{group.volume_size_gib}Gi"}
    found = job_resources(group.instance_types[0])
    if found is not None and found.accelerator is not None:
        tags[found.accelerator] = str(found.accelerators)
    if found is not None and group.has_efa:
        tags[EFA] = str(found.efa)
        tags["hugepages-2Mi"] = f"{found.hugepages_2mi_mib}Mi"
    return {f"{_TAG}/{name}": value for name, value in tags.items()}


def present_size(
    scope: Construct,
    construct_id: str,
    *,
    cluster: eks.ICluster,
    group: ManagedNodeGroupConfig,
    provisioner: Provisioner,
) -> float:
    """Return the size of a node group that an update leaves as the autoscaler has made it.

    It is looked up when something changes that EKS takes together with a size. Another version of
    the launch template, or of the AMI, leaves it as it was looked up last, which sends no size.
    https://github.com/aws/containers-roadmap/issues/1258
    """
    scaling = {
        "MinSize": group.min_size,
        "MaxSize": group.most_nodes,
        "DesiredSize": group.desired_size,
    }
    stack = Stack.of(scope)
    anything = stack.format_arn(
        service="eks",
        resource="nodegroup",
        resource_name=f"{cluster.cluster_name}/{group.name}/*",
    )
    access = provisioner.grant(
        scope,
        f"{construct_id}Access",
        statements=[
            statement(
                scope,
                sid="LookAtSize",
                why="It keeps the size that the Cluster Autoscaler has given a node group.",
                added_by="`operators.cluster_autoscaler`",
                actions=["eks:DescribeNodegroup"],
                resources=[anything],
                wildcard="EKS draws the end of a node group's ARN; the group need not exist yet.",
            )
        ],
    )
    resource = provisioner.custom_resource(
        scope,
        construct_id,
        resource_type="Custom::NodeGroupSize",
        properties={
            "ClusterName": cluster.cluster_name,
            "NodeGroupName": group.name,
            "Scaling": stack.to_json_string(scaling),
            "Beside": group.model_dump_json(include=_BESIDE_SIZE),
        },
        depends_on=[access],
    )
    return Token.as_number(resource.get_att("DesiredSize"))


class ClusterAutoscaler(Construct):
    """The Cluster Autoscaler, as a Helm release, with a role by EKS Pod Identity.

    It changes Auto Scaling groups of node groups of this EKS cluster alone, by the tag of EKS,
    which no one else sets. `registry` is where its image comes from in place of its own.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        kubernetes_version: str,
        registry: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Autoscaler",
            cluster=cluster,
            namespace=NAMESPACE,
            service_account=RELEASE,
            description="Adds nodes to node groups and takes idle ones away",
        )
        self._allow(role.role, cluster_name=cluster.cluster_name)
        HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "cluster-autoscaler",
            release=RELEASE,
            namespace=NAMESPACE,
            values={
                "image": mirrored(autoscaler_image(kubernetes_version), registry=registry),
                "clusterName": cluster.cluster_name,
                "region": Stack.of(self).region,
            },
            # A pod gets its role if the association is there before it starts.
            depends_on=[role],
        )

    def _allow(self, role: iam.Role, *, cluster_name: str) -> None:
        """Allow what the autoscaler calls, and changes of groups of the EKS cluster alone."""
        stack = Stack.of(self)
        add = partial(statement, self, added_by="`operators.cluster_autoscaler`")
        groups = stack.format_arn(
            service="autoscaling",
            resource="autoScalingGroup:*",
            resource_name="autoScalingGroupName/*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        node_groups = stack.format_arn(
            service="eks", resource="nodegroup", resource_name=f"{cluster_name}/*"
        )
        inline_policy(
            self,
            "Policy",
            role=role,
            statements=[
                add(
                    sid="ScaleNodeGroups",
                    why="It adds nodes, and ends those on which nothing runs.",
                    actions=[
                        "autoscaling:SetDesiredCapacity",
                        "autoscaling:TerminateInstanceInAutoScalingGroup",
                    ],
                    resources=[groups],
                    conditions={"StringEquals": {"aws:ResourceTag/eks:cluster-name": cluster_name}},
                    wildcard="EKS draws the names of the groups; their tag limits which.",
                ),
                add(
                    sid="FindNodeGroups",
                    why="It finds the groups and what their nodes are like. AWS takes no resource.",
                    actions=[
                        "autoscaling:DescribeAutoScalingGroups",
                        "autoscaling:DescribeAutoScalingInstances",
                        "autoscaling:DescribeLaunchConfigurations",
                        "autoscaling:DescribeScalingActivities",
                        "autoscaling:DescribeTags",
                        "ec2:DescribeImages",
                        "ec2:DescribeInstanceTypes",
                        "ec2:DescribeLaunchTemplateVersions",
                        "ec2:GetInstanceTypesFromInstanceRequirements",
                    ],
                    resources=["*"],
                    wildcard="They only read, and AWS takes no resource for them.",
                ),
                add(
                    sid="LookAtNodeGroups",
                    why="Labels, taints and tags of a group without nodes.",
                    actions=["eks:DescribeNodegroup"],
                    resources=[node_groups],
                    wildcard="EKS draws the ends of the node groups' ARNs.",
                ),
            ],
        )
