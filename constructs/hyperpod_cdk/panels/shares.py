"""Whose pods have which nodes, in PromQL: for dashboards, and for what a month of nodes cost."""

from hyperpod_shared.governance import TEAM_NAMESPACE

# GPUs, parts of them by MIG, and Neuron devices or their cores, as kube-state-metrics writes them.
_DEVICES = 'resource=~"nvidia_com_gpu|nvidia_com_mig_.+|aws_amazon_com_neuron(core)?"'

SHARES = (
    "(sum by (cluster_id, namespace, node, resource) (kube_pod_container_resource_requests{"
    f'{_DEVICES},node!="",$cluster}} unless on (cluster_id, namespace, pod) '
    '(kube_pod_status_phase{phase=~"Pending|Succeeded|Failed",$cluster} == 1)) '
    "/ on (cluster_id, node, resource) group_left () "
    "max by (cluster_id, node, resource) "
    f"(kube_node_status_allocatable{{{_DEVICES},$cluster}} > 0))"
)
"""How much of each node the pods of each namespace have.

A pod that asks for half of a node's accelerators has half of the node, from the time it is on it
until it has ended. Pods that ask for none have nothing.
"""


def by_team(query: str) -> str:
    """Return a query by namespace with the label `team`: a team, or the namespace of others."""
    others = f'label_replace({query}, "team", "namespace $1", "namespace", "(.+)")'
    return f'label_replace({others}, "team", "$1", "namespace", "{TEAM_NAMESPACE}(.+)")'
