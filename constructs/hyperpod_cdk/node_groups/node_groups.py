"""EKS managed node groups."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.network.subnets import NodeSubnets
from hyperpod_cdk.node_groups.autoscaler import autoscaler_tags, present_size
from hyperpod_cdk.node_groups.launch_template import launch_template
from hyperpod_cdk.node_groups.role import NodeRole
from hyperpod_cdk.node_groups.section import (
    CAPACITY_BLOCK,
    ON_DEMAND,
    SPOT,
    ManagedNodeGroupConfig,
)
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.errors import KeyPath, NamedIndex
from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_cdk.synthesis.template_parameters import ParameterText

_CAPACITIES = {ON_DEMAND: "ON_DEMAND", SPOT: "SPOT", CAPACITY_BLOCK: "CAPACITY_BLOCK"}
_AMIS = {
    ("x86_64", None): "AL2023_x86_64_STANDARD",
    ("x86_64", "GPU"): "AL2023_x86_64_NVIDIA",
    ("x86_64", "Neuron"): "AL2023_x86_64_NEURON",
    ("arm64", None): "AL2023_ARM_64_STANDARD",
    ("arm64", "GPU"): "AL2023_ARM_64_NVIDIA",
}
_EFFECTS = {
    "NoSchedule": "NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
}


OF_NODE_GROUPS: Final = [
    "AWS::EC2::LaunchTemplate",
    "AWS::EC2::PlacementGroup",
    "AWS::EKS::Nodegroup",
]
"""Types that tags of a whole app must leave out (`exclude_resource_types`).

EKS takes no other tags of a node group together with another version of its launch template, and a
placement group is replaced for other tags.
https://github.com/aws/aws-cdk/issues/16644
"""


class NodeGroups(Construct):
    """Managed node groups of an EKS cluster, each with a launch template, and the nodes' role.

    Tags of the app must leave `OF_NODE_GROUPS` out.

    Args:
        cluster: The EKS cluster.
        groups: The groups.
        kubernetes_version: Of the EKS cluster, such as `1.34`; another one replaces the nodes, but
            of groups in Capacity Blocks, which keep theirs. Default: a group keeps the version that
            the cluster has when the group is made.
        vpc: Its VPC.
        subnets: The private subnets of nodes.
        security_group: That of control plane and nodes.
        volume_key: Encrypts root volumes. Default: the account's key of EBS.
        instance_tags: Tags of instances and volumes, but of those in Capacity Blocks; other ones
            replace the nodes. Default: their names alone.
        autoscaled_with: The provisioner, which keeps the sizes that the Cluster Autoscaler has
            given the groups. Default: they have those of their sections.

    Attributes:
        role: The role of all nodes.
        groups: The node groups, by the names in the section.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        groups: Sequence[ManagedNodeGroupConfig],
        vpc: ec2.IVpc,
        subnets: NodeSubnets,
        security_group: ec2.ISecurityGroup,
        kubernetes_version: str | None = None,
        volume_key: kms.IKey | None = None,
        instance_tags: Mapping[str, str] | None = None,
        autoscaled_with: Provisioner | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._cluster, self._subnets = cluster, subnets
        self._provisioner, self._version = autoscaled_with, kubernetes_version
        self._template = partial(
            launch_template,
            security_group=security_group,
            volume_key=volume_key,
            tags=instance_tags or {},
        )
        self.role = NodeRole(
            self, "NodeRole", vpc=vpc, subnets=subnets.subnets, security_group=security_group
        ).role
        self.groups = {
            group.name: self._group(group, ("node_groups", NamedIndex(index, name=group.name)))
            for index, group in enumerate(groups)
        }

    def _group(self, group: ManagedNodeGroupConfig, where: KeyPath) -> eks.CfnNodegroup:
        scope, subnets = Construct(self, group.name), self._subnets
        placed = (
            [subnets.in_zone(group.availability_zone_id)]
            if group.is_in_one_zone
            else subnets.subnets
        )
        zones = [subnets.zone_of(each) for each in placed]
        for reason, values in self._fixed(group, zones=zones):
            for key, value in values.items():
                FixedValue(
                    scope,
                    key.title().replace("_", ""),
                    key=(*where, key),
                    value=value,
                    reason=reason,
                    instead="list a group of another name with it, and remove this one later",
                )
        template = self._template(scope, "LaunchTemplate", group=group)
        size: float = group.desired_size
        if self._provisioner is not None:
            size = present_size(
                scope,
                "Size",
                cluster=self._cluster,
                group=group,
                provisioner=self._provisioner,
            )
        # L1: the L2 takes P5 and Trn1 for types without accelerators, and refuses their AMIs.
        return eks.CfnNodegroup(
            scope,
            "NodeGroup",
            cluster_name=self._cluster.cluster_name,
            nodegroup_name=group.name,
            node_role=self.role.role_arn,
            ami_type=_AMIS[group.facts[0].architecture, group.accelerator_kind],
            # With a release, too, which EKS otherwise takes for one of the group's former version.
            # In a Capacity Block, EKS takes none while there are nodes, with whatever else changes.
            version=None if group.capacity == CAPACITY_BLOCK else self._version,
            release_version=group.release_version,
            capacity_type=_CAPACITIES[group.capacity],
            # The launch template of a Capacity Block must have it, and EKS takes it from one.
            instance_types=None if group.capacity == CAPACITY_BLOCK else [*group.instance_types],
            scaling_config=eks.CfnNodegroup.ScalingConfigProperty(
                min_size=group.min_size,
                desired_size=size,
                max_size=group.most_nodes,
            ),
            update_config=eks.CfnNodegroup.UpdateConfigProperty(
                max_unavailable=group.max_unavailable,
                update_strategy=group.stated_update_strategy,
            ),
            node_repair_config=eks.CfnNodegroup.NodeRepairConfigProperty(enabled=group.node_repair),
            labels=group.node_labels or None,
            taints=[
                eks.CfnNodegroup.TaintProperty(
                    key=each.key, value=each.value, effect=_EFFECTS[each.effect]
                )
                for each in group.taints
            ]
            or None,
            tags=None if self._provisioner is None else autoscaler_tags(group),
            subnets=[subnet.subnet_id for subnet in placed],
            launch_template=eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
                id=template.ref, version=template.attr_latest_version_number
            ),
        )

    def _fixed(
        self, group: ManagedNodeGroupConfig, *, zones: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield what a group that is there cannot change, by its key, and why.

        Its subnets cannot, which not only its zone decides: other HyperPod subnets do, and EFA.
        """
        parameter = next((each for each in zones if isinstance(each, ParameterText)), None)
        yield (
            "CloudFormation would replace the node group, whose name is taken",
            {
                "instance_types": ", ".join(group.instance_types),
                "capacity": group.capacity,
                "availability_zone_id": ", ".join(zones) if parameter is None else parameter,
            },
        )
        if all(each.efa_interfaces for each in group.facts):
            yield (
                "EKS takes no other launch template together with other labels, and EFA has both",
                {"efa": str(group.has_efa).lower()},
            )
        if self._provisioner is not None:
            yield (
                "EKS takes no other launch template together with other tags, and the autoscaler "
                "knows the size by one",
                {"volume_size_gib": str(group.volume_size_gib)},
            )
