"""The EKS cluster as EKS describes it, and the token and kubeconfig with which helm reaches it."""

import base64
import json
import stat
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from hyperpod_shared.eks_token import TOKEN_PREFIX, TokenSigner
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.aws.clients import Clients
from provisioner.kubernetes.cluster import Cluster
from provisioner.kubernetes.eks_cluster import (
    ClusterFailedError,
    ClusterNotFoundError,
    describe,
    require_usable,
)
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error

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
    ("found", "error", "told"),
    [
        ({"status": "CREATING"}, NotReadyError, "is CREATING.*describe-cluster --name ml; deploy"),
        ({"status": "CREATING", "endpoint": ENDPOINT}, NotReadyError, "is CREATING"),
        # As logged in https://github.com/aws/aws-cdk/issues/18746.
        ({"status": "CREATING", "endpoint": None}, NotReadyError, "has no endpoint"),
        ({"status": "ACTIVE", "endpoint": None}, NotReadyError, "is ACTIVE and has no endpoint"),
        ({"status": "UPDATING", "endpoint": ""}, NotReadyError, "is UPDATING and has no endpoint"),
        (
            {"status": "DELETING", "endpoint": ENDPOINT},
            ClusterNotFoundError,
            "is DELETING and cannot be reached.*Wait until it is gone",
        ),
        ({"status": "FAILED"}, ClusterFailedError, "is FAILED.*describe-cluster --name ml"),
        (
            {"status": "FAILED", "endpoint": ENDPOINT, "health": ISSUES},
            ClusterFailedError,
            "is FAILED.*InsufficientFreeAddresses: no free IP addresses.*delete the stacks",
        ),
    ],
)
def test_any_other_is_waited_for_or_told(
    found: dict[str, Any], error: type[ProvisioningError], told: str
) -> None:
    with pytest.raises(ProvisioningError, match=told) as raised:
        require_usable({"name": "ml", **found})
    assert type(raised.value) is error
