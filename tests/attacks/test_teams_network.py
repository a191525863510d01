"""A pod of a team reaches no pod of another team, no node, and no metadata of a node."""

import json
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import EDITOR, Cluster
from tests.support.isolated_cluster import create, team_object
from tests.support.network_policies import Peer, connects

_OWN = Peer(address="10.1.0.10", namespace="team-a")
_WORKER = Peer(address="10.1.0.11", namespace="team-a")
_OTHER = Peer(address="10.1.0.20", namespace="team-b")
# Two teams that trust each other, and the job of one that trains.
_TRUSTED = [Peer(address=f"10.1.0.{last}", namespace=f"team-{last:x}") for last in (0xE, 0xF)]
_TRAINING = Peer(
    address="10.1.0.16", namespace="team-e", labels={"app.kubernetes.io/name": "training"}
)
_SYSTEM = Peer(address="10.1.0.30", namespace="kube-system")
_DNS = Peer(address="10.1.0.31", namespace="kube-system", labels={"k8s-app": "kube-dns"})
_OPERATOR = Peer(address="10.1.0.32", namespace="aws-hyperpod")
_MODEL = Peer(address="10.1.0.40", namespace="team-public")
_NODE, _ENDPOINT, _HOMES = (Peer(address=f"10.1.0.{last}") for last in (50, 60, 70))
_METADATA, _IDENTITY = Peer(address="169.254.169.254"), Peer(address="169.254.170.23")
_INTERNET = Peer(address="198.51.100.7")


def _policies(cluster: Cluster) -> list[dict[str, Any]]:
    answer = cluster.kubectl("get", "networkpolicy", "--all-namespaces", "--output", "json")
    policies: list[dict[str, Any]] = json.loads(answer)["items"]
    return policies


@pytest.mark.parametrize(
    ("source", "target", "port"),
    [
        (_OWN, _OTHER, 29500),  # the rendezvous of another team's torchrun
        (_OWN, _OTHER, 443),
        (_OTHER, _OWN, 2379),
        (_TRUSTED[0], _OTHER, 29500),
        (_OTHER, _TRUSTED[0], 29500),
        (_TRUSTED[1], _TRAINING, 29500),
        (_OWN, _SYSTEM, 9090),
        (_OWN, _NODE, 10250),
        (_OWN, _HOMES, 2049),  # by a client of NFS in the pod, without a claim
        (_OWN, _METADATA, 80),
        (_INTERNET, _OWN, 80),
        (_OWN, _MODEL, 80),  # no address of a pod is taken for one of the internet
    ],
)
def test_ways_to_others(cluster: Cluster, source: Peer, target: Peer, port: int) -> None:
    assert not connects(source, target, port=port, policies=_policies(cluster))


@pytest.mark.parametrize(
    ("source", "target", "port", "protocol"),
    [
        (_OWN, _WORKER, 29500, "TCP"),
        (_TRUSTED[0], _TRUSTED[1], 8000, "TCP"),
        (_TRUSTED[1], _TRUSTED[0], 8000, "TCP"),
        (_OWN, _DNS, 53, "UDP"),
        (_OWN, _DNS, 53, "TCP"),
        (_OWN, _INTERNET, 443, "TCP"),
        (_OWN, _INTERNET, 22, "TCP"),
        (_OWN, _ENDPOINT, 443, "TCP"),  # a VPC endpoint, or the Kubernetes API
        (_OWN, _IDENTITY, 80, "TCP"),
        (_OPERATOR, _OWN, 8080, "TCP"),
        (_INTERNET, _MODEL, 80, "TCP"),
    ],
)
def test_ways_that_jobs_need(
    cluster: Cluster, source: Peer, target: Peer, port: int, protocol: str
) -> None:
    assert connects(source, target, port=port, protocol=protocol, policies=_policies(cluster))


def _policy(name: str, **spec: Any) -> dict[str, Any]:
    return team_object(
        "NetworkPolicy",
        api="networking.k8s.io/v1",
        name=name,
        spec={"podSelector": {}, **spec},
    )


@pytest.mark.parametrize(
    "egress",
    [
        [{}],
        [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}],
        [{"to": [{"namespaceSelector": {}}]}],
        [{"ports": [{"port": 22}]}],
        [{"ports": [{"port": 53, "endPort": 65535}]}],
        [{"ports": [{"port": 53}, {"port": "https"}]}],
        [{"to": [{"ipBlock": {"cidr": "169.254.0.0/16"}}], "ports": [{"port": 80}]}],
    ],
)
def test_editor_does_not_open_the_way_to_others(
    cluster: Cluster, egress: list[dict[str, Any]]
) -> None:
    done = create(cluster, _policy("open", policyTypes=["Egress"], egress=egress))

    assert "denied request: spec.egress" in done.error


_LEFT = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}
_OWNED = json.dumps({"metadata": {"ownerReferences": [_LEFT]}})
_ALL = "/apis/networking.k8s.io/v1/namespaces/team-b/networkpolicies"


@pytest.mark.parametrize(
    "change",
    [
        ("delete", "networkpolicy", "hyperpod-isolation"),
        ("delete", "networkpolicy", "--all"),
        ("delete", "--raw", _ALL),  # the collection, of which admission gets no name
        ("patch", "networkpolicy", "hyperpod-isolation", "--patch", '{"spec": {"egress": [{}]}}'),
        # The garbage collector would delete it with its owner.
        ("patch", "networkpolicy", "hyperpod-isolation", "--patch", _OWNED),
    ],
)
def test_editor_does_not_take_the_policy_away(cluster: Cluster, change: tuple[str, ...]) -> None:
    done = cluster.try_kubectl(*change, "--namespace", "team-b", token=EDITOR)

    assert "hyperpod-isolation: only an admin changes this network policy" in done.error


def test_policies_of_a_job_and_of_an_admin_pass(cluster: Cluster) -> None:
    own = [{"podSelector": {"matchLabels": {"job": "one"}}}]
    narrow = _policy("job", policyTypes=["Ingress", "Egress"], ingress=[{"from": own}])
    agent = [{"ipBlock": {"cidr": "169.254.170.23/32"}}]
    narrow["spec"]["egress"] = [
        {"to": own},
        {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 443}]},
        {"to": agent, "ports": [{"port": 80}]},
    ]
    mark = ("annotate", "networkpolicy", "hyperpod-isolation", "example.org/seen=yes")

    assert create(cluster, narrow).ok
    # As the controller of the VPC CNI marks what it enforces.
    assert cluster.try_kubectl(*mark, "--namespace", "team-a", token=EDITOR).ok
    cluster.kubectl("delete", "networkpolicy", "hyperpod-isolation", "--namespace", "team-public")
