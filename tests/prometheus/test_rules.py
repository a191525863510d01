"""The rules, as promtool judges and tries them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from hyperpod_cdk.panels.rules import rules
from tests.prometheus.metrics import EC2, GPU
from tests.prometheus.server import everything, promtool

GPU_NODE, OTHER_NODE = "hyperpod-i-0a11", "hyperpod-i-0b22"


@dataclass(frozen=True, kw_only=True)
class Case:
    """What an alarm is about.

    Attributes:
        wrong: Series that raise it, as promtool writes the values of each minute.
        right: Series that do not.
        labels: The alarm's own labels.
        value: The value that it names.
    """

    wrong: Mapping[str, str]
    right: Mapping[str, str]
    labels: Mapping[str, str]
    value: str


def _utilization(node: str) -> str:
    return f'DCGM_FI_DEV_GPU_UTIL{{cluster_id="c",Hostname="{node}",gpu="0"}}'


def _core(number: int) -> str:
    return f'neuroncore_utilization_ratio{{cluster_id="c",instance_id="i-1",neuroncore="{number}"}}'


_TEMPERATURE = f'DCGM_FI_DEV_GPU_TEMP{{cluster_id="c",Hostname="{GPU_NODE}",gpu="0"}}'
_SENT = 'node_amazonefa_tx_bytes{cluster_id="c",instance="n",device="rdmap79s0",port="1"}'
_TWICE = _SENT.replace("tx_bytes", "retrans_bytes")
_PENDING = 'kube_pod_status_phase{cluster_id="c",namespace="a",pod="p",phase="Pending"}'
_CRASHES = (
    'kube_pod_container_status_waiting_reason{cluster_id="c",namespace="a",pod="p",'
    'container="t",reason="CrashLoopBackOff"}'
)
_UNKNOWN = 'kube_node_status_condition{cluster_id="c",node="n",condition="Ready",status="unknown"}'
_NODE = (
    f'kubelet_node_name{{cluster_id="c",node="n",node_kubernetes_io_instance_type="{GPU}",'
    'sagemaker_amazonaws_com_instance_group_name="gpu"}'
)
_EC2_NODE = (
    f'kubelet_node_name{{cluster_id="c",node="n",node_kubernetes_io_instance_type="{EC2}",'
    'eks_amazonaws_com_nodegroup="ec2"}'
)
_GPUS = 'kube_node_status_allocatable{cluster_id="c",node="n",resource="nvidia_com_gpu"}'
_ASKED = (
    'kube_pod_container_resource_requests{cluster_id="c",namespace="a",pod="p",container="t",'
    'node="n",resource="nvidia_com_gpu"}'
)
_INSTANCE = 'instance_info{cluster_id="c",instance_id="i-1"}'

CASES = {
    "GpusIdle": Case(
        wrong={_utilization(GPU_NODE): "4+0x300", _utilization(OTHER_NODE): "0+0x300"},
        right={_utilization(GPU_NODE): "96+0x300", _utilization(OTHER_NODE): "0+0x300"},
        labels={"cluster_id": "c"},
        value="2",
    ),
    "GroupIdle": Case(
        wrong={_NODE: "1+0x300", _GPUS: "8+0x300"},
        right={_NODE: "1+0x300", _GPUS: "8+0x300", _ASKED: "1+0x300"},
        labels={"cluster_id": "c", "instance_group": "gpu"},
        value=f"{everything().prices[GPU]:.4g}",
    ),
    "GroupIdle of a node group": Case(
        wrong={_EC2_NODE: "1+0x300", _GPUS: "8+0x300"},
        right={_EC2_NODE: "1+0x300", _GPUS: "8+0x300", _ASKED: "1+0x300"},
        labels={"cluster_id": "c", "instance_group": "ec2"},
        value=f"{everything().prices[EC2]:.4g}",
    ),
    "GpuTooHot": Case(
        wrong={_TEMPERATURE: "86+0x300"},
        right={_TEMPERATURE: "85+0x300"},
        labels={"cluster_id": "c", "Hostname": GPU_NODE},
        value="86",
    ),
    "NeuronCoresIdle": Case(
        wrong={_INSTANCE: "1+0x300"},
        right={_INSTANCE: "1+0x300", _core(0): "0.9+0x300", _core(1): "0.8+0x300"},
        labels={"cluster_id": "c"},
        value="0",
    ),
    "EfaSendsTwice": Case(
        wrong={_SENT: "0+6000x300", _TWICE: "0+120x300"},
        right={_SENT: "0+6000x300", _TWICE: "0+6x300"},
        labels={"cluster_id": "c", "instance": "n"},
        value="2",
    ),
    "PodsPending": Case(
        wrong={_PENDING: "1+0x300"},
        right={_PENDING: "0+0x300"},
        labels={"cluster_id": "c", "namespace": "a"},
        value="1",
    ),
    "ContainersCrash": Case(
        wrong={_CRASHES: "1+0x300"},
        # The series is there while a container waits, and for this reason alone.
        right={_CRASHES.replace("CrashLoopBackOff", "ContainerCreating"): "1+0x300"},
        labels={"cluster_id": "c", "namespace": "a"},
        value="1",
    ),
    "NodesNotReady": Case(
        wrong={_UNKNOWN: "1+0x300"},
        right={_UNKNOWN: "0+0x300"},
        labels={"cluster_id": "c"},
        value="1",
    ),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the rules."""
    path = tmp_path_factory.mktemp("rules") / "rules.yaml"
    path.write_text(rules(everything()), "utf-8")
    return path


def _alerts(file: Path) -> dict[str, dict[str, object]]:
    groups = {each["name"]: each for each in yaml.safe_load(file.read_text("utf-8"))["groups"]}
    return {each["alert"]: each for each in groups["hyperpod-alarms"]["rules"]}


def _alert(case: str) -> str:
    return case.partition(" ")[0]


def test_promtool_accepts_the_rules(file: Path) -> None:
    count = sum(len(each["rules"]) for each in yaml.safe_load(file.read_text("utf-8"))["groups"])

    assert f"SUCCESS: {count} rules found" in promtool("check", "rules", file)


def test_each_alarm_is_tried(file: Path) -> None:
    assert {_alert(name) for name in CASES} == set(_alerts(file)), "add a row of CASES"


@pytest.mark.parametrize("name", CASES)
def test_an_alarm_comes_in_time_and_not_before(name: str, file: Path, tmp_path: Path) -> None:
    case, name = CASES[name], _alert(name)
    alert = _alerts(file)[name]
    minutes = int(str(alert["for"]).removesuffix("m"))
    annotations = {
        key: re.sub(
            r"{{ \$labels\.(\w+) }}",
            lambda found: case.labels[found[1]],
            text.replace("{{ $value | humanize }}", case.value),
        )
        for key, text in dict(alert["annotations"]).items()  # type: ignore[call-overload]
    }
    told = {
        "exp_labels": {**alert["labels"], **case.labels},  # type: ignore[dict-item]
        "exp_annotations": annotations,
    }

    def moment(at: int, *alerts: object) -> dict[str, object]:
        return {"eval_time": f"{at}m", "alertname": name, "exp_alerts": [*alerts]}

    # A rate takes two samples, so that it is known from the second minute on.
    wrong = [moment(minutes - 1), moment(minutes + 2, told), moment(minutes + 60, told)]
    tried = {
        "rule_files": [str(file)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": series, "values": values} for series, values in given.items()
                ],
                "alert_rule_test": expected,
            }
            for given, expected in (
                (case.wrong, wrong),
                (case.right, [moment(minutes + 60)]),
                # What sends nothing is not wrong.
                ({}, [moment(minutes + 60)]),
            )
        ],
    }
    path = tmp_path / "test.yaml"
    path.write_text(yaml.safe_dump(tried), "utf-8")

    assert "SUCCESS" in promtool("test", "rules", path)
