"""Six hours of metrics of a cluster, with the names and labels of the exporters.

Two nodes with GPUs train from the second hour on; one of them is hot for a while, with a link that
retransmits. A Trainium node computes for half of the time. A third node with GPUs, which HyperPod
replaces in the fourth hour, has no work.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import sin

BEGIN = datetime(2026, 1, 15, 6, tzinfo=UTC)
HOURS, STEP_SECONDS = 6, 60
CLUSTER = "l1ovezrcgn3w"
GPU, NEURON, PLAIN = "ml.p5.48xlarge", "ml.trn1.32xlarge", "ml.m5.2xlarge"
EC2 = "p4d.24xlarge"
"""A type of a node group, of which there is no node yet."""
TYPES = {
    "hyperpod-i-0a11": GPU,
    "hyperpod-i-0b22": GPU,
    "hyperpod-i-0c33": GPU,
    "hyperpod-i-0d44": NEURON,
    "hyperpod-i-0e55": PLAIN,
}
"""The nodes, and their types."""

_BUSY = ("hyperpod-i-0a11", "hyperpod-i-0b22")
_HOT, _FAULTY = "hyperpod-i-0b22", "hyperpod-i-0c33"
_GPUS, _CORES = 8, 32
_GIB = 2**30

# Of the minute since the beginning.
Value = Callable[[int], float | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """A series.

    Attributes:
        name: The metric.
        labels: Its labels.
        value: Its value of a minute; None for no sample.
    """

    name: str
    labels: Mapping[str, str]
    value: Value


def open_metrics() -> str:
    """Return the metrics in the format that promtool makes blocks of."""
    by_name: dict[str, list[Series]] = {}
    for each in (*_gpus(), *_neuron(), *_efa(), *_kubernetes()):
        by_name.setdefault(each.name, []).append(each)
    lines: list[str] = []
    for name, found in by_name.items():
        # OpenMetrics wants counters to end with _total, which those of EFA do not.
        family = name.removesuffix("_total")
        lines.append(f"# TYPE {family} {'gauge' if family == name else 'counter'}")
        for series in found:
            labels = ",".join(f'{key}="{value}"' for key, value in series.labels.items())
            lines += (
                f"{name}{{{labels}}} {value:g} {BEGIN.timestamp() + minute * STEP_SECONDS:.0f}"
                for minute in range(HOURS * 60 + 1)
                if (value := series.value(minute)) is not None
            )
    return "\n".join([*lines, "# EOF", ""])


def _wave(minute: int, *, middle: float, height: float, phase: float = 0) -> float:
    return middle + height * sin(minute / 9 + phase)


def _works(minute: int) -> bool:
    return minute >= 60


def _total(a_minute: float) -> Value:
    """Return a counter that grows while jobs run."""
    return lambda minute: max(minute - 60, 0) * a_minute


def _gpus() -> Iterator[Series]:
    # https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv
    for place, (node, name) in enumerate(TYPES.items()):
        for gpu in range(_GPUS if name == GPU else 0):
            labels = {
                "gpu": str(gpu),
                "UUID": f"GPU-{place}{gpu}",
                "device": f"nvidia{gpu}",
                "modelName": "NVIDIA H100 80GB HBM3",
                "Hostname": node,
                "cluster_id": CLUSTER,
            }
            for metric, value in _of_gpu(node, gpu, phase=place + gpu / 8).items():
                yield Series(name=metric, labels=labels, value=value)


def _of_gpu(node: str, gpu: int, *, phase: float) -> Mapping[str, Value]:
    hot = 16 if node == _HOT and gpu == 0 else 0

    def computes(minute: int) -> bool:
        return node in _BUSY and _works(minute)

    def used(minute: int) -> float:
        return 71000 if computes(minute) else 4

    def temperature(minute: int) -> float:
        if not computes(minute):
            return 31
        extra = hot if 150 <= minute < 200 else 0
        return _wave(minute, middle=66 + extra, height=2, phase=phase) + extra / 4

    return {
        "DCGM_FI_DEV_GPU_UTIL": lambda minute: (
            _wave(minute, middle=94, height=4, phase=phase) * computes(minute)
        ),
        "DCGM_FI_DEV_FB_USED": used,
        "DCGM_FI_DEV_FB_FREE": lambda minute: 81075 - used(minute),
        "DCGM_FI_DEV_POWER_USAGE": lambda minute: (
            _wave(minute, middle=640, height=30, phase=phase) if computes(minute) else 72
        ),
        "DCGM_FI_DEV_GPU_TEMP": temperature,
        "DCGM_FI_DEV_XID_ERRORS": lambda minute: (
            79 if node == _FAULTY and gpu == 3 and minute >= 200 else 0
        ),
    }


def _neuron() -> Iterator[Series]:
    # https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/
    # neuron-monitor-user-guide.html#neuron-monitor-prometheus-py
    labels = {
        "instance_id": "i-0d44",
        "instance_type": "trn1.32xlarge",
        "region": "us-west-2",
        "cluster_id": CLUSTER,
    }

    def computes(minute: int) -> bool:
        return 90 <= minute < 270

    yield Series(name="instance_info", labels=labels, value=lambda _: 1)
    for core in range(_CORES):

        def ratio(minute: int, core: int = core) -> float | None:
            wave = _wave(minute, middle=0.86, height=0.05, phase=core / 6)
            return wave if computes(minute) else None

        yield Series(
            name="neuroncore_utilization_ratio",
            labels={**labels, "neuroncore": str(core), "runtime_tag": "367"},
            value=ratio,
        )
    yield Series(
        name="neuron_runtime_memory_used_bytes",
        labels={**labels, "memory_location": "neuron_device", "runtime_tag": "367"},
        value=lambda minute: 410 * _GIB if computes(minute) else None,
    )
    for kind in ("generic", "numerical", "transient", "model", "runtime", "hardware"):
        a_minute = 0.5 if kind == "transient" else 0
        yield Series(
            name="execution_errors_total",
            labels={**labels, "error_type": kind, "runtime_tag": "367"},
            value=_total(a_minute),
        )
    for kind in ("mem_ecc_corrected", "mem_ecc_uncorrected"):
        yield Series(
            name="hardware_ecc_events_total",
            labels={**labels, "event_type": kind, "neuron_device_index": "0"},
            value=_total(0.05 if kind == "mem_ecc_corrected" else 0),
        )


def _efa() -> Iterator[Series]:
    # https://github.com/awslabs/awsome-distributed-ai/tree/main/4.validation_and_observability/
    # 3.efa-node-exporter: a counter of each file of the driver, by its name.
    for node in _BUSY:
        labels = {"instance": node, "device": "rdmap79s0", "port": "1", "cluster_id": CLUSTER}
        sent, bad = 60 * 21e9, node == _HOT
        for name, a_minute in {
            "rx_bytes": sent,
            "tx_bytes": sent,
            "retrans_bytes": sent * (0.018 if bad else 0.0002),
            "retrans_timeout_events": 6 if bad else 0,
            "unresponsive_remote_events": 1 if bad else 0,
        }.items():
            yield Series(
                name=f"node_amazonefa_{name}",
                labels=labels,
                value=_total(a_minute),
            )


def _kubernetes() -> Iterator[Series]:
    # https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics, the kubelet's own
    # metric with the labels of its node, and https://github.com/prometheus/node_exporter
    always = {"cluster_id": CLUSTER}
    for node, name in TYPES.items():
        for status in ("Schedulable", "UnschedulablePendingReplacement"):
            fails = status != "Schedulable"

            def there(minute: int, node: str = node, fails: bool = fails) -> float | None:
                return 1 if (node == _FAULTY and minute >= 200) == fails else None

            yield Series(
                name="kubelet_node_name",
                labels={
                    **always,
                    "node": node,
                    "node_kubernetes_io_instance_type": name,
                    "sagemaker_amazonaws_com_instance_group_name": f"group-{name}",
                    "sagemaker_amazonaws_com_node_health_status": status,
                },
                value=there,
            )
        for status in ("true", "false", "unknown"):

            def ready(minute: int, node: str = node, status: str = status) -> float:
                fails = node == _FAULTY and minute >= 200
                return float(status == ("unknown" if fails else "true"))

            yield Series(
                name="kube_node_status_condition",
                labels={**always, "node": node, "condition": "Ready", "status": status},
                value=ready,
            )
        for metric, value in {
            "node_memory_MemTotal_bytes": lambda _: 2048 * _GIB,
            "node_memory_MemAvailable_bytes": lambda minute: (
                _wave(minute, middle=1300 if _works(minute) else 2010, height=20) * _GIB
            ),
        }.items():
            yield Series(name=metric, labels={**always, "instance": node}, value=value)
        if name != PLAIN:
            resource = "nvidia_com_gpu" if name == GPU else "aws_amazon_com_neuron"
            asked = {**always, "node": node, "resource": resource}
            yield Series(
                name="kube_node_status_allocatable",
                labels=asked,
                value=lambda _: _GPUS,
            )
            if node != _FAULTY:
                yield Series(
                    name="kube_pod_container_resource_requests",
                    labels={
                        **asked,
                        "namespace": "hyperpod-ns-research",
                        "pod": "llm-0",
                        "container": "train",
                    },
                    value=lambda minute: _GPUS if _works(minute) else None,
                )
    yield from _pods(always)


def _pods(always: Mapping[str, str]) -> Iterator[Series]:
    pods = {**always, "namespace": "research"}
    yield Series(
        name="kube_pod_status_phase",
        labels={**pods, "pod": "llm-2", "phase": "Pending"},
        value=lambda minute: float(20 <= minute < 60 or minute >= 200),
    )
    crashing = {**pods, "pod": "eval-0", "container": "eval"}
    yield Series(
        name="kube_pod_container_status_waiting_reason",
        labels={**crashing, "reason": "CrashLoopBackOff"},
        value=lambda minute: 1 if 120 <= minute < 160 else None,
    )
    yield Series(
        name="kube_pod_container_status_restarts_total",
        labels=crashing,
        value=lambda minute: min(max(minute - 120, 0) // 5, 8),
    )
    yield Series(
        name="kueue_pending_workloads",
        labels={**always, "cluster_queue": "research", "status": "active"},
        value=lambda minute: 3 if minute < 60 else 1 + (minute >= 200),
    )
