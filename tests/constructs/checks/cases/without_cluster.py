"""Rules on a deployment without a HyperPod cluster."""

from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.checks.any_nodes import any_nodes
from hyperpod_cdk.checks.eks.cluster_autoscaler import cluster_autoscaler
from hyperpod_cdk.checks.eks.dcgm_owner import dcgm_owner
from hyperpod_cdk.checks.eks.governance_quotas import governance_quotas
from hyperpod_cdk.checks.eks.grafana import grafana
from hyperpod_cdk.checks.eks.operator_nodes import operator_nodes
from hyperpod_cdk.checks.eks.system_pods import system_pods
from hyperpod_cdk.checks.orchestrator_keys import orchestrator_keys
from tests.support.configs import configured
from tests.support.rule_cases import ERROR, TAINT, Cases, config, group

_NODES: dict[str, Any] = {
    "node_groups": [{"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}]
}
_AUTOSCALER = "operators.cluster_autoscaler"
_METRICS, _GRAFANA = {"metrics_server": True}, {"kind": "in_cluster"}
_TAINTED = {"taints": [TAINT]}


def _without(**changes: Any) -> Config:
    return configured({"cluster": None, **changes})


def _scaled(**sizes: int) -> Config:
    scaled = {**_NODES["node_groups"][0], **sizes}
    return _without(operators={"cluster_autoscaler": True}, node_groups=[scaled])


def _measured(**changes: Any) -> Config:
    changed = {**_NODES["node_groups"][0], **changes}
    return _without(operators=_METRICS, node_groups=[changed])


_ALL_OF_HYPERPOD = _without(
    lifecycle_scripts={"prefix": "scripts"},
    helm={"components": {"health_monitoring_agent": True, "mpi_operator": True}},
    operators={"metrics_server": True, "training_operator": True, "spaces": True},
    governance={},
    observability={"cloudwatch": {}, "prometheus": {}, "grafana": _GRAFANA, "notifications": {}},
    node_health={"recurring": {"schedule": "0 3 * * *"}},
    storage={"stop_nodes_without_lustre": True},
    encryption={"lifecycle_bucket": False},
)

CASES: Cases = {}
CASES[any_nodes] = {
    "nodes of HyperPod": config(),
    "those of node groups": _without(**_NODES),
    "none": (_without(), (ERROR, "cluster")),
}
CASES[orchestrator_keys] = {
    "none without a cluster": _without(operators={"metrics_server": True}),
    "of HyperPod without a cluster": (
        _ALL_OF_HYPERPOD,
        (ERROR, "storage.stop_nodes_without_lustre"),
        (ERROR, "helm.components.health_monitoring_agent"),
        (ERROR, "lifecycle_scripts"),
        (ERROR, "operators.training_operator"),
        (ERROR, "operators.spaces"),
        (ERROR, "governance"),
        (ERROR, "observability.prometheus"),
        (ERROR, "observability.grafana"),
        (ERROR, "observability.notifications"),
        (ERROR, "node_health"),
    ),
}
CASES[dcgm_owner] = {"CloudWatch, where Prometheus cannot be": _ALL_OF_HYPERPOD}
CASES[grafana] = {"none where Prometheus cannot be": _without(observability={"grafana": _GRAFANA})}
CASES[cluster_autoscaler] = {
    "off": _without(**_NODES),
    "a group that grows": _scaled(max_size=2),
    "groups of one size": (_scaled(min_size=1), (ERROR, _AUTOSCALER)),
    "beside HyperPod's nodes": (
        config(operators={"cluster_autoscaler": True}, **_NODES),
        (ERROR, _AUTOSCALER),
    ),
}
CASES[governance_quotas] = {"no group to take a share of": _ALL_OF_HYPERPOD}
CASES[operator_nodes] = {
    "no group for the operators": _ALL_OF_HYPERPOD,
    "a node of a node group": _measured(),
    **{
        f"node groups {told}": (_measured(**changes), (ERROR, "node_groups"))
        for told, changes in (("without nodes", {"desired_size": 0}), ("with taints", _TAINTED))
    },
    "a node of a node group beside HyperPod's none": config(
        group(instance_count=0),
        of_cluster={"wait_for": "in_service"},
        operators=_METRICS,
        node_groups=[{**_NODES["node_groups"][0], "instance_types": ["c5.4xlarge"]}],
    ),
}
CASES[system_pods] = {"no group for the add-ons": _ALL_OF_HYPERPOD}
