"""What a panel is: what it shows and why, its query of each backend, and its alarm.

An expression may name what differs between deployments, as `$name`: see `Watched.filled`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from string import Template
from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked_dataclass

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.facts.prices import biller_of, estimate_of, price_of

CONTAINER_INSIGHTS = "ContainerInsights"
PERIOD_MINUTES = 5
"""What a point of CloudWatch's graphs and alarms is taken over."""

Has = Literal["GPU", "Neuron", "other", "EFA", "Lustre", "SizedLustre"]
"""What a deployment can have: nodes of a kind, EFA, file systems, and those that can fill up."""


# A search finds the metrics of each node, which are 1 here while it sends them. It cannot ask for
# an instance type, which no metric has that all nodes send.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
_NODES = (
    "SUM(SEARCH('{{ContainerInsights,ClusterName,InstanceId,NodeName}} "
    'MetricName="{metric}" ClusterName="{cluster}"\', \'Average\', 300) * 0 + 1)'
)
_ACCELERATED: Mapping[Has, str] = {
    "GPU": "node_gpu_utilization",
    "Neuron": "node_neuroncore_utilization",
}
_ANY = "node_cpu_utilization"
_GROUPED_BY = re.compile(r"by \(cluster_id, ([^)]+)\)")

_STRICT = ConfigDict(extra="forbid")

Sender = Literal["AWS", "nodes", "accelerators"]
"""What sends metrics to CloudWatch: AWS by itself, or the agent on the nodes, of two kinds."""


# https://github.com/grafana/grafana/blob/main/packages/grafana-data/src/valueFormats/categories.ts
Unit = Literal["percent", "bytes", "binBps", "cps", "watt", "celsius", "short", "currencyUSD"]
"""What a panel counts, by Grafana's name of it."""
_SYMBOLS: Mapping[Unit, str] = {
    "percent": "%",
    "bytes": "bytes",
    "binBps": "bytes/s",
    "cps": "per second",
    "watt": "W",
    "celsius": "°C",
    "currencyUSD": "USD/hour",
}


@checked_dataclass(config=_STRICT, frozen=True, kw_only=True, slots=True)
class Line:
    """A line of a graph of CloudWatch, of metrics of the whole cluster, or of one file system.

    In the expression, they are `m1` and so on. Default: the metric itself. The statistic makes one
    value of a period's. `has` is what a deployment must have for it besides what the subject asks
    for.
    """

    label: str
    metrics: tuple[str, ...] = ()
    statistic: Literal["Average", "Sum", "Maximum", "Minimum"] = "Average"
    expression: str = ""
    has: Has | None = None


@checked_dataclass(config=_STRICT, frozen=True, kw_only=True, slots=True)
class Alarm:
    """When someone is to be told: above or below a threshold, of the panel's unit, for minutes."""

    name: str
    is_above: bool
    threshold: int
    minutes: int


@checked_dataclass(config=_STRICT, frozen=True, kw_only=True, slots=True)
class Panel:
    """A panel.

    Attributes:
        title: Its title.
        what: What it shows.
        unit: What it counts.
        why: What one learns of it.
        to_do: What to do when it is not as it should be.
        cloudwatch: Its lines in CloudWatch; the alarm is about the first. Default: not shown there.
        promql: Its query of Prometheus; `$cluster` stands for the matcher of a cluster. Default:
            Grafana shows it from CloudWatch.
        legend: The name of a line of that, by its labels in Grafana's way. Default: the labels by
            which the query groups first, but that of the cluster.
        alarm: Its alarm, if any.
        has: What a deployment must have for it. Default: what the subject asks for.
        sources: Where the names of the metrics are documented. Default: where the subject's are.
    """

    title: str
    what: str
    unit: Unit
    why: str
    to_do: str
    cloudwatch: tuple[Line, ...] = ()
    promql: str = ""
    legend: str = ""
    alarm: Alarm | None = None
    has: Has | None = None
    sources: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        """The symbol of its unit; that of a number is none."""
        return _SYMBOLS.get(self.unit, "")

    @property
    def suffix(self) -> str:
        """What follows a value."""
        return f" {self.symbol}" if self.symbol else ""

    @property
    def description(self) -> str:
        """What it shows, why, and what to do."""
        return f"{self.what} {self.why} {self.to_do}"

    @property
    def line_name(self) -> str:
        """The name of a line of Prometheus."""
        return self.legend or " ".join(
            f"{{{{{label}}}}}" for label in _GROUPED_BY.findall(self.promql)[0].split(", ")
        )


@checked_dataclass(config=_STRICT, frozen=True, kw_only=True, slots=True)
class Subject:
    """What a row of panels is about; found because its file is in `subjects`.

    `has` is what a deployment must have for it, and the namespace that of its metrics in
    CloudWatch. The sources are those of panels that have none of their own.
    """

    title: str
    panels: tuple[Panel, ...]
    sources: tuple[str, ...] = ()
    has: Has | None = None
    namespace: str = CONTAINER_INSIGHTS

    @property
    def sender(self) -> Sender:
        """What sends its metrics."""
        if self.namespace != CONTAINER_INSIGHTS:
            return "AWS"
        return "nodes" if self.has is None else "accelerators"


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """What is watched of a deployment.

    Attributes:
        name: The deployment's name.
        eks_cluster_name: The EKS cluster, which metrics of CloudWatch name. None without one.
        has: What it has.
        prices: The price of an hour of each instance type, as far as it is known.
        dearest: The highest known price of an hour of its nodes with GPUs, with Neuron, and others.
        file_systems: The ID of each file system by its label: of all, and of those with a size.
        sent: What sends metrics to CloudWatch.
    """

    name: str
    eks_cluster_name: str | None
    has: frozenset[Has]
    prices: Mapping[str, Decimal]
    dearest: Mapping[Has, Decimal]
    file_systems: Mapping[Has, Mapping[str, str]] = field(default_factory=dict)
    sent: frozenset[Sender] = frozenset({"AWS"})

    def filled(self, expression: str) -> str:
        """Return an expression of CloudWatch with what it names of the deployment.

        That is `$gpu_nodes`, `$neuron_nodes` and `$other_nodes`, the number of nodes of a kind, and
        `$gpu_price` and so on, the price of an hour of one of them.
        """
        return Template(expression).substitute(self._values())

    def panels_of(self, subject: Subject) -> tuple[Panel, ...]:
        """Return the panels of a subject that there is something to show in."""
        has_sender = self.eks_cluster_name is not None or subject.sender == "AWS"
        if not (has_sender and self._has(subject.has)):
            return ()
        return tuple(panel for panel in subject.panels if self._has(panel.has))

    def lines_of(self, panel: Panel) -> tuple[Line, ...]:
        """Return the lines of a panel in CloudWatch that there is something to show in."""
        known = self._values().keys()
        return tuple(
            line
            for line in panel.cloudwatch
            if self._has(line.has) and known >= {*Template(line.expression).get_identifiers()}
        )

    def places_of(self, subject: Subject, panel: Panel) -> Mapping[str, Mapping[str, str]]:
        """Return the dimensions of a panel's metrics by where: each file system, or the cluster."""
        if subject.sender != "AWS":
            return {"": {"ClusterName": str(self.eks_cluster_name)}}
        named = self.file_systems[panel.has or subject.has or "Lustre"]
        return {label: {"FileSystemId": identifier} for label, identifier in named.items()}

    def _values(self) -> Mapping[str, str]:
        prices = {f"{kind.lower()}_price": str(usd) for kind, usd in self.dearest.items()}
        accelerated = [kind for kind in _ACCELERATED if kind in self.has]
        # Where nothing says which nodes have accelerators, nodes cannot be counted by their kind.
        if accelerated and "accelerators" not in self.sent:
            return prices
        nodes = {kind: self._count(metric) for kind, metric in _ACCELERATED.items()}
        others = [f"FILL({nodes[kind]}, 0)" for kind in accelerated]
        nodes["other"] = f"({' - '.join([self._count(_ANY), *others])})"
        return {f"{kind.lower()}_nodes": count for kind, count in nodes.items()} | prices

    def _count(self, metric: str) -> str:
        return _NODES.format(cluster=self.eks_cluster_name, metric=metric)

    def _has(self, needed: Has | None) -> bool:
        return needed is None or needed in self.has


def watched(
    config: Config, *, region: str | None = None, outputs: Mapping[str, str] | None = None
) -> Watched:
    """Return what is watched of a deployment.

    The region is for a configuration that names none. Without outputs of its storage stack, the IDs
    of file systems are not known.
    """
    region = config.region or region
    prices, dearest, has = dict[str, Decimal](), dict[Has, Decimal](), set[Has]()
    for item in config.instance_types:
        facts = instance_facts(item)
        kind: Has = "other"
        if facts is not None and facts.accelerator is not None:
            kind = facts.accelerator.kind
        has |= {kind, *(("EFA",) if facts is not None and facts.efa_interfaces else ())}
        known = price_of(biller_of(item), item, region=region)
        price = known or estimate_of(biller_of(item), item, region=region)
        if price is not None:
            prices[item] = price.usd
            dearest[kind] = max(price.usd, dearest.get(kind, Decimal(0)))
    file_systems = _file_systems(config, outputs=outputs)
    return Watched(
        name=config.name,
        eks_cluster_name=None if config.control_plane is None else config.eks_cluster_name,
        has=frozenset({*has, *file_systems}),
        prices=prices,
        dearest=dearest,
        file_systems=file_systems,
        sent=frozenset(_senders(config)),
    )


def _senders(config: Config) -> Iterator[Sender]:
    yield "AWS"
    cloudwatch = config.observability.cloudwatch
    if cloudwatch is not None:
        yield "nodes"
        if cloudwatch.accelerators:
            yield "accelerators"


def _file_systems(
    config: Config, *, outputs: Mapping[str, str] | None
) -> Mapping[Has, Mapping[str, str]]:
    found: dict[Has, dict[str, str]] = {}
    for _, files in () if config.storage is None else config.storage.file_systems:
        identifier = "" if outputs is None else outputs[f"{files.output_prefix}FileSystemId"]
        kinds: tuple[Has, ...] = ("Lustre",) if files.is_tiered else ("Lustre", "SizedLustre")
        for kind in kinds:
            found.setdefault(kind, {})[files.label] = identifier
    return found
