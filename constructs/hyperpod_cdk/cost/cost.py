"""What a configuration costs: a month with or without nodes, and an hour of its nodes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import NotRequired, TypedDict

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.cost.charges import (
    HOURS_A_MONTH,
    Charge,
    Cost,
    CostChange,
    charge_of,
    dearest,
    month_of,
)
from hyperpod_cdk.facts.kubernetes_support import (
    END_OF_EXTENDED_SUPPORT,
    END_OF_STANDARD_SUPPORT,
)
from hyperpod_cdk.facts.prices import biller_of, price_of
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.node_groups.section import (
    CAPACITY_BLOCK,
    ON_DEMAND,
    SPOT,
    ManagedNodeGroupConfig,
)
from hyperpod_cdk.observability.section import MANAGED
from hyperpod_cdk.panels.definition import watched
from hyperpod_cdk.panels.subjects import alarm_metrics, shown
from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from hyperpod_cdk.storage.lustre_section import LustreConfig, NamedLustreConfig
from hyperpod_cdk.storage.section import StorageConfig

# Changes within this time are shown with the total.
_SOON = timedelta(days=92)
# What samples in Prometheus are told for: how many there are depends on what runs.
_SERIES = 1000
# Not in the price table: prices that change, or are paid at another time.
_SPOT = "Spot, whose price changes"
_PLAN = "paid with the training plan"
_BLOCK = "paid with the Capacity Block"
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-pricing-billing.html
_RESERVED = "the reservation is billed as much without them"


def cost(config: Config, *, region: str | None, day: date) -> Cost:
    """Return what a configuration costs at list prices.

    The region is for a configuration that names none. On the day depends what EKS charges: more for
    Kubernetes versions in extended support.
    """
    config = config.model_copy(update={"region": config.region or region})
    return Cost(
        region=config.region,
        standing=tuple(_standing(config, day=day)),
        nodes=tuple(_nodes(config)),
        left_out=tuple(_left_out(config)),
        change=_change(config, day=day),
    )


def _change(config: Config, *, day: date) -> CostChange | None:
    if config.control_plane is None:
        return None
    version = config.control_plane.version
    end = END_OF_STANDARD_SUPPORT[version]
    if not day < end <= day + _SOON:
        return None
    now, then = (month_of(_standing(config, day=each)) for each in (day, end))
    if now == then:  # the price is not known there
        return None
    return CostChange(
        day=end,
        usd_a_month=then,
        reason=f"Kubernetes {version} is in extended support then",
    )


def _standing(config: Config, *, day: date) -> Iterator[Charge]:
    if config.makes_control_plane:
        yield _control_plane(config, day=day)
    for item in _items(config):
        yield charge_of(**item, region=config.region)


class _Item(TypedDict):
    """What is billed with or without nodes, as `charge_of` takes it."""

    name: str
    quantity: int
    service: str
    item: str
    detail: NotRequired[str]


def _items(config: Config) -> Iterator[_Item]:
    yield from _ways_out(config)
    if config.encryption.create_kms_key:
        yield _Item(name="KMS key", quantity=1, service="KMS", item="key")
    if config.cluster.accounting is not None and config.makes_accounting:
        yield from _accounting(config.cluster.accounting)
    if config.storage is not None:
        yield from _file_systems(config.storage)
    if config.observability.has_stack:
        yield from _observability(config)
    grafana = config.observability.grafana_of(MANAGED)
    if grafana is not None and grafana.workspace_arn is None:
        service, detail = "Managed Grafana", "one editor"  # also of one that no one signs in to
        name = f"Amazon {service}"
        yield _Item(name=name, detail=detail, quantity=1, service=service, item="editor")


def _observability(config: Config) -> Iterator[_Item]:
    """Yield what is billed for the topic's key, the dashboard and the alarms."""
    seen, notifications = watched(config), config.observability.notifications
    if notifications is not None and notifications.topic_arn is None:
        yield _Item(name="KMS key of the topic", quantity=1, service="KMS", item="key")
    # One tells that no one can be told.
    alarms = alarm_metrics(seen) + (notifications is not None)
    service = "CloudWatch"
    for item, quantity in (("dashboard", int(any(shown(seen)))), ("alarm metric", alarms)):
        if quantity:
            yield _Item(name=f"{service} {item}", quantity=quantity, service=service, item=item)


def _accounting(accounting: AccountingConfig) -> Iterator[_Item]:
    """Yield what is billed for a new database, twice with a standby."""
    service, copies = "RDS for MariaDB", 2 if accounting.multi_az else 1
    size = copies * accounting.storage_gib
    for item, quantity in ((accounting.instance_class, copies), ("gp3", size)):
        yield _Item(name=service, detail=item, quantity=quantity, service=service, item=item)


def _file_systems(storage: StorageConfig) -> Iterator[_Item]:
    """Yield what is billed for the file systems that the deployment makes."""
    for _, files in storage.file_systems:
        if files.file_system_id is not None:
            continue
        service, name = "FSx for Lustre", _named(files)
        item, size = f"{files.throughput_mbps_per_tib} MB/s/TiB", files.capacity_gib
        if files.is_tiered:
            item, size = "Intelligent-Tiering MB/s", files.throughput_mbps or 0
        yield _Item(name=name, detail=item, quantity=size, service=service, item=item)
        iops = files.effective_metadata_iops
        if iops is not None:
            item = "metadata IOPS"
            yield _Item(name=name, detail=item, quantity=iops, service=service, item=item)
    homes = storage.home_directories
    if homes is not None:
        service = "FSx for OpenZFS"
        for unit, quantity in (("GiB", homes.capacity_gib), ("MB/s", homes.throughput_mbps)):
            item = f"{homes.deployment_type} {unit}"
            yield _Item(name=service, detail=item, quantity=quantity, service=service, item=item)


def _named(files: LustreConfig) -> str:
    further = f" {files.name}" if isinstance(files, NamedLustreConfig) else ""
    return f"FSx for Lustre{further}"


def _ways_out(config: Config) -> Iterator[_Item]:
    network = config.network
    if network.closed:
        services, zones = config.interface_endpoints, network.node_zone_count
        detail = f"{services} services in {zones} zone{'' if zones == 1 else 's'}"
        item, count = "interface endpoint", services * zones
        yield _Item(name=item, detail=detail, quantity=count, service="VPC", item=item)
        return
    gateways = network.nat_gateway_count
    for item in ("NAT gateway", "public IPv4 address") if gateways else ():
        yield _Item(name=item, quantity=gateways, service="VPC", item=item)


def _control_plane(config: Config, *, day: date) -> Charge:
    version = config.eks.version
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
    charge = charge_of(
        "EKS control plane",
        detail=detail,
        quantity=1,
        service="EKS",
        item=item,
        region=config.region,
    )
    later = price_of("EKS", extended, region=config.region)
    if day >= end or later is None:
        return charge
    return replace(charge, note=f"{later.usd} an hour from {end} on, in extended support")


def _nodes(config: Config) -> Iterator[Charge]:
    """Yield what HyperPod bills for its groups, and EC2 for node groups."""
    bill = partial(_of_group, region=config.region)
    for group in config.cluster.all_groups:
        yield bill(
            group,
            count=group.instance_count,
            paid_otherwise="" if group.training_plan_arn is None else _PLAN,
            is_spot=isinstance(group, InstanceGroupConfig) and group.is_spot,
        )
    for managed in config.node_groups:
        charge = bill(
            managed,
            count=managed.desired_size,
            paid_otherwise=_BLOCK if managed.capacity == CAPACITY_BLOCK else "",
            is_spot=managed.capacity == SPOT,
        )
        # A reservation costs as much, used or not.
        if managed.capacity == ON_DEMAND and managed.reservation is not None:
            more = f"; {charge.note}" if charge.note else ""
            charge = replace(charge, note=f"{_RESERVED}{more}")
        yield charge


def _of_group(
    group: NodeGroupConfig | ManagedNodeGroupConfig,
    *,
    count: int,
    region: str | None,
    paid_otherwise: str,
    is_spot: bool,
) -> Charge:
    """Return what a group is billed: by the dearest of the types that it may have."""
    types = group.possible_instance_types
    charges = [
        charge_of(
            name=group.name,
            detail=f"{count} x {' or '.join(types)}",
            quantity=count,
            service=biller_of(item),
            item=item,
            region=region,
        )
        for item in types
    ]
    charge = dearest(charges)
    item = types[charges.index(charge)]
    if paid_otherwise:
        return replace(charge, price=None, is_estimate=False, note=paid_otherwise)
    if is_spot:
        is_known = charge.price is not None and not charge.is_estimate
        most = f"; at most {charge.price.usd} an hour each" if charge.price and is_known else ""
        return replace(charge, price=None, is_estimate=False, note=f"{_SPOT}{most}")
    if len(types) == 1:
        return charge
    if charge.price is None:
        return replace(charge, note=f"{item}: {charge.note}")
    more = f"; {charge.note}" if charge.note else ""
    return replace(charge, note=f"as {item}, the most expensive type{more}")


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
    size += sum(group.desired_size * group.volume_size_gib for group in config.node_groups)
    roots = " and the root volumes" if groups else ""
    yield f"EBS volumes of the nodes ({size:,} GiB{roots})"
    if config.node_groups:
        yield "nodes that an autoscaler adds to node groups, and detailed monitoring of them"
    if config.cluster.auto_scaling is not None:
        yield f"nodes that {config.cluster.auto_scaling} adds"
    if config.cluster.restricted_instance_groups:
        yield "file systems of restricted instance groups"
    yield from _left_out_of_storage(config.storage)
    if config.makes_accounting:
        yield "the accounting database's secret, and backups beyond its size"
    way_out = "interface endpoints" if config.network.closed else "NAT gateways"
    yield f"traffic through {way_out}, out of AWS and between zones"
    if config.network.allowed_domains is not None:
        yield "domains and queries of Route 53 Resolver DNS Firewall"
    if config.operators.inference_operator:
        yield "load balancers and SageMaker endpoints that the inference operator makes"
    if config.workloads is not None:
        yield "images in ECR, and the minutes of CodeBuild that build them"
    control_plane = "" if config.control_plane is None else "EKS, "
    if config.observability.cloudwatch is not None:
        yield "Container Insights in CloudWatch: each observation of a metric, and logs"
    yield from _left_out_of_metrics(config)
    yield f"logs ({control_plane}VPC flow log, nodes, Lambda), S3, requests to KMS"
    yield "Lambda, Step Functions and DynamoDB, which work while stacks are deployed"
    yield "taxes and discounts"


def _left_out_of_metrics(config: Config) -> Iterator[str]:
    prometheus = config.observability.prometheus
    if prometheus is not None:
        seconds = prometheus.scrape_interval_seconds
        known = price_of("Managed Prometheus", "samples", region=config.region)
        each = ""
        if known is not None:
            samples = Decimal(_SERIES * HOURS_A_MONTH * 3600) / seconds
            usd = samples / 10_000_000 * known.usd
            each = f" ({usd:.2f} USD a month for {_SERIES:,} series, read every {seconds} seconds)"
        yield f"metrics in Prometheus: samples that are written{each}, kept and queried"
    if config.observability.grafana_of(MANAGED) is not None:
        known = price_of("Managed Grafana", "viewer", region=config.region)
        each = "" if known is None else f", {known.usd} USD a month for each who views"
        yield f"further users of Amazon Managed Grafana{each}"


def _left_out_of_storage(storage: StorageConfig | None) -> Iterator[str]:
    if storage is None:
        return
    if any(files.is_tiered for _, files in storage.file_systems):
        yield "files on Intelligent-Tiering, requests to them, and their read cache"
    if any(files.backup_retention_days for _, files in storage.placed_files):
        yield "backups of file systems"
    if storage.dynamic_provisioning:
        yield "file systems that claims create"
