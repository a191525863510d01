"""What the chart validation renders with the real helm: jobs that hold no GPU longer than meant."""

from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.facts.fabric import BANDWIDTH_FLOORS
from hyperpod_cdk.facts.job_resources import job_resources
from tests.support.chart_rendering import assert_valid_for_kubernetes, objects, refusal
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "validation"
NODES = [
    {"name": "hyperpod-i-1", "offers": {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}},
    {"name": "hyperpod-i-2", "offers": {"nvidia.com/gpu": 7}},
]
VALUES: dict[str, Any] = {
    "nodes": NODES,
    "timeoutSeconds": 600,
    "resources": {
        "accelerator": "nvidia.com/gpu",
        "accelerators": 8,
        "efa": 32,
        "hugepages2Mi": "5120Mi",
        "cpu": 94,
        "memory": "1800Gi",
    },
}


def render(directory: Path, check: str, **values: Any) -> list[dict[str, Any]]:
    return objects(CHART, values={**VALUES, "check": check, **values}, home=directory)


@pytest.mark.parametrize(
    ("check", "values", "kinds"),
    [
        ("node", {}, ["NetworkPolicy", "ConfigMap", "Job", "Job"]),
        ("storage", {}, ["NetworkPolicy", "ConfigMap", "Job"]),
        ("rendezvous", {}, ["NetworkPolicy", "ConfigMap", "Service", "Job"]),
        (
            "rendezvous",
            {"backend": "etcd"},
            ["NetworkPolicy", "ConfigMap", "Service", "Deployment", "Job"],
        ),
    ],
)
def test_jobs_end_by_themselves(
    tmp_path: Path, check: str, values: dict[str, Any], kinds: list[str]
) -> None:
    made = render(tmp_path, check, **values)
    assert_valid_for_kubernetes(made, folder=tmp_path)
    assert [item["kind"] for item in made] == kinds
    for item in made:
        if item["kind"] == "Job":
            spec = item["spec"]
            limits = (spec["backoffLimit"], spec["activeDeadlineSeconds"])
            assert (*limits, spec["ttlSecondsAfterFinished"]) == (0, 600, 3600)
            assert spec["template"]["spec"]["automountServiceAccountToken"] is False


def test_a_node_is_asked_for_what_it_offers_and_told_what_it_should(tmp_path: Path) -> None:
    jobs = [item for item in render(tmp_path, "node") if item["kind"] == "Job"]
    for job, node in zip(jobs, NODES, strict=True):
        (container,) = job["spec"]["template"]["spec"]["containers"]
        limits = container["resources"]["limits"]
        assert {key: limits[key] for key in limits if key != "memory"} == node["offers"]
        assert container["command"][2:] == ["node", "--gpus=8", "--efa=32"]


def test_an_all_reduce_takes_all_of_each_node(tmp_path: Path) -> None:
    _, job = render(tmp_path, "fabric")
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")
    spec = job["spec"]
    assert spec["slotsPerWorker"] == 8
    assert spec["runPolicy"] == {
        "cleanPodPolicy": "Running",
        "backoffLimit": 0,
        "activeDeadlineSeconds": 600,
        "ttlSecondsAfterFinished": 3600,
    }
    workers, launcher = (spec["mpiReplicaSpecs"][role] for role in ("Worker", "Launcher"))
    pod = workers["template"]["spec"]
    assert (workers["replicas"], pod["activeDeadlineSeconds"]) == (2, 600)
    (container,) = pod["containers"]
    assert container["resources"]["limits"] == container["resources"]["requests"]
    assert container["resources"]["limits"] == {
        "nvidia.com/gpu": 8,
        "vpc.amazonaws.com/efa": 32,
        "hugepages-2Mi": "5120Mi",
        "memory": "1800Gi",
        "cpu": 94,
    }
    command = launcher["template"]["spec"]["containers"][0]["command"]
    assert command[command.index("-np") + 1] == "16"
    assert not [each for each in command if "FI_PROVIDER" in each]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"check": "gpu"}, "check"),
        ({"check": "node", "nodes": []}, "nodes"),
        ({"check": "node", "nodes": [{"name": "a b"}]}, "name"),
        ({"check": "fabric", "sizes": {"to": "big"}}, "to"),
        ({"check": "rendezvous", "backend": "zeus"}, "backend"),
        ({"check": "node", "unknown": 1}, "unknown"),
    ],
)
def test_refused_values(tmp_path: Path, values: dict[str, Any], told: str) -> None:
    assert told in refusal(CHART, values={**VALUES, **values}, home=tmp_path)


def test_a_floor_is_of_a_type_with_efa_and_says_whose_it_is() -> None:
    for instance_type, floor in BANDWIDTH_FLOORS.items():
        resources = job_resources(instance_type)
        assert resources is not None
        assert resources.efa > 1
        assert floor.source.startswith("https://")
