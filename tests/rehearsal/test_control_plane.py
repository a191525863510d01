"""Another control plane can stand in the place of the one in process."""

import base64
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml

from rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from rehearsal.hyperpod import Caller
from rehearsal.kubernetes import Fault
from rehearsal.verification.inspection import cluster_tools, left_behind
from tests.support.hyperpod_api import create_request, group
from tests.support.local_aws import deploy, eks_cluster, network, role

_LONGEST_SECONDS = 30.0


@dataclass(slots=True)
class RecordingControlPlane:
    """A control plane elsewhere: it keeps what it is told, and serves nothing."""

    url: str = "https://control-plane.invalid:6443"
    ca_pem: str = "-----BEGIN CERTIFICATE-----"
    admin_token: str = field(default_factory=secrets.token_urlsafe)
    running: bool = False
    eks_clusters: list[tuple[str, str]] = field(default_factory=list)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False

    def accept_eks_tokens(
        self, *, eks_cluster_name: str, gateway_url: str, session: boto3.Session
    ) -> None:
        assert session.region_name == "us-west-2"
        self.eks_clusters.append((eks_cluster_name, gateway_url))

    def put_node(
        self,
        name: str,
        *,
        instance_type: str,
        labels: Mapping[str, str] | None = None,
        capacity: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
    ) -> None:
        assert (capacity, taints) == (None, [])
        self.nodes[name] = {"instance_type": instance_type, **(labels or {})}

    def remove_node(self, name: str) -> None:
        self.nodes.pop(name, None)

    def objects(
        self, api_version: str, kind: str, namespace: str | None = None
    ) -> list[dict[str, Any]]:
        assert (api_version, namespace) == ("v1", None)
        names = self.nodes if kind == "Node" else ()
        return [{"metadata": {"name": name}} for name in names]

    def inject(self, fault: Fault) -> None:
        self.faults.append(fault)

    def clear_faults(self) -> None:
        self.faults.clear()


@pytest.fixture(scope="module")
def control_plane() -> RecordingControlPlane:
    return RecordingControlPlane()


@pytest.fixture(scope="module")
def environment(
    control_plane: RecordingControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RehearsalEnvironment]:
    with rehearsal_environment(
        region="us-west-2",
        kubernetes=control_plane,
        eks_cluster_name="ml-eks",
        log_file=tmp_path_factory.mktemp("log") / "local-aws.log",
    ) as environment:
        assert control_plane.running
        yield environment
    assert not control_plane.running


def test_it_authenticates_by_the_local_aws(
    environment: RehearsalEnvironment, control_plane: RecordingControlPlane
) -> None:
    assert control_plane.eks_clusters == [("ml-eks", environment.aws.endpoint)]


def test_eks_reports_its_endpoint(
    environment: RehearsalEnvironment, control_plane: RecordingControlPlane
) -> None:
    resources = {**network(), "ClusterRole": role("eks.amazonaws.com"), "Cluster": eks_cluster()}
    stack = deploy(environment.aws, resources, {"Name": {"Ref": "Cluster"}})
    cluster = environment.clients("eks").describe_cluster(name=stack.outputs["Name"])["cluster"]
    assert cluster["endpoint"] == control_plane.url
    authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
    assert authority == control_plane.ca_pem


def test_nodes_join_and_leave_it(
    environment: RehearsalEnvironment, control_plane: RecordingControlPlane
) -> None:
    request = create_request(group(count=2))
    name = {"ClusterName": request["ClusterName"]}
    environment.hyperpod.call("CreateCluster", request, Caller())
    _wait(environment, control_plane, nodes=2)
    types = {node["instance_type"] for node in control_plane.nodes.values()}
    assert types == {request["InstanceGroups"][0]["InstanceType"]}
    names = {f"node {name}" for name in control_plane.nodes}
    assert names <= set(left_behind(environment, stacks=[]))

    environment.hyperpod.call("DeleteCluster", name, Caller())
    _wait(environment, control_plane, nodes=0)


def _wait(
    environment: RehearsalEnvironment, control_plane: RecordingControlPlane, *, nodes: int
) -> None:
    deadline = time.monotonic() + _LONGEST_SECONDS
    while len(control_plane.nodes) != nodes:
        assert time.monotonic() < deadline, f"{len(control_plane.nodes)} nodes, not {nodes}"
        environment.hyperpod.advance()
        time.sleep(0.05)


def test_kubectl_and_helm_reach_it(
    environment: RehearsalEnvironment, control_plane: RecordingControlPlane, tmp_path: Path
) -> None:
    tools = cluster_tools(environment, directory=tmp_path)
    config = yaml.safe_load(tools.kubeconfig.read_text())
    assert config["clusters"][0]["cluster"]["server"] == control_plane.url
    assert config["users"][0]["user"] == {"token": control_plane.admin_token}
