"""Nodes: how many, how healthy, and what they offer."""

from typing import Any

import pytest
from kubernetes.client import CoreV1Api

from hyperpod_ops.verification.check import Check
from hyperpod_ops.verification.devices import devices
from hyperpod_ops.verification.health import health
from hyperpod_ops.verification.readiness import readiness
from rehearsal.kubernetes import KubernetesApi
from rehearsal.kubernetes.node_capacity import node_capacity
from tests.conftest import Configure
from tests.ops.verification.conftest import Deployed
from tests.support.kubernetes_api import daemon_set

HEALTH = "sagemaker.amazonaws.com/node-health-status"
PLUGINS = (
    "x-nvidia-device-plugin",
    "neuron-device-plugin-daemonset",
    "x-aws-efa-k8s-device-plugin",
)


def group(instance_type: str, **keys: Any) -> dict[str, Any]:
    return {"name": "nodes", "instance_type": instance_type, "instance_count": 2, **keys}


def cluster(instance_type: str, **keys: Any) -> dict[str, Any]:
    return {"cluster": {"name": "ml", "instance_groups": [group(instance_type)], **keys}}


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["Schedulable"] * 2, ""),
        (["Schedulable"], "1 of 2"),
        (["Schedulable"] * 3, "3 of 2"),
        (["Schedulable", "Unschedulable"], "1 of 2; n1 is Unschedulable"),
        (
            ["UnschedulablePendingReplacement"] * 5,
            "0 of 2; n0 is UnschedulablePendingReplacement, n1 is UnschedulablePendingReplacement, "
            "n2 is UnschedulablePendingReplacement, and 2 more",
        ),
    ],
)
def test_health(
    configure: Configure,
    deployed: Deployed,
    kubernetes: KubernetesApi,
    labels: list[str],
    told: str,
) -> None:
    for index, label in enumerate(labels):
        kubernetes.put_node(f"n{index}", instance_type="ml.m5.xlarge", labels={HEALTH: label})
    (check,) = health(deployed(configure(cluster("ml.m5.xlarge"))))
    assert (check.ok, check.found) == (not told, told)


def test_autoscaling_adds_nodes(
    configure: Configure, deployed: Deployed, kubernetes: KubernetesApi
) -> None:
    for index in range(3):
        kubernetes.put_node(f"n{index}", instance_type="ml.m5.xlarge")
    fixed = deployed(configure(cluster("ml.m5.xlarge")))
    scaled = deployed(configure(cluster("ml.m5.xlarge", auto_scaling="Karpenter")))

    assert [check.found for check in readiness(fixed)] == ["3 of 2"]
    assert [check.ok for check in readiness(scaled)] == [True]


def test_a_node_that_is_not_ready(
    configure: Configure, deployed: Deployed, kubernetes: KubernetesApi
) -> None:
    for index in range(2):
        kubernetes.put_node(f"n{index}", instance_type="ml.m5.xlarge")
    looked = deployed(configure(cluster("ml.m5.xlarge")))
    CoreV1Api(looked.kubernetes).patch_node_status(
        "n1",
        {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
        _content_type="application/merge-patch+json",
    )
    assert [check.found for check in readiness(looked)] == ["1 of 2; not n1"]


@pytest.mark.parametrize(
    ("instance_type", "columns"),
    [
        ("ml.m5.xlarge", []),
        ("ml.g5.xlarge", ["GPU"]),
        ("ml.p5.48xlarge", ["GPU", "EFA"]),
        ("ml.trn1.32xlarge", ["NEURON", "EFA"]),
    ],
)
def test_each_type_offers_what_it_has(
    configure: Configure,
    deployed: Deployed,
    kubernetes: KubernetesApi,
    instance_type: str,
    columns: list[str],
) -> None:
    looked = deployed(configure(cluster(instance_type)))

    def found() -> list[Check]:
        return [*devices(looked)]

    assert {check.found for check in found()} <= {"no node is of a type that has any"}
    kubernetes.put_node("n0", instance_type=instance_type, capacity=node_capacity(instance_type))
    assert [check.check.partition(",")[2].partition(":")[0] for check in found()] == columns
    assert {check.found.partition(" of ")[0] for check in found()} <= {"n0 offers none"}
    for plugin in PLUGINS:
        kubernetes.create(daemon_set(plugin))
    assert [check.ok for check in found()] == [True] * len(columns)


def test_a_gpu_that_has_failed_is_missed(
    configure: Configure, deployed: Deployed, kubernetes: KubernetesApi
) -> None:
    capacity = {**node_capacity("ml.p5.48xlarge"), "nvidia.com/gpu": "7"}
    kubernetes.put_node("n0", instance_type="ml.p5.48xlarge", capacity=capacity)
    for plugin in PLUGINS:
        kubernetes.create(daemon_set(plugin))

    gpu, efa = devices(deployed(configure(cluster("ml.p5.48xlarge"))))
    assert (gpu.found, efa.ok) == ("n0 offers 7 of 8", True)
    assert "replace the node" in gpu.advice


def test_a_plugin_of_ones_own_is_not_judged(configure: Configure, deployed: Deployed) -> None:
    off = {"components": {"nvidia_device_plugin": False}}
    assert not [*devices(deployed(configure({**cluster("ml.g5.xlarge"), "helm": off})))]
