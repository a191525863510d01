"""Functions as AWS runs them: their archives, their VPC, and the input of executions."""

import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.archives import Archive
from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import (
    INTERFACES,
    Stack,
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

_CODE = """
import botocore.config, botocore.exceptions, botocore.session

def handler(event, _context):
    config = botocore.config.Config(retries={"total_max_attempts": 1})
    service = botocore.session.Session().create_client(event["service"], config=config)
    try:
        answer = getattr(service, event["operation"])(**event.get("arguments", {}))
    except botocore.exceptions.ConnectionError as error:
        return f"out of reach: {error}"
    except botocore.exceptions.ClientError as error:
        return error.response["Error"]["Code"]
    return answer.get("cluster", {}).get("endpoint", "answered")
"""
_ALL = {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}
STS = {"service": "sts", "operation": "get_caller_identity"}
S3 = {"service": "s3", "operation": "list_buckets"}
LISTS = {"Effect": "Allow", "Action": ["s3:ListAllMyBuckets", "eks:*"], "Resource": "*"}
SILENCE = {"CidrIp": "10.192.8.0/28", "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}


@pytest.fixture(scope="module")
def closed(aws: LocalAws) -> Iterator[Stack]:
    """A VPC without a route to the internet, with a function in its first subnet."""
    resources = {
        **network(),
        "Role": role("lambda.amazonaws.com", INTERFACES, LISTS),
        "Function": function(VpcConfig=placement()),
    }
    names = ("Vpc", "First", "Second", "Group", "Function")
    stack = deploy(aws, resources, {name: {"Ref": name} for name in names})
    yield stack
    delete(aws, stack)


def placement(subnet: object = None, group: object = None) -> Template:
    """Return where a function is."""
    return {
        "SubnetIds": [subnet or {"Ref": "First"}],
        "SecurityGroupIds": [group or {"Ref": "Group"}],
    }


def function(**properties: Any) -> Template:
    """Return a function with the role `Role`."""
    return resource(
        "AWS::Lambda::Function",
        Code={"ZipFile": _CODE},
        Handler="index.handler",
        Runtime="python3.12",
        Role={"Fn::GetAtt": ["Role", "Arn"]},
        **properties,
    )


def answer(aws: LocalAws, name: str, call: dict[str, Any]) -> str:
    """Return what the function says of a call."""
    response = client(aws, "lambda").invoke(FunctionName=name, Payload=json.dumps(call))
    return str(json.loads(response["Payload"].read()))


def endpoint(closed: Stack, service: str, **properties: Any) -> Template:
    """Return an interface endpoint that lets in the function, changed as given."""
    group = resource(
        "AWS::EC2::SecurityGroup",
        GroupDescription="endpoints",
        VpcId=closed.outputs["Vpc"],
        SecurityGroupIngress=[
            properties.pop(
                "rule",
                {
                    "SourceSecurityGroupId": closed.outputs["Group"],
                    "IpProtocol": "tcp",
                    "FromPort": 443,
                    "ToPort": 443,
                },
            )
        ],
    )
    interface = {
        "VpcEndpointType": "Interface",
        "ServiceName": f"com.amazonaws.us-west-2.{service}",
        "VpcId": closed.outputs["Vpc"],
        "SubnetIds": [closed.outputs["Second"]],
        "SecurityGroupIds": [{"Fn::GetAtt": ["EndpointGroup", "GroupId"]}],
        "PrivateDnsEnabled": True,
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [_ALL]},
    }
    return {
        "EndpointGroup": group,
        "Endpoint": resource("AWS::EC2::VPCEndpoint", **interface | properties),
    }


def test_without_an_endpoint_nothing_is_reached(aws: LocalAws, closed: Stack) -> None:
    said = answer(aws, closed.outputs["Function"], STS)

    assert said.startswith("out of reach: ")
    assert "sts.us-west-2.amazonaws.com" in said


def firewall(vpc: object, **changes: Any) -> Template:
    """Return a firewall that lets the names of AWS resolve, changed as given."""
    listed = {"Fn::GetAtt": ["Names", "Id"]}
    rules = [
        {"Action": "ALLOW", "Priority": 1, "FirewallDomainListId": listed},
        {
            "Action": "BLOCK",
            "BlockResponse": "NXDOMAIN",
            "Priority": 2,
            "FirewallDomainListId": {"Fn::GetAtt": ["Everything", "Id"]},
        },
    ]
    kind = "AWS::Route53Resolver::Firewall"
    properties = {"Domains": ["*.amazonaws.com"], "Rules": rules, "Priority": 101} | changes
    return {
        "Names": resource(f"{kind}DomainList", Domains=properties["Domains"]),
        "Everything": resource(f"{kind}DomainList", Domains=["*"]),
        "Rules": resource(f"{kind}RuleGroup", FirewallRules=properties["Rules"]),
        "Association": resource(
            f"{kind}RuleGroupAssociation",
            FirewallRuleGroupId={"Fn::GetAtt": ["Rules", "Id"]},
            Priority=properties["Priority"],
            VpcId=vpc,
        ),
    }


@pytest.mark.parametrize(
    ("domains", "said"),
    [(["*.amazonaws.com"], "answered"), (["*.example.com"], "out of reach"), ([], "out of reach")],
)
def test_a_name_that_the_firewall_blocks_is_out_of_reach(
    aws: LocalAws, closed: Stack, domains: list[str], said: str
) -> None:
    vpc = closed.outputs["Vpc"]
    resources = endpoint(closed, "sts") | firewall(vpc, Domains=domains)
    stack = deploy(aws, resources, {})

    assert answer(aws, closed.outputs["Function"], STS).startswith(said)

    delete(aws, stack)


@pytest.mark.parametrize(
    ("vpc", "changes", "message"),
    [
        ("Vpc", {"Domains": ["a_b.com"]}, "ValidationException"),
        ("Vpc", {"Priority": 100}, "between 100 and 9900"),
        ("Vpc", {"Rules": [{"Action": "ALLOW", "Priority": 1}] * 2}, "have one priority"),
        ("none", {}, "ResourceNotFoundException: vpc-0"),
    ],
)
def test_a_firewall_that_route_53_refuses(
    aws: LocalAws, closed: Stack, vpc: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(StackFailedError, match=message):
        deploy(aws, firewall(closed.outputs.get(vpc, "vpc-0"), **changes), {})


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({}, "answered"),
        ({"PrivateDnsEnabled": False}, "out of reach"),
        ({"rule": SILENCE}, "out of reach"),
        ({"PolicyDocument": {"Statement": [_ALL | {"Action": "sts:AssumeRole"}]}}, "AccessDenied"),
        ({"PolicyDocument": {"Statement": [_ALL | {"Action": "sts:Get*"}]}}, "answered"),
    ],
    ids=["endpoint", "no private DNS", "not let in", "other actions", "this action"],
)
def test_an_endpoint_is_reached_as_it_says(
    aws: LocalAws, closed: Stack, properties: dict[str, Any], said: str
) -> None:
    stack = deploy(aws, endpoint(closed, "sts", **properties), {})

    assert answer(aws, closed.outputs["Function"], STS).startswith(said)
    assert answer(aws, closed.outputs["Function"], S3).startswith("out of reach")

    delete(aws, stack)
    assert answer(aws, closed.outputs["Function"], STS).startswith("out of reach")


def test_a_gateway_endpoint_is_reached_from_its_route_tables(aws: LocalAws, closed: Stack) -> None:
    ec2 = client(aws, "ec2")
    in_vpc = [{"Name": "vpc-id", "Values": [closed.outputs["Vpc"]]}]
    [main] = ec2.describe_route_tables(Filters=in_vpc)["RouteTables"]
    gateway = {
        "VpcId": closed.outputs["Vpc"],
        "ServiceName": "com.amazonaws.us-west-2.s3",
        "VpcEndpointType": "Gateway",
    }
    tables = {"RouteTableIds": [main["RouteTableId"]]}
    without = deploy(aws, {"S3": resource("AWS::EC2::VPCEndpoint", **gateway)}, {})
    assert answer(aws, closed.outputs["Function"], S3).startswith("out of reach")

    deploy(
        aws, {"S3": resource("AWS::EC2::VPCEndpoint", **gateway, **tables)}, {}, stack=without.name
    )
    assert answer(aws, closed.outputs["Function"], S3) == "answered"
    delete(aws, without)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SubnetIds": ["First", "First"]}, "DuplicateSubnetsInSameZone"),
        ({}, "there is already a conflicting DNS domain for com.amazonaws.us-west-2.sts"),
    ],
    ids=["two subnets of a zone", "private DNS twice"],
)
def test_what_ec2_refuses_of_an_endpoint(
    aws: LocalAws, closed: Stack, changes: dict[str, Any], message: str
) -> None:
    changed = {key: [closed.outputs[name] for name in names] for key, names in changes.items()}
    one = endpoint(closed, "sts", **changed)
    two = {**one, "Another": {**one["Endpoint"], "DependsOn": "Endpoint"}}

    with pytest.raises(StackFailedError, match=message):
        deploy(aws, two, {})


def test_a_role_must_let_lambda_make_network_interfaces(aws: LocalAws, closed: Stack) -> None:
    where = placement(closed.outputs["First"], closed.outputs["Group"])
    resources = {"Role": role("lambda.amazonaws.com"), "Function": function(VpcConfig=where)}

    with pytest.raises(StackFailedError, match="permissions to call CreateNetworkInterface on EC2"):
        deploy(aws, resources, {})


@pytest.mark.parametrize(
    ("access", "outside", "inside"),
    [
        ({"EndpointPublicAccess": True, "EndpointPrivateAccess": True}, True, True),
        ({"EndpointPublicAccess": False, "EndpointPrivateAccess": True}, False, True),
        (
            {
                "EndpointPublicAccess": True,
                "EndpointPrivateAccess": True,
                "PublicAccessCidrs": ["192.0.2.0/24"],
            },
            False,
            True,
        ),
    ],
    ids=["both", "private", "public for others"],
)
def test_a_kubernetes_api_is_reached_from_where_its_endpoint_is(
    aws: LocalAws, access: dict[str, Any], outside: bool, inside: bool
) -> None:
    template = eks_network()
    template["Cluster"]["Properties"]["ResourcesVpcConfig"] |= access
    gateway = resource(
        "AWS::EC2::VPCEndpoint",
        VpcEndpointType="Interface",
        VpcId={"Ref": "Vpc"},
        ServiceName="com.amazonaws.us-west-2.eks",
        SubnetIds=[{"Ref": "First"}],
        SecurityGroupIds=[{"Fn::GetAtt": ["Group", "GroupId"]}],
        PrivateDnsEnabled=True,
    )
    resources = {
        **template,
        "Role": role("lambda.amazonaws.com", INTERFACES, LISTS),
        "Endpoint": gateway,
        "Outside": function(),
        "Inside": function(VpcConfig=placement()),
    }
    names = ("Cluster", "Outside", "Inside")
    stack = deploy(aws, resources, {name: {"Ref": name} for name in names})
    call = {
        "service": "eks",
        "operation": "describe_cluster",
        "arguments": {"name": stack.outputs["Cluster"]},
    }

    for name, reached in (("Outside", outside), ("Inside", inside)):
        said = answer(aws, stack.outputs[name], call)
        assert (said != "https://127.0.0.1:1") == reached, name
        assert said.startswith("https://")
    delete(aws, stack)


Unpack = Callable[[str], Path]
_DAYS = 24 * 3600


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    return tmp_path / "copies"


@pytest.fixture
def unpack(tmp_path: Path, copies: Path) -> Unpack:
    """A function that unpacks an archive of a module and a command into a folder."""

    class CopiedArchive(Archive):
        directory = copies

    archive = tmp_path / "code.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("package/module.py", "print(__cached__)")
        command = zipfile.ZipInfo("bin/command")
        command.external_attr = 0o755 << 16
        written.writestr(command, "#!/bin/sh")

    def unpacked(name: str) -> Path:
        folder = tmp_path / name
        with CopiedArchive(archive) as opened:
            opened.extractall(folder)
        return folder

    return unpacked


def imported(folder: Path) -> Path:
    """Import the module of a folder; return its bytecode."""
    command = [sys.executable, "-c", "import package.module"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    said = subprocess.check_output(command, cwd=folder, env=environment, text=True)
    return Path(said.strip())


def test_what_one_worker_has_compiled_another_finds(unpack: Unpack, copies: Path) -> None:
    one, other = unpack("one"), unpack("other")

    compiled = imported(one).resolve()
    made = compiled.stat()

    assert compiled.is_relative_to(copies.resolve())
    assert imported(other).resolve() == compiled
    assert compiled.stat().st_mtime_ns == made.st_mtime_ns
    assert compiled.stat().st_ino == made.st_ino


def test_a_command_stays_executable(unpack: Unpack) -> None:
    assert os.access(unpack("one") / "bin" / "command", os.X_OK)


@pytest.mark.parametrize(("days", "kept"), [(6, True), (8, False)])
def test_a_copy_that_nobody_uses_goes_after_a_week(
    unpack: Unpack, copies: Path, *, days: int, kept: bool
) -> None:
    old = copies / "old"
    old.mkdir(parents=True)
    os.utime(old, times=(0, time.time() - days * _DAYS))

    unpack("one")

    assert old.exists() is kept


MOST_INPUT_BYTES = 262_144
DEFINITION = {"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}


@pytest.fixture(scope="module")
def states(aws: LocalAws) -> Any:  # noqa: ANN401 - a client
    return client(aws, "stepfunctions")


@pytest.fixture(scope="module")
def machine(aws: LocalAws, states: Any) -> str:  # noqa: ANN401
    trust = role("states.amazonaws.com")["Properties"]["AssumeRolePolicyDocument"]
    waiter = client(aws, "iam").create_role(
        RoleName="waiter", AssumeRolePolicyDocument=json.dumps(trust)
    )
    made = states.create_state_machine(
        name="waiter", definition=json.dumps(DEFINITION), roleArn=waiter["Role"]["Arn"]
    )
    return str(made["stateMachineArn"])


@pytest.mark.parametrize("character", ["x", "é"])
def test_limit_is_in_bytes(states: Any, machine: str, character: str) -> None:  # noqa: ANN401
    most = character * ((MOST_INPUT_BYTES - len('""')) // len(character.encode()))
    states.start_execution(stateMachineArn=machine, input=f'"{most}"')
    with pytest.raises(ClientError, match="length less than or equal to 262144") as refused:
        states.start_execution(stateMachineArn=machine, input=f'"{most}{character}"')
    assert refused.value.response["Error"]["Code"] == "ValidationException"
