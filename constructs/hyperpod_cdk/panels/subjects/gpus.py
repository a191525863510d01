"""The GPUs: how busy, how full and how hot they are, and which stand idle."""

from hyperpod_cdk.panels.definition import INSIGHTS, Alarm, Line, Panel, Subject, Unit

_INSIGHTS = f"{INSIGHTS}#Container-Insights-metrics-EKS-GPU"
_DCGM = "https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv"
_XID = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"

SUBJECT = Subject(
    title="GPUs",
    sources=(_INSIGHTS, _DCGM),
    has="GPU",
    panels=(
        Panel(
            title="GPU utilization",
            what="The share of time in which a kernel ran, the mean over the GPUs of a node.",
            unit=Unit.PERCENT,
            why=(
                "A training job keeps it near 100; a low value means that it waits for data or "
                "for other nodes."
            ),
            to_do="Look for a node that is slower than the others, and check the file systems.",
            cloudwatch=(Line(label="all nodes", metrics=("node_gpu_utilization",)),),
            promql="avg by (cluster_id, Hostname) (DCGM_FI_DEV_GPU_UTIL{$cluster})",
        ),
        Panel(
            title="Idle GPUs",
            what="GPUs below 5 % utilization in the mean of an hour; in CloudWatch, the GPUs "
            "that no pod requests.",
            unit=Unit.COUNT,
            why="They cost as much as busy ones.",
            to_do="Scale down the group, or find the job that holds GPUs and does not use them.",
            cloudwatch=(
                Line(
                    label="GPUs without a pod",
                    metrics=("node_gpu_limit", "node_gpu_usage_total"),
                    statistic="Sum",
                    expression="(m1 - m2) / 5",
                ),
            ),
            promql="count by (cluster_id) (avg_over_time(DCGM_FI_DEV_GPU_UTIL{$cluster}[1h]) < 5)",
            legend="idle",
        ),
        Panel(
            title="Utilization of all GPUs",
            what="The mean utilization of every GPU of the cluster.",
            unit=Unit.PERCENT,
            why="Below 5 % for two hours, the cluster does no work, but you pay for all of it.",
            to_do=(
                "Run hyperpod-cdk idle: it shows the idle groups, their cost, and how to "
                "scale them down."
            ),
            cloudwatch=(Line(label="cluster", metrics=("node_gpu_utilization",)),),
            promql="avg by (cluster_id) (DCGM_FI_DEV_GPU_UTIL{$cluster})",
            legend="cluster",
            alarm=Alarm(name="GpusIdle", is_above=False, threshold=5, minutes=120),
        ),
        Panel(
            title="GPU memory",
            what="The share of the GPUs' memory that is used, the mean of a node.",
            unit=Unit.PERCENT,
            why="A job near 100 fails when a batch is larger; one far below wastes memory.",
            to_do="Change the job's batch size or its sharding.",
            cloudwatch=(Line(label="all nodes", metrics=("node_gpu_memory_utilization",)),),
            promql="100 * sum by (cluster_id, Hostname) (DCGM_FI_DEV_FB_USED{$cluster}) "
            "/ sum by (cluster_id, Hostname) "
            "(DCGM_FI_DEV_FB_USED{$cluster} + DCGM_FI_DEV_FB_FREE{$cluster})",
        ),
        Panel(
            title="GPU power",
            what="What the GPUs draw, the mean of a GPU.",
            unit=Unit.WATTS,
            why="It shows whether a GPU computes or waits: one that waits in a collective "
            "operation shows 100 % utilization and little power.",
            to_do="With full utilization and low power, find the rank that holds up the others.",
            cloudwatch=(Line(label="a GPU", metrics=("node_gpu_power_draw",)),),
            promql="avg by (cluster_id, Hostname) (DCGM_FI_DEV_POWER_USAGE{$cluster})",
        ),
        Panel(
            title="GPU temperature",
            what="The hottest GPU.",
            unit=Unit.CELSIUS,
            why="Above 85 °C a GPU lowers its clock, and a job runs as slowly as its slowest GPU.",
            to_do="Replace the node if it stays: hyperpod-cdk replace.",
            cloudwatch=(
                Line(label="hottest", metrics=("node_gpu_temperature",), statistic="Maximum"),
            ),
            promql="max by (cluster_id, Hostname) (DCGM_FI_DEV_GPU_TEMP{$cluster})",
            # AWS's own rule: https://github.com/aws/sagemaker-hyperpod-cluster-setup,
            # observability-assets-creation/alerts/alert-rules.yaml
            alarm=Alarm(name="GpuTooHot", is_above=True, threshold=85, minutes=5),
        ),
        Panel(
            title="XID errors",
            what="The code of the last XID error of each GPU that had one.",
            unit=Unit.COUNT,
            why="The code shows the cause: 13, 31, 43 and 45 mostly the program, 48, 63, 64, "
            "74, 79, 94 and 95 the hardware.",
            to_do="HyperPod repairs hardware errors and sends an event; for the others, debug "
            "the program.",
            sources=(_DCGM, _XID),
            promql="max by (cluster_id, Hostname, gpu) (DCGM_FI_DEV_XID_ERRORS{$cluster} > 0)",
            legend="{{Hostname}} GPU {{gpu}}",
        ),
    ),
)
