"""How the Kubernetes API is reached, and what is told when it is not."""

import base64
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes.client import ApiException, CoreV1Api
from urllib3.exceptions import NewConnectionError, ReadTimeoutError

from emulator.kubernetes import KubernetesApi, static_tokens
from hyperpod_cli.aws.kubernetes_api import kubernetes_api, one_line_errors
from hyperpod_cli.terminal.errors import OpsError, TransientError
from tests.support.kubernetes_api import ADMIN, PRINCIPALS

HOST = SimpleNamespace(configuration=SimpleNamespace(host="https://eks"))
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")


@pytest.fixture
def kubernetes() -> Iterator[KubernetesApi]:
    """A cluster without nodes."""
    with KubernetesApi(authenticate=static_tokens(PRINCIPALS)) as api:
        yield api


@pytest.fixture
def connects(kubernetes: KubernetesApi, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401
    """Return a function that lists namespaces through what the environment says."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    module = "hyperpod_cli.aws.kubernetes_api"
    signer = SimpleNamespace(token=lambda _name: ADMIN)
    monkeypatch.setattr(f"{module}.token_signer", lambda _session: signer)

    def connect(authority: str = kubernetes.ca_pem) -> int:
        data = base64.b64encode(authority.encode()).decode()
        found = {"endpoint": kubernetes.url, "certificateAuthority": {"data": data}}
        eks = SimpleNamespace(describe_cluster=lambda **_name: {"cluster": found})
        session: Any = SimpleNamespace(region="us-west-2", session=None, client=lambda _name: eks)
        with kubernetes_api(session, eks_cluster="ml") as api:
            return len(CoreV1Api(api).list_namespace().items)

    return connect


@pytest.fixture
def proxy() -> Iterator[SimpleNamespace]:
    """A proxy that tunnels, and notes the head of each request."""
    server = socket.create_server(("127.0.0.1", 0))
    heads: list[str] = []

    def pump(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass  # one side has gone
        target.close()

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return  # the test is over
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(65536)
            heads.append(head.decode())
            host, _, port = head.split()[1].decode().rpartition(":")
            behind = socket.create_connection((host, int(port)))
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            for pair in ((client, behind), (behind, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield SimpleNamespace(port=server.getsockname()[1], heads=heads)
    server.shutdown(socket.SHUT_RDWR)
    server.close()


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_a_proxy_is_taken(
    connects: Any,  # noqa: ANN401
    proxy: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"{scheme}me:secret@127.0.0.1:{proxy.port}")
    assert connects()
    (head,) = proxy.heads
    assert head.startswith("CONNECT ")
    assert base64.b64encode(b"me:secret").decode() in head


def test_no_proxy_passes_it_by(
    connects: Any,  # noqa: ANN401
    proxy: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
    assert connects()
    assert proxy.heads == []


def test_another_authority_is_told_in_a_sentence(connects: Any) -> None:  # noqa: ANN401
    with (
        KubernetesApi(authenticate=static_tokens(PRINCIPALS)) as other,
        pytest.raises(OpsError, match=r"certificate of .* is not of the EKS cluster") as told,
    ):
        connects(other.ca_pem)
    assert "NO_PROXY" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("error", "kind", "part"),
    [
        (ApiException(status=403, reason="Forbidden"), OpsError, "AmazonEKSAdminViewPolicy"),
        (ApiException(status=401, reason="Unauthorized"), OpsError, "eks.admins"),
        (ApiException(status=503, reason="busy"), TransientError, "503 busy"),
        (ApiException(status=429, reason="busy"), TransientError, "429 busy"),
        (ApiException(status=400, reason="Bad"), OpsError, "400 Bad"),
        (ReadTimeoutError(None, "/", "slow"), TransientError, "did not answer"),  # type: ignore[arg-type]
        (NewConnectionError(None, "no"), OpsError, "cannot be reached"),  # type: ignore[arg-type]
    ],
)
def test_what_may_pass_is_told_apart(error: Exception, kind: type[OpsError], part: str) -> None:
    client: Any = HOST
    with pytest.raises(OpsError, match=part) as told, one_line_errors(client):
        raise error
    assert type(told.value) is kind
    assert "list your role under eks.viewers" not in str(told.value)
