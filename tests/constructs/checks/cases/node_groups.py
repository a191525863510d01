"""Rules on EKS node groups."""

from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.checks.any_nodes import any_nodes
from hyperpod_cdk.checks.efa_zones import efa_zones
from hyperpod_cdk.checks.eks.group_names import group_names
from hyperpod_cdk.checks.eks.node_group_addresses import node_group_addresses
from hyperpod_cdk.checks.eks.node_group_count import node_group_count
from hyperpod_cdk.checks.eks.node_group_metadata import node_group_metadata
from hyperpod_cdk.checks.eks.node_group_release import node_group_release
from hyperpod_cdk.checks.eks.node_group_volume_key import node_group_volume_key
from hyperpod_cdk.checks.eks.reservation_updates import reservation_updates
from hyperpod_cdk.checks.eks.reservation_zone import reservation_zone
from hyperpod_cdk.checks.eks.spot_placement import spot_placement
from hyperpod_cdk.checks.eks.system_pods import system_pods
from hyperpod_cdk.checks.unlisted_types import unlisted_types
from tests.support.configs import configured
from tests.support.rule_cases import ERROR, OTHER_ZONE, TAINT, WARNING, ZONE, Cases, config, group

_P4D, _CPU = ["p4d.24xlarge"], ["c5.2xlarge"]
_RESERVED: dict[str, Any] = {"capacity_reservation_id": "cr-0123456789abcdef0"}
_BLOCK = {"instance_types": ["p5.48xlarge"], "capacity": "CapacityBlock", **_RESERVED}
_TWO_ZONES = {
    "availability_zone_ids": [ZONE, OTHER_ZONE],
    "hyperpod_subnets": [
        {"cidr": "10.1.0.0/16", "availability_zone_id": ZONE},
        {"cidr": "10.2.0.0/16", "availability_zone_id": OTHER_ZONE},
    ],
}
_SMALL = {"hyperpod_subnets": [{"cidr": "10.1.0.0/24"}]}
_KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


def _group(types: list[str], index: int = 0, **changes: Any) -> dict[str, Any]:
    return {"name": f"nodes-{index}", "instance_types": types, "desired_size": 1, **changes}


def _with(*groups: dict[str, Any], **changes: Any) -> Config:
    return configured({"cluster": None, "node_groups": list(groups), **changes})


CASES: Cases = {}
CASES[any_nodes] = {"those of a node group": _with(_group(_CPU))}
CASES[system_pods] = {
    "a node of a node group": _with(_group(_CPU)),
    "no node without a taint": (_with(_group(_CPU, taints=[TAINT])), (ERROR, "node_groups")),
    "none yet": (_with(_group(_CPU, desired_size=0, max_size=2)), (WARNING, "node_groups")),
}
CASES[node_group_count] = {
    "as many as EKS takes": _with(*(_group(_CPU, n) for n in range(30))),
    "one more": (_with(*(_group(_CPU, n) for n in range(31))), (WARNING, "node_groups")),
}
CASES[node_group_release] = {
    "of the version": _with(_group(_CPU, release_version="1.35.2-20251120")),
    "of another": (
        _with(_group(_CPU, release_version="1.33.5-20251112")),
        (ERROR, "node_groups[0].release_version"),
    ),
    "that a Capacity Block keeps": _with(_group(_CPU, release_version="1.33.5-20251112") | _BLOCK),
    "that no control plane had": (
        _with(_group(_CPU, release_version="1.36.0-20251112") | _BLOCK),
        (ERROR, "node_groups[0].release_version"),
    ),
}
CASES[reservation_zone] = {
    "one zone": _with(_group(_P4D, **_RESERVED)),
    "which is named": _with(
        _group(_P4D, availability_zone_id=OTHER_ZONE, **_RESERVED), network=_TWO_ZONES
    ),
    "which is left to the subnets": (
        _with(_group(_P4D, **_RESERVED), network=_TWO_ZONES),
        (WARNING, "node_groups[0].availability_zone_id"),
    ),
}
CASES[reservation_updates] = {
    "in none": _with(_group(_CPU)),
    "which ends nodes first": _with(_group(_P4D, **_RESERVED)),
    "a Capacity Block": _with(_group(_CPU, **_RESERVED) | _BLOCK),
    **{
        f"which is {strategy} on purpose": _with(
            _group(_CPU, update_strategy=strategy, **_RESERVED)
        )
        for strategy in ("DEFAULT", "MINIMAL")
    },
    "which adds nodes first": (
        _with(_group(_CPU, **_RESERVED)),
        (WARNING, "node_groups[0].update_strategy"),
    ),
}
CASES[group_names] = {
    "another name": config(group(), node_groups=[_group(_CPU)]),
    "that of an instance group": (
        config(group(), node_groups=[_group(_CPU, name="group-0")]),
        (ERROR, "node_groups[0].name"),
    ),
}
CASES[efa_zones] = {
    "another one without EFA": _with(
        _group(_P4D), _group(_CPU, 1, availability_zone_id=OTHER_ZONE), network=_TWO_ZONES
    ),
    "in one zone": _with(_group(_P4D), _group(_P4D, 1), network=_TWO_ZONES),
    "in two": (
        _with(_group(_P4D), _group(_P4D, 1, availability_zone_id=OTHER_ZONE), network=_TWO_ZONES),
        (WARNING, "node_groups[1].availability_zone_id"),
    ),
}
_INFERENCE = dict.fromkeys(
    ("cert_manager", "metrics_server", "s3_csi_driver", "inference_operator"), True
)
CASES[node_group_metadata] = {
    "of the node alone": _with(_group(_CPU)),
    "of pods": (
        _with(_group(_CPU, http_put_response_hop_limit=2)),
        (WARNING, "node_groups[0].http_put_response_hop_limit"),
    ),
    "of a load balancer controller": (
        _with(_group(_CPU), operators=_INFERENCE),
        (WARNING, "node_groups[0].taints"),
    ),
    "that it does not run on": _with(_group(_CPU, taints=[TAINT]), operators=_INFERENCE),
}
CASES[spot_placement] = {
    "several types": _with(_group(["g5.xlarge", "g5.2xlarge"], capacity="Spot")),
    "one type": (_with(_group(_CPU, capacity="Spot")), (WARNING, "node_groups[0].instance_types")),
    "next to each other": (
        _with(_group(_P4D, capacity="Spot")),
        (WARNING, "node_groups[0].placement_group"),
    ),
}
CASES[node_group_addresses] = {
    "room": _with(_group(_P4D, max_size=2), network=_SMALL),
    "none for the largest size": (  # Two interfaces of 50 addresses each.
        _with(_group(_P4D, max_size=3), network=_SMALL),
        (ERROR, "network.hyperpod_subnets[0].cidr"),
    ),
    "spread over two subnets": _with(
        _group(_CPU, desired_size=1000 // 10, max_size=450), network=_TWO_ZONES
    ),
}
CASES[node_group_volume_key] = {
    "its own key": _with(_group(_CPU), encryption={"create_kms_key": True}),
    "yours": (
        _with(_group(_CPU), encryption={"kms_key_arn": _KEY}),
        (WARNING, "encryption.kms_key_arn"),
    ),
}
CASES[unlisted_types] = {
    "types of plugins": _with(_group(["g4dn.xlarge"]), _group(_P4D, 1)),
    "Trn2 of EC2": (
        _with(_group(["trn2.48xlarge"])),
        (WARNING, "node_groups[0].instance_types[0]"),
    ),
}
