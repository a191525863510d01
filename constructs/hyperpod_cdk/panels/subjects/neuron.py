"""The AWS Trainium chips: how busy and how full they are, and what failed on them."""

from hyperpod_cdk.panels.definition import INSIGHTS, Alarm, Line, Panel, Subject, Unit, rate

_INSIGHTS = f"{INSIGHTS}#Container-Insights-metrics-EKS-Neuron"
_MONITOR = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/"
    "neuron-monitor-user-guide.html#neuron-monitor-prometheus-py"
)

SUBJECT = Subject(
    title="Neuron",
    sources=(_INSIGHTS, _MONITOR),
    has="Neuron",
    panels=(
        Panel(
            title="NeuronCore utilization",
            what="The share of time in which the NeuronCores computed, the mean of a node.",
            unit=Unit.PERCENT,
            why=(
                "A low value in a training job means that it waits for data, other nodes or "
                "compilation."
            ),
            to_do="Look for compilations in the job's log, and check the file systems.",
            cloudwatch=(Line(label="all nodes", metrics=("node_neuroncore_utilization",)),),
            promql="100 * avg by (cluster_id, instance_id) "
            "(neuroncore_utilization_ratio{$cluster})",
        ),
        Panel(
            title="Utilization of all NeuronCores",
            what="The mean utilization of every NeuronCore of the cluster.",
            unit=Unit.PERCENT,
            why="Below 5 % for two hours, the cluster does no work, but you pay for all of it.",
            to_do=(
                "Run hyperpod-cdk idle: it shows the idle groups, their cost, and how to "
                "scale them down."
            ),
            cloudwatch=(Line(label="cluster", metrics=("node_neuroncore_utilization",)),),
            # Neuron Monitor has no core to report while no program runs on a node.
            promql="100 * avg by (cluster_id) (neuroncore_utilization_ratio{$cluster}) "
            "or 0 * count by (cluster_id) (instance_info{$cluster})",
            legend="cluster",
            alarm=Alarm(name="NeuronCoresIdle", is_above=False, threshold=5, minutes=120),
        ),
        Panel(
            title="Neuron device memory",
            what="The memory of the devices that programs use, the sum of a node.",
            unit=Unit.BYTES,
            why="A program that needs more memory than the device has fails to load.",
            to_do="Change the job's batch size or its sharding.",
            cloudwatch=(
                Line(
                    label="mean of a node", metrics=("node_neurondevice_runtime_memory_used_bytes",)
                ),
            ),
            promql="sum by (cluster_id, instance_id) "
            '(neuron_runtime_memory_used_bytes{memory_location="neuron_device",$cluster})',
        ),
        Panel(
            title="Neuron execution errors",
            what="Failed executions, by type.",
            unit=Unit.A_SECOND,
            why=(
                "The type hardware means a broken device; numerical and model errors come from "
                "the program."
            ),
            to_do="Replace a node with hardware errors: hyperpod-cdk replace.",
            cloudwatch=(rate("all kinds", "node_neuron_execution_errors_total"),),
            promql="sum by (cluster_id, error_type) (rate(execution_errors_total{$cluster}[5m]))",
        ),
        Panel(
            title="Neuron memory errors",
            what="Errors of the devices' memory, including corrected ones.",
            unit=Unit.COUNT,
            why=(
                "Uncorrected errors end jobs; a growing number of corrected ones often precedes "
                "them."
            ),
            to_do=(
                "HyperPod repairs nodes with uncorrected errors; replace nodes with a growing "
                "number of corrected ones."
            ),
            cloudwatch=(
                Line(
                    label="all kinds",
                    metrics=("node_neurondevice_hw_ecc_events_total",),
                    statistic="Maximum",
                ),
            ),
            promql="sum by (cluster_id, instance_id, event_type) "
            "(increase(hardware_ecc_events_total{$cluster}[1h]))",
        ),
    ),
)
