"""Accelerated types that the HyperPod dependencies' chart does not know."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.daemon_sets import unlisted_daemon_sets
from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.schema.errors import Finding, KeyPath, warning


def unlisted_types(config: Config) -> Iterator[Finding]:
    """Find types whose accelerators no pod is offered, or whose findings are not seen.

    The chart's device plugins and health-monitoring agent run on the types that it lists.

    https://github.com/aws/sagemaker-hyperpod-cli/tree/main/helm_chart/HyperPodHelmChart
    """
    for path, instance_type in _types(config):
        facts = instance_facts(instance_type)
        names = () if facts is None else unlisted_daemon_sets(facts, config=config)
        if names:
            yield warning(
                path,
                instance_type,
                f"is not a type on which the chart runs {' and '.join(names)}: pods get "
                "no accelerators of it without a device plugin of your own; take another",
            )


def _types(config: Config) -> Iterator[tuple[KeyPath, str]]:
    for where, group in config.cluster.instance_groups_with_paths():
        for path, instance_type in group.types_with_paths():
            yield (*where, *path), instance_type
    for index, each in enumerate(config.node_groups):
        for place, instance_type in enumerate(each.instance_types):
            yield ("node_groups", index, "instance_types", place), instance_type
