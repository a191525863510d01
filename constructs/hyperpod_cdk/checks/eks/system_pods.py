"""Some node takes the pods that the whole cluster needs."""

from collections.abc import Sequence

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.daemon_sets import room_for_pods
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import Findings, KeyPath, error, warning

# Pods of the Deployments of the EKS add-ons and of the HyperPod dependencies' components.
_DNS_PODS = {"CoreDNS": 2}
_COMPONENT_PODS = {
    "training_operator": {"training operator": 1},
    "mpi_operator": {"MPI operator": 1},
}
_STORAGE_PODS = {"FSx CSI controller": 2}
# CoreDNS, without which no name resolves, tolerates these; the operators do not.
# https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html
_TOLERATED_BY_COREDNS = ("CriticalAddonsOnly", "node-role.kubernetes.io/control-plane")
_PATH: KeyPath = ("cluster", "instance_groups")


def system_pods(config: Config) -> Findings:
    """Find clusters where CoreDNS and the operators have no node, or no lasting one.

    They carry no toleration for the taints of a group, nor for the one that HyperPod sets while a
    node runs deep health checks. Restricted nodes take none of them.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html
    """
    open_node_groups = [group for group in config.node_groups if not _repelling(group)]
    if any(group.desired_size for group in open_node_groups):
        return
    if not config.cluster.exists:
        yield from _no_node_group(config, open_node_groups)
        return
    names = ", ".join(_pods(config))
    open_groups = [group for group in config.cluster.instance_groups if not _repelling(group)]
    if not open_groups:
        yield from _no_group(config)
        return
    running = [group for group in open_groups if group.instance_count]
    value = [group.name for group in running or open_groups]
    if not running:
        if config.cluster.auto_scaling is None:
            message = f"without taints have no nodes: {names} stay pending until one has"
            yield warning(_PATH, value, message)
        return
    if all(group.deep_health_checks for group in running):
        yield warning(
            _PATH,
            value,
            f"all start with deep health checks: {names} stay pending until these end, after "
            "possibly hours; add a small group without them",
        )
    if all(group.is_spot for group in running):
        message = f"are the only ones for {names}, and all Spot; add an On-Demand group"
        yield warning(_PATH, value, message)
    yield from _room(config, running=running, value=value)


def _no_node_group(config: Config, without_taints: Sequence[ManagedNodeGroupConfig]) -> Findings:
    names, groups = ", ".join(_pods(config)), [group.name for group in config.node_groups]
    if without_taints:
        message = f"without taints have no nodes: {names} stay pending until one has"
        yield warning(("node_groups",), [group.name for group in without_taints], message)
    elif groups:
        message = (
            "must have one group without NoSchedule and NoExecute taints: no node takes "
            f"{names}, which do not tolerate them"
        )
        yield error(("node_groups",), groups, message)


def _no_group(config: Config) -> Findings:
    ordinary = config.cluster.instance_groups
    dns_has_a_node = any(not _repelling(group, to_coredns=True) for group in ordinary)
    found = warning if dns_has_a_node else error
    placed = {addon.says for addon in config.operators.addons if addon.tolerates_all}
    placed |= _DNS_PODS.keys() if dns_has_a_node else set()
    without = [name for name in _pods(config) if name not in placed]
    if without:
        yield found(
            _PATH,
            [group.name for group in config.cluster.all_groups],
            "must have one group without NoSchedule and NoExecute taints: no node takes "
            f"{', '.join(without)}, which do not tolerate them",
        )


def _room(config: Config, *, running: Sequence[InstanceGroupConfig], value: list[str]) -> Findings:
    if any(not group.facts for group in running):
        return
    needed = sum(_pods(config).values())
    room = sum(
        group.instance_count
        * max(0, min(room_for_pods(facts, config=config) for facts in group.facts))
        for group in running
    )
    if room < needed:
        yield warning(
            _PATH,
            value,
            f"have room for {room} pods besides those of DaemonSets, and the cluster's own are "
            f"{needed} ({', '.join(_pods(config))}); add a node or take larger ones",
        )


def _pods(config: Config) -> dict[str, int]:
    on = config.components.switches()
    pods = dict(_DNS_PODS)
    for component, of_it in _COMPONENT_PODS.items():
        pods |= of_it if on[component] else {}
    for addon in config.operators.addons:
        pods |= {addon.says: sum(addon.deployments.values())} if addon.deployments else {}
    pods |= {} if config.governance is None else {"Kueue": 1}
    pods |= {} if config.grafana_image is None else {"Grafana": 1}
    return pods | (_STORAGE_PODS if config.needs_fsx_csi_driver else {})


def _repelling(
    group: InstanceGroupConfig | ManagedNodeGroupConfig, *, to_coredns: bool = False
) -> bool:
    tolerated = _TOLERATED_BY_COREDNS if to_coredns else ()
    return any(taint.repels and taint.key not in tolerated for taint in group.taints)
