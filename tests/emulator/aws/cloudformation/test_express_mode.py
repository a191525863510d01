"""Express mode of the local CloudFormation: what is not waited for, and what a failure leaves."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import (
    StackFailedError,
    client,
    delete,
    deploy,
    eks_cluster,
    events,
    network,
    resource,
    role,
)

EXPRESS: dict[str, Any] = {"Mode": "EXPRESS"}
FILE_SYSTEM = resource(
    "AWS::FSx::FileSystem",
    FileSystemType="LUSTRE",
    StorageCapacity=1200,
    SubnetIds=[{"Ref": "Nodes"}],
    SecurityGroupIds=[{"Ref": "Group"}],
    LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
)
TEXT = resource("AWS::SSM::Parameter", Type="String", Value="a")
FAILING = {"Text": TEXT, "Last": resource("AWS::EC2::NatGateway", SubnetId="subnet-none")}


def test_what_is_made_becomes_ready_after_its_stack_is_done(aws: LocalAws) -> None:
    resources = {
        **network(),
        "ClusterRole": role("eks.amazonaws.com"),
        "Cluster": eks_cluster(),
        "Files": {**FILE_SYSTEM, "DependsOn": ["In", "Out"]},
    }
    outputs = {"Name": {"Ref": "Cluster"}, "Files": {"Ref": "Files"}}
    stack = deploy(aws, resources, outputs, deployment=EXPRESS)
    eks, fsx = client(aws, "eks"), client(aws, "fsx")

    clusters: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    while not clusters or clusters[-1]["status"] == "CREATING":
        clusters.append(eks.describe_cluster(name=stack.outputs["Name"])["cluster"])
    while not files or files[-1]["Lifecycle"] == "CREATING":
        files += fsx.describe_file_systems(FileSystemIds=[stack.outputs["Files"]])["FileSystems"]

    assert [bool(cluster.get("endpoint")) for cluster in clusters] == [False] * 3 + [True]
    assert [file.get("DNSName") is None for file in files] == [True] * 3 + [False]
    assert [cluster["status"] for cluster in clusters[-1:]] == ["ACTIVE"]
    status, reason = events(aws, stack, "Cluster")[0]
    assert (status, "using Express Mode" in reason) == ("CREATE_COMPLETE", True)
    [shown] = client(aws, "cloudformation").describe_stacks(StackName=stack.name)["Stacks"]
    assert shown["DeploymentConfig"] == {"Mode": "EXPRESS", "DisableRollback": True}
    delete(aws, stack)


def test_in_standard_mode_it_is_ready_when_its_stack_is_done(aws: LocalAws) -> None:
    resources = {**network(), "ClusterRole": role("eks.amazonaws.com"), "Cluster": eks_cluster()}
    stack = deploy(aws, resources, {"Name": {"Ref": "Cluster"}})
    cluster = client(aws, "eks").describe_cluster(name=stack.outputs["Name"])["cluster"]
    assert cluster["status"] == "ACTIVE"
    delete(aws, stack)


def test_a_failure_is_left_and_takes_express_operations_alone(aws: LocalAws) -> None:
    stack = deploy(aws, {"Text": TEXT}, {})
    with pytest.raises(StackFailedError):
        deploy(aws, FAILING, {}, stack=stack.name, deployment=EXPRESS)
    cloudformation = client(aws, "cloudformation")
    [left] = cloudformation.describe_stacks(StackName=stack.name)["Stacks"]
    assert left["StackStatus"] == "UPDATE_FAILED"

    def prepare(mode: str) -> None:
        cloudformation.create_change_set(
            StackName=stack.name,
            ChangeSetName=f"in-{mode}",
            TemplateBody=json.dumps({"Resources": {"Text": TEXT}}),
            DeploymentConfig={"Mode": mode},
        )

    with pytest.raises(ClientError, match="must use the same DeploymentConfig"):
        prepare("STANDARD")
    with pytest.raises(ClientError, match="RollbackStack is not supported"):
        cloudformation.rollback_stack(StackName=stack.name)
    prepare("EXPRESS")
    found = cloudformation.describe_change_set(StackName=stack.name, ChangeSetName="in-EXPRESS")
    assert found["DeploymentConfig"]["Mode"] == "EXPRESS"
    delete(aws, stack)


def test_with_rollback_a_failure_is_rolled_back(aws: LocalAws) -> None:
    name = "rolled-back-by-express"
    with pytest.raises(StackFailedError):
        deploy(aws, FAILING, {}, name=name, deployment={**EXPRESS, "DisableRollback": False})
    [left] = client(aws, "cloudformation").describe_stacks(StackName=name)["Stacks"]
    assert left["StackStatus"] == "ROLLBACK_COMPLETE"
