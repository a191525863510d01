"""Another control plane can stand in the place of the one in process."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from rehearsal.aws.local_aws import ACCOUNT
from rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from rehearsal.hyperpod import Caller
from rehearsal.kubernetes.node_capacity import node_capacity
from rehearsal.verification.inspection import cluster_tools, left_behind
from tests.support.control_plane import RecordingControlPlane
from tests.support.hyperpod_api import create_request, group
from tests.support.local_aws import deploy, eks_cluster, network, role
from tests.support.patience import eventually


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
    resources = {**network(), "ClusterRole": role("eks.amazonaws.com"), "Cluster": eks_cluster()}
    stack = deploy(environment.aws, resources, {"Name": {"Ref": "Cluster"}})
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
        assert capacity == node_capacity(request["InstanceGroups"][0]["InstanceType"]) != {}
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
