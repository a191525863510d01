"""From the configuration to what the checks judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hyperpod_cdk.checks.inputs import Deployment, Group, Subnet, Taint, Volume

if TYPE_CHECKING:  # the configuration's loading imports this package
    from hyperpod_cdk.config.config import Config
    from hyperpod_cdk.config.network import NetworkConfig
    from hyperpod_cdk.config.node_group import NodeGroupConfig

# Keys of a group that the checks take under the same name.
_SAME_NAMES = (
    "name",
    "instance_type",
    "instance_types",
    "instance_count",
    "min_instance_count",
    "threads_per_core",
    "deep_health_checks",
    "availability_zone_id",
    "training_plan_arn",
    "capacity",
    "image_id",
    "image_release_version",
    "labels",
    "network_interface_type",
)


def deployment_of(config: Config) -> Deployment:
    """Return what the checks need of a configuration."""
    cluster = config.cluster
    return Deployment(
        groups=(
            *_groups(cluster.instance_groups, key="instance_groups"),
            *_groups(cluster.restricted_instance_groups, key="restricted_instance_groups"),
        ),
        hyperpod_subnets=tuple(_hyperpod_subnets(config.network)),
        eks_subnets=tuple(_eks_subnets(config.network)),
        kubernetes_version=config.eks.version,
        region=config.region,
        continuous=cluster.node_provisioning_mode == "Continuous",
        node_recovery=cluster.node_recovery,
        auto_scaling=cluster.auto_scaling,
        storage=config.storage is not None,
        components=config.hyperpod_components,
    )


def _groups(groups: Sequence[NodeGroupConfig], *, key: str) -> Iterator[Group]:
    # Restricted groups have fewer keys: what they lack is as the check takes it by default.
    for index, group in enumerate(groups):
        same = {name: getattr(group, name) for name in _SAME_NAMES if hasattr(group, name)}
        yield Group(
            path=("cluster", key, index),
            ebs_volumes=tuple(_volumes(group)),
            taints=tuple(
                Taint(key=taint.key, value=taint.value, effect=taint.effect)
                for taint in getattr(group, "taints", ())
            ),
            own_subnets=0 if group.override_vpc is None else len(group.override_vpc.subnet_ids),
            restricted=key == "restricted_instance_groups",
            **same,
        )


def _volumes(group: NodeGroupConfig) -> Iterator[Volume]:
    if group.volume_size_gib is not None:
        yield Volume()
    for volume in group.ebs_volumes:
        yield Volume(kms_key_id=volume.kms_key_id, root_volume=volume.root_volume)


def _hyperpod_subnets(network: NetworkConfig) -> Iterator[Subnet]:
    count = len(network.availability_zone_ids or network.public_subnet_cidrs)
    pairs = zip(network.hyperpod_subnets, network.hyperpod_zone_ids, strict=True)
    for index, (subnet, zone) in enumerate(pairs):
        yield Subnet(
            path=("network", "hyperpod_subnets", index, "cidr"),
            cidr=subnet.cidr,
            zone=zone or f"the region's zone {index % count + 1} by name",
            availability_zone_id=zone,
        )


def _eks_subnets(network: NetworkConfig) -> Iterator[Subnet]:
    for index, cidr in enumerate(network.eks_subnet_cidrs):
        yield Subnet(
            path=("network", "eks_subnet_cidrs", index),
            cidr=cidr,
            zone=f"zone {index + 1}",
        )
