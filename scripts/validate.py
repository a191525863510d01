"""Checks a configuration, and says in a few lines what it deploys."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.helm.chart import HyperPodChartError
from hyperpod_cdk.helm.placeholder import placeholder_warning
from hyperpod_cdk.loading import check_chart
from stacks.helm_chart import helm_chart

_REFUSED = 2


def main() -> int:
    """Run the command line; return 2 for a configuration that cannot be deployed."""
    parser = argparse.ArgumentParser(prog="python -m scripts.validate", description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("config/default.yaml"))
    arguments = parser.parse_args()
    try:
        config = load_config(arguments.config)
        chart = helm_chart(config)
        check_chart(config, path=arguments.config, chart=chart)
    except (ConfigError, HyperPodChartError) as error:
        print(error, file=sys.stderr)
        return _REFUSED
    print(f"{arguments.config} is valid. It deploys:")
    for line in description(config):
        print(f"  {line}")
    for warning in findings(config):
        print(f"WARNING {warning}")
    if chart.is_placeholder:
        print(f"WARNING {placeholder_warning()}")
    return 0


def description(config: Config) -> Iterator[str]:
    """Yield a line for each stack of a configuration, and for each group of nodes."""
    width = len(config.name) + len("-hyperpod  ")
    place = config.region if config.region is not None else "the region of your environment"
    access = config.eks.endpoint_access.replace("_", " ")
    yield (
        f"{f'{config.name}-platform':{width}}in {place}: VPC {config.network.vpc_cidr}, "
        f"{_counted(len(config.network.public_subnet_cidrs), 'NAT gateway')}, EKS "
        f"{config.eks.version} with a {access} endpoint"
    )
    storage = "" if config.storage is None else " and the FSx for Lustre CSI driver"
    yield f"{f'{config.name}-addons':{width}}CoreDNS{storage}"
    if config.storage is not None:
        kept = "deleted with its stack" if config.storage.delete_with_stack else "kept for ever"
        yield (
            f"{f'{config.name}-storage':{width}}FSx for Lustre of {config.storage.capacity_gib} GiB"
            f" at {config.storage.throughput_mbps_per_tib} MB/s/TiB, {kept}"
        )
    groups = config.cluster.all_groups
    yield (
        f"{f'{config.name}-hyperpod':{width}}Helm release {config.helm.release}, HyperPod cluster "
        f"{config.cluster.name} with {_counted(len(groups), 'instance group')}:"
    )
    for group in groups:
        types = " or ".join(group.possible_instance_types)
        yield f"{'':{width}}- {group.name}: {group.instance_count} x {types}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


if __name__ == "__main__":
    sys.exit(main())
