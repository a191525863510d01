"""What a month of deployed templates costs, to compare one with the next: pure.

`cost` reads a configuration; of what is deployed there is only the template. A test compares both.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from hyperpod_cdk.cost.charges import Charge, charge_of, dearest, month_of, unpriced
from hyperpod_cdk.effects.effect import Effect, StackState, Template, resources_of
from hyperpod_cdk.facts.kubernetes_support import END_OF_STANDARD_SUPPORT
from hyperpod_cdk.facts.prices import biller_of
from hyperpod_cdk.hyperpod.cluster_template import CLUSTER_TYPES, cluster_of
from hyperpod_cdk.node_groups.effects import size_of
from hyperpod_cli.inspect.cost import known
from hyperpod_shared.clusters import COUNT, Group, groups_of, types_of

_Item = tuple[str, str, object]
"""What bills it, what is billed, and how many units of it."""
_Billed = tuple[str, str, Charge]
"""The logical ID of a resource, the group of nodes or nothing, and a charge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthChange:
    """What a month costs before and after, with all nodes, as far as prices are known."""

    before: Sequence[Charge]
    after: Sequence[Charge]

    def __str__(self) -> str:
        missing = sorted({charge.name for charge in unpriced([*self.before, *self.after])})
        why = "not counted, since they have no known price or are paid otherwise"
        without = f"; {why}: {', '.join(missing)}" if missing else ""
        before, after = (known(month_of(each), each) for each in (self.before, self.after))
        amounts = after if before == after else f"{before} -> {after}"
        return f"A month of these stacks with all their nodes, in USD: {amounts}{without}"

    def as_json(self) -> dict[str, float]:
        """Return it as JSON."""
        return month_as_json(month_of(self.before), month_of(self.after))


def month_as_json(before: Decimal, after: Decimal) -> dict[str, float]:
    """Return what a month costs before and after as JSON."""
    return {"usd_a_month_before": float(before), "usd_a_month_after": float(after)}


def month_change(
    former: Iterable[StackState], wanted: Iterable[StackState], *, region: str, day: date
) -> MonthChange:
    """Return what a month costs before and after.

    The day counts: EKS charges more for Kubernetes versions in extended support.
    """
    before, after = (
        [
            charge
            for state in states
            for *_, charge in _billed(state.template, region=region, day=day)
        ]
        for states in (former, wanted)
    )
    return MonthChange(before=before, after=after)


def with_months(
    effects: Iterable[Effect], *, former: StackState, wanted: StackState, region: str, day: date
) -> Iterator[Effect]:
    """Yield effects with what their resources, or their groups of nodes, cost a month."""
    bills = [[*_billed(each.template, region=region, day=day)] for each in (former, wanted)]
    for effect in effects:
        before, after = (
            [
                charge
                for logical_id, group, charge in bill
                if logical_id in effect.resources and group == effect.group
            ]
            for bill in bills
        )
        # What stays without its stack is billed on.
        is_kept = effect.rule.endswith("kept")
        month = (month_of(before), month_of(after)) if (before or after) and not is_kept else None
        yield replace(effect, month=month)


def _billed(template: Template, *, region: str, day: date) -> Iterator[_Billed]:
    cluster = cluster_of(template)
    groups = groups_of({} if cluster is None else cluster.request)
    for logical_id, kind, properties in resources_of(template):
        if kind == "AWS::EKS::Nodegroup":
            charge = _of_node_group(properties, template=template, region=region)
            yield logical_id, charge.name, charge
        for service, item, quantity in _items(kind, properties, day=day):
            name = item if service == "VPC" else f"{service} {item}"
            yield logical_id, "", _charge(name, service, item, quantity, region=region)
        for name, group in groups.items() if kind in CLUSTER_TYPES else ():
            yield logical_id, name, _of_group(name, group, region=region)


def _charge(name: str, service: str, item: str, quantity: object, *, region: str) -> Charge:
    if not str(quantity).isdecimal():  # a reference
        return Charge(name=name, quantity=1, price=None)
    number = int(str(quantity))
    return charge_of(name, quantity=number, service=service, item=item, region=region)


def _items(kind: object, properties: Mapping[str, Any], *, day: date) -> Iterator[_Item]:
    match kind:
        case "AWS::CloudWatch::Alarm":
            read = [each for each in properties.get("Metrics") or () if "MetricStat" in each]
            yield "CloudWatch", "alarm metric", len(read) or 1
        case "AWS::CloudWatch::Dashboard":
            yield "CloudWatch", "dashboard", 1
        case "AWS::EC2::NatGateway":
            yield "VPC", "NAT gateway", 1
        case "AWS::EC2::EIP":
            yield "VPC", "public IPv4 address", 1
        case "AWS::EC2::VPCEndpoint" if properties.get("VpcEndpointType") == "Interface":
            yield "VPC", "interface endpoint", len(properties.get("SubnetIds") or ())
        case "AWS::KMS::Key":
            yield "KMS", "key", 1
        case "AWS::EKS::Cluster":
            end = END_OF_STANDARD_SUPPORT.get(str(properties.get("Version")))
            extended = ", extended support" if end is not None and day >= end else ""
            yield "EKS", f"control plane{extended}", 1
        case "AWS::FSx::FileSystem":
            yield from _of_files(properties)
        case "AWS::Grafana::Workspace":
            # The editor that each has, as `cost` counts.
            yield "Managed Grafana", "editor", 1
        case "AWS::RDS::DBInstance":
            service, copies = "RDS for MariaDB", 2 if properties.get("MultiAZ") else 1
            yield service, str(properties.get("DBInstanceClass")), copies
            yield service, "gp3", copies * int(properties.get("AllocatedStorage") or 0)


def _of_files(properties: Mapping[str, Any]) -> Iterator[_Item]:
    size = properties.get("StorageCapacity")
    homes, lustre = (properties.get(f"{kind}Configuration") or {} for kind in ("OpenZFS", "Lustre"))
    if homes:
        kind = homes.get("DeploymentType")
        yield "FSx for OpenZFS", f"{kind} GiB", size
        yield "FSx for OpenZFS", f"{kind} MB/s", homes.get("ThroughputCapacity")
        return
    service, throughput = "FSx for Lustre", lustre.get("ThroughputCapacity")
    if throughput is None:
        yield service, f"{lustre.get('PerUnitStorageThroughput')} MB/s/TiB", size
    else:
        yield service, "Intelligent-Tiering MB/s", throughput
    metadata = lustre.get("MetadataConfiguration") or {}
    if "Iops" in metadata:
        yield service, "metadata IOPS", metadata["Iops"]


def _of_group(name: str, group: Group, *, region: str) -> Charge:
    is_fixed = not group.get("TrainingPlanArn") and "Spot" not in (
        group.get("CapacityRequirements") or {}
    )
    types = types_of(group) if is_fixed else ()
    return _of_nodes(name, types, count=group[COUNT], region=region)


def _of_node_group(properties: Mapping[str, Any], *, template: Template, region: str) -> Charge:
    is_fixed = properties.get("CapacityType", "ON_DEMAND") == "ON_DEMAND"
    types = properties.get("InstanceTypes") or () if is_fixed else ()
    name = str(properties.get("NodegroupName"))
    return _of_nodes(name, types, count=size_of(properties, template), region=region)


def _of_nodes(name: str, types: Iterable[str], *, count: object, region: str) -> Charge:
    """Return what nodes cost: by the dearest of their types, as `cost` does.

    Nodes that are paid otherwise have no types here.
    """
    charges = [_charge(name, biller_of(item), item, count, region=region) for item in types]
    if charges:
        return dearest(charges)
    return Charge(name=name, quantity=int(str(count)) if str(count).isdecimal() else 1, price=None)
