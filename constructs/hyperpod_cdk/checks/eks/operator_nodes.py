"""Some node takes the operators when they are installed."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import Findings, error, warning

# A 4xlarge has 16.
_VCPUS = 16
_GROUPS = ("cluster", "instance_groups")


def operator_nodes(config: Config) -> Findings:
    """Find operators without a node, with small ones alone, or that may come before their node.

    AWS names a 4xlarge as the smallest type for the observability add-on of HyperPod, and none for
    the operators; on smaller ones, users ran out of pods
    (https://github.com/awslabs/ai-on-sagemaker-hyperpod/issues/142).

    https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-setup.html
    """
    if not config.addons_after_nodes:
        return
    running = [group for group in config.cluster.instance_groups if group.instance_count]
    beside = [
        group
        for group in config.node_groups
        if group.desired_size and not any(taint.repels for taint in group.taints)
    ]
    if not running and not beside:
        yield from _no_node(config)
        return
    if not config.cluster.exists:
        return
    every: list[InstanceGroupConfig | ManagedNodeGroupConfig] = [*running, *beside]
    facts = [each for group in every for each in group.facts]
    if all(group.facts for group in every) and all(each.vcpus < _VCPUS for each in facts):
        yield warning(
            _GROUPS,
            [group.name for group in every],
            "are all smaller than a 4xlarge, the smallest that AWS names for add-ons of HyperPod, "
            "and the operators' pods may find no room; take one of ml.m5.4xlarge or larger",
        )
    if config.cluster.wait_for != "nodes" and not beside:
        yield warning(
            ("cluster", "wait_for"),
            config.cluster.wait_for,
            "lets the operators be installed before there is a node, and EKS fails the "
            "installation after 20 minutes; set it to nodes",
        )


def _no_node(config: Config) -> Findings:
    given_up = "and the installation of operators whose pods find no node fails; set"
    otherwise = "to 1, or leave operators out until there is a node"
    if config.cluster.exists and config.cluster.auto_scaling is None:
        names = [group.name for group in config.cluster.instance_groups]
        yield error(_GROUPS, names, f"have no node, {given_up} an instance_count {otherwise}")
    elif config.node_groups and not config.cluster.exists:
        yield error(
            ("node_groups",),
            [group.name for group in config.node_groups],
            f"have no node without a taint, {given_up} a desired_size {otherwise}",
        )
