"""What a configuration deploys, in a line for each stack."""

from collections.abc import Iterator

from hyperpod_cdk import Config, StorageConfig
from hyperpod_cdk.config.stack_names import stack_names
from hyperpod_cdk.eks.section import DNS_ADDON, FSX_ADDON
from hyperpod_cdk.network.endpoint_services import endpoint_services
from hyperpod_cdk.storage.claim_section import RetainedFiles

_ADDONS = {DNS_ADDON: "CoreDNS", FSX_ADDON: "the FSx for Lustre CSI driver"}


def description(config: Config) -> Iterator[str]:
    """Yield a line for each stack of a configuration, and for each group of nodes."""
    names = stack_names(config)
    width = max(map(len, names.values())) + len("  ")
    place = config.region if config.region is not None else "the region of your environment"
    access = config.eks.endpoint_access.replace("_", " ")
    existing = f"existing cluster {config.eks_cluster_name}, " if config.eks.is_existing else ""
    yield (
        f"{names['platform']:{width}}in {place}: {_network(config)}, {existing}EKS "
        f"{config.eks.version} with a {access} endpoint"
    )
    addons = [_ADDONS[name] for name in config.addons_that_need_nodes]
    if addons:
        yield f"{names['addons']:{width}}{' and '.join(addons)}"
    if config.storage is not None:
        first, *others = _file_systems(config.storage)
        yield f"{names['storage']:{width}}{first}"
        yield from (f"{'':{width}}{other}" for other in others)
    groups = config.cluster.all_groups
    yield (
        f"{names['hyperpod']:{width}}Helm release {config.helm.release}, HyperPod cluster "
        f"{config.cluster.name} with {_counted(len(groups), 'instance group')}:"
    )
    for group in groups:
        types = " or ".join(group.possible_instance_types)
        yield f"{'':{width}}- {group.name}: {group.instance_count} x {types}"


def _file_systems(storage: StorageConfig) -> Iterator[str]:
    for _, files in storage.file_systems:
        if files.file_system_id is not None:
            yield f"FSx for Lustre {files.file_system_id}, which exists"
            continue
        size = (
            f"with Intelligent-Tiering at {files.throughput_mbps} MB/s"
            if files.is_tiered
            else f"of {files.capacity_gib} GiB at {files.throughput_mbps_per_tib} MB/s/TiB"
        )
        yield f"FSx for Lustre {size}, {_kept(files)}"
    homes = storage.home_directories
    if homes is not None:
        yield (
            f"FSx for OpenZFS of {homes.capacity_gib} GiB at {homes.throughput_mbps} MB/s, "
            f"{_kept(homes)}"
        )


def _kept(files: RetainedFiles) -> str:
    return "deleted with its stack" if files.delete_with_stack else "retained"


def _network(config: Config) -> str:
    network = config.network
    if network.closed:
        services = list(endpoint_services(storage=config.storage is not None))
        return f"VPC {network.vpc_cidr}, closed, {_counted(len(services), 'interface endpoint')}"
    gateways = _counted(network.nat_gateway_count, "NAT gateway")
    if network.vpc_id is None:
        return f"VPC {network.vpc_cidr}, {gateways}"
    new = len(network.public_subnet_cidrs + network.eks_subnet_cidrs + network.new_hyperpod_cidrs)
    return f"existing VPC {network.vpc_id}, {_counted(new, 'new subnet')}, {gateways}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
