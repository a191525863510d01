"""What the local CloudFormation does with templates, and in express mode."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import (
    StackFailedError,
    Template,
    client,
    delete,
    deploy,
    eks_network,
    events,
    resource,
)


@pytest.mark.parametrize(
    ("properties", "given", "missing"),
    [
        ({}, [], "CAPABILITY_IAM"),
        ({"RoleName": "nodes"}, ["CAPABILITY_IAM"], "CAPABILITY_NAMED_IAM"),
    ],
)
def test_roles_and_their_names_take_capabilities(
    aws: LocalAws, properties: Template, given: list[str], missing: str
) -> None:
    # botocore's model of CloudFormation: CreateChangeSet.Capabilities, and the error's name.
    cloudformation = client(aws, "cloudformation")
    template = {
        "Resources": {"Role": resource("AWS::IAM::Role", AssumeRolePolicyDocument={}, **properties)}
    }

    with pytest.raises(ClientError, match=rf"Requires capabilities : \[{missing}\]") as refusal:
        cloudformation.create_change_set(
            StackName="roles",
            ChangeSetName="first",
            ChangeSetType="CREATE",
            TemplateBody=json.dumps(template),
            Capabilities=given,
        )

    assert refusal.value.response["Error"]["Code"] == "InsufficientCapabilitiesException"


PARAMETER = resource("AWS::SSM::Parameter", Type="String", Value="a")


def importing(name: str) -> Template:
    parameter = resource("AWS::SSM::Parameter", Type="String", Value={"Fn::ImportValue": name})
    return {"Parameter": parameter}


@pytest.mark.parametrize(
    ("exports", "verb"), [({"zone": "b"}, "updated"), ({}, "deleted"), ({"area": "a"}, "deleted")]
)
def test_an_export_in_use_stays(aws: LocalAws, exports: Template, verb: str) -> None:
    exporter = deploy(aws, {"Any": PARAMETER}, {}, exports={"zone": "a"})
    importer = deploy(aws, importing("zone"), {})

    with pytest.raises(StackFailedError) as error:
        deploy(aws, {"Any": PARAMETER}, {}, exports=exports, stack=exporter.name)
    told = f"Export zone cannot be {verb} as it is in use by {importer.name}"
    assert told in str(error.value)

    delete(aws, importer)
    deploy(aws, {"Any": PARAMETER}, {}, exports=exports, stack=exporter.name)
    listed = client(aws, "cloudformation").list_exports()["Exports"]
    found = {e["Name"]: e["Value"] for e in listed if e["ExportingStackId"].find(exporter.name) > 0}
    assert found == exports
    delete(aws, exporter)


def test_a_stack_whose_export_is_in_use_is_not_deleted(aws: LocalAws) -> None:
    exporter = deploy(aws, {"Any": PARAMETER}, {}, exports={"place": "a"})
    importer = deploy(aws, importing("place"), {})

    with pytest.raises(StackFailedError, match="CREATE_COMPLETE"):
        delete(aws, exporter)
    told = f"Delete canceled. Cannot delete export place as it is in use by {importer.name}."
    assert events(aws, exporter, exporter.name)[0] == ("CREATE_COMPLETE", told)

    delete(aws, importer)
    delete(aws, exporter)


def test_an_export_has_one_exporter(aws: LocalAws) -> None:
    first = deploy(aws, {"Any": PARAMETER}, {}, exports={"only": "a"})
    with pytest.raises(StackFailedError) as error:
        deploy(aws, {"Any": PARAMETER}, {}, exports={"only": "b"})
    told = f"Export with name only is already exported by stack {first.name}"
    assert told in str(error.value)
    delete(aws, first)


ARN = {"Ref": "Arn"}
ACCOUNT = {"Fn::Select": [4, {"Fn::Split": [":", ARN]}]}
RESOURCE = {"Fn::Select": ["5", {"Fn::Split": [":", ARN]}]}
NAME = {"Fn::Select": [1, {"Fn::Split": ["/", RESOURCE]}]}
OURS = {"Fn::Equals": [ACCOUNT, "111122223333"]}

CONDITIONS = {
    "Ours": OURS,
    "Theirs": {"Fn::Not": [{"Condition": "Ours"}]},
    "Named": {"Fn::And": [OURS, {"Fn::Equals": ["Admin", NAME]}]},
    "OtherName": {"Fn::Equals": [NAME, "Viewer"]},
}


def test_split_values_are_compared(aws: LocalAws) -> None:
    handle = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
    template = {
        "Parameters": {"Arn": {"Type": "String"}},
        "Conditions": CONDITIONS,
        "Resources": {
            "Always": handle,
            **{f"R{n}": {**handle, "Condition": n} for n in CONDITIONS},
        },
    }
    cloudformation = client(aws, "cloudformation")
    cloudformation.create_stack(
        StackName="conditions",
        TemplateBody=json.dumps(template),
        Parameters=[
            {"ParameterKey": "Arn", "ParameterValue": "arn:aws:iam::111122223333:role/Admin"}
        ],
    )
    waiter = cloudformation.get_waiter("stack_create_complete")
    waiter.wait(StackName="conditions", WaiterConfig={"Delay": 0, "MaxAttempts": 1000})

    made = cloudformation.describe_stack_resources(StackName="conditions")["StackResources"]
    names = sorted(each["LogicalResourceId"] for each in made)
    assert names == ["Always", "RNamed", "ROurs"]


def test_a_part_that_is_not_there_fails_the_template(aws: LocalAws) -> None:
    template = {
        "Conditions": {"C": {"Fn::Equals": [{"Fn::Select": [2, {"Fn::Split": [",", "a,b"]}]}, ""]}},
        "Resources": {"R": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
    }
    cloudformation = client(aws, "cloudformation")
    with pytest.raises(cloudformation.exceptions.ClientError, match="nonexistent value at index 2"):
        cloudformation.create_stack(StackName="no-part", TemplateBody=json.dumps(template))


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
    resources = {**eks_network(), "Files": {**FILE_SYSTEM, "DependsOn": ["In", "Out"]}}
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
