"""What the nodes cost now, at list prices."""

from hyperpod_cdk.panels.definition import INSIGHTS, KUBE_STATE, Alarm, Line, Panel, Subject, Unit
from hyperpod_cdk.panels.shares import NODES_WITHOUT_WORK, SHARES, by_team

# The add-on gives the labels of a node to its kubelet's metrics, as AWS's own dashboard reads them.
_KUBELET = (
    "https://github.com/aws/sagemaker-hyperpod-cluster-setup: eks/cloudformation/resources/"
    "observability-assets-creation/dashboards/templates/cluster.json"
)
_REQUESTS = f"{KUBE_STATE}/workload/pod-metrics.md"

SUBJECT = Subject(
    title="Cost",
    sources=(_KUBELET, _REQUESTS),
    panels=(
        Panel(
            title="Dollars an hour",
            what="What the nodes that run cost at AWS's list prices, by instance type; in "
            "CloudWatch by kind, each node at the highest price of its kind.",
            unit=Unit.DOLLARS_AN_HOUR,
            why="Nodes are most of the bill, with or without jobs.",
            to_do="Scale down idle groups: hyperpod-cdk scale.",
            sources=(INSIGHTS, _KUBELET),
            cloudwatch=(
                Line(label="GPU nodes", expression="$gpu_nodes * $gpu_price"),
                Line(label="Neuron nodes", expression="$neuron_nodes * $neuron_price"),
                Line(label="other nodes", expression="$other_nodes * $other_price"),
            ),
            promql="sum by (cluster_id, instance_type) (hyperpod:node_dollars_per_hour{$cluster})",
        ),
        Panel(
            title="Dollars an hour by team",
            what="The part of this cost for the accelerators that pods of a team, or of another "
            "namespace, request.",
            unit=Unit.DOLLARS_AN_HOUR,
            why="It shows which teams use the nodes; hyperpod-cdk cost --actual shows the month.",
            to_do="Compare it with the quotas of the teams, and with the idle nodes.",
            promql=f"sum by (cluster_id, team) ({by_team(SHARES)} * on (cluster_id, node) "
            "group_left () max by (cluster_id, node) "
            "(hyperpod:node_dollars_per_hour{$cluster}))",
        ),
        Panel(
            title="Dollars an hour of nodes without work",
            what="The part of this cost for nodes whose accelerators no pod requests.",
            unit=Unit.DOLLARS_AN_HOUR,
            why="This is what you would save by scaling down now.",
            to_do="Scale down these groups: hyperpod-cdk idle has the commands; an EKS node group "
            "by its desired_size.",
            promql="sum by (cluster_id, instance_group) "
            "(hyperpod:node_dollars_per_hour{$cluster} and on (cluster_id, node) "
            f"{NODES_WITHOUT_WORK})",
            alarm=Alarm(name="GroupIdle", is_above=True, threshold=0, minutes=120),
        ),
    ),
)
