"""Some node takes the operators when they are installed."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding, error, warning

# A 4xlarge has 16.
_VCPUS = 16
_GROUPS = ("cluster", "instance_groups")


def operator_nodes(config: Config) -> Iterator[Finding]:
    """Find operators without a node, with small ones alone, or that may come before their node.

    AWS names a 4xlarge as the smallest type for the observability add-on of HyperPod, and none for
    the operators; on smaller ones, users ran out of pods
    (https://github.com/awslabs/ai-on-sagemaker-hyperpod/issues/142).

    https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-setup.html
    """
    if not (config.addons_after_nodes and config.cluster.exists):
        return
    running = [group for group in config.cluster.instance_groups if group.instance_count]
    if not running:
        if config.cluster.auto_scaling is None:
            yield error(
                _GROUPS,
                [group.name for group in config.cluster.instance_groups],
                "have no node, and EKS gives up operators whose pods find none; set an "
                "instance_count to 1, or leave operators out until there is a node",
            )
        return
    facts = [each for group in running for each in group.facts]
    if all(group.facts for group in running) and all(each.vcpus < _VCPUS for each in facts):
        yield warning(
            _GROUPS,
            [group.name for group in running],
            "are all smaller than a 4xlarge, the smallest that AWS names for add-ons of HyperPod, "
            "and the operators' pods may find no room; take one of ml.m5.4xlarge or larger",
        )
    if config.cluster.wait_for != "nodes":
        yield warning(
            ("cluster", "wait_for"),
            config.cluster.wait_for,
            "lets the operators be installed before there is a node, which EKS gives up after 20 "
            "minutes; set it to nodes",
        )
