"""EKS managed node groups."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.network.subnets import NodeSubnets
from hyperpod_cdk.node_groups.launch_template import launch_template
from hyperpod_cdk.node_groups.role import NodeRole
from hyperpod_cdk.node_groups.section import (
    CAPACITY_BLOCK,
    ON_DEMAND,
    SPOT,
    ManagedNodeGroupConfig,
)

_CAPACITIES = {
    ON_DEMAND: eks.CapacityType.ON_DEMAND,
    SPOT: eks.CapacityType.SPOT,
    CAPACITY_BLOCK: eks.CapacityType.CAPACITY_BLOCK,
}
_AMIS = {
    ("x86_64", None): eks.NodegroupAmiType.AL2023_X86_64_STANDARD,
    ("x86_64", "GPU"): eks.NodegroupAmiType.AL2023_X86_64_NVIDIA,
    ("x86_64", "Neuron"): eks.NodegroupAmiType.AL2023_X86_64_NEURON,
    ("arm64", None): eks.NodegroupAmiType.AL2023_ARM_64_STANDARD,
    ("arm64", "GPU"): eks.NodegroupAmiType.AL2023_ARM_64_NVIDIA,
}
_EFFECTS = {
    "NoSchedule": eks.TaintEffect.NO_SCHEDULE,
    "NoExecute": eks.TaintEffect.NO_EXECUTE,
    "PreferNoSchedule": eks.TaintEffect.PREFER_NO_SCHEDULE,
}


class NodeGroups(Construct):
    """Managed node groups of an EKS cluster, each with a launch template, and the nodes' role.

    Args:
        cluster: The EKS cluster.
        groups: The groups.
        vpc: Its VPC.
        subnets: The private subnets of nodes.
        security_group: That of control plane and nodes.
        volume_key: Encrypts root volumes. Default: the account's key of EBS.

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
        volume_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.role = NodeRole(
            self, "NodeRole", vpc=vpc, subnets=subnets.subnets, security_group=security_group
        ).role
        self.groups = {
            group.name: self._group(
                group,
                cluster=cluster,
                subnets=subnets,
                security_group=security_group,
                volume_key=volume_key,
            )
            for group in groups
        }

    def _group(
        self,
        group: ManagedNodeGroupConfig,
        *,
        cluster: eks.ICluster,
        subnets: NodeSubnets,
        security_group: ec2.ISecurityGroup,
        volume_key: kms.IKey | None,
    ) -> eks.Nodegroup:
        scope = Construct(self, group.name)
        template = launch_template(
            scope,
            "LaunchTemplate",
            group=group,
            security_group=security_group,
            volume_key=volume_key,
        )
        made = eks.Nodegroup(
            scope,
            "NodeGroup",
            cluster=cluster,
            nodegroup_name=group.name,
            node_role=self.role,
            ami_type=_AMIS[group.facts[0].architecture, group.accelerator_kind],
            release_version=group.release_version,
            capacity_type=_CAPACITIES[group.capacity],
            # The launch template of a Capacity Block must have it, and EKS takes it from one.
            instance_types=(
                None
                if group.capacity == CAPACITY_BLOCK
                else [ec2.InstanceType(name) for name in group.instance_types]
            ),
            min_size=group.min_size,
            desired_size=group.desired_size,
            max_size=group.most_nodes,
            max_unavailable=group.max_unavailable,
            # As everywhere else here, a budget keeps pods from being ended.
            force_update=False,
            enable_node_auto_repair=group.node_repair,
            labels=group.node_labels,
            taints=[
                eks.TaintSpec(key=each.key, value=each.value, effect=_EFFECTS[each.effect])
                for each in group.taints
            ],
            subnets=ec2.SubnetSelection(
                subnets=[subnets.in_zone(group.availability_zone_id)]
                if group.is_in_one_zone
                else list(subnets.subnets)
            ),
            launch_template_spec=eks.LaunchTemplateSpec(
                id=template.ref, version=template.attr_latest_version_number
            ),
        )
        resource = made.node.default_child
        assert isinstance(resource, eks.CfnNodegroup)  # noqa: S101 - what the L2 makes
        # Not a property of the L2.
        resource.add_property_override("UpdateConfig.UpdateStrategy", group.stated_update_strategy)
        return made
