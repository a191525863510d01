"""Task governance: Kueue as an EKS add-on, the cluster policy, and the quotas of teams."""

from collections.abc import Sequence
from functools import partial

from aws_cdk import Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.eks.addons import add_addons
from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.governance.section import GovernanceConfig
from hyperpod_cdk.hyperpod.access import any_hyperpod_cluster, of_stack
from hyperpod_cdk.provisioner.access import NO_ADMIN
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.reasons import statement
from hyperpod_cdk.synthesis.template_parameters import json_in_template
from hyperpod_cdk.teams.section import TeamConfig
from hyperpod_shared.governance import ADDON, Noun

_LISTS = "AWS takes no resource for listing task governance."


class TaskGovernance(Construct):
    """Task governance of a HyperPod cluster that EKS orchestrates.

    The add-on installs Kueue, and so needs a node, and no other Kueue. CloudFormation's own types
    of policies and quotas are missing in most regions that have HyperPod, so the provisioner makes
    them. What others make in the console stays theirs.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup.html

    Make it after the nodes, and delete it before the HyperPod cluster, which cannot be deleted
    while there are quotas.

    Args:
        cluster: The EKS cluster.
        control_plane: The section that describes it, for the Kubernetes version.
        hyperpod_cluster_name: The HyperPod cluster.
        provisioner: Makes policy and quotas; needs `ProvisionerAccess` to the EKS cluster.
        governance: Which jobs go first, and who uses what is idle.
        teams: Those with quotas.
        hyperpod_stack_name: Name of the stack of the HyperPod cluster. Default: a right to govern
            the clusters of other deployments, too.

    Attributes:
        addon: The EKS add-on.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        control_plane: EksConfig,
        hyperpod_cluster_name: str,
        provisioner: Provisioner,
        governance: GovernanceConfig,
        teams: Sequence[TeamConfig],
        hyperpod_stack_name: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        made = add_addons(self, [ADDON], cluster=cluster, kubernetes_version=control_plane.version)
        self.addon = made[ADDON]
        provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::TaskGovernance",
            properties={
                "ClusterName": cluster.cluster_name,
                "HyperPodClusterName": hyperpod_cluster_name,
                "SchedulerConfig": json_in_template(governance.to_request()),
                "Quotas": json_in_template([team.to_request() for team in teams]),
            },
            statements=self._statements(cluster, hyperpod_stack_name),
            depends_on=[self.addon],
        )

    def _statements(
        self, cluster: eks.ICluster, hyperpod_stack_name: str | None
    ) -> list[iam.PolicyStatement]:
        clusters = any_hyperpod_cluster(self)
        objects = [
            Stack.of(self).format_arn(service="sagemaker", resource=kind, resource_name="*")
            for kind in ("cluster-scheduler-config", "compute-quota")
        ]
        entries = Stack.of(self).format_arn(
            service="eks", resource="access-entry", resource_name=f"{cluster.cluster_name}/*"
        )
        add = partial(statement, self, added_by="`governance`")
        return [
            add(
                sid="GovernTasks",
                why=(
                    "It makes the cluster policy and the quotas of teams, whose ARNs end in "
                    "ids that HyperPod draws."
                ),
                actions=[
                    f"sagemaker:{verb}{noun}"
                    for noun in Noun
                    for verb in ("Create", "Delete", "Describe", "Update")
                ],
                # To make one takes the right on the cluster, too:
                # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
                resources=[*objects, clusters],
                # Policies and quotas have no tag; the provisioner knows its own by a mark.
                conditions=of_stack(self, hyperpod_stack_name),
                wildcard="The ARN ends in an id that HyperPod draws.",
            ),
            add(
                sid="FindGovernedCluster",
                why="It looks up the ARN of the HyperPod cluster that is governed.",
                actions=["sagemaker:DescribeCluster"],
                resources=[clusters],
            ),
            add(
                sid="LetHyperPodGovern",
                why=(
                    "With its rights, HyperPod looks up what it may do in the EKS cluster; the "
                    "right to associate access policies is there already."
                ),
                actions=["eks:ListAssociatedAccessPolicies"],
                resources=[entries],
                wildcard=(
                    "An access entry's ARN ends in an id that EKS draws; only this cluster's "
                    "entries match."
                ),
            ),
            add(
                sid="LetHyperPodCeaseToGovern",
                why=(
                    "With its rights, HyperPod takes its access policy back when a quota or "
                    "the cluster policy changes or goes; no policy of admins is meant."
                ),
                # Of the handlers of AWS::SageMaker::ComputeQuota:
                # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
                actions=["eks:DisassociateAccessPolicy"],
                resources=[entries],
                conditions=NO_ADMIN,
            ),
            add(
                sid="ListTaskGovernance",
                why=f"It finds what there is. {_LISTS}",
                actions=[
                    "sagemaker:ListClusterSchedulerConfigs",
                    "sagemaker:ListComputeQuotas",
                ],
                resources=["*"],
                wildcard=_LISTS,
            ),
        ]
