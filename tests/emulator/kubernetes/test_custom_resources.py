"""CustomResourceDefinitions and the objects they allow."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kubernetes_api import Cluster, definition, gadget, running_cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running_cluster(tmp_path) as running:
        running.kubectl("apply", "--server-side", "-f", "-", stdin=definition())
        yield running


def test_a_definition_is_established_and_serves_its_resource(cluster: Cluster) -> None:
    cluster.kubectl("wait", "crd/gadgets.example.org", "--for=condition=Established")
    stored = "jsonpath={.status.storedVersions[*]} {.status.acceptedNames.listKind}"
    assert cluster.kubectl("get", "crd", "gadgets.example.org", "-o", stored) == "v1 GadgetList"
    assert "gad" in cluster.kubectl("api-resources", "--api-group=example.org")
    assert "colour" in cluster.kubectl("explain", "gadgets.spec")


def test_custom_objects_show_the_columns_of_their_definition(cluster: Cluster) -> None:
    cluster.kubectl("apply", "-f", "-", stdin=gadget("one", size=4))
    status = '{"status": {"conditions": [{"type": "Created"}, {"type": "Running"}]}}'
    patch = ("patch", "gadget", "one", "--subresource=status", "--type=merge", "-p", status)
    cluster.kubectl(*patch)
    heading, row = cluster.kubectl("get", "gad").splitlines()
    assert heading.split() == ["NAME", "SIZE", "STATE"]
    assert row.split() == ["one", "4", "Running"]


def test_status_changes_through_its_subresource_alone(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin={**gadget("two", size=1), "status": {"a": 1}})
    patch = ("patch", "gadget", "two", "--type=merge", "-p")
    cluster.kubectl(*patch, '{"status": {"b": 1}}')
    cluster.kubectl(*patch, '{"status": {"c": 1}, "spec": {"size": 9}}', "--subresource=status")
    item = json.loads(cluster.kubectl("get", "gadget", "two", "-o", "json"))
    assert (item["status"], item["spec"]["size"]) == ({"c": 1}, 1)
    assert item["metadata"]["generation"] == 1


def test_keyed_lists_of_custom_objects_merge_on_apply(cluster: Cluster) -> None:
    for manager, part in (("a", {"name": "wheel"}), ("b", {"name": "frame", "count": 2})):
        item = gadget("three", size=1, parts=[part])
        apply = ("apply", "--server-side", f"--field-manager={manager}", "-f", "-")
        cluster.kubectl(*apply, stdin=item)
    parts = cluster.kubectl("get", "gadget", "three", "-o", "jsonpath={.spec.parts[*].name}")
    assert parts == "wheel frame"


def test_a_strategic_patch_is_not_for_custom_objects(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=gadget("four", size=1))
    refused = cluster.try_kubectl(
        "patch", "gadget", "four", "--type=strategic", "-p", '{"spec": {"size": 2}}'
    )
    assert "application/strategic-merge-patch+json" in refused.error


def test_a_definition_that_goes_takes_its_objects_along(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=gadget("five", size=1))
    cluster.kubectl("delete", "crd", "gadgets.example.org")
    assert "could not find the requested resource" in cluster.try_kubectl("get", "gadgets").error
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=definition())
    assert cluster.kubectl("get", "gadgets", "-o", "name") == ""


def test_only_v1_definitions_are_served(cluster: Cluster) -> None:
    old = {**definition("widgets", "Widget"), "apiVersion": "apiextensions.k8s.io/v1beta1"}
    assert "no matches for kind" in cluster.try_kubectl("create", "-f", "-", stdin=old).error


def test_a_second_version_shows_the_same_objects(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=gadget("six", size=1))
    both = definition()
    newer = {**both["spec"]["versions"][0], "name": "v2", "storage": False}
    both["spec"]["versions"].append(newer)
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=both)
    item = json.loads(cluster.kubectl("get", "gadgets.v2.example.org", "six", "-o", "json"))
    assert (item["apiVersion"], item["spec"]["size"]) == ("example.org/v2", 1)
