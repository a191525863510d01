"""An update replaces, refuses and validates as CloudFormation does."""

import json

import pytest

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.aws.settings import FailingStep
from hyperpod_emulator.testing.stacks import (
    StackFailedError,
    Template,
    client,
    delete,
    deploy,
    eks_network,
    network,
    resource,
    role,
)

KEY = "arn:aws:kms:us-west-2:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab"
VPC = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")}


def admins(*names: str, **properties: str) -> Template:
    """Return a cluster and an access entry for each role, by position, as lists synthesize."""
    roles = {name: role("ec2.amazonaws.com") for name in ("Alice", "Bob")}
    entries = {
        f"Admin{index}": resource(
            "AWS::EKS::AccessEntry",
            ClusterName={"Ref": "Cluster"},
            PrincipalArn={"Fn::GetAtt": [name, "Arn"]},
            **properties,
        )
        for index, name in enumerate(names)
    }
    return {**eks_network(), **roles, **entries}


def endpoint(service: str, **attributes: str) -> Template:
    return {
        **VPC,
        "Endpoint": {
            **resource(
                "AWS::EC2::VPCEndpoint",
                VpcId={"Ref": "Vpc"},
                ServiceName=f"com.amazonaws.us-west-2.{service}",
            ),
            **attributes,
        },
    }


def endpoints(aws: LocalAws) -> set[str]:
    found = client(aws, "ec2").describe_vpc_endpoints()["VpcEndpoints"]
    return {each["VpcEndpointId"] for each in found}


def test_a_create_only_property_replaces(aws: LocalAws) -> None:
    outputs = {"Id": {"Ref": "Endpoint"}}
    stack = deploy(aws, endpoint("s3"), outputs)

    updated = deploy(aws, endpoint("dynamodb"), outputs, stack=stack.name)

    old, new = stack.outputs["Id"], updated.outputs["Id"]
    assert old != new
    assert endpoints(aws) & {old, new} == {new}


def test_what_an_update_removes_is_deleted_in_its_cleanup(aws: LocalAws) -> None:
    stack = deploy(aws, endpoint("s3"), {})

    deploy(aws, VPC, {}, stack=stack.name)

    cloudformation = client(aws, "cloudformation")
    latest = cloudformation.describe_stack_events(StackName=stack.name)["StackEvents"][:4]
    assert [(each["LogicalResourceId"], each["ResourceStatus"]) for each in latest] == [
        (stack.name, "UPDATE_COMPLETE"),
        ("Endpoint", "DELETE_COMPLETE"),
        ("Endpoint", "DELETE_IN_PROGRESS"),
        (stack.name, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"),
    ]


def test_a_replaced_resource_is_retained_if_its_policy_says_so(aws: LocalAws) -> None:
    outputs = {"Id": {"Ref": "Endpoint"}}
    stack = deploy(aws, endpoint("s3"), outputs)

    updated = deploy(
        aws, endpoint("dynamodb", UpdateReplacePolicy="Retain"), outputs, stack=stack.name
    )

    both = {stack.outputs["Id"], updated.outputs["Id"]}
    assert endpoints(aws) >= both


def test_the_old_resource_survives_until_every_update_succeeded(aws: LocalAws) -> None:
    outputs = {"Id": {"Ref": "Endpoint"}}
    stack = deploy(aws, endpoint("s3"), outputs)
    wrong = resource("AWS::EC2::Subnet", VpcId={"Ref": "Vpc"}, CidrBlock="192.168.0.0/24")

    with pytest.raises(StackFailedError, match=r"InvalidSubnet\.Range"):
        changed = {**endpoint("dynamodb"), "Wrong": {**wrong, "DependsOn": "Endpoint"}}
        deploy(aws, changed, outputs, stack=stack.name)

    assert stack.outputs["Id"] in endpoints(aws)


def test_a_step_fails_once_if_it_is_to(aws: LocalAws) -> None:
    outputs = {"Id": {"Ref": "Vpc"}}
    stack = deploy(aws, VPC, outputs)
    aws.tell(FailingStep(stack=stack.name, logical_id="Endpoint"))

    with pytest.raises(StackFailedError, match="Internal failure, which is simulated"):
        deploy(aws, endpoint("s3"), outputs, stack=stack.name)

    # The rollback worked, and so does the next update.
    assert deploy(aws, endpoint("s3"), outputs, stack=stack.name).outputs == stack.outputs


def associated(aws: LocalAws, subnet_id: str) -> list[str]:
    filters = [{"Name": "association.subnet-id", "Values": [subnet_id]}]
    tables = client(aws, "ec2").describe_route_tables(Filters=filters)["RouteTables"]
    return [table["RouteTableId"] for table in tables]


def test_a_type_that_deletes_first_is_created_again_in_a_rollback(aws: LocalAws) -> None:
    def template(table: str, **more: Template) -> Template:
        return {
            **network(),
            "One": resource("AWS::EC2::RouteTable", VpcId={"Ref": "Vpc"}),
            "Two": resource("AWS::EC2::RouteTable", VpcId={"Ref": "Vpc"}),
            "Routes": resource(
                "AWS::EC2::SubnetRouteTableAssociation",
                SubnetId={"Ref": "First"},
                RouteTableId={"Ref": table},
            ),
            **more,
        }

    outputs = {name: {"Ref": name} for name in ("First", "One", "Two")}
    stack = deploy(aws, template("One"), outputs)
    wrong = resource("AWS::EC2::Subnet", VpcId={"Ref": "Vpc"}, CidrBlock="192.168.0.0/24")

    with pytest.raises(StackFailedError, match=r"InvalidSubnet\.Range"):
        changed = template("Two", Wrong={**wrong, "DependsOn": "Routes"})
        deploy(aws, changed, outputs, stack=stack.name)
    assert associated(aws, stack.outputs["First"]) == [stack.outputs["One"]]

    deploy(aws, template("Two"), outputs, stack=stack.name)
    assert associated(aws, stack.outputs["First"]) == [stack.outputs["Two"]]


NAMED = {"Name": "named-eks"}
ENCRYPTED = {"EncryptionConfig": [{"Provider": {"KeyArn": KEY}, "Resources": ["secrets"]}]}
BUCKET = resource("AWS::S3::Bucket", BucketName="a-bucket-with-a-name")
GROUP = resource("AWS::Logs::LogGroup", LogGroupName="/a/group/with/a/name")
THREE_ZONES = ("First", "Second", "Nodes")
NODES = {**role("sagemaker.amazonaws.com"), "DeletionPolicy": "Delete"}
NODES["Properties"] |= {"RoleName": "a-role-with-a-name"}
CUSTOM_NAMED = (
    "CloudFormation cannot update a stack when a custom-named resource requires replacing"
)

# What is deployed, what it is changed to, and why CloudFormation refuses.
REFUSED: dict[str, tuple[Template, Template, str]] = {
    "access entries that move up": (
        admins("Alice", "Bob"),
        admins("Bob"),
        "already",
    ),
    "access entry of another type": (
        admins("Alice"),
        admins("Alice", Type="HYPERPOD_LINUX"),
        "Resource of type 'AWS::EKS::AccessEntry' with identifier",
    ),
    "encryption of a named cluster": (
        eks_network(**NAMED),
        eks_network(**NAMED, **ENCRYPTED),
        f"{CUSTOM_NAMED}. Rename named-eks and update the stack again.",
    ),
    "path of a named role": (
        {"Nodes": NODES},
        {"Nodes": {**NODES, "Properties": {**NODES["Properties"], "Path": "/nodes/"}}},
        f"{CUSTOM_NAMED}. Rename a-role-with-a-name and update the stack again.",
    ),
    "bucket under another logical id": (
        {"Scripts": BUCKET},
        {"Lifecycle": BUCKET},
        "a-bucket-with-a-name already exists in stack arn:aws:cloudformation:",
    ),
    "log group under another logical id": (
        {"Logs": GROUP},
        {"Messages": GROUP},
        "/a/group/with/a/name already exists in stack arn:aws:cloudformation:",
    ),
    "role under another logical id": (
        {"Nodes": NODES},
        {"Others": NODES},
        "a-role-with-a-name already exists in stack arn:aws:cloudformation:",
    ),
    "control plane in a further zone": (
        eks_network(),
        eks_network(ResourcesVpcConfig={"SubnetIds": [{"Ref": each} for each in THREE_ZONES]}),
        "Subnets must be in the same set of AZs as originally provided when the cluster was "
        "created (us-west-2a, us-west-2b), not in us-west-2d",
    ),
    "subnet in another zone": (
        network(),
        {
            **network(),
            "First": resource(
                "AWS::EC2::Subnet",
                VpcId={"Ref": "Vpc"},
                CidrBlock="10.192.7.0/28",
                AvailabilityZoneId="usw2-az3",
            ),
        },
        "InvalidSubnet.Conflict",
    ),
    "required property left out": (
        VPC,
        {**VPC, "Table": resource("AWS::EC2::RouteTable")},
        "Properties validation failed for resource Table with message: "
        "#: required key [VpcId] not found",
    ),
    "read-only property": (
        VPC,
        {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16", VpcId="vpc-1")},
        "#: extraneous key [VpcId] is not permitted",
    ),
    "unknown property": (
        VPC,
        {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16", Cidr="10.0.0.0/16")},
        "#: extraneous key [Cidr] is not permitted",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_update_that_cloudformation_refuses(aws: LocalAws, case: str) -> None:
    deployed, changed, reason = REFUSED[case]
    stack = deploy(aws, deployed, {})
    with pytest.raises(StackFailedError) as error:
        deploy(aws, changed, {}, stack=stack.name)
    assert reason in str(error.value)

    # The rollback leaves what was there, which can be deleted.
    delete(aws, stack)


def test_a_change_set_shows_what_is_replaced(aws: LocalAws) -> None:
    stack = deploy(aws, endpoint("s3"), {})
    cloudformation = client(aws, "cloudformation")
    cloudformation.create_change_set(
        StackName=stack.name,
        ChangeSetName="change",
        TemplateBody=json.dumps({"Resources": endpoint("dynamodb")}),
    )
    shown = cloudformation.describe_change_set(StackName=stack.name, ChangeSetName="change")
    replaced = {
        change["ResourceChange"]["LogicalResourceId"]: change["ResourceChange"]["Replacement"]
        for change in shown["Changes"]
    }
    assert replaced == {"Endpoint": "True"}


def test_what_an_undeleted_resource_depends_on_stays(aws: LocalAws) -> None:
    parameter = resource("AWS::SSM::Parameter", Type="String", Value="a")
    needed = eks_network(Name="undeleted", DeletionProtection=True)
    others = {"Apart": parameter, "After": {**parameter, "DependsOn": "Cluster"}}
    stack = deploy(aws, {**needed, **others}, {})

    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(aws, stack)
    cloudformation = client(aws, "cloudformation")
    resources = cloudformation.describe_stack_resources(StackName=stack.name)["StackResources"]
    left = {item["LogicalResourceId"]: item["ResourceStatus"] for item in resources}
    assert left["Cluster"] == "DELETE_FAILED"
    assert left["ClusterRole"] == left["Vpc"] == "CREATE_COMPLETE"
    assert not left.keys() & others.keys()

    client(aws, "eks").update_cluster_config(name="undeleted", deletionProtection=False)
    delete(aws, stack)
    assert "undeleted" not in client(aws, "eks").list_clusters()["clusters"]


def test_another_output_alone_is_a_change(aws: LocalAws) -> None:
    first, second = ({name: {"Ref": "Vpc"}} for name in ("First", "Second"))
    stack = deploy(aws, VPC, first)
    cloudformation = client(aws, "cloudformation")

    def change_set(name: str, outputs: Template) -> dict[str, object]:
        given = {"ChangeSetName": name, "StackName": stack.name, "ChangeSetType": "UPDATE"}
        values = {key: {"Value": value} for key, value in outputs.items()}
        body = json.dumps({"Resources": VPC, "Outputs": values})
        cloudformation.create_change_set(**given, TemplateBody=body)
        shown: dict[str, object] = cloudformation.describe_change_set(
            ChangeSetName=name, StackName=stack.name
        )
        return shown

    assert change_set("same", first)["ExecutionStatus"] == "UNAVAILABLE"
    assert change_set("other", second)["ExecutionStatus"] == "AVAILABLE"
    cloudformation.execute_change_set(ChangeSetName="other", StackName=stack.name)
    cloudformation.get_waiter("stack_update_complete").wait(
        StackName=stack.name, WaiterConfig={"Delay": 0.2, "MaxAttempts": 100}
    )
    [shown] = cloudformation.describe_stacks(StackName=stack.name)["Stacks"]
    assert [each["OutputKey"] for each in shown["Outputs"]] == ["Second"]
