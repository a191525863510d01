"""The nodes: how many there are, and how HyperPod and Kubernetes judge them."""

from hyperpod_cdk.panels.definition import INSIGHTS, KUBE_STATE, Alarm, Line, Panel, Subject, Unit

_NODES = f"{KUBE_STATE}/cluster/node-metrics.md"
_HEALTH = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels"
    ".html"
)

SUBJECT = Subject(
    title="Nodes",
    panels=(
        Panel(
            title="Nodes by health",
            what="The number of nodes; in Prometheus, by their HyperPod health status.",
            unit=Unit.COUNT,
            why="Unschedulable nodes run deep health checks; pending nodes wait to be rebooted "
            "or replaced.",
            to_do="Wait for HyperPod; without automatic recovery: hyperpod-cdk replace.",
            sources=(INSIGHTS, _HEALTH),
            cloudwatch=(Line(label="nodes", metrics=("cluster_node_count",)),),
            promql="count by (cluster_id, sagemaker_amazonaws_com_node_health_status) "
            "(kubelet_node_name{$cluster})",
        ),
        Panel(
            title="Nodes that are not ready",
            what="Nodes whose condition in Kubernetes is not Ready.",
            unit=Unit.COUNT,
            why="HyperPod recovers a node within minutes, and its event has the cause; after "
            "half an hour, it has not recovered it.",
            to_do="Read hyperpod-cdk status, then replace the node: hyperpod-cdk replace.",
            sources=(INSIGHTS, _NODES),
            cloudwatch=(
                Line(label="failed", metrics=("cluster_failed_node_count",), statistic="Minimum"),
            ),
            promql='sum by (cluster_id) (kube_node_status_condition{condition="Ready",'
            'status!="true",$cluster})',
            legend="not ready",
            alarm=Alarm(name="NodesNotReady", is_above=True, threshold=0, minutes=30),
        ),
        Panel(
            title="Memory of nodes",
            what="The share of the nodes' memory that is used.",
            unit=Unit.PERCENT,
            why="A node that runs out of memory ends pods, data loaders first.",
            to_do="Lower the number of data loaders, or the shared memory of the job.",
            sources=(INSIGHTS, "https://github.com/prometheus/node_exporter"),
            cloudwatch=(
                Line(label="fullest", metrics=("node_memory_utilization",), statistic="Maximum"),
            ),
            promql="100 * (1 - node_memory_MemAvailable_bytes{$cluster} "
            "/ node_memory_MemTotal_bytes{$cluster})",
            legend="{{instance}}",
        ),
    ),
)
