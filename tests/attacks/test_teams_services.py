"""A Service or an Ingress of a team takes no traffic of others, and publishes nothing."""

from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import Cluster
from tests.support.isolated_cluster import create, team_object

_FACING = {"alb.ingress.kubernetes.io/scheme": "internet-facing"}
_GROUP = {"alb.ingress.kubernetes.io/group.name": "models"}
_PORTS = [{"port": 80}]


def _service(name: str, *, namespace: str = "team-a", **spec: Any) -> dict[str, Any]:
    ports = {"ports": _PORTS, "selector": {"app": "one"}}
    return team_object("Service", name=name, namespace=namespace, spec={**ports, **spec})


def _ingress(
    name: str, *, namespace: str = "team-a", annotations: dict[str, str] | None = None
) -> dict[str, Any]:
    backend = {"service": {"name": "one", "port": {"number": 80}}}
    return team_object(
        "Ingress",
        api="networking.k8s.io/v1",
        name=name,
        namespace=namespace,
        annotations=annotations,
        spec={"defaultBackend": backend},
    )


@pytest.mark.parametrize(
    ("why", "item"),
    [
        # CVE-2020-8554: pods of all teams that ask this address get the team's answer.
        ("externalIPs", _service("taken", externalIPs=["198.51.100.7"])),
        ("externalIPs", _service("taken", namespace="team-public", externalIPs=["198.51.100.7"])),
        ("type LoadBalancer", _service("published", type="LoadBalancer")),
        ("alb.ingress.kubernetes.io/scheme", _ingress("published", annotations=_FACING)),
        # By the load balancer that another namespace shows to the internet.
        ("alb.ingress.kubernetes.io/group.name", _ingress("published", annotations=_GROUP)),
    ],
)
def test_traffic_of_others_and_of_the_internet(
    cluster: Cluster, why: str, item: dict[str, Any]
) -> None:
    done = create(cluster, item)

    assert f"denied request: {why}" in done.error


def test_service_does_not_become_a_load_balancer_later(cluster: Cluster) -> None:
    cluster.kubectl("create", "-f", "-", stdin=_service("inner"))
    change = '{"spec": {"type": "LoadBalancer"}}'

    done = cluster.try_kubectl(
        "patch", "service", "inner", "--namespace", "team-a", "--patch", change
    )

    assert "type LoadBalancer" in done.error


@pytest.mark.parametrize(
    "item",
    [
        _service("rendezvous", clusterIP="None"),
        _service("model", namespace="team-public", type="LoadBalancer"),
        _ingress("internal", annotations={"alb.ingress.kubernetes.io/scheme": "internal"}),
        _ingress("model", namespace="team-public", annotations=_FACING | _GROUP),
    ],
)
def test_services_of_jobs_and_of_a_public_namespace_pass(
    cluster: Cluster, item: dict[str, Any]
) -> None:
    assert create(cluster, item).ok
