"""What a configuration costs: a month with or without nodes, and an hour of its nodes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.kubernetes_support import (
    END_OF_EXTENDED_SUPPORT,
    END_OF_STANDARD_SUPPORT,
)
from hyperpod_cdk.facts.prices import Price, price_of, prices_elsewhere, pricing_pages
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.network.endpoint_services import endpoint_services
from hyperpod_cdk.storage.lustre_section import LustreConfig, NamedLustreConfig
from hyperpod_cdk.storage.section import StorageConfig

HOURS_A_MONTH = 730
"""What AWS's own calculator takes for a month."""

# A change that is nearer is told beside the total.
_SOON = timedelta(days=92)
# A price that changes, or is paid at another time, is in no table.
_SPOT = "Spot, whose price changes"
_PLAN = "paid with the training plan"


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """What is billed for one thing.

    Attributes:
        name: The thing, such as `NAT gateway` or the name of a group.
        detail: What its price depends on; empty for nothing.
        quantity: How many units are billed: instances, or GB.
        price: Price of a unit; None for an unknown one.
        note: Why there is no price, or what else to know; empty for nothing.
    """

    name: str
    detail: str = ""
    quantity: int
    price: Price | None
    note: str = ""

    @property
    def usd(self) -> Decimal | None:
        """What it costs in the time that the price is for; None for an unknown price."""
        if not self.quantity:
            return Decimal(0)
        return None if self.price is None else self.quantity * self.price.usd

    @property
    def usd_a_month(self) -> Decimal | None:
        """What it costs in a month; None for an unknown price."""
        hourly = self.price is not None and self.price.unit == "hour"
        return None if self.usd is None else self.usd * (HOURS_A_MONTH if hourly else 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A change of the cost that is near.

    Attributes:
        day: When.
        usd_a_month: What is known of the cost of a month with or without nodes, from then on.
        reason: Why.
    """

    day: date
    usd_a_month: Decimal
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a deployment costs.

    Attributes:
        region: Where it is; None for a region that is not known.
        standing: What is billed with or without nodes.
        nodes: What is billed for each group of nodes.
        left_out: What is billed by use, or has no price here.
        change: How the standing cost changes soon; None if it is not known to.
    """

    region: str | None
    standing: tuple[Charge, ...]
    nodes: tuple[Charge, ...]
    left_out: tuple[str, ...]
    change: Change | None = None

    @property
    def oldest_price(self) -> date | None:
        """The day on which the oldest of the prices was read; None without any."""
        charges = (*self.standing, *self.nodes)
        return min((charge.price.date for charge in charges if charge.price), default=None)

    @property
    def usd_a_month(self) -> Decimal:
        """What is known of the cost of a month with or without nodes."""
        return _month_of(self.standing)

    @property
    def usd_an_hour(self) -> Decimal:
        """What is known of the cost of an hour of the nodes."""
        return sum((charge.usd or Decimal(0) for charge in self.nodes), Decimal(0))


def _month_of(charges: Iterable[Charge]) -> Decimal:
    return sum((charge.usd_a_month or Decimal(0) for charge in charges), Decimal(0))


def unpriced(charges: Iterable[Charge]) -> list[Charge]:
    """Return the charges that are in no total, because their price is not known."""
    return [charge for charge in charges if charge.usd is None]


def cost(config: Config, *, region: str | None, day: date) -> Cost:
    """Return what a configuration costs at list prices.

    Args:
        config: What is deployed.
        region: Where, for a configuration that names no region.
        day: When; EKS charges more for Kubernetes versions in extended support.
    """
    region = config.region or region
    return Cost(
        region=region,
        standing=tuple(_standing(config, region=region, day=day)),
        nodes=tuple(_nodes(group, region=region) for group in config.cluster.all_groups),
        left_out=tuple(_left_out(config)),
        change=_change(config, region=region, day=day),
    )


def _change(config: Config, *, region: str | None, day: date) -> Change | None:
    version = config.eks.version
    end = END_OF_STANDARD_SUPPORT[version]
    if not day < end <= day + _SOON:
        return None
    now, then = (_month_of(_standing(config, region=region, day=each)) for each in (day, end))
    if now == then:  # the price is not known there
        return None
    return Change(
        day=end,
        usd_a_month=then,
        reason=f"Kubernetes {version} is in extended support then",
    )


def _standing(config: Config, *, region: str | None, day: date) -> Iterator[Charge]:
    if not config.eks.is_existing:
        yield _control_plane(config.eks.version, region=region, day=day)
    yield from _ways_out(config, region=region)
    if config.encryption.create_kms_key:
        yield _charge("KMS key", quantity=1, service="KMS", item="key", region=region)
    if config.storage is not None:
        yield from _file_systems(config.storage, region=region)


def _file_systems(storage: StorageConfig, *, region: str | None) -> Iterator[Charge]:
    """Yield what is billed for the file systems that the deployment makes."""
    for _, files in storage.file_systems:
        if files.file_system_id is not None:
            continue
        service, name = "FSx for Lustre", _named(files)
        item, size = f"{files.throughput_mbps_per_tib} MB/s/TiB", files.capacity_gib
        if files.is_tiered:
            item, size = "Intelligent-Tiering MB/s", files.throughput_mbps or 0
        yield _charge(name, detail=item, quantity=size, service=service, item=item, region=region)
        iops = files.effective_metadata_iops
        if iops is not None:
            item = "metadata IOPS"
            yield _charge(
                name, detail=item, quantity=iops, service=service, item=item, region=region
            )
    homes = storage.home_directories
    if homes is not None:
        service = "FSx for OpenZFS"
        for unit, quantity in (("GiB", homes.capacity_gib), ("MB/s", homes.throughput_mbps)):
            item = f"{homes.deployment_type} {unit}"
            yield _charge(
                service, detail=item, quantity=quantity, service=service, item=item, region=region
            )


def _named(files: LustreConfig) -> str:
    return (
        f"FSx for Lustre {files.name}"
        if isinstance(files, NamedLustreConfig)
        else ("FSx for Lustre")
    )


def _ways_out(config: Config, *, region: str | None) -> Iterator[Charge]:
    network = config.network
    if network.closed:
        services = len(list(endpoint_services(storage=config.storage is not None)))
        zones = network.node_zone_count
        item = "interface endpoint"
        yield _charge(
            item,
            detail=f"{services} services in {zones} zone{'' if zones == 1 else 's'}",
            quantity=services * zones,
            service="VPC",
            item=item,
            region=region,
        )
        return
    gateways = network.nat_gateway_count
    for item in ("NAT gateway", "public IPv4 address") if gateways else ():
        yield _charge(item, quantity=gateways, service="VPC", item=item, region=region)


def _control_plane(version: str, *, region: str | None, day: date) -> Charge:
    item, extended = "control plane", "control plane, extended support"
    end, detail = END_OF_STANDARD_SUPPORT[version], f"Kubernetes {version}"
    if day >= end:
        item, detail = extended, f"{detail} in extended support"
    if day >= END_OF_EXTENDED_SUPPORT[version]:
        note = f"EKS's support ended on {END_OF_EXTENDED_SUPPORT[version]}; set another eks.version"
        return Charge(
            name="EKS control plane",
            detail=f"Kubernetes {version}",
            quantity=1,
            price=None,
            note=note,
        )
    charge = _charge(
        "EKS control plane", detail=detail, quantity=1, service="EKS", item=item, region=region
    )
    later = price_of("EKS", extended, region=region)
    if day >= end or later is None:
        return charge
    return replace(charge, note=f"{later.usd} an hour from {end} on, in extended support")


def _nodes(group: NodeGroupConfig, *, region: str | None) -> Charge:
    """Return what a group is billed: by the dearest of the types that it may have."""
    types, count = group.possible_instance_types, group.instance_count
    charges = {
        item: _charge(
            group.name,
            detail=f"{count} x {' or '.join(types)}",
            quantity=count,
            service="HyperPod",
            item=item,
            region=region,
        )
        for item in types
    }
    missing = [item for item, charge in charges.items() if charge.price is None]
    item = missing[0] if missing else max(types, key=lambda each: charges[each].usd or 0)
    charge = charges[item]
    if group.training_plan_arn is not None:
        return replace(charge, price=None, note=_PLAN)
    if isinstance(group, InstanceGroupConfig) and group.is_spot:
        most = "" if charge.price is None else f"; at most {charge.price.usd} an hour each"
        return replace(charge, price=None, note=f"{_SPOT}{most}")
    if len(types) == 1:
        return charge
    note = f"{item}: {charge.note}" if missing else f"as {item}, the dearest type"
    return replace(charge, note=note)


def _charge(
    name: str, *, quantity: int, service: str, item: str, region: str | None, detail: str = ""
) -> Charge:
    price = price_of(service, item, region=region)
    note = "" if price is not None else _missing(service, item)
    return Charge(name=name, detail=detail, quantity=quantity, price=price, note=note)


def _missing(service: str, item: str) -> str:
    """Say where to look for a price, with those of other regions as a hint."""
    known = (f"{price.usd} in {price.region}" for price in prices_elsewhere(service, item))
    elsewhere = ", ".join(known)
    hint = f" ({elsewhere})" if elsewhere else ""
    return f"price not in the table{hint}; see {pricing_pages()[service]}"


def _left_out(config: Config) -> Iterator[str]:
    groups = config.cluster.all_groups
    size = sum(
        group.instance_count * (volume_gib or 0)
        for group in groups
        for volume_gib in (
            group.volume_size_gib,
            *(volume.volume_size_gib for volume in group.ebs_volumes),
        )
    )
    yield f"EBS volumes of the nodes ({size:,} GiB and the root volumes)"
    if config.cluster.auto_scaling is not None:
        yield f"nodes that {config.cluster.auto_scaling} adds"
    if config.cluster.restricted_instance_groups:
        yield "file systems of restricted instance groups"
    yield from _left_out_of_storage(config.storage)
    way_out = "interface endpoints" if config.network.closed else "NAT gateways"
    yield f"traffic through {way_out}, out of AWS and between zones"
    yield "logs (EKS, VPC flow log, nodes, Lambda), S3, requests to KMS"
    yield "taxes and discounts"


def _left_out_of_storage(storage: StorageConfig | None) -> Iterator[str]:
    if storage is None:
        return
    if any(files.is_tiered for _, files in storage.file_systems):
        yield "files on Intelligent-Tiering, requests to them, and their read cache"
    if any(files.backup_retention_days for _, files in storage.placed_files):
        yield "backups of file systems"
    if storage.dynamic_provisioning:
        yield "file systems that claims create"
