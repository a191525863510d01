"""Rules on the images that jobs train in."""

from typing import Any

from hyperpod_cdk.checks.base_registry import base_registry
from hyperpod_cdk.checks.image_platform import image_platform
from hyperpod_cdk.checks.package_index import package_index
from hyperpod_cdk.checks.training_images import training_images
from tests.support.configs import CLOSED
from tests.support.rule_cases import (
    CPU,
    ERROR,
    GPU,
    TRAINIUM,
    WARNING,
    Cases,
    config,
    group,
    in_group,
)

_MIRROR = "111122223333.dkr.ecr.{}.amazonaws.com/mirror"
ARM, GB200 = "ml.m7g.2xlarge", "ml.p6e-gb200.36xlarge"
_INDEX = "https://pypi.example.com/simple"


def _names(*domains: str) -> dict[str, Any]:
    return {"network": {"allowed_domains": list(domains)}}


def _gov(**workloads: Any) -> dict[str, Any]:
    zone = "usgw1-az1"
    subnets = [{"cidr": "10.1.0.0/16", "availability_zone_id": zone}]
    zones = [zone, "usgw1-az2"]
    return {
        "region": "us-gov-west-1",
        "network": {"availability_zone_ids": zones, "hyperpod_subnets": subnets},
        "workloads": workloads,
    }


def _workloads(**changes: Any) -> dict[str, Any]:
    return {"workloads": changes}


CASES: Cases = {}
CASES[training_images] = {
    "none": config(group(CPU)),
    "Trainium": config(group(CPU), group(TRAINIUM, index=1), **_workloads()),
    "accelerators of Arm": config(group(GB200), **_workloads()),
    "no accelerators": (config(group(CPU), **_workloads()), (ERROR, "workloads")),
}
CASES[image_platform] = {
    "none built": config(group(GB200)),
    "Arm without accelerators": config(group(GPU), group(ARM, index=1), **_workloads()),
    "Arm alone": (config(group(GB200), **_workloads()), in_group(ERROR, "instance_type")),
    "Arm beside x86-64": (
        config(group(GPU), group(GB200, index=1), **_workloads()),
        in_group(WARNING, "instance_type", index=1),
    ),
}
CASES[base_registry] = {
    "AWS's": config(group(GPU), region="us-west-2", **_workloads()),
    "any region": config(group(GPU), **_workloads()),
    "GovCloud": (config(group(GPU), **_gov()), (ERROR, "workloads.base_registry")),
    "a mirror in GovCloud": config(
        group(GPU), **_gov(base_registry=_MIRROR.format("us-gov-west-1"))
    ),
    "another region": (
        config(
            group(GPU), region="us-west-2", **_workloads(base_registry=_MIRROR.format("us-east-1"))
        ),
        (ERROR, "workloads.base_registry"),
    ),
}
CASES[package_index] = {
    "outside the VPC": config(group(GPU), **_names(), **_workloads()),
    "closed": (config(group(GPU), **CLOSED, **_workloads()), (ERROR, "workloads.package_index")),
    "closed, built outside": config(group(GPU), **CLOSED, **_workloads(build_in_network=False)),
    "closed, with an index": config(
        group(GPU),
        network={**CLOSED["network"], "allowed_domains": ["pypi.example.com"]},
        eks=CLOSED["eks"],
        **_workloads(package_index=_INDEX),
    ),
    "names that do not resolve": (
        config(group(GPU), **_names("pypi.org"), **_workloads(build_in_network=True)),
        (ERROR, "workloads.package_index"),
    ),
    "an index that does not resolve": (
        config(group(GPU), **_names(), **_workloads(build_in_network=True, package_index=_INDEX)),
        (ERROR, "workloads.package_index"),
    ),
}
