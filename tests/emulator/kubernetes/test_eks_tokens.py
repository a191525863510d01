"""EKS tokens: STS of the local AWS says who, the access entries of the cluster say what."""

import asyncio
import base64
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.credentials import Credentials
from botocore.signers import RequestSigner

from emulator.aws.local_aws import ACCOUNT, LocalAws, aws_session
from emulator.kubernetes import Authenticate, Grant, Principal, eks_tokens

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
