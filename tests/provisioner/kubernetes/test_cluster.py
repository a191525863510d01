"""Listing namespaces, definitions and releases over HTTPS."""

import base64
import json
import socket
import ssl
import stat
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from hyperpod_emulator.kubernetes import Fault, KubernetesApi, Principal, static_tokens
from hyperpod_shared.eks_token import TOKEN_PREFIX, TokenSigner
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.aws.api import Clients
from provisioner.kubernetes.cluster import (
    Cluster,
    ClusterFailedError,
    ClusterNotFoundError,
    describe,
    require_usable,
)
from provisioner.kubernetes.failures import CommandFailedError, UnreadableAnswerError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
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
    assert found.definitions == frozenset()
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
    _listing(api).containers(timeout_seconds=600)


@pytest.mark.parametrize("body", [b"<html></html>", b'{"items": null}', b"{}", b"[]"])
def test_what_is_no_list_is_no_answer(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = SimpleNamespace(status=200, read=lambda: body)
    monkeypatch.setattr(HTTPSConnection, "request", lambda *_args, **_options: None)
    monkeypatch.setattr(HTTPSConnection, "getresponse", lambda _self: answer)
    with pytest.raises(UnreadableAnswerError) as raised:
        _cluster("https://127.0.0.1:6443").containers(timeout_seconds=60)
    assert raised.value.is_unanswered


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


AUTHORITY = base64.b64encode(b"pem").decode()
ENDPOINT = "https://ABC.gr7.us-west-2.eks.amazonaws.com"
ISSUES = {"issues": [{"code": "InsufficientFreeAddresses", "message": "no free IP addresses"}]}


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Clients:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret-secret",
        "AWS_SESSION_TOKEN": "session",
        "AWS_DEFAULT_REGION": "eu-west-1",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return Clients()


def _url(token: str) -> str:
    encoded = token.removeprefix(TOKEN_PREFIX)
    assert "=" not in encoded
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()


def test_token_is_a_presigned_regional_call_that_names_the_cluster(clients: Clients) -> None:
    token = clients.token_signer.token("ml")
    url = urlsplit(_url(token))
    query = {key: values[0] for key, values in parse_qs(url.query).items()}
    assert (url.scheme, url.netloc) == ("https", "sts.eu-west-1.amazonaws.com")
    assert query["Action"] == "GetCallerIdentity"
    assert query["X-Amz-Expires"] == "60"
    assert query["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert "/eu-west-1/sts/aws4_request" in query["X-Amz-Credential"]
    assert query["X-Amz-Security-Token"] == "session"
    assert (
        query["X-Amz-Signature"]
        != parse_qs(urlsplit(_url(clients.token_signer.token("x"))).query)["X-Amz-Signature"][0]
    )


def test_token_is_for_sts_itself_whatever_the_endpoint_override(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    url = urlsplit(_url(clients.token_signer.token("ml")))
    assert (url.scheme, url.netloc) == ("https", "sts.eu-west-1.amazonaws.com")


class Eks:
    def __init__(self, **cluster: Any) -> None:
        self.cluster = cluster

    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        if not self.cluster:
            raise client_error("ResourceNotFoundException", "DescribeCluster", name)
        return {"cluster": {"name": name, "arn": f"arn:aws:eks:x:y:cluster/{name}", **self.cluster}}


def _find(eks: Eks, token_signer: TokenSigner) -> Cluster:
    return Cluster.of(describe("ml", eks=eks, clock=Time().clock), token_signer=token_signer)


def test_kubeconfig_is_private_and_complete(clients: Clients, tmp_path: Path) -> None:
    eks = Eks(endpoint="https://x", status="ACTIVE", certificateAuthority={"data": AUTHORITY})
    cluster = _find(eks, clients.token_signer)
    path = cluster.write_kubeconfig(tmp_path / "kubeconfig", namespace="training")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    written = json.loads(path.read_text())
    assert written["clusters"][0]["cluster"] == {
        "server": "https://x",
        "certificate-authority-data": AUTHORITY,
    }
    assert written["contexts"][0]["context"]["namespace"] == "training"
    assert written["users"][0]["user"]["token"].startswith(TOKEN_PREFIX)


def test_absent_cluster_is_an_error_of_its_own_type(clients: Clients) -> None:
    with pytest.raises(ClusterNotFoundError, match="no EKS cluster ml"):
        _find(Eks(), clients.token_signer)


@pytest.mark.parametrize("status", ["ACTIVE", "UPDATING", "PENDING"])
def test_one_with_an_endpoint_is_used(status: str) -> None:
    require_usable({"name": "ml", "status": status, "endpoint": ENDPOINT})


@pytest.mark.parametrize(
    ("found", "error"),
    [
        ({"status": "CREATING"}, NotReadyError),
        ({"status": "CREATING", "endpoint": ENDPOINT}, NotReadyError),
        # As logged in https://github.com/aws/aws-cdk/issues/18746.
        ({"status": "CREATING", "endpoint": None}, NotReadyError),
        ({"status": "ACTIVE", "endpoint": None}, NotReadyError),
        ({"status": "UPDATING", "endpoint": ""}, NotReadyError),
        ({"status": "DELETING", "endpoint": ENDPOINT}, ClusterNotFoundError),
        ({"status": "FAILED"}, ClusterFailedError),
        ({"status": "FAILED", "endpoint": ENDPOINT, "health": ISSUES}, ClusterFailedError),
    ],
)
def test_any_other_is_waited_for_or_told(
    found: dict[str, Any], error: type[ProvisioningError], raises: Raises
) -> None:
    with raises(ProvisioningError) as raised:
        require_usable({"name": "ml", **found})
    assert type(raised.value) is error
