"""Who may do what, by which token, and what an API that fails looks like."""

import asyncio
import base64
import json
import ssl
import time
from collections.abc import Iterator
from functools import cache
from http.client import HTTPSConnection
from typing import Any

import boto3
import pytest
from botocore.credentials import Credentials
from botocore.signers import RequestSigner

from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws, aws_session
from hyperpod_emulator.kubernetes import (
    Authenticate,
    Fault,
    Grant,
    Principal,
    eks_tokens,
    unreachable,
)
from hyperpod_emulator.testing.kubernetes_api import (
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


def test_callers_can_ask_what_they_may(cluster: Cluster) -> None:
    assert cluster.kubectl("auth", "can-i", "list", "pods", token=VIEWER).strip() == "yes"
    done = cluster.try_kubectl("auth", "can-i", "create", "pods", token=VIEWER)
    assert done.out.strip() == "no"


def test_a_fault_hits_what_it_names_as_often_as_it_says(cluster: Cluster) -> None:
    later = frozenset({"delete"})
    fault = Fault(code=503, reason="ServiceUnavailable", message="try later", verbs=later, times=1)
    cluster.api.inject(fault)
    create = ("create", "-f", "-")
    cluster.kubectl(*create, stdin=config_map("missed"))
    cluster.api.inject(Fault(kind="ConfigMap", message="broken disk", times=2))
    assert "broken disk" in cluster.try_kubectl(*create, stdin=config_map("first")).error
    assert "broken disk" in cluster.try_kubectl(*create, stdin=config_map("second")).error
    cluster.kubectl(*create, stdin=config_map("third"))
    assert "try later" in cluster.try_kubectl("delete", "cm", "missed").error


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


CLUSTER = "research"
REGION = "us-west-2"
STS = f"https://sts.{REGION}.amazonaws.com"
POLICY = "arn:aws:eks::aws:cluster-access-policy/"
ASSUMED_BY_ALL = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}],
}
# Name of a role, its path, and the access policies of its entry; None means no entry.
ROLES: dict[str, tuple[str, list[tuple[str, str]] | None]] = {
    "admin": ("/", [("AmazonEKSClusterAdminPolicy", "cluster")]),
    "pathed": ("/team/", [("AmazonEKSClusterAdminPolicy", "cluster")]),
    "viewer": ("/", [("AmazonEKSViewPolicy", "cluster")]),
    "auditor": ("/", [("AmazonEKSAdminViewPolicy", "cluster")]),
    "narrow": ("/", [("AmazonEKSClusterAdminPolicy", "namespace")]),
    "bare": ("/", []),
    "unknown": ("/", None),
}


@pytest.fixture(scope="module")
def aws() -> Iterator[LocalAws]:
    with LocalAws() as local:
        session = aws_session(local)
        clients = {name: client(session, local, name) for name in ("iam", "eks", "ec2")}
        subnets = clients["ec2"].describe_subnets()["Subnets"]
        clients["iam"].create_role(
            RoleName="eks", AssumeRolePolicyDocument=json.dumps(ASSUMED_BY_ALL)
        )
        clients["eks"].create_cluster(
            name=CLUSTER,
            roleArn=f"arn:aws:iam::{ACCOUNT}:role/eks",
            resourcesVpcConfig={"subnetIds": [subnet["SubnetId"] for subnet in subnets]},
            accessConfig={
                "authenticationMode": "API",
                "bootstrapClusterCreatorAdminPermissions": False,
            },
        )
        for role, (path, policies) in ROLES.items():
            _create(clients, role=role, path=path, policies=policies)
        yield local


def _create(
    clients: dict[str, Any], *, role: str, path: str, policies: list[tuple[str, str]] | None
) -> None:
    trust = json.dumps(ASSUMED_BY_ALL)
    created = clients["iam"].create_role(RoleName=role, Path=path, AssumeRolePolicyDocument=trust)
    entry = {"clusterName": CLUSTER, "principalArn": created["Role"]["Arn"]}
    if policies is None:
        return
    clients["eks"].create_access_entry(**entry, kubernetesGroups=["researchers"])
    for policy, scope in policies:
        namespaces = ["default"] if scope == "namespace" else []
        clients["eks"].associate_access_policy(
            **entry,
            policyArn=POLICY + policy,
            accessScope={"type": scope, "namespaces": namespaces},
        )


def client(session: boto3.Session, local: LocalAws, service: str) -> Any:  # noqa: ANN401 - untyped
    """Return a client of the local AWS."""
    make: Any = session.client
    return make(service, endpoint_url=local.endpoint)


@cache
def role_credentials(aws: LocalAws, role: str) -> Credentials:
    """Return the credentials of a session of a role."""
    path = ROLES[role][0]
    answer = client(aws_session(aws), aws, "sts").assume_role(
        RoleArn=f"arn:aws:iam::{ACCOUNT}:role{path}{role}", RoleSessionName="test"
    )["Credentials"]
    return Credentials(answer["AccessKeyId"], answer["SecretAccessKey"], answer["SessionToken"])


@cache
def sts_client() -> Any:  # noqa: ANN401 - untyped
    """Return a client that only its metadata is wanted of."""
    make: Any = boto3.Session(region_name=REGION).client
    return make("sts")


def token(
    credentials: Credentials,
    *,
    cluster: str = CLUSTER,
    host: str = STS,
    action: str = "GetCallerIdentity",
    expires: int = 60,
) -> str:
    """Return an EKS token."""
    sts = sts_client()
    signer = RequestSigner(
        sts.meta.service_model.service_id, REGION, "sts", "v4", credentials, sts.meta.events
    )
    url = signer.generate_presigned_url(
        {
            "method": "GET",
            "url": f"{host}/?Action={action}&Version=2011-06-15",
            "body": {},
            "headers": {"x-k8s-aws-id": cluster},
            "context": {},
        },
        operation_name="",
        expires_in=expires,
        region_name=REGION,
    )
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


@cache
def authenticator(aws: LocalAws, cluster: str) -> Authenticate:
    """Return an authenticator of a cluster."""
    return eks_tokens(aws.endpoint, cluster, session=aws_session(aws))


def authenticated(aws: LocalAws, bearer: str, *, cluster: str = CLUSTER) -> Principal | None:
    """Return who a token stands for."""
    authenticate = authenticator(aws, cluster)

    async def ask() -> Principal | None:
        return await authenticate(bearer)

    return asyncio.run(ask())


def test_a_token_of_the_aws_cli_is_signed_for_the_endpoint_in_its_environment(
    aws: LocalAws,
) -> None:
    # `aws eks get-token` with AWS_ENDPOINT_URL set.
    bearer = token(role_credentials(aws, "admin"), host=aws.endpoint)
    assert authenticated(aws, bearer) is not None


@pytest.mark.parametrize(
    ("role", "allowed", "grants"),
    [
        ("admin", True, [Grant(policy="AmazonEKSClusterAdminPolicy")]),
        ("pathed", True, [Grant(policy="AmazonEKSClusterAdminPolicy")]),
        ("viewer", False, [Grant(policy="AmazonEKSViewPolicy")]),
        ("auditor", False, [Grant(policy="AmazonEKSAdminViewPolicy")]),
        ("narrow", False, [Grant(policy="AmazonEKSClusterAdminPolicy", namespaces=("default",))]),
        ("bare", False, []),
    ],
)
def test_the_access_policies_of_a_role_decide(
    aws: LocalAws, role: str, *, allowed: bool, grants: list[Grant]
) -> None:
    principal = authenticated(aws, token(role_credentials(aws, role)))
    assert principal is not None
    assert (principal.allowed, list(principal.grants)) == (allowed, grants)
    assert principal.groups == ("system:authenticated", "researchers")
    assert role in principal.username


def test_a_role_without_access_entry_is_nobody(aws: LocalAws) -> None:
    assert authenticated(aws, token(role_credentials(aws, "unknown"))) is None


def test_a_cluster_that_does_not_exist_knows_nobody(aws: LocalAws) -> None:
    bearer = token(role_credentials(aws, "admin"), cluster="gone")
    assert authenticated(aws, bearer, cluster="gone") is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"cluster": "other"},
        {"host": "https://sts.example.org"},
        {"host": "http://sts.us-west-2.amazonaws.com"},
        {"action": "GetSessionToken"},
        {"expires": 3600},
    ],
    ids=str,
)
def test_a_token_for_something_else_is_refused(aws: LocalAws, wrong: dict[str, Any]) -> None:
    assert authenticated(aws, token(role_credentials(aws, "admin"), **wrong)) is None


def test_a_token_signed_with_another_secret_is_refused(aws: LocalAws) -> None:
    real = role_credentials(aws, "admin")
    forged = Credentials(real.access_key, "not-the-secret", real.token)
    assert authenticated(aws, token(forged)) is None


@pytest.mark.parametrize(
    "bearer", ["", "k8s-aws-v1.", "k8s-aws-v1.%%%", "k8s-aws-v1.aHR0cHM6Ly8", "aHR0cHM6Ly8", "v1"]
)
def test_what_is_no_token_is_refused(aws: LocalAws, bearer: str) -> None:
    assert authenticated(aws, bearer) is None
