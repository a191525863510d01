"""The EC2 quotas of vCPUs are enough for the nodes of EKS node groups."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.facts.instance_types import facts_of_any
from hyperpod_cdk.node_groups.section import CAPACITY_BLOCK, SPOT, ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import KeyPath, Severity
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.node_groups import groups_with_paths
from hyperpod_cli.inspect.preflight.quotas import ServiceQuotas
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_cli.inspect.preflight.validators.cluster_quotas import Need, problems

# https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html
CLUSTER_TAG = "eks:cluster-name"
_BILLED = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
# The codes are the same in every region; the names, which Service Quotas tells, say the families:
# https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html
_KINDS: Mapping[str, tuple[str, str]] = {
    "a|c|d|h|i|im|is|m|r|t|z": ("L-1216C47A", "L-34B43A08"),
    "g|gr|vt": ("L-DB2E81BA", "L-3819A6DF"),
    # Spot Instances of P5 have a quota of their own, which comes before that of other P instances.
    "p(?=5)": ("L-417A185B", "L-C4BD4855"),
    "p": ("L-417A185B", "L-7212CCBC"),
    "trn": ("L-2C3B7624", "L-5480EFD2"),
    "inf": ("L-1945791B", "L-B5D1601B"),
    "dl": ("L-6E869C2A", "L-85EED4F7"),
}
"""What the names of families begin with; the quotas of On-Demand and of Spot Instances."""


@validator(
    phase=Phase.QUOTAS,
    iam=[
        "ec2:DescribeInstances",
        "servicequotas:GetAWSDefaultServiceQuota",
        "servicequotas:GetServiceQuota",
    ],
)
def vcpu_quotas(config: Config, target: Target) -> Problems:
    """The vCPUs of EKS node groups are beyond a quota of EC2; at their max_size (w).

    Of capacity reservations and Capacity Blocks, EC2 counts what is reserved, not what runs there.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-overview.html

    Keys: node_groups[].desired_size, node_groups[].max_size

    [EC2](https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html)
    """
    if config.node_groups:
        yield from problems(_needs(config, target), target)


def _needs(config: Config, target: Target) -> Iterator[Need]:
    """Yield the need of each quota, at its first group: of the nodes wanted, else of the most."""
    quotas = ServiceQuotas(client=target.client("service-quotas"))
    wanted, most = Counter[str](), Counter[str]()
    first: dict[str, KeyPath] = {}
    for where, group in groups_with_paths(config):
        code = _quota(group)
        if code is not None:
            vcpus = [facts.vcpus for facts in group.facts]
            wanted[code] += group.desired_size * min(vcpus)
            most[code] += group.most_nodes * max(vcpus)
            first.setdefault(code, where)
    used = _used(config, target)
    for code, where in first.items():
        quota = quotas.by_code("ec2", code)
        is_short = quota is not None and used[code] + wanted[code] > quota["Value"]
        yield Need(
            path=(*where, "desired_size" if is_short else "max_size"),
            quota=quota,
            used=used[code],
            wanted=wanted[code] if is_short else most[code],
            severity=Severity.ERROR if is_short else Severity.WARNING,
            unit="vCPUs",
        )


def _quota(group: ManagedNodeGroupConfig) -> str | None:
    """Return the code of the quota that counts a group's nodes; None if none does."""
    if group.capacity == CAPACITY_BLOCK or group.reservation is not None:
        return None
    return _code(group.instance_types[0], is_spot=group.capacity == SPOT)


def _code(instance_type: str, *, is_spot: bool) -> str | None:
    codes = (codes for kind, codes in _KINDS.items() if re.match(rf"(?:{kind})\d", instance_type))
    return next((spot if is_spot else on_demand for on_demand, spot in codes), None)


def _used(config: Config, target: Target) -> Counter[str]:
    """Count the vCPUs that run, but for those of the deployment's own nodes."""
    used = Counter[str]()
    cluster_tag = {"Key": CLUSTER_TAG, "Value": config.eks_cluster_name}
    ec2 = target.client("ec2")
    reservations = listed(ec2, "describe_instances", "Reservations", Filters=_BILLED)
    for instance in (item for reservation in reservations for item in reservation["Instances"]):
        lifecycle = instance.get("InstanceLifecycle")
        code = _code(instance["InstanceType"], is_spot=lifecycle == "spot")
        is_counted = lifecycle in (None, "spot") and code is not None
        if is_counted and cluster_tag not in instance.get("Tags", ()):
            used[str(code)] += _vcpus(instance)
    return used


def _vcpus(instance: Mapping[str, Any]) -> int:
    """Return the vCPUs of an instance, which count as its type has them."""
    facts = facts_of_any(instance["InstanceType"])
    options: Mapping[str, int] = instance.get("CpuOptions", {})
    given = options.get("CoreCount", 1) * options.get("ThreadsPerCore", 1)
    return given if facts is None else facts.vcpus
