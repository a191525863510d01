"""The Elastic Fabric Adapter: traffic between nodes, and what is sent twice."""

from hyperpod_cdk.panels.definition import INSIGHTS, Alarm, Line, Panel, Subject, Unit

_INSIGHTS = f"{INSIGHTS}#Container-Insights-metrics-EFA"
# node_efa_retrans_bytes and node_efa_retrans_timeout_events, which that page leaves out.
_AGENT = "https://github.com/aws/amazon-cloudwatch-agent-test: test/efa/efa_metrics_helper.go"
_EXPORTER = (
    "https://github.com/awslabs/awsome-distributed-ai/tree/main/4.validation_and_observability/"
    "3.efa-node-exporter"
)
_COUNTERS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-working-monitor.html"

SUBJECT = Subject(
    title="EFA",
    sources=(_AGENT, _EXPORTER, _COUNTERS),
    has="EFA",
    panels=(
        Panel(
            title="EFA traffic",
            what="What the nodes receive through EFA, by packets and by RDMA.",
            unit=Unit.BYTES_A_SECOND,
            why="Training on several nodes without it goes over TCP, many times slower.",
            to_do="Set FI_PROVIDER=efa, request vpc.amazonaws.com/efa, and read NCCL's log.",
            sources=(_INSIGHTS, _EXPORTER),
            cloudwatch=(
                Line(label="received", metrics=("node_efa_rx_bytes",)),
                Line(label="sent", metrics=("node_efa_tx_bytes",)),
                Line(label="read by RDMA", metrics=("node_efa_rdma_read_bytes",)),
                Line(label="written by RDMA", metrics=("node_efa_rdma_write_bytes",)),
            ),
            promql="sum by (cluster_id, instance) (rate(node_amazonefa_rx_bytes{$cluster}[5m]))",
        ),
        Panel(
            title="EFA bytes sent twice",
            what="Bytes that were retransmitted, of 100 that were sent.",
            unit=Unit.PERCENT,
            why="Congestion or a bad link slows down each collective operation.",
            to_do="Find the node with the highest value, and replace it: hyperpod-cdk replace.",
            cloudwatch=(
                Line(
                    label="cluster",
                    metrics=("node_efa_retrans_bytes", "node_efa_tx_bytes"),
                    statistic="Sum",
                    expression="100 * m1 / m2",
                ),
            ),
            promql="100 * sum by (cluster_id, instance) "
            "(rate(node_amazonefa_retrans_bytes{$cluster}[5m])) "
            "/ (sum by (cluster_id, instance) "
            "(rate(node_amazonefa_tx_bytes{$cluster}[5m])) > 0)",
            alarm=Alarm(name="EfaSendsTwice", is_above=True, threshold=1, minutes=15),
        ),
        Panel(
            title="EFA timeouts and unresponsive peers",
            what="Retransmissions that timed out, and peers that did not answer.",
            unit=Unit.A_SECOND,
            why="A peer that does not answer is a failed node, and NCCL waits for it.",
            to_do="Compare it with the node's health; a job that hangs ends with NCCL's timeout.",
            cloudwatch=(
                Line(label="timeouts", metrics=("node_efa_retrans_timeout_events",)),
                Line(label="unresponsive", metrics=("node_efa_unresponsive_remote_events",)),
            ),
            promql="sum by (cluster_id, instance) "
            "(rate(node_amazonefa_retrans_timeout_events{$cluster}[5m]) "
            "+ rate(node_amazonefa_unresponsive_remote_events{$cluster}[5m]))",
        ),
    ),
)
