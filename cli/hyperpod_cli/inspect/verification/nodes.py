"""How many nodes there should be, and how many pods of DaemonSets and Deployments."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kubernetes.client import ApiextensionsV1Api, AppsV1Api

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cli.aws.kubernetes_api import existing
from hyperpod_cli.inspect.verification.check import Check, LiveDeployment, checked, several
from hyperpod_shared.clusters import CLUSTER_LABEL, nodes_needed

Kind = Literal["ds", "deploy"]


def nodes_command(config: Config, *, labels: str = "") -> str:
    """Return the kubectl command that lists the cluster's nodes, or those with further labels."""
    wanted = ",".join(part for part in (f"{CLUSTER_LABEL}={config.cluster.name}", labels) if part)
    return f"kubectl get nodes -l {wanted}"


def put_back(config: Config, addon: str) -> str:
    """Return how what an EKS add-on installed comes back."""
    return (
        f"It was deleted; EKS puts it back: `aws eks update-addon --cluster-name "
        f"{config.eks_cluster_name} --addon-name {addon} --resolve-conflicts OVERWRITE`"
    )


def stored_versions(deployment: LiveDeployment, name: str) -> list[str] | None:
    """Return the versions of a CustomResourceDefinition's objects; None if it is not there."""
    # Raw JSON: the client takes long to parse the schemas of a definition.
    read = ApiextensionsV1Api(deployment.kubernetes).read_custom_resource_definition
    answer = existing(read, name, _preload_content=False)
    return None if answer is None else list(json.loads(answer.data)["status"]["storedVersions"])


def allocatable(node: Mapping[str, Any]) -> Mapping[str, str]:
    """Return what a node offers to pods, by resource."""
    return (node.get("status") or {}).get("allocatable") or {}


def wanted_nodes(config: Config) -> int:
    """Return how many nodes the configuration asks for."""
    return sum(group.instance_count for group in config.cluster.all_groups)


def count_in_words(config: Config) -> str:
    """Return how many nodes there are once each group has what it needs."""
    return _in_words(*_bounds(*config.cluster.all_groups), config=config)


def miscounted(groups: Iterable[str], *, config: Config) -> str | None:
    """Return how many nodes there are of how many; None if each group has what it needs.

    A group is complete as for a deployment: with its `min_instance_count`, or else with all.

    Where the group of a node is empty, as it is not known, only the sum is judged; autoscaling may
    add to the counts.
    """
    counts = Counter(groups)
    bounds_of = {group.name: _bounds(group) for group in config.cluster.all_groups}
    bounds_of |= {name: (0, 0) for name in sorted(counts.keys() - bounds_of.keys())}
    least, most = _bounds(*config.cluster.all_groups)
    total = counts.total()
    if "" in counts or len(bounds_of) == 1:
        wrong = [] if _fits(total, least, most, config=config) else [""]
    else:
        wrong = [
            f"{name} has {counts[name]} of {_in_words(*bounds, config=config)}"
            for name, bounds in bounds_of.items()
            if not _fits(counts[name], *bounds, config=config)
        ]
    if not wrong:
        return None
    words = [f"{total} of {count_in_words(config)}", several(wrong)]
    return ": ".join(part for part in words if part)


def _bounds(*groups: NodeGroupConfig) -> tuple[int, int]:
    """Return the fewest and the most nodes of groups."""
    counts = [(item.instance_count, getattr(item, "min_instance_count", None)) for item in groups]
    least = sum(nodes_needed({"TargetCount": most, "MinCount": few}) for most, few in counts)
    return least, sum(most for most, _ in counts)


def _fits(count: int, least: int, most: int, *, config: Config) -> bool:
    return least <= count and (count <= most or config.cluster.auto_scaling is not None)


def _in_words(least: int, most: int, *, config: Config) -> str:
    if config.cluster.auto_scaling is not None:
        return f"at least {least}"
    return str(most) if least == most else f"{least} to {most}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """A DaemonSet or a Deployment.

    `without` has sentences, each with a space after it, on what does not work while it is missing.
    """

    kind: Kind
    name: str
    namespace: str
    without: str

    def check(self, deployment: LiveDeployment, *, install: str) -> Check:
        """Return the check that it is there with all its pods."""
        apps = AppsV1Api(deployment.kubernetes)
        reads: Mapping[Kind, Callable[..., Any]] = {
            "ds": apps.read_namespaced_daemon_set,
            "deploy": apps.read_namespaced_deployment,
        }
        workload = existing(reads[self.kind], self.name, self.namespace)
        return checked(
            f"kubectl get {self.kind} {self.name} -n {self.namespace}",
            problem=self._problem(workload),
            advice=self.without
            + (
                install if workload is None else self._see_pods(workload.spec.selector.match_labels)
            ),
        )

    def _problem(self, workload: Any | None) -> str | None:  # noqa: ANN401 - either kind
        if workload is None:
            return "is not installed"
        status = workload.status
        ready, wanted = (
            (status.number_ready, status.desired_number_scheduled)
            if self.kind == "ds"
            else (status.ready_replicas, workload.spec.replicas)
        )
        return None if (ready or 0) >= wanted else f"{ready or 0} of {wanted} pods are ready"

    def _see_pods(self, labels: dict[str, str] | None) -> str:
        selector = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
        return (
            f"See why its pods do not run: `kubectl describe pods -n {self.namespace} "
            f"-l {selector}`"
        )
