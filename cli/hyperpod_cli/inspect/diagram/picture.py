"""The picture of a deployment: its network with zones and nodes, and who uses it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.placement import HyperPodSubnet, subnet_for, subnets_of
from hyperpod_cdk.node_groups.section import node_group_subnets
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cli.svg import Svg, broken
from hyperpod_stacks.table import description, stack_names

_WIDTH, _EDGE, _GAP, _PAD, _LINE = 820, 16, 14, 10, 18
_STYLE = """
  .region { fill: #ffffff; stroke: #8a97a5; stroke-dasharray: 6 4 }
  .vpc { fill: #f8f6fd; stroke: #8259c7; stroke-width: 1.4 }
  .zone { fill: none; stroke: #8a97a5; stroke-dasharray: 3 4 }
  .public { fill: #e9f5ea; stroke: #3f8f46 }
  .private { fill: #e7f1fb; stroke: #3c78b4 }
  .cluster { fill: #ffffff; stroke: #cf7a1c }
  .nodes { fill: #fff2e0; stroke: #cf7a1c }
  .node { fill: #cf7a1c }
  .chip { fill: #cf7a1c }
  .files { fill: #fdeceb; stroke: #c2473d }
  .service { fill: #f3f5f7; stroke: #8a97a5 }
  .person { fill: #fffbe6; stroke: #b39b2e }
  text.efa { font-size: 11px; font-weight: 700; fill: #ffffff; text-anchor: middle }
"""
_MOST_GROUPS, _MOST_NODES, _FEW_ZONES = 5, 8, 3
_ZONE_PAD, _ZONE_WIDTH, _LONG = 6, 190, 60
_WIDE = 230
"""Width of a group's box from which on it has room for a square a node."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Box:
    """A rectangle with a title and lines; `efa` marks nodes with EFA, `nodes` is their number."""

    style: str
    title: str
    lines: Sequence[str] = ()
    nodes: int = 0
    efa: bool = False
    inner: Sequence["_Box"] = ()

    def height(self, width: float) -> float:
        """Return how high it is."""
        words = [*broken(self.title, width - 2 * _PAD, size=14.5)]
        words += [part for line in self.lines for part in broken(line, width - 2 * _PAD)]
        inner = sum(box.height(width - 2 * _PAD) + 8 for box in self.inner)
        return _LINE * len(words) + 14 + inner

    def draw(self, svg: Svg, x: float, y: float, width: float, height: float | None = None) -> None:
        """Draw it; without a height, as high as it must be."""
        svg.rect(x, y, width, height or self.height(width), style=self.style)
        at = y + 4
        for line in broken(self.title, width - 2 * _PAD, size=14.5):
            at += _LINE
            svg.text(line, x + _PAD, at, style="title")
        for line in (part for text in self.lines for part in broken(text, width - 2 * _PAD)):
            at += _LINE
            svg.text(line, x + _PAD, at)
        self._draw_marks(svg, x + width - _PAD, y, width)
        at += 10
        for box in self.inner:
            box.draw(svg, x + _PAD, at, width - 2 * _PAD)
            at += box.height(width - 2 * _PAD) + 8

    def _draw_marks(self, svg: Svg, right: float, y: float, width: float) -> None:
        if self.efa:
            svg.rect(right - 34, y + 8, 34, 16, style="chip")
            svg.text("EFA", right - 17, y + 20, style="efa")
        if width >= _WIDE:
            for index in range(min(self.nodes, _MOST_NODES)):
                svg.rect(right - 10 - 14 * index, y + 31, 10, 10, style="node")


def picture(config: Config) -> str:
    """Return what a configuration deploys, as SVG."""
    columns, services = _columns(config), _services(config)
    width = _WIDTH + _ZONE_WIDTH * max(0, len(columns) - _FEW_ZONES)
    svg = Svg(width=width, style=_STYLE)
    svg.text(title(config), _EDGE, 32, style="heading")
    left, inner = _EDGE + _GAP, width - 2 * (_EDGE + _GAP)
    people = 48.0
    region = people + _height(_people(config), inner) + 24
    stacks = region + 36
    network = stacks + _height(_managed(config), inner) + _GAP
    beside = network + _vpc_height(columns, inner) + _GAP
    end = beside + _height(services, inner) + _GAP
    svg.rect(_EDGE, region, width - 2 * _EDGE, end - region, style="region")
    svg.text(f"AWS {config.region or ''}", left, region + 23, style="title")
    for x, _ in _row(svg, _people(config), left, people, inner):
        svg.path(f"M{x:g} {region - 24:g} V{stacks - 2:g}", style="line arrow")
    _row(svg, _managed(config), left, stacks, inner)
    _draw_vpc(svg, _vpc(config), _way_out(config), columns, x=left, y=network, width=inner)
    _row(svg, services, left, beside, inner)
    said = (" ".join(line.split()) for line in description(config))
    return svg.document(title=title(config), description="; ".join(said))


def title(config: Config) -> str:
    """Return what a deployment is."""
    if not config.cluster.exists:
        return f"{config.name}: EKS node groups"
    return f"{config.name}: HyperPod {'on EKS' if config.control_plane else 'with Slurm'}"


def _row(
    svg: Svg, boxes: Sequence[_Box], x: float, y: float, width: float
) -> list[tuple[float, float]]:
    """Draw boxes of the same size beside each other; return the middle of each."""
    share = _share(boxes, width)
    middles = []
    for index, box in enumerate(boxes):
        at = x + index * (share + _GAP)
        box.draw(svg, at, y, share, _height(boxes, width))
        middles.append((at + share / 2, y))
    return middles


def _share(boxes: Sequence[_Box], width: float) -> float:
    return (width - _GAP * (len(boxes) - 1)) / len(boxes)


def _height(boxes: Sequence[_Box], width: float) -> float:
    return max(box.height(_share(boxes, width)) for box in boxes)


def _people(config: Config) -> list[_Box]:
    uses = "kubectl, hyperpod-cdk train" if config.control_plane else "sbatch, on a login node"
    return [
        _Box(style="person", title="Who deploys", lines=["hyperpod-cdk deploy, or a pipeline"]),
        _Box(style="person", title="Who trains", lines=[uses]),
    ]


def _managed(config: Config) -> list[_Box]:
    """Return what AWS runs outside the VPC: the stacks, and who orchestrates the nodes."""
    stacks = _Box(
        style="service", title="CloudFormation", lines=[", ".join(stack_names(config).values())]
    )
    plane = config.control_plane
    if plane is None:
        said = "runs the controller, and replaces faulty nodes"
        return [stacks, _Box(style="service", title="HyperPod, with Slurm", lines=[said])]
    access = plane.endpoint_access.replace("_", " ")
    existing = "Existing EKS" if plane.is_existing else "EKS"
    addons = [addon.key.replace("_", " ") for addon in config.operators.addons]
    lines = [f"Kubernetes {plane.version}, {access} endpoint"]
    if addons:
        lines.append(f"operators: {', '.join(addons)}")
    name = config.eks_cluster_name
    return [stacks, _Box(style="service", title=f"{existing} control plane {name}", lines=lines)]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Column:
    """A zone, its subnets from the top, and how much wider than others it is."""

    zone: str
    boxes: Sequence[_Box]
    weight: float


def _columns(config: Config) -> list[_Column]:
    """Return the zones of the network: those of public and EKS subnets, then those of nodes."""
    network = config.network
    boxes: dict[str, list[_Box]] = {}
    for index, zone in enumerate(network.zones):
        inside = boxes.setdefault(_zone(zone, index), [])
        if index < len(network.public_subnet_cidrs):
            nat = ["NAT gateway"] if index in network.nat_gateway_places else []
            cidr = network.public_subnet_cidrs[index]
            inside.append(_Box(style="public", title="Public subnet", lines=[cidr, *nat]))
        if index < len(network.eks_subnet_cidrs):
            cidr = network.eks_subnet_cidrs[index]
            inside.append(_Box(style="private", title="EKS subnet", lines=[cidr]))
    wide = set()
    for subnet in subnets_of(network):
        zone = _zone(subnet.availability_zone_id, subnet.index % len(network.zones))
        groups = [*_groups(config, subnet)]
        files = [*_file_systems(config)] if subnet.index == 0 else []
        wide |= {zone} if groups or files else set()
        name = subnet.cidr or network.hyperpod_subnets[subnet.index].subnet_id or ""
        inner = [*groups, *files]
        boxes.setdefault(zone, []).append(
            _Box(style="private", title="Subnet of nodes", lines=[name], inner=inner)
        )
    return [
        _Column(zone=zone, boxes=inside, weight=2.2 if zone in wide else 1)
        for zone, inside in boxes.items()
        if inside
    ]


def _zone(zone: str | None, index: int) -> str:
    return zone or f"zone {index + 1} of the region"


def _groups(config: Config, subnet: HyperPodSubnet) -> Iterator[_Box]:
    """Yield the groups whose nodes are in a subnet; those of subnets of their own in the first."""
    drawn = []
    for group in config.cluster.all_groups:
        place = subnet_for(group, config.network)
        if subnet.index == (0 if place is None else place.index):
            types = " or ".join(group.possible_instance_types)
            count = group.instance_count
            said = f"{count} x {types}"
            drawn.append(_nodes(group.name, said, count, efa=group.has_efa_accelerators))
    if len(drawn) > _MOST_GROUPS:
        more = f"and {len(drawn) - _MOST_GROUPS + 1} more groups"
        drawn = [*drawn[: _MOST_GROUPS - 1], _Box(style="nodes", title=more)]
    if drawn:
        yield _Box(style="cluster", title=f"HyperPod cluster {config.cluster.name}", inner=drawn)
    for managed in config.node_groups:
        first = next(node_group_subnets(managed, config.network), None)
        if first is not None and subnet.index == first.index:
            types = " or ".join(managed.instance_types)
            said = f"{managed.min_size} to {managed.most_nodes} x {types}, EKS node group"
            yield _nodes(managed.name, said, managed.desired_size, efa=managed.has_efa)


def _nodes(name: str, said: str, count: int, *, efa: bool) -> _Box:
    return _Box(style="nodes", title=name, lines=[said], nodes=count, efa=efa)


def _file_systems(config: Config) -> Iterator[_Box]:
    """Yield the file systems that nodes mount."""
    if config.storage is None:
        return
    for _, files in config.storage.file_systems:
        yield _Box(style="files", title="FSx for Lustre", lines=[_size(files)])
    home = config.storage.home_directories
    if home is not None:
        said = f"{home.capacity_gib} GiB, home directories"
        yield _Box(style="files", title="FSx for OpenZFS", lines=[said])


def _size(files: LustreConfig) -> str:
    if files.file_system_id is not None:
        return f"existing {files.file_system_id}"
    return f"{files.capacity_gib} GiB, {files.throughput_mbps_per_tib} MB/s/TiB"


def _vpc(config: Config) -> str:
    network = config.network
    blocks = dict.fromkeys([network.vpc_id or network.vpc_cidr, *network.new_hyperpod_cidrs])
    return f"{'Existing VPC' if network.vpc_id else 'VPC'} {' + '.join(map(str, blocks))}"


def _way_out(config: Config) -> str:
    if config.network.closed:
        return "no way out: VPC endpoints"
    return "" if config.network.vpc_id else "internet gateway, S3 endpoint"


def _widths(columns: Sequence[_Column], width: float) -> list[float]:
    """Return the width of each zone's boxes."""
    free = width - _GAP * (len(columns) + 1) - 2 * _ZONE_PAD * len(columns)
    whole = sum(column.weight for column in columns)
    return [free * column.weight / whole for column in columns]


def _vpc_height(columns: Sequence[_Column], width: float) -> float:
    heights = (
        sum(box.height(share) + 8 for box in column.boxes)
        for column, share in zip(columns, _widths(columns, width), strict=True)
    )
    return 36 + 30 + max(heights, default=0) + 4 + _GAP


def _draw_vpc(
    svg: Svg,
    name: str,
    way_out: str,
    columns: Sequence[_Column],
    *,
    x: float,
    y: float,
    width: float,
) -> None:
    height = _vpc_height(columns, width)
    svg.rect(x, y, width, height, style="vpc")
    svg.text(name, x + _GAP, y + 24, style="title")
    if len(name) < _LONG:
        svg.text(way_out, x + width - _GAP, y + 24, style="end")
    left = x + _GAP
    for column, share in zip(columns, _widths(columns, width), strict=True):
        svg.rect(left, y + 36, share + 2 * _ZONE_PAD, height - 36 - _GAP, style="zone")
        svg.text(column.zone, left + _PAD, y + 56, style="title")
        at = y + 66
        for box in column.boxes:
            box.draw(svg, left + _ZONE_PAD, at, share)
            at += box.height(share) + 8
        left += share + 2 * _ZONE_PAD + _GAP


def _services(config: Config) -> list[_Box]:
    """Return what is beside the network: buckets, and what watches over it."""
    buckets = [] if config.storage is None else [*config.storage.bucket_names]
    if config.cluster.exists:
        buckets.insert(0, "lifecycle scripts of the nodes")
    lines = ["Lambda, for custom resources", "its journal in DynamoDB"]
    boxes = [_Box(style="service", title="Provisioner", lines=lines)]
    if buckets:
        boxes.insert(0, _Box(style="service", title="S3", lines=buckets))
    observability = config.observability
    watching = {
        "CloudWatch": observability.cloudwatch,
        "Prometheus": observability.prometheus,
        "Grafana": observability.grafana,
        "messages": observability.notifications,
        "budget": observability.budget,
    }
    used = [name for name, section in watching.items() if section is not None]
    if used:
        boxes.append(_Box(style="service", title="Observability", lines=[", ".join(used)]))
    return boxes
