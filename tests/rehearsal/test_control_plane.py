"""Another control plane can stand in the place of the one in process."""

import base64
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml

from emulator.aws.local_aws import ACCOUNT
from emulator.hardware import node_capacity
from emulator.hyperpod import Caller
from emulator.kubernetes import Fault
from hyperpod_cdk.facts.instance_types import instance_facts
from rehearsal.environment import EksDependencies, RehearsalEnvironment, rehearsal_environment
from rehearsal.verification import cluster_tools, left_behind
from tests.support.hyperpod_api import create_request, group
from tests.support.local_aws import deploy, eks_network
from tests.support.patience import eventually


@dataclass(slots=True)
class RecordingControlPlane:
    """A control plane elsewhere: it keeps what it is told, and serves nothing."""

    url: str = "https://control-plane.invalid:6443"
    ca_pem: str = "-----BEGIN CERTIFICATE-----"
    admin_token: str = field(default_factory=secrets.token_urlsafe)
    addons_token: str = ""
    running: bool = False
    eks_clusters: list[tuple[str, str]] = field(default_factory=list)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    capacities: dict[str, dict[str, str]] = field(default_factory=dict)
    definitions: list[dict[str, Any]] = field(default_factory=list)
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
        assert taints == []
        self.nodes[name] = {"instance_type": instance_type, **(labels or {})}
        self.capacities[name] = dict(capacity or {})

    def put_definition(self, definition: dict[str, Any]) -> None:
        self.definitions.append(definition)

    def silence_node(self, name: str) -> None:
        assert name in self.nodes

    def remove_node(self, name: str) -> None:
        self.nodes.pop(name, None)

    def objects(
        self, api_version: str, kind: str, namespace: str | None = None
    ) -> list[dict[str, Any]]:
        if api_version != "v1":
            return []
        assert namespace is None
        names = {"Node": self.nodes, "Namespace": (EksDependencies.NAMESPACE,)}.get(kind, ())
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
        account=ACCOUNT,
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
    stack = deploy(environment.aws, eks_network(), {"Name": {"Ref": "Cluster"}})
    cluster = environment.clients("eks").describe_cluster(name=stack.outputs["Name"])["cluster"]
    assert cluster["endpoint"] == control_plane.url
    authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
    assert authority == control_plane.ca_pem


def test_nodes_join_and_leave_it(
    environment: RehearsalEnvironment, control_plane: RecordingControlPlane
) -> None:
    nodes = group(count=2, InstanceType="ml.m5.2xlarge")
    request = create_request(nodes, VpcConfig=_vpc_config(environment))
    name = {"ClusterName": request["ClusterName"]}
    environment.hyperpod.call("CreateCluster", request, Caller())
    _wait(environment, control_plane, nodes=2)
    types = {node["instance_type"] for node in control_plane.nodes.values()}
    assert types == {request["InstanceGroups"][0]["InstanceType"]}
    for capacity in control_plane.capacities.values():
        assert capacity == node_capacity(instance_facts("ml.m5.2xlarge")) != {}
    names = {f"node {name}" for name in control_plane.nodes}
    assert names <= set(left_behind(environment, stacks=[]))

    environment.hyperpod.call("DeleteCluster", name, Caller())
    _wait(environment, control_plane, nodes=0)


def _vpc_config(environment: RehearsalEnvironment) -> dict[str, list[str]]:
    """Make a network in which nodes get their lifecycle scripts."""
    ec2 = environment.clients("ec2")
    vpc_id = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.7.0.0/24")["Subnet"]
    of_vpc = [{"Name": "vpc-id", "Values": [vpc_id]}]
    (table,) = ec2.describe_route_tables(Filters=of_vpc)["RouteTables"]
    ec2.create_vpc_endpoint(
        VpcId=vpc_id,
        ServiceName="com.amazonaws.us-west-2.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[table["RouteTableId"]],
    )
    (default,) = ec2.describe_security_groups(Filters=of_vpc)["SecurityGroups"]
    return {"Subnets": [subnet["SubnetId"]], "SecurityGroupIds": [default["GroupId"]]}


def _wait(
    environment: RehearsalEnvironment, control_plane: RecordingControlPlane, *, nodes: int
) -> None:
    def there() -> bool:
        environment.hyperpod.advance()
        return len(control_plane.nodes) == nodes

    eventually(there)


def test_kubectl_and_helm_reach_it(
    environment: RehearsalEnvironment, control_plane: RecordingControlPlane, tmp_path: Path
) -> None:
    tools = cluster_tools(environment, directory=tmp_path)
    config = yaml.safe_load(tools.kubeconfig.read_text())
    assert config["clusters"][0]["cluster"]["server"] == control_plane.url
    assert config["users"][0]["user"] == {"token": control_plane.admin_token}
