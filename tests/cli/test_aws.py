"""Assemblies, the CDK CLI, sessions, stacks and the Kubernetes API, as the commands see them."""

import base64
import os
import shlex
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes.client import ApiException, CoreV1Api
from urllib3.exceptions import NewConnectionError, ReadTimeoutError

from hyperpod_cli.aws import cdk_cli
from hyperpod_cli.aws.assembly import Stack, chosen, construct_paths, stacks_in
from hyperpod_cli.aws.cdk_cli import without_chatter
from hyperpod_cli.aws.kubernetes_api import kubernetes_api, one_line_errors
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.aws.stacks import documented_outputs, output_lines
from hyperpod_cli.terminal.errors import OpsError, TransientError
from hyperpod_emulator.kubernetes import KubernetesApi, static_tokens
from hyperpod_emulator.testing.kubernetes_api import ADMIN, PRINCIPALS
from tests.conftest import Assemble, Configure

EMPTY: dict[str, dict[str, str]] = {"Resources": {}}
STACKS = [
    Stack(name="ml-platform", template=EMPTY, needs=()),
    Stack(name="ml-storage", template=EMPTY, needs=("ml-platform",)),
    Stack(name="ml-hyperpod", template=EMPTY, needs=("ml-platform",)),
]


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        ([], ["ml-platform", "ml-storage", "ml-hyperpod"]),
        (["ml-platform"], ["ml-platform"]),
        (["*-hyperpod"], ["ml-platform", "ml-hyperpod"]),
        (["ml-storage", "ml-hyperpod"], ["ml-platform", "ml-storage", "ml-hyperpod"]),
    ],
)
def test_a_stack_comes_with_what_it_needs(patterns: list[str], names: list[str]) -> None:
    assert [stack.name for stack in chosen(STACKS, patterns)] == names


def test_a_stack_comes_alone_exclusively() -> None:
    [stack] = chosen(STACKS, ["*-hyperpod"], exclusively=True)
    assert stack.name == "ml-hyperpod"


def test_an_unknown_stack_is_told() -> None:
    with pytest.raises(OpsError, match=r"'ml-hyperpot'; did you mean ml-hyperpod\?"):
        chosen(STACKS, ["ml-hyperpot"])


def test_the_assembly_of_the_app_is_read(assemble: Assemble, configure: Configure) -> None:
    stacks = {stack.name: stack for stack in stacks_in(assemble(configure({})).directory)}
    assert next(iter(stacks)) == "ml-platform"
    assert {name: stack.needs for name, stack in stacks.items()} == {
        "ml-platform": (),
        "ml-storage": ("ml-platform",),
        "ml-addons": ("ml-platform",),
        "ml-hyperpod": ("ml-platform",),
    }
    assert all(stack.size > 1 for stack in stacks.values())


def test_a_resource_is_called_as_its_construct() -> None:
    resources = {
        logical_id: {"Metadata": {"aws:cdk:path": path}}
        for logical_id, path in {
            "A": "ml-hyperpod/Cluster/Resource/Default",
            "B": "ml-hyperpod/Network/Vpc/Resource",
            "C": "ml-hyperpod/Addons/CoreDns",
        }.items()
    }
    assert construct_paths({"Resources": {**resources, "D": {}}}) == {
        "A": "Cluster",
        "B": "Network/Vpc",
        "C": "Addons/CoreDns",
    }


WARNING = "WARNING eks.admins: [] gives no one access to the Kubernetes cluster"
BELOW = [
    "   ml-hyperpod aws-cdk-lib.Stack",
    "   Acknowledge with 'Annotation::hyperpod-cdk:no_admins'",
    "",
]


def test_a_warning_is_one_line_and_said_once() -> None:
    coloured = f"\x1b[33mWARNING\x1b[39m{WARNING.removeprefix('WARNING')} (Annotation)"
    lines = [
        "Bundling asset ml-platform/Provisioner/OnEvent/Code/Stage...",
        coloured,
        *BELOW,
        f"{WARNING} (Annotation)",
        *BELOW,
        "Successfully synthesized to /project/cdk.out/default",
        "Supply a stack id (ml-platform) to display its template.",
    ]
    assert [*without_chatter(f"{line}\n" for line in lines)] == [WARNING]


@pytest.mark.parametrize(("ends", "code"), [(0, 0), (1, 2), (130, 130)])
def test_what_the_app_refuses_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ends: int, code: int
) -> None:
    program = tmp_path / "cdk"
    program.write_text(f"#!/bin/sh\nexit {ends}\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(cdk_cli, "tools_environment", dict)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert cdk_cli.cdk("synth", config=Path("mine.yaml"), output=tmp_path) == code


def test_a_refusal_is_told_in_the_words_of_the_app() -> None:
    refused = "nope: cannot be read: No such file or directory"
    ended = "python3 app.py: Subprocess exited with error 2"
    assert [*without_chatter([refused, ended])] == [refused]


def test_what_is_no_chatter_is_passed_on() -> None:
    lines = [
        "Stack ml-hyperpod",
        "   [~] AWS::IAM::Role",
        "",
        "\x1b[31mno credentials\x1b[39m",
        'PATH="$PWD/.venv/bin:$PATH" python3 app.py: Subprocess exited with error 1',
    ]
    assert [*without_chatter(lines)] == lines


HOST = SimpleNamespace(configuration=SimpleNamespace(host="https://eks"))
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")


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
        pytest.raises(OpsError, match="certificate") as told,
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


@pytest.mark.parametrize("mfa", [True, False])
def test_the_code_of_an_mfa_device_is_typed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mfa: bool
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile mine]\n" + "mfa_serial = arn:aws:iam::1:mfa/me\n" * mfa)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    session = AwsSession(region="us-west-2")
    session.profile.set_credentials("key", "secret", "token")

    environment = session.cli_environment()

    assert environment.get("AWS_ACCESS_KEY_ID") == ("key" if mfa else None)
    assert environment.get("AWS_SESSION_TOKEN") == ("token" if mfa else None)
    assert environment.get("AWS_PROFILE") == (None if mfa else "mine")


def test_all_clients_have_the_credentials_of_the_profile() -> None:
    session = AwsSession(region="us-west-2")
    session.profile.set_credentials("key", "secret", "token")

    credentials = session.session.get_credentials()
    assert credentials is not None and credentials.access_key == "key"
    attempts = {
        client.meta.config.retries["total_max_attempts"]
        for client in (
            session.client("s3"),
            session.polling_client("s3"),
            session.writing_client("s3"),
        )
    }
    assert attempts == {1, 3, 4}


COMMAND = (
    "aws eks create-access-entry --cluster-name ml-eks --region us-west-2 --principal-arn "
    "PRINCIPAL_ARN && aws eks associate-access-policy --cluster-name ml-eks"
)


def test_the_outputs_of_cdk_are_left_out() -> None:
    described = {
        "Outputs": [
            {"OutputKey": "VpcId", "OutputValue": "vpc-1"},
            {"OutputKey": "ExportsOutputRefVpc", "OutputValue": "vpc-1"},
        ]
    }
    assert documented_outputs(described) == {"VpcId": "vpc-1"}
    assert documented_outputs({}) == {}


def test_a_value_is_shown_once() -> None:
    outputs = {
        "ml-platform": {"VpcId": "vpc-1", "OutputVpcId": "vpc-1", "OutputOther": "x"},
        "ml-addons": {},
    }
    assert [line.split() for line in output_lines(outputs)] == [
        ["Outputs", "of", "ml-platform"],
        ["VpcId", "vpc-1"],
        ["OutputOther", "x"],
    ]


@pytest.mark.parametrize(("shortage", "is_shown"), [("none", True), ("As of noon, ...", False)])
def test_missing_nodes_are_not_told_among_the_outputs(shortage: str, is_shown: bool) -> None:
    lines = [*output_lines({"ml-hyperpod": {"HyperPodClusterShortage": shortage}})]
    assert any("HyperPodClusterShortage" in line for line in lines) == is_shown


def test_a_command_can_be_copied() -> None:
    lines = [*output_lines({"ml-platform": {"GrantAdminCommand": COMMAND}})]
    assert lines[1] == "  GrantAdminCommand"
    assert max(map(len, lines)) <= 80
    assert shlex.split("\n".join(lines[2:]).replace("\\\n", " ")) == shlex.split(COMMAND)
