"""A HyperPod API that accepts everything, and what a HyperPod cluster stands on, for tests."""

import base64
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws, LocalAwsSettings
from hyperpod_emulator.hyperpod.service_model import output_shape, project
from hyperpod_emulator.kubernetes import InProcessControlPlane
from hyperpod_emulator.testing.stacks import Template, client, deploy, eks_cluster, network, role

REGION = "us-west-2"
CLUSTER_ARN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghij12"
EKS = f"arn:aws:eks:{REGION}:{ACCOUNT}"
BUCKET = "sagemaker-lifecycle"
INSTANCE_ROLE_POLICY = "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"


@dataclass
class FakeHyperPod:
    """A HyperPod API that accepts everything and remembers what it was asked."""

    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    tags: list[dict[str, str]] = field(default_factory=list)
    calls: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def answer(self, operation: str, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the content of the answer to a call."""
        name = request.get("ClusterName", "")
        if operation in {"ListClusters", "ListTags"}:
            summaries = [{"ClusterName": name} for name in self.clusters]
            return 200, {
                "ListClusters": {"ClusterSummaries": summaries},
                "ListTags": {"Tags": self.tags},
            }[operation]
        if operation == "CreateCluster":
            self.tags = request.get("Tags", [])
            groups = [
                {**group, "CurrentCount": group["InstanceCount"]}
                for group in request["InstanceGroups"]
            ]
            shape = output_shape("DescribeCluster")
            self.clusters[name] = {
                **project(shape, {**request, "InstanceGroups": groups}),
                "ClusterArn": CLUSTER_ARN,
                "ClusterStatus": "InService",
            }
            return 200, {"ClusterArn": CLUSTER_ARN}
        cluster = self.clusters.get("c1" if name == CLUSTER_ARN else name)
        if cluster is None:
            return 400, {"__type": "ResourceNotFound", "message": f"Cluster {name} not found"}
        if operation == "ListClusterNodes":
            count = sum(group["CurrentCount"] for group in cluster["InstanceGroups"])
            return 200, {
                "ClusterNodeSummaries": [{"InstanceStatus": {"Status": "Running"}}] * count
            }
        if operation == "DeleteCluster":
            self.clusters.clear()
            return 200, {"ClusterArn": CLUSTER_ARN}
        return 200, cluster if operation == "DescribeCluster" else {"ClusterArn": CLUSTER_ARN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A local AWS with a fake HyperPod API behind it and a platform deployed on it.

    Attributes:
        aws: The local AWS.
        hyperpod: The API behind it.
        kubernetes: The control plane of its EKS cluster.
        names: ARNs of the roles and the EKS cluster, ids of a subnet and of two groups.
    """

    aws: LocalAws
    hyperpod: FakeHyperPod
    kubernetes: InProcessControlPlane
    names: dict[str, str]

    def request(self, **group: Any) -> dict[str, Any]:
        """Return the input of CreateCluster, with changes to its instance group."""
        names = self.names
        worker = {
            "InstanceGroupName": "workers",
            "InstanceType": "ml.g5.12xlarge",
            "InstanceCount": 1,
            "ExecutionRole": names["ExecutionRole"],
            "LifeCycleConfig": {
                "SourceS3Uri": f"s3://{BUCKET}/scripts/",
                "OnCreate": "on_create.sh",
            },
        }
        return {
            "ClusterName": "c1",
            "InstanceGroups": [worker | group],
            "VpcConfig": {"Subnets": [names["Nodes"]], "SecurityGroupIds": [names["Group"]]},
            "Orchestrator": {"Eks": {"ClusterArn": names["Cluster"]}},
        }


@contextmanager
def site(*, source_account: bool = False) -> Iterator[Site]:
    """Start everything and deploy the platform.

    Args:
        source_account: Whether HyperPod sends aws:SourceAccount when it assumes a role.
    """
    control_plane = InProcessControlPlane(kubernetes_version="1.35")
    with _serving(FakeHyperPod()) as (fake, url), control_plane as kubernetes:
        settings = LocalAwsSettings(
            hyperpod_api=url,
            kubernetes_endpoint=kubernetes.url,
            kubernetes_ca=base64.b64encode(kubernetes.ca_pem.encode()).decode(),
            kubernetes_token=kubernetes.addons_token,
            source_account=source_account,
        )
        with LocalAws(settings) as aws:
            yield Site(aws=aws, hyperpod=fake, kubernetes=kubernetes, names=_deploy_platform(aws))


@contextmanager
def _serving(fake: FakeHyperPod) -> Iterator[tuple[FakeHyperPod, str]]:
    path = f"/{secrets.token_urlsafe()}"

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if self.path != path:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            body = self.rfile.read(int(self.headers["Content-Length"]))
            operation = self.headers["X-Amz-Target"].removeprefix("SageMaker.")
            fake.calls.append((operation, {k.lower(): v for k, v in self.headers.items()}))
            status, content = fake.answer(operation, json.loads(body))
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, format: str, *args: object) -> None:
            """Keep the tests' output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield fake, f"http://127.0.0.1:{server.server_port}{path}"
        server.shutdown()


_SLURM_RIGHTS = (
    {"Effect": "Allow", "Action": "fsx:DescribeFileSystems", "Resource": "*"},
    {
        "Effect": "Allow",
        "Action": "secretsmanager:GetSecretValue",
        "Resource": f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:accounting-*",
    },
)


def _deploy_platform(aws: LocalAws) -> dict[str, str]:
    template: Template = {
        **network(),
        "OtherVpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.9.0.0/16"}},
        "OtherGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "elsewhere", "VpcId": {"Ref": "OtherVpc"}},
        },
        "ClusterRole": role("eks.amazonaws.com"),
        "Cluster": eks_cluster(),
        "ExecutionRole": role("sagemaker.amazonaws.com", ManagedPolicyArns=[INSTANCE_ROLE_POLICY]),
        "BlindRole": role("sagemaker.amazonaws.com"),
        "SlurmRole": role("sagemaker.amazonaws.com", *_SLURM_RIGHTS),
        "LambdaRole": role("lambda.amazonaws.com", ManagedPolicyArns=[INSTANCE_ROLE_POLICY]),
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": BUCKET}},
        "TlsOnly": {
            "Type": "AWS::S3::BucketPolicy",
            "Properties": {
                "Bucket": {"Ref": "Bucket"},
                "PolicyDocument": {
                    "Statement": [
                        {
                            "Effect": "Deny",
                            "Principal": "*",
                            "Action": "s3:*",
                            "Resource": [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/*"],
                            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                        }
                    ]
                },
            },
        },
    }
    roles = ("ExecutionRole", "BlindRole", "SlurmRole", "LambdaRole")
    outputs: Template = {name: {"Fn::GetAtt": [name, "Arn"]} for name in (*roles, "Cluster")}
    for name in ("Nodes", "Group", "OtherGroup"):
        outputs[name] = {"Ref": name}
    found = deploy(aws, template, outputs).outputs
    client(aws, "s3").put_object(Bucket=BUCKET, Key="scripts/on_create.sh", Body=b"#!/bin/sh")
    return found
