"""What the API refuses, and in which words."""

from typing import Any

import pytest

from hyperpod_emulator.kubernetes import ApiError, KubernetesApi, static_tokens
from hyperpod_emulator.testing.kubernetes_api import (
    Cluster,
    config_map,
    daemon_set,
    definition,
    deployment,
    gadget,
)


@pytest.fixture(scope="module")
def api() -> KubernetesApi:
    """Return an API that listens nowhere: `create` takes the way of a client's request."""
    api = KubernetesApi(authenticate=static_tokens({}))
    api.create(definition())
    return api


def labelled(**labels: str) -> dict[str, Any]:
    item = config_map("labelled")
    item["metadata"]["labels"] = labels
    return item


def mismatched() -> dict[str, Any]:
    item = daemon_set("mismatched")
    item["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    return item


def without_selector() -> dict[str, Any]:
    item = deployment("bare")
    del item["spec"]["selector"]
    return item


def misnamed_definition() -> dict[str, Any]:
    item = definition("widgets", "Widget")
    item["metadata"]["name"] = "widgets"
    return item


def unschemed_definition() -> dict[str, Any]:
    item = definition("widgets", "Widget")
    del item["spec"]["versions"][0]["schema"]
    return item


def unsound_definition() -> dict[str, Any]:
    item = definition("widgets", "Widget")
    schema = item["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["size"]["type"] = "number of things"
    return item


def huge() -> dict[str, Any]:
    item = config_map("huge")
    item["metadata"]["annotations"] = {"note": "x" * 300_000}
    return item


REFUSED = [
    (config_map("Upper"), 422, 'metadata.name: Invalid value: "Upper"'),
    (config_map("x" * 254), 422, "must be no more than 253 characters"),
    (config_map(""), 422, "name or generateName is required"),
    (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "with.dot"}},
        422,
        "a lowercase RFC 1123 label",
    ),
    (labelled(version="1.0+build"), 422, "a valid label must be"),
    (labelled(**{"bad key": "x"}), 422, "must be a qualified name"),
    (huge(), 422, "Too long: may not be more than 262144 bytes"),
    (config_map("lost", namespace="nowhere"), 404, 'namespaces "nowhere" not found'),
    ({**config_map("extra"), "dta": {}}, 400, 'unknown field "dta"'),
    (
        deployment("deep", template={"spec": {"contaners": []}}),
        400,
        '"spec.template.spec.contaners"',
    ),
    (deployment("typed", replicas="3"), 422, 'spec.replicas: Invalid value: "3": must be of type'),
    (without_selector(), 422, "spec.selector: Required value"),
    (mismatched(), 422, "`selector` does not match template `labels`"),
    (misnamed_definition(), 422, 'must be spec.names.plural+"."+spec.group'),
    (unschemed_definition(), 422, "schemas are required"),
    (unsound_definition(), 422, "openAPIV3Schema.properties.spec.properties.size.type"),
    (gadget("small", size=0), 422, "spec.size: Invalid value: 0: must satisfy minimum 1"),
    (gadget("sized"), 422, "spec.size: Required value"),
    (gadget("painted", size=1, colour="green"), 422, 'supported values: "red", "blue"'),
    (gadget("unknown", size=1, shape="round"), 400, 'unknown field "spec.shape"'),
]


@pytest.mark.parametrize(("item", "code", "text"), REFUSED)
def test_a_bad_object_is_refused(
    api: KubernetesApi, item: dict[str, Any], code: int, text: str
) -> None:
    with pytest.raises(ApiError) as caught:
        api.create(item)
    assert caught.value.code == code
    assert text in caught.value.message


ACCEPTED = [
    config_map("dotted.name"),
    labelled(**{"app.kubernetes.io/version": "v1.0_x", "empty": ""}),
    gadget("whole", size=1, free={"any": {"thing": [1]}}, port="80%"),
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:With-Colon"},
        "rules": None,
    },
    {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "scales", "namespace": "default"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "x"}},
    },
]


@pytest.mark.parametrize("item", ACCEPTED, ids=lambda item: item["metadata"]["name"])
def test_a_good_object_is_stored(api: KubernetesApi, item: dict[str, Any]) -> None:
    stored = api.create(item)
    kept = api.objects(item["apiVersion"], item["kind"])
    assert stored["metadata"]["uid"] in {entry["metadata"]["uid"] for entry in kept}
    assert all(stored["metadata"][key] for key in ("creationTimestamp", "resourceVersion"))


def test_an_object_cannot_be_created_twice(api: KubernetesApi) -> None:
    api.create(config_map("twice"))
    with pytest.raises(ApiError) as caught:
        api.create(config_map("twice"))
    assert (caught.value.code, str(caught.value)) == (409, 'configmaps "twice" already exists')


def test_a_custom_kind_gets_its_defaults(api: KubernetesApi) -> None:
    assert api.create(gadget("plain", size=2))["spec"] == {"size": 2, "colour": "red"}


def test_a_kind_nobody_serves_is_an_error(api: KubernetesApi) -> None:
    with pytest.raises(LookupError, match=r"example.org/v2 Gadget is not served"):
        api.objects("example.org/v2", "Gadget")


def test_an_unknown_kubernetes_version_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"kubernetes_version 1\.2"):
        KubernetesApi(kubernetes_version="1.2", authenticate=static_tokens({}))


@pytest.mark.parametrize("mode", ["strict", "warn", "ignore"])
def test_the_client_says_what_becomes_of_unknown_fields(cluster: Cluster, mode: str) -> None:
    item = {**config_map(f"validate-{mode}", a="b"), "dta": {}}
    done = cluster.try_kubectl("create", "-f", "-", f"--validate={mode}", stdin=item)
    assert done.ok == (mode != "strict")
    assert ('unknown field "dta"' in done.error) == (mode != "ignore")


def test_server_side_apply_never_ignores_an_unknown_field(cluster: Cluster) -> None:
    item = {**config_map("typo"), "dta": {}}
    apply = ("apply", "--server-side", "--validate=ignore", "-f", "-")
    assert ".dta: field not declared in schema" in cluster.try_kubectl(*apply, stdin=item).error


@pytest.mark.parametrize(
    ("before", "patch", "text"),
    [
        (
            deployment("fixed"),
            '{"spec": {"selector": {"matchLabels": {"app": "new"}},'
            ' "template": {"metadata": {"labels": {"app": "new"}}}}}',
            "spec.selector: Invalid value",
        ),
        (
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "typed"}, "type": "a/b"},
            '{"type": "c/d"}',
            "type: Invalid value: a/b: field is immutable",
        ),
        (
            {**config_map("frozen", a="b"), "immutable": True},
            '{"data": {"a": "c"}}',
            "field is immutable when `immutable` is set",
        ),
    ],
)
def test_some_fields_stay_as_created(
    cluster: Cluster, before: dict[str, Any], patch: str, text: str
) -> None:
    cluster.kubectl("create", "-f", "-", stdin=before)
    change = ("patch", before["kind"], before["metadata"]["name"], "--type=merge", "-p", patch)
    assert text in cluster.try_kubectl(*change).error


def test_an_object_changed_since_it_was_read_is_a_conflict(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=config_map("raced", a="1"))
    [read] = [
        item
        for item in cluster.api.objects("v1", "ConfigMap", "default")
        if item["metadata"]["name"] == "raced"
    ]
    cluster.kubectl("patch", "cm", "raced", "-p", '{"data": {"a": "2"}}')
    read["data"] = {"a": "3"}
    refused = cluster.try_kubectl("replace", "-f", "-", stdin=read)
    assert "the object has been modified" in refused.error


@pytest.mark.parametrize("query", ["resourceVersion=new", "timeoutSeconds=-1"])
def test_a_watch_of_nonsense_is_refused(cluster: Cluster, query: str) -> None:
    refused = cluster.try_kubectl("get", f"--raw=/api/v1/nodes?watch=true&{query}")
    assert "is not a number" in refused.error
