"""Conditions and exports of templates, as CloudFormation reads them."""

import json
from collections.abc import Iterator

import pytest

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import (
    StackFailedError,
    Template,
    client,
    delete,
    deploy,
    events,
    resource,
)


@pytest.fixture(scope="module")
def aws() -> Iterator[LocalAws]:
    with LocalAws() as running:
        yield running


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
