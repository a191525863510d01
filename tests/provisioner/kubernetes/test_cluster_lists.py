"""Listing namespaces, definitions and releases over HTTPS."""

import base64
import socket
import ssl
from collections.abc import Iterator
from http.client import HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from emulator.kubernetes import Fault, KubernetesApi, Principal, static_tokens
from provisioner.kubernetes.cluster import Cluster
from provisioner.kubernetes.failures import CommandFailedError
from tests.support.provisioner.helm_cloud import namespace

KNOWN, UNKNOWN, REFUSED = "known", "unknown", "refused"
NOT_YET = (
    'namespaces is forbidden: User "arn:aws:sts::111122223333:assumed-role/ml-platform-Provisioner/'
    'ml-platform-Provisioner" cannot list resource "namespaces" in API group "" at cluster scope'
)


@pytest.fixture(scope="module")
def api() -> Iterator[KubernetesApi]:
    anybody = static_tokens(
        {
            KNOWN: Principal(username="somebody", allowed=True),
            REFUSED: Principal(username="arn:aws:sts::1:assumed-role/r/s", allowed=False),
        }
    )
    with KubernetesApi(authenticate=anybody) as running:
        yield running


def _cluster(url: str, *, token: str = KNOWN, authority: str = "") -> Cluster:
    trust = {"certificate-authority-data": authority} if authority else {}
    return Cluster(server={"server": url, **trust}, token=lambda: token, arn="", tags={})


def _listing(api: KubernetesApi, *, token: str = KNOWN, trusted: bool = True) -> Cluster:
    authority = base64.b64encode(api.ca_pem.encode()).decode()
    return _cluster(api.url, token=token, authority=authority if trusted else "")


def test_namespaces_and_those_that_are_terminating(api: KubernetesApi) -> None:
    api.create(namespace("stays"))
    api.create(namespace("goes", "example.com/hold"))
    api.delete("v1", "Namespace", "goes")
    found = _listing(api).containers(timeout_seconds=600)
    assert {"stays", "goes"} <= found.names["Namespace"]
    assert found.names["CustomResourceDefinition"] == frozenset()
    assert found.terminating == {("Namespace", "goes")}


def test_releases_are_told_by_name_and_namespace(api: KubernetesApi) -> None:
    labels = {"owner": "helm", "name": "deps", "version": "1"}
    metadata = {"name": "sh.helm.release.v1.deps.v1", "namespace": "default", "labels": labels}
    api.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    listing = _listing(api)
    assert listing.has_release("deps", namespace="default", timeout_seconds=600)
    assert not listing.has_release("dep", namespace="default", timeout_seconds=600)
    assert not listing.has_release("deps", namespace="kube-system", timeout_seconds=600)
    assert not listing.has_release("deps", namespace="nowhere", timeout_seconds=600)


@pytest.mark.parametrize(
    ("fault", "transient"),
    [
        (Fault(verbs=frozenset({"list"}), code=500, message="oh"), True),
        (Fault(verbs=frozenset({"list"}), code=403, reason="Forbidden", message="no"), False),
        (Fault(verbs=frozenset({"list"}), code=403, reason="Forbidden", message=NOT_YET), True),
        (Fault(verbs=frozenset({"list"}), drop=True), True),
    ],
)
def test_refusals(api: KubernetesApi, fault: Fault, transient: bool) -> None:
    api.inject(fault)
    with pytest.raises(CommandFailedError) as refused:
        _listing(api).containers(timeout_seconds=600)
    assert refused.value.is_transient is transient


def test_token_that_is_not_known(api: KubernetesApi) -> None:
    with pytest.raises(CommandFailedError, match="401 Unauthorized") as refused:
        _listing(api, token=UNKNOWN).containers(timeout_seconds=600)
    assert refused.value.is_transient


def test_user_whose_access_policy_is_not_there_yet(api: KubernetesApi) -> None:
    with pytest.raises(CommandFailedError, match="403 Forbidden") as refused:
        _listing(api, token=REFUSED).containers(timeout_seconds=600)
    assert refused.value.is_transient


def test_server_that_is_not_trusted(api: KubernetesApi) -> None:
    with pytest.raises(CommandFailedError, match="certificate verify failed"):
        _listing(api, trusted=False).containers(timeout_seconds=600)


def test_server_that_is_not_there() -> None:
    with pytest.raises(CommandFailedError, match="cluster unreachable") as refused:
        _cluster("https://127.0.0.1:1").containers(timeout_seconds=600)
    assert refused.value.is_transient


def test_certificates_of_eks_are_trusted_by_python_3_14_too(
    api: KubernetesApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = ssl.create_default_context

    def strict(**options: Any) -> ssl.SSLContext:
        context = make(**options)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    strictly = HTTPSConnection(urlsplit(api.url).netloc, context=strict(cadata=api.ca_pem))
    with pytest.raises(ssl.SSLCertVerificationError, match="Missing Authority Key Identifier"):
        strictly.connect()
    assert _listing(api).containers(timeout_seconds=600).names


def test_addresses_that_drop_packets_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public EKS endpoint has several addresses; a firewall answers for none of them."""
    tried: list[float] = []

    def silent(_address: object, timeout: float, *_source: object) -> socket.socket:
        tried.append(timeout)
        raise TimeoutError("timed out")

    resolved = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{n}", 443)) for n in (1, 2)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: resolved)
    monkeypatch.setattr(socket, "create_connection", silent)
    with pytest.raises(CommandFailedError, match="cluster unreachable") as refused:
        _cluster("https://abc.gr7.us-west-2.eks.amazonaws.com").containers(timeout_seconds=60)
    assert refused.value.is_transient
    assert tried == [30]
