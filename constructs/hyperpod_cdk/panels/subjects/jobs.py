"""Jobs and pods: what waits, and what fails again and again."""

from hyperpod_cdk.panels.definition import INSIGHTS, KUBE_STATE, Alarm, Line, Panel, Subject, Unit

_PODS = f"{KUBE_STATE}/workload/pod-metrics.md"
_KUEUE = "https://kueue.sigs.k8s.io/docs/reference/metrics/"

SUBJECT = Subject(
    title="Jobs",
    sources=(INSIGHTS, _PODS),
    panels=(
        Panel(
            title="Pending pods",
            what="Pods that Kubernetes has accepted and that do not run yet, by namespace.",
            unit=Unit.COUNT,
            why=(
                "After an hour, the cause is not an image pull: nodes, EFA or a volume are missing."
            ),
            to_do="Read why: kubectl describe pod; add nodes: hyperpod-cdk scale.",
            cloudwatch=(
                Line(
                    label="pending",
                    metrics=("pod_status_pending",),
                    statistic="Sum",
                    expression="m1 / 5",
                ),
            ),
            promql='sum by (cluster_id, namespace) (kube_pod_status_phase{phase="Pending",'
            "$cluster})",
            alarm=Alarm(name="PodsPending", is_above=True, threshold=0, minutes=60),
        ),
        Panel(
            title="Containers that crash",
            what="Containers that fail each time Kubernetes restarts them.",
            unit=Unit.COUNT,
            why="A job that restarts again and again uses its nodes without progress.",
            to_do="Read the log of the previous run: kubectl logs --previous; delete the job.",
            cloudwatch=(
                Line(
                    label="crashing",
                    metrics=("pod_container_status_waiting_reason_crash_loop_back_off",),
                    statistic="Sum",
                    expression="m1 / 5",
                ),
            ),
            promql="sum by (cluster_id, namespace) (kube_pod_container_status_waiting_reason{"
            'reason="CrashLoopBackOff",$cluster})',
            alarm=Alarm(name="ContainersCrash", is_above=True, threshold=0, minutes=15),
        ),
        Panel(
            title="Restarts of containers",
            what="How often containers were restarted within an hour, by namespace.",
            unit=Unit.COUNT,
            why="Each restart of a training job loses what was computed since its checkpoint.",
            to_do=(
                "Compare it with the nodes' health: if it is always the same node, the node "
                "is the cause."
            ),
            sources=(_PODS,),
            promql="sum by (cluster_id, namespace) "
            "(increase(kube_pod_container_status_restarts_total{$cluster}[1h]))",
        ),
        Panel(
            title="Waiting workloads",
            what="Workloads that wait for their team's quota, by Kueue's queue.",
            unit=Unit.COUNT,
            why="A queue that is never empty has too small a quota, or other teams use its quota.",
            to_do="Compare the quotas with the requests.",
            sources=(_KUEUE,),
            promql="sum by (cluster_id, cluster_queue) (kueue_pending_workloads{$cluster})",
        ),
    ),
)
