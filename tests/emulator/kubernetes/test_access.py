"""Who may do what, and what an API that fails looks like."""

import json
import ssl
import time
from collections.abc import Iterator
from http.client import HTTPSConnection

import pytest

from emulator.kubernetes import Fault, unreachable
from tests.support.kubernetes_api import (
    ADMIN,
    AUDITOR,
    EDITOR,
    NOBODY,
    UNKNOWN,
    VIEWER,
    Cluster,
    config_map,
)


@pytest.fixture
def cluster(cluster: Cluster) -> Iterator[Cluster]:
    yield cluster
    cluster.api.clear_faults()


@pytest.mark.parametrize("authorization", [None, "Bearer unknown", f"Basic {ADMIN}", "Bearer"])
def test_a_caller_nobody_knows_is_unauthorized(cluster: Cluster, authorization: str | None) -> None:
    context = ssl.create_default_context(cadata=cluster.api.ca_pem)
    port = int(cluster.api.url.rpartition(":")[2])
    connection = HTTPSConnection("localhost", port, context=context)
    headers = {} if authorization is None else {"Authorization": authorization}
    connection.request("GET", "/api/v1/namespaces", headers=headers)
    status = json.load(connection.getresponse())
    connection.close()
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 401, "Unauthorized")


def test_kubectl_says_that_a_token_is_not_valid(cluster: Cluster) -> None:
    refused = cluster.try_kubectl("get", "ns", token=UNKNOWN)
    assert "You must be logged in to the server" in refused.error


@pytest.mark.parametrize(
    ("token", "command", "allowed"),
    [
        (ADMIN, "get secrets -A", True),
        (AUDITOR, "get secrets -A", True),
        (AUDITOR, "delete ns default", False),
        (VIEWER, "get configmaps -A", True),
        (VIEWER, "get secrets -A", False),
        (VIEWER, "create configmap viewed", False),
        (VIEWER, "get nodes", False),
        (VIEWER, "get ns default", True),
        (EDITOR, "create configmap edited", True),
        (EDITOR, "create secret generic edited", True),
        (EDITOR, "create configmap edited -n kube-system", False),
        (EDITOR, "get configmaps -A", False),
        (EDITOR, "get configmaps -n team-a", True),
        (EDITOR, "get ns default", True),
        (EDITOR, "delete ns default", False),
        (EDITOR, "create quota edited", False),
        (NOBODY, "get configmaps -A", False),
        (NOBODY, "get --raw=/apis", True),
    ],
)
def test_rights(cluster: Cluster, token: str, command: str, *, allowed: bool) -> None:
    done = cluster.try_kubectl(*command.split(), token=token)
    assert done.ok == allowed
    assert allowed or "forbidden" in done.error


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (
            "get deploy -n kube-system",
            'deployments.apps is forbidden: User "nobody" cannot list resource "deployments" '
            'in API group "apps" in the namespace "kube-system"',
        ),
        (
            "delete ns default",
            'namespaces "default" is forbidden: User "nobody" cannot delete resource '
            '"namespaces" in API group "" at the cluster scope',
        ),
    ],
)
def test_a_refusal_reads_as_a_real_one(cluster: Cluster, command: str, text: str) -> None:
    assert text in cluster.try_kubectl(*command.split(), token=NOBODY).error


def test_callers_can_ask_who_they_are_and_what_they_may(cluster: Cluster) -> None:
    assert "viewer" in cluster.kubectl("auth", "whoami", token=VIEWER)
    assert cluster.kubectl("auth", "can-i", "list", "pods", token=VIEWER).strip() == "yes"
    done = cluster.try_kubectl("auth", "can-i", "create", "pods", token=VIEWER)
    assert done.out.strip() == "no"


def test_a_fault_hits_what_it_names_as_often_as_it_says(cluster: Cluster) -> None:
    fault = Fault(code=503, reason="ServiceUnavailable", message="try later", name="hit", times=1)
    cluster.api.inject(fault)
    create = ("create", "-f", "-")
    cluster.kubectl(*create, stdin=config_map("missed"))
    cluster.api.inject(Fault(kind="ConfigMap", message="broken disk", times=2))
    assert "broken disk" in cluster.try_kubectl(*create, stdin=config_map("first")).error
    assert "broken disk" in cluster.try_kubectl(*create, stdin=config_map("second")).error
    cluster.kubectl(*create, stdin=config_map("third"))
    assert "try later" in cluster.try_kubectl("delete", "cm", "hit").error


def test_an_unreachable_api_drops_every_connection_until_cleared(cluster: Cluster) -> None:
    cluster.api.inject(unreachable())
    assert "EOF" in cluster.try_kubectl("get", "--raw=/version").error
    assert "EOF" in cluster.try_kubectl("get", "--raw=/api/v1/nodes").error
    cluster.api.clear_faults()
    assert cluster.kubectl("get", "--raw=/version")


def test_a_slow_api_only_costs_time(cluster: Cluster) -> None:
    slow = Fault(verbs=frozenset({"list"}), kind="Node", delay_seconds=0.5, passes=True)
    cluster.api.inject(slow)
    start = time.monotonic()
    cluster.kubectl("get", "nodes")
    assert time.monotonic() - start >= slow.delay_seconds


def test_a_stopped_api_refuses_connections_and_keeps_its_objects(cluster: Cluster) -> None:
    cluster.kubectl("create", "configmap", "survivor")
    url = cluster.api.url
    cluster.api.stop()
    assert "refused" in cluster.try_kubectl("get", "--raw=/version").error
    cluster.api.start()
    assert cluster.api.url == url
    assert cluster.kubectl("get", "cm", "survivor", "-o", "name")


def test_it_starts_once_and_stops_as_often_as_one_likes(cluster: Cluster) -> None:
    with pytest.raises(RuntimeError, match="runs already"):
        cluster.api.start()
    cluster.api.stop()
    cluster.api.stop()
    cluster.api.start()


@pytest.mark.parametrize(
    "path",
    [
        "/api/v2",
        "/apis/nothing.example.org",
        "/api/v1/gizmos",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/namespaces/default/configmaps/x/scale",
    ],
)
def test_what_is_not_served_is_not_found(cluster: Cluster, path: str) -> None:
    refused = cluster.try_kubectl("get", f"--raw={path}")
    assert "the server could not find the requested resource" in refused.error
