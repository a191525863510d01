"""What the controllers make of nodes, volumes, owners and namespaces."""

from typing import Any

import pytest

from hyperpod_emulator.kubernetes import ApiError, KubernetesApi, static_tokens
from hyperpod_emulator.kubernetes.controllers.workloads import UNREACHABLE
from hyperpod_emulator.testing.kubernetes_api import config_map, daemon_set, deployment

GPU = "ml.g5.12xlarge"
CPU = "ml.m5.2xlarge"
TYPE_LABEL = "node.kubernetes.io/instance-type"


@pytest.fixture
def api() -> KubernetesApi:
    return KubernetesApi(authenticate=static_tokens({}))


def affine(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def of_type(operator: str, *values: str) -> dict[str, Any]:
    expression = {"key": TYPE_LABEL, "operator": operator, "values": list(values)}
    return {"matchExpressions": [expression]}


@pytest.mark.parametrize(
    ("pod", "desired"),
    [
        ({}, 2),
        ({"nodeSelector": {TYPE_LABEL: GPU}}, 1),
        ({"nodeSelector": {"pool": "fast"}}, 1),
        ({"nodeSelector": {"pool": "none"}}, 0),
        ({"affinity": affine(of_type("In", GPU, "ml.p5.48xlarge"))}, 1),
        ({"affinity": affine(of_type("NotIn", GPU, CPU))}, 0),
        ({"affinity": affine(of_type("In", GPU), of_type("In", CPU))}, 2),
        ({"affinity": affine({"matchExpressions": [{"key": "pool", "operator": "Exists"}]})}, 1),
        (
            {
                "affinity": affine(
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["cpu"]}]}
                )
            },
            1,
        ),
    ],
)
def test_a_daemon_set_runs_where_its_pods_may(
    api: KubernetesApi, pod: dict[str, Any], desired: int
) -> None:
    api.create(daemon_set("agent", **pod))
    api.put_node("gpu", instance_type=GPU, labels={"pool": "fast"})
    api.put_node("cpu", instance_type=CPU)
    [agent] = api.objects("apps/v1", "DaemonSet")
    counts = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberAvailable")
    assert {agent["status"][key] for key in counts} == {desired}
    api.remove_node("gpu")
    api.remove_node("cpu")
    api.remove_node("cpu")
    [agent] = api.objects("apps/v1", "DaemonSet")
    assert agent["status"]["desiredNumberScheduled"] == 0


def test_a_deployment_is_pending_until_a_node_takes_it(api: KubernetesApi) -> None:
    api.create(deployment("operator"))

    def seen() -> tuple[Any, ...]:
        [item] = api.objects("apps/v1", "Deployment")
        status = item["status"]
        [available] = [c for c in status["conditions"] if c["type"] == "Available"]
        return status.get("readyReplicas"), status.get("unavailableReplicas"), available["status"]

    assert seen() == (None, 2, "False")
    api.put_node("cpu", instance_type=CPU)
    assert seen() == (2, None, "True")
    api.remove_node("cpu")
    assert seen() == (None, 2, "False")


def test_a_node_has_what_its_instance_type_offers(api: KubernetesApi) -> None:
    api.put_node("gpu", instance_type=GPU, capacity={"cpu": "24"})
    api.put_node("gpu", instance_type=GPU, labels={"health": "good"}, capacity={"cpu": "48"})
    [node] = api.objects("v1", "Node")
    assert node["metadata"]["labels"][TYPE_LABEL] == GPU
    assert node["metadata"]["labels"]["health"] == "good"
    assert node["status"]["allocatable"] == {"cpu": "48"}


@pytest.mark.parametrize(
    ("plugin", "resource"),
    [
        ("a-release-nvidia-device-plugin", "nvidia.com/gpu"),
        ("neuron-device-plugin-daemonset", "aws.amazon.com/neuron"),
        ("a-release-aws-efa-k8s-device-plugin", "vpc.amazonaws.com/efa"),
    ],
)
def test_a_node_offers_devices_while_their_plugin_runs_on_it(
    api: KubernetesApi, plugin: str, resource: str
) -> None:
    has = {"cpu": "48", resource: "4"}
    api.put_node("gpu", instance_type=GPU, capacity=has)

    def offered() -> dict[str, str]:
        [node] = api.objects("v1", "Node")
        assert node["status"]["capacity"] == node["status"]["allocatable"]
        return dict(node["status"]["allocatable"])

    assert offered() == {"cpu": "48"}
    api.create(daemon_set(plugin, nodeSelector={TYPE_LABEL: CPU}))
    assert offered() == {"cpu": "48"}
    api.merge(
        "apps/v1",
        "DaemonSet",
        plugin,
        {"spec": {"template": {"spec": {"nodeSelector": {TYPE_LABEL: GPU}}}}},
        namespace="default",
    )
    assert offered() == has
    api.delete("apps/v1", "DaemonSet", plugin, namespace="default")
    assert offered() == {"cpu": "48"}


def volume(name: str, **spec: Any) -> dict[str, Any]:
    csi = {"driver": "fsx.csi.aws.com", "volumeHandle": "fs-0123456789abcdef0"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "1200Gi"},
            "storageClassName": "fsx-sc",
            "csi": csi,
            **spec,
        },
    }


def claim(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1200Gi"}},
            "storageClassName": "fsx-sc",
            **spec,
        },
    }


@pytest.mark.parametrize(
    ("volume_spec", "claim_spec", "phase"),
    [
        ({}, {}, "Bound"),
        ({}, {"volumeName": "vol"}, "Bound"),
        ({}, {"volumeName": "other"}, "Pending"),
        ({}, {"storageClassName": "gp3"}, "Pending"),
        ({}, {"accessModes": ["ReadWriteOnce"]}, "Pending"),
        ({}, {"resources": {"requests": {"storage": "1300Gi"}}}, "Pending"),
        ({}, {"resources": {"requests": {"storage": "1T"}}}, "Bound"),
        ({"claimRef": {"namespace": "default", "name": "data"}}, {}, "Bound"),
        ({"claimRef": {"namespace": "default", "name": "else"}}, {}, "Pending"),
    ],
)
@pytest.mark.parametrize("volume_first", [True, False])
def test_a_claim_is_bound_to_a_volume_that_fits(
    api: KubernetesApi,
    volume_spec: dict[str, Any],
    claim_spec: dict[str, Any],
    phase: str,
    *,
    volume_first: bool,
) -> None:
    items = [volume("vol", **volume_spec), claim("data", **claim_spec)]
    for item in items if volume_first else reversed(items):
        api.create(item)
    [bound] = api.objects("v1", "PersistentVolumeClaim")
    [offered] = api.objects("v1", "PersistentVolume")
    assert bound["status"]["phase"] == phase
    assert offered["status"]["phase"] == ("Bound" if phase == "Bound" else "Available")
    if phase == "Bound":
        assert bound["spec"]["volumeName"] == "vol"
        assert bound["status"]["capacity"] == {"storage": "1200Gi"}


def test_a_volume_is_bound_once_and_released_with_its_claim(api: KubernetesApi) -> None:
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "work"}})
    api.create(volume("vol"))
    first = claim("first")
    first["metadata"]["namespace"] = "work"
    api.create(first)
    api.create(claim("second"))
    phases = {
        item["metadata"]["name"]: item["status"]["phase"]
        for item in api.objects("v1", "PersistentVolumeClaim")
    }
    assert phases == {"first": "Bound", "second": "Pending"}
    api.delete("v1", "Namespace", "work")
    [released] = api.objects("v1", "PersistentVolume")
    assert released["status"]["phase"] == "Released"


def test_a_finalizer_holds_an_object_and_its_namespace(api: KubernetesApi) -> None:
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "work"}})
    held = config_map("held", namespace="work")
    held["metadata"]["finalizers"] = ["example.org/hold"]
    api.create(held)
    api.delete("v1", "Namespace", "work")
    [namespace] = [n for n in api.objects("v1", "Namespace") if n["metadata"]["name"] == "work"]
    assert namespace["status"]["phase"] == "Terminating"
    with pytest.raises(ApiError, match="because it is being terminated"):
        api.create(config_map("late", namespace="work"))
    api.merge("v1", "ConfigMap", "held", {"metadata": {"finalizers": None}}, namespace="work")
    assert "work" not in {item["metadata"]["name"] for item in api.objects("v1", "Namespace")}


def test_what_an_object_owns_goes_with_it(api: KubernetesApi) -> None:
    owner = api.create(config_map("owner"))
    owned = config_map("owned")
    owned["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    ]
    api.create(owned)
    api.delete("v1", "ConfigMap", "owner", namespace="default")
    assert api.objects("v1", "ConfigMap") == []


def ready(api: KubernetesApi) -> dict[str, bool]:
    """Return whether the pod on each node is ready."""
    return {
        pod["spec"]["nodeName"]: pod["status"]["conditions"]
        == [{"type": "Ready", "status": "True"}]
        for pod in api.objects("v1", "Pod")
    }


def test_the_pods_of_a_daemon_set_follow_the_nodes_and_the_template(api: KubernetesApi) -> None:
    api.put_node("n0", instance_type=CPU)
    api.create(daemon_set("agent"))
    api.put_node("n1", instance_type=CPU)
    assert ready(api) == {"n0": True, "n1": True}
    before = {pod["metadata"]["name"] for pod in api.objects("v1", "Pod")}

    api.silence_node("n1")
    assert ready(api) == {"n0": True, "n1": False}
    [agent] = api.objects("apps/v1", "DaemonSet")
    assert (agent["status"]["numberReady"], agent["status"]["numberUnavailable"]) == (1, 1)
    api.put_node("n1", instance_type=CPU)
    assert ready(api) == {"n0": True, "n1": True}
    api.remove_node("n1")
    api.silence_node("n1")
    assert ready(api) == {"n0": True}

    containers = [{"name": "main", "image": f"{UNREACHABLE}agent:2"}]
    changed = {"spec": {"template": {"spec": {"containers": containers}}}}
    api.merge("apps/v1", "DaemonSet", "agent", changed, namespace="default")
    [pod] = api.objects("v1", "Pod")
    assert pod["metadata"]["name"] not in before
    assert ready(api) == {"n0": False}
    api.delete("apps/v1", "DaemonSet", "agent", namespace="default")
    assert api.objects("v1", "Pod") == []


def test_a_deployment_has_no_pods_on_a_silent_node(api: KubernetesApi) -> None:
    api.create(deployment("operator"))
    api.put_node("cpu", instance_type=CPU)
    api.silence_node("cpu")
    [item] = api.objects("apps/v1", "Deployment")
    assert item["status"]["unavailableReplicas"] == 2


def cannot_pull(api: KubernetesApi, name: str, *, images: str = "") -> None:
    api.put_node(
        name,
        instance_type=CPU,
        pull_error=lambda image: f"ErrImagePull: {image}" if images in image else "",
    )


def test_a_pod_waits_for_the_image_of_its_init_container(api: KubernetesApi) -> None:
    cannot_pull(api, "n0", images="far.example.com")
    agent, operator = daemon_set("agent"), deployment("operator")
    for each in (agent, operator):
        first = {"name": "init", "image": "far.example.com/init:1"}
        each["spec"]["template"]["spec"]["initContainers"] = [first]
        api.create(each)

    assert ready(api) == {"n0": False}
    [pod] = api.objects("v1", "Pod")
    reasons = [
        container["state"]["waiting"]["reason"]
        for key in ("initContainerStatuses", "containerStatuses")
        for container in pod["status"][key]
    ]
    assert reasons == ["ImagePullBackOff", "PodInitializing"]
    [item] = api.objects("apps/v1", "Deployment")
    assert item["status"]["unavailableReplicas"] == 2

    cannot_pull(api, "n0", images="elsewhere")
    assert ready(api) == {"n0": True}


def test_nodes_that_cannot_pull_run_neither_daemon_sets_nor_deployments(api: KubernetesApi) -> None:
    cannot_pull(api, "n0")
    api.create(daemon_set("agent"))
    api.create(deployment("operator"))

    assert ready(api) == {"n0": False}
    [pod] = api.objects("v1", "Pod")
    [container] = pod["status"]["containerStatuses"]
    waiting = container["state"]["waiting"]
    image = container["image"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert waiting["message"] == f'Back-off pulling image "{image}": ErrImagePull: {image}'
    [item] = api.objects("apps/v1", "Deployment")
    assert item["status"]["unavailableReplicas"] == 2
