"""Nobody but a training job's own pods reaches what runs code in it: its rendezvous and stores."""

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from hyperpod_emulator.testing.kubernetes_api import Cluster
from tests.support.chart_rendering import objects
from tests.support.configs import REPOSITORY
from tests.support.network_policies import Peer, connects

_CHART = REPOSITORY / "charts" / "training"
# PyTorch's own port, Kubeflow's, etcd's, and one of the processes' stores.
_PORTS = (29400, 23456, 2379, 40000)
_VARIANTS: dict[str, dict[str, Any]] = {
    "llama3-1b-g5": {},
    "llama2-7b-p4d": {"rendezvous": {"backend": "etcd"}},
    "hyperpod-pytorch-job": {},
}
_NAMESPACES = {"team-a": "10.1.0.10", "team-b": "10.1.0.20", "team-public": "10.1.0.30"}
_DNS = Peer(address="10.1.0.31", namespace="kube-system", labels={"k8s-app": "kube-dns"})
# Of S3, by a VPC endpoint. File systems are mounted by the node, which no policy selects.
_ENDPOINT = Peer(address="10.1.0.60")
_POD_IDENTITY = Peer(address="169.254.170.23")
_NODE, _INTERNET = Peer(address="10.1.0.50"), Peer(address="198.51.100.7")


def _job(name: str, namespace: str, variant: str, *, home: Path) -> list[dict[str, Any]]:
    """Return what the chart makes of a job."""
    values = ("--values", _CHART / "values" / f"{variant}.yaml", "--namespace", namespace)
    given = {"image": "registry.invalid/train:1", "nodes": 2, **_VARIANTS[variant]}
    return objects(_CHART, *values, values=given, home=home, release=name)


def _pods(made: list[dict[str, Any]], *, namespace: str, address: str) -> list[Peer]:
    """Return the pods of a job: a worker, and its etcd if it has one."""
    found = []
    for item in made:
        spec = item.get("spec", {})
        for worker in (
            spec.get("pytorchReplicaSpecs", {}).get("Worker"),
            *spec.get("replicaSpecs", ()),
            spec if item["kind"] == "Deployment" else None,
        ):
            if worker is not None:
                labels = worker["template"]["metadata"]["labels"]
                found.append(Peer(address=address, namespace=namespace, labels=labels))
    assert found
    return found


@pytest.mark.parametrize("namespace", _NAMESPACES)
@pytest.mark.parametrize("variant", _VARIANTS)
def test_who_reaches_a_job(cluster: Cluster, variant: str, namespace: str, tmp_path: Path) -> None:
    answer = cluster.kubectl("get", "networkpolicy", "--all-namespaces", "--output", "json")
    jobs = {name: _job(name, namespace, variant, home=tmp_path) for name in ("job", "other-job")}
    policies = [
        *json.loads(answer)["items"],
        *(each for made in jobs.values() for each in made if each["kind"] == "NetworkPolicy"),
    ]
    own, other = (
        _pods(made, namespace=namespace, address=_NAMESPACES[namespace]) for made in jobs.values()
    )
    elsewhere = "team-b" if namespace == "team-a" else "team-a"
    strangers = [
        Peer(address="10.1.0.11", namespace=namespace),
        # Another team's, which is called like it.
        *_pods(jobs["job"], namespace=elsewhere, address="10.1.0.21"),
        _NODE,
        _INTERNET,
    ]

    reached = [
        (source, target, port)
        for source in [*strangers, *other]
        for target in own
        for port in _PORTS
        if connects(source, target, port=port, policies=policies)
    ]

    assert reached == []
    for source in own:
        for target, port, protocol in [
            *((pod, port, "TCP") for pod in own for port in _PORTS),
            *((_DNS, 53, protocol) for protocol in ("TCP", "UDP")),
            (_ENDPOINT, 443, "TCP"),
            (_POD_IDENTITY, 80, "TCP"),
        ]:
            assert connects(source, target, port=port, protocol=protocol, policies=policies), (
                target,
                port,
            )


def _greets(client: ssl.SSLContext, server: ssl.SSLContext, *, name: str) -> bool:
    """Return whether a client and a server that has a name take each other."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for end in [*ends, *ends]:
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLError:
            return False
    return True


def test_who_has_no_certificate_of_a_job_does_not_reach_its_etcd(tmp_path: Path) -> None:
    jobs = {name: _job(name, "team-a", "llama2-7b-p4d", home=tmp_path) for name in ("job", "other")}
    files = {}
    for name, made in jobs.items():
        [secret] = [
            item
            for item in made
            if (item["kind"], item["metadata"]["name"]) == ("Secret", f"{name}-etcd")
        ]
        files[name] = tmp_path / name
        files[name].mkdir()
        for file, content in secret["data"].items():
            (files[name] / file).write_bytes(base64.b64decode(content))

    def context(purpose: int, *, authority: str, holder: str | None) -> ssl.SSLContext:
        made = ssl.SSLContext(purpose)
        made.load_verify_locations(files[authority] / "ca.crt")
        if holder is not None:
            made.load_cert_chain(files[holder] / "tls.crt", files[holder] / "tls.key")
        return made

    [etcd] = [item for item in jobs["job"] if item["kind"] == "Deployment"]
    [container] = etcd["spec"]["template"]["spec"]["containers"]
    # As etcd has it: https://etcd.io/docs/v3.5/op-guide/security/
    flags = {flag.partition("=")[0]: flag.partition("=")[2] for flag in container["args"]}
    assert "--client-cert-auth" in flags
    assert flags["--trusted-ca-file"].endswith("/ca.crt")
    assert flags["--listen-client-urls"] == "https://0.0.0.0:2379"
    server = context(ssl.PROTOCOL_TLS_SERVER, authority="job", holder="job")
    server.verify_mode = ssl.CERT_REQUIRED
    took = {
        holder: _greets(
            context(ssl.PROTOCOL_TLS_CLIENT, authority="job", holder=holder),
            server,
            name="job-etcd",
        )
        for holder in ("job", "other", None)
    }
    assert took == {"job": True, "other": False, None: False}
