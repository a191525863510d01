"""The launch templates of EKS node groups: what instances are like, and where they run."""

from collections.abc import Iterator, Mapping
from typing import Any

from aws_cdk import Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK, ManagedNodeGroupConfig
from hyperpod_cdk.schema.section import members
from hyperpod_cdk.synthesis.reasons import skip_checkov
from hyperpod_cdk.synthesis.trust import mark_own

# https://docs.aws.amazon.com/eks/latest/userguide/al2023.html, the root device of Amazon Linux.
_ROOT_DEVICE = "/dev/xvda"
_NODE_CONFIG = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0
"""


def launch_template(
    scope: Construct,
    construct_id: str,
    *,
    group: ManagedNodeGroupConfig,
    security_group: ec2.ISecurityGroup,
    volume_key: kms.IKey | None,
    tags: Mapping[str, str],
) -> ec2.CfnLaunchTemplate:
    """Return the launch template of a node group, with the placement group that it names.

    The security group is that of control plane and nodes: EFA needs its rules. Without a key,
    root volumes have the account's key of EBS. A Capacity Block, which is paid for as a whole, goes
    without the tags: its instances would have to end for other ones.
    """
    volume = ec2.BlockDeviceVolume.ebs(
        group.volume_size_gib,
        encrypted=True,
        kms_key=volume_key,
        volume_type=ec2.EbsDeviceVolumeType.GP3,
    )
    placement: ec2.IPlacementGroup | None = None
    placement_id = f"{construct_id}Placement"
    if group.placement_group_name is not None:
        placement = ec2.PlacementGroup.from_placement_group_name(
            scope, placement_id, group.placement_group_name
        )
    elif group.is_clustered:
        placement = ec2.PlacementGroup(
            scope, placement_id, strategy=ec2.PlacementGroupStrategy.CLUSTER
        )
        mark_own(placement)
    template = ec2.LaunchTemplate(
        scope,
        construct_id,
        block_devices=[ec2.BlockDevice(device_name=_ROOT_DEVICE, volume=volume)],
        detailed_monitoring=group.detailed_monitoring,
        http_put_response_hop_limit=group.http_put_response_hop_limit,
        require_imdsv2=True,
        placement_group=placement,
        # Interfaces that are listed have groups of their own, and EC2 takes no others with them.
        security_group=None if group.has_efa else security_group,
        user_data=_user_data() if group.joins_local_disks else None,
    )
    own = {} if group.capacity == CAPACITY_BLOCK else tags
    for key, value in {**own, "Name": group.name}.items():
        Tags.of(template).add(key, value)
    mark_own(template)
    resource = template.node.default_child
    assert isinstance(resource, ec2.CfnLaunchTemplate)  # noqa: S101 - what the L2 makes
    # The L2 has none of these.
    for name, value in _further(group, security_group_id=security_group.security_group_id):
        resource.add_property_override(f"LaunchTemplateData.{name}", value)
    if group.shows_metadata_to_pods:
        skip_checkov(
            template,
            resource_type="AWS::EC2::LaunchTemplate",
            reasons={"CKV_AWS_341": "`http_put_response_hop_limit` lets pods read the metadata."},
        )
    return resource


def _user_data() -> ec2.UserData:
    data = ec2.MultipartUserData()
    data.add_part(
        ec2.MultipartBody.from_raw_body(content_type="application/node.eks.aws", body=_NODE_CONFIG)
    )
    return data


def _further(group: ManagedNodeGroupConfig, *, security_group_id: str) -> Iterator[tuple[str, Any]]:
    if group.has_efa:
        yield "NetworkInterfaces", _interfaces(group, security_group_id=security_group_id)
    target = members(
        {
            "CapacityReservationId": group.capacity_reservation_id,
            "CapacityReservationResourceGroupArn": group.capacity_reservation_resource_group_arn,
        }
    )
    if target:
        yield "CapacityReservationSpecification.CapacityReservationTarget", target
    if group.capacity == CAPACITY_BLOCK:
        # https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
        yield "InstanceMarketOptions.MarketType", "capacity-block"
        yield "InstanceType", group.instance_types[0]


def _interfaces(group: ManagedNodeGroupConfig, *, security_group_id: str) -> list[dict[str, Any]]:
    """Return the interfaces of an instance: one with addresses, and one of EFA on each card.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    """
    facts = group.facts[0]
    first = facts.network_cards - facts.efa_interfaces
    places = [(card, int(card == 0)) for card in range(first, facts.network_cards)]
    return [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": device,
            "InterfaceType": kind,
            "Groups": [security_group_id],
            "DeleteOnTermination": True,
        }
        for kind, where in (("interface", [(0, 0)]), ("efa-only", places))
        for card, device in where
    ]
