"""The instance types HyperPod accepts, and what is known of each.

The data file is written by `scripts/generate_instance_types.py` from public packages; none of them
is needed here. Hardware is EC2's own description. Regions are derived from SageMaker's price list:
good for a hint, not for a refusal.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from hyperpod_cdk.instance_facts import Accelerator, InstanceFacts
from hyperpod_cdk.service_limits import shape

# EC2's naming convention puts the family first; these families carry GPUs or Trainium chips.
# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
_ACCELERATED = re.compile(r"ml\.(p|g|gr|trn)\d")


def instance_types() -> tuple[str, ...]:
    """Return every instance type of the HyperPod API, such as `ml.p5.48xlarge`."""
    return shape("sagemaker.ClusterInstanceType").values


@cache
def instance_facts(instance_type: str) -> InstanceFacts | None:
    """Return what is known of an instance type; None for one that no public source describes.

    Args:
        instance_type: A HyperPod instance type, with its `ml.` prefix.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    row = _row(instance_type)
    if "vcpus" not in row:
        return None
    del row["region_set"]
    device = {
        name: row.pop(f"accelerator_{name}") for name in ("kind", "name", "count", "memory_mib")
    }
    row["valid_threads_per_core"] = tuple(row["valid_threads_per_core"])
    return InstanceFacts(
        instance_type=instance_type,
        accelerator=Accelerator(**device) if device["kind"] else None,
        **row,
    )


def is_accelerated(instance_type: str) -> bool:
    """Tell whether the instance type has GPUs or AWS Trainium chips.

    Args:
        instance_type: A HyperPod instance type, with its `ml.` prefix.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    facts = instance_facts(instance_type)
    if facts is None:
        return _ACCELERATED.match(instance_type) is not None
    return facts.accelerator is not None


def default_threads_per_core(types: Iterable[str]) -> int | None:
    """Return the threads per core that suit a group: 2 where all its types have multithreading.

    Args:
        types: Every HyperPod instance type that the group may have.

    Returns:
        A number valid for all of them; None when one is not described, and HyperPod must decide.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    known = [instance_facts(instance_type) for instance_type in types]
    defaults = [facts.default_threads_per_core for facts in known if facts is not None]
    return min(defaults) if len(defaults) == len(known) and defaults else None


@cache
def regions_with(instance_type: str) -> frozenset[str]:
    """Return the regions where SageMaker's price list has the type; empty when it has it nowhere.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    index = _row(instance_type)["region_set"]
    return frozenset() if index is None else frozenset(_data()["region_sets"][index])


@cache
def regions_known() -> frozenset[str]:
    """Return the regions of which the price list says anything."""
    return frozenset(region for regions in _data()["region_sets"] for region in regions)


@cache
def training_plan_types() -> frozenset[str]:
    """Return the instance types that SageMaker training plans reserve."""
    return frozenset(_data()["training_plan_types"])


def _row(instance_type: str) -> dict[str, Any]:
    if instance_type not in instance_types():
        raise ValueError(f"{instance_type!r} is not a HyperPod instance type")
    data = _data()
    return dict(zip(data["columns"], data["types"][instance_type], strict=False))


@cache
def _data() -> dict[str, Any]:
    text = files(__package__).joinpath("instance_types.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data
