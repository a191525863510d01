"""What the training operator makes of a PyTorchJob, by its source."""

from typing import Any

import pytest

from hyperpod_emulator.kubernetes import KubernetesApi, static_tokens
from hyperpod_emulator.kubernetes.training_operator import API_VERSION, KIND, TrainingOperator

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "pytorchjobs.kubeflow.org"},
    "spec": {
        "group": "kubeflow.org",
        "scope": "Namespaced",
        "names": {"kind": KIND, "plural": "pytorchjobs", "singular": "pytorchjob"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}


@pytest.fixture
def api() -> KubernetesApi:
    made = KubernetesApi(authenticate=static_tokens({}))
    made.create(DEFINITION)
    return made


def submit(api: KubernetesApi, **spec: Any) -> TrainingOperator:
    """Submit a job of two workers, and let the operator look at it once."""
    restart = {"restartPolicy": spec.pop("restartPolicy")} if "restartPolicy" in spec else {}
    template = {"spec": {"containers": [{"name": "pytorch", "image": "registry.invalid/a"}]}}
    worker = {"replicas": 2, "template": template, **restart}
    metadata = {"name": "job", "namespace": "default"}
    job = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata}
    api.create({**job, "spec": {"pytorchReplicaSpecs": {"Worker": worker}, **spec}})
    operator = TrainingOperator(api)
    operator.reconcile()
    return operator


def names(api: KubernetesApi, kind: str) -> list[str]:
    found = api.objects("v1", kind, "default")
    return [item["metadata"]["name"] for item in found if item["metadata"]["name"] != "kubernetes"]


def conditions(api: KubernetesApi) -> dict[str, str]:
    [job] = api.objects(API_VERSION, KIND)
    return {each["type"]: each["status"] for each in job["status"]["conditions"]}


def reach(api: KubernetesApi, *phases: str) -> None:
    for index, phase in enumerate(phases):
        api.set_status("v1", "Pod", f"job-worker-{index}", {"phase": phase}, namespace="default")


def test_a_job_that_an_operator_runs_has_no_notice(api: KubernetesApi) -> None:
    TrainingOperator(api)
    submit(api).reconcile()
    assert names(api, "Pod")
    assert names(api, "Event") == []


@pytest.mark.parametrize(
    ("spec", "environment"),
    [
        # 1.7.0 gives `nprocPerNode` to no job without a master.
        ({"nprocPerNode": "8"}, {"PET_NNODES": "2"}),
        (
            {"elasticPolicy": {}, "nprocPerNode": "8"},
            {
                "PET_RDZV_ENDPOINT": "job-worker-0:23456",
                "PET_RDZV_BACKEND": "c10d",
                "PET_NNODES": "2:2",
            },
        ),
        (
            {
                "elasticPolicy": {
                    "minReplicas": 1,
                    "nProcPerNode": 4,
                    "maxRestarts": 3,
                    "rdzvBackend": "etcd-v2",
                    "rdzvHost": "etcd",
                    "rdzvPort": 2379,
                    "rdzvId": "run",
                    "rdzvConf": [
                        {"key": "timeout", "value": "1800"},
                        {"key": "is_host", "value": "1"},
                    ],
                }
            },
            {
                "PET_RDZV_ENDPOINT": "etcd:2379",
                "PET_RDZV_BACKEND": "etcd-v2",
                "PET_NNODES": "1:1",
                "PET_MAX_RESTARTS": "3",
                "PET_NPROC_PER_NODE": "4",
                "PET_RDZV_ID": "run",
                "PET_RDZV_CONF": "timeout=1800,is_host=1",
            },
        ),
    ],
)
def test_pods_and_services_are_named_and_told_what_torchrun_needs(
    api: KubernetesApi, spec: dict[str, Any], environment: dict[str, str]
) -> None:
    submit(api, **spec)
    assert names(api, "Pod") == names(api, "Service") == ["job-worker-0", "job-worker-1"]
    for index, pod in enumerate(api.objects("v1", "Pod")):
        [container] = pod["spec"]["containers"]
        given = {each["name"]: each["value"] for each in container["env"]}
        assert given == {"PYTHONUNBUFFERED": "1", **environment}
        assert pod["metadata"]["labels"] == {
            "training.kubeflow.org/operator-name": "pytorchjob-controller",
            "training.kubeflow.org/job-name": "job",
            "training.kubeflow.org/replica-type": "worker",
            "training.kubeflow.org/replica-index": str(index),
        }
        assert pod["spec"]["restartPolicy"] == "OnFailure"
    [service, _] = api.objects("v1", "Service", "default")[:2]
    assert service["spec"]["clusterIP"] == "None"


@pytest.mark.parametrize(
    ("spec", "phases", "told"),
    [
        ({}, ["Pending", "Pending"], {"Created": "True"}),
        ({}, ["Running", "Pending"], {"Created": "True", "Running": "True"}),
        ({}, ["Running", "Failed"], {"Created": "True", "Restarting": "True"}),
        (
            {"restartPolicy": "Never"},
            ["Running", "Failed"],
            {"Created": "True", "Running": "False", "Failed": "True"},
        ),
        ({}, ["Running", "Succeeded"], {"Created": "True", "Running": "True"}),
        ({}, ["Succeeded", "Succeeded"], {"Created": "True", "Succeeded": "True"}),
        (
            {"elasticPolicy": {}},
            ["Running", "Succeeded"],
            {"Created": "True", "Succeeded": "True"},
        ),
    ],
)
def test_a_job_says_what_its_pods_do(
    api: KubernetesApi, spec: dict[str, Any], phases: list[str], told: dict[str, str]
) -> None:
    operator = submit(api, **spec)
    reach(api, *phases)
    operator.reconcile()
    assert conditions(api) == told


def test_a_failed_pod_and_one_whose_node_is_gone_are_made_anew(api: KubernetesApi) -> None:
    operator = submit(api)
    reach(api, "Failed", "Running")
    before = {pod["metadata"]["uid"] for pod in api.objects("v1", "Pod")}
    api.delete("v1", "Pod", "job-worker-1", namespace="default")
    operator.reconcile()
    operator.reconcile()
    assert names(api, "Pod") == ["job-worker-0", "job-worker-1"]
    assert not before & {pod["metadata"]["uid"] for pod in api.objects("v1", "Pod")}


@pytest.mark.parametrize(
    ("policy", "left"),
    [("None", ["job-worker-0", "job-worker-1"]), ("Running", ["job-worker-1"]), ("All", [])],
)
def test_a_job_that_has_ended_leaves_what_its_policy_says(
    api: KubernetesApi, policy: str, left: list[str]
) -> None:
    operator = submit(api, elasticPolicy={}, runPolicy={"cleanPodPolicy": policy})
    reach(api, "Running", "Succeeded")
    operator.reconcile()
    operator.reconcile()
    assert names(api, "Pod") == names(api, "Service") == left
