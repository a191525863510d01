"""The least policies that deploy a configuration."""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import xform_name
from policy_sentry.querying.actions import get_action_data

from aws_reference.action_resources import KIND_OF_TYPE, action_resources
from aws_reference.resource_schemas import SERVICE_LINKED_ROLES, UnknownTypeError
from hyperpod_cdk import load_config
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Address, TemplateResource, stacks_by_name
from hyperpod_cli.commands import commands
from hyperpod_cli.inspect.permissions.names import Names
from hyperpod_cli.inspect.permissions.needs import Need, needs
from hyperpod_cli.inspect.permissions.policies import (
    DOCUMENT_CHARACTERS,
    POLICIES_OF_A_ROLE,
    Policies,
    policies_of,
    size,
    split,
)
from hyperpod_cli.inspect.permissions.read_permissions import read_actions, read_permissions
from hyperpod_cli.stack_progress.failures import Situation, interrupted, next_step
from hyperpod_stacks.table import STACKS
from tests.conftest import Assemble
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER, EVERY_FIELD, REPOSITORY, configure
from tests.support.on_call import ACTIONS
from tests.test_aws_reference import YOUNGER

ACCOUNT = "111122223333"
ENVIRONMENT = Environment(partition="aws", region="us-west-2", account=ACCOUNT)
KEY = f"arn:aws:kms:us-west-2:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
# FSx asks whoever links a bucket for all of them, whichever there are.
ALL_OF_S3 = {"s3:Get*", "s3:List*"}
LINKED = {"storage": {"data_repositories": [{"s3_uri": "s3://bucket/prefix"}]}}
NODE_GROUPS = CONFIG_FOLDER / "examples" / "eks-p4d-odcr.yaml"
CONFIGS: list[Any] = [
    pytest.param({}, id="default"),
    pytest.param(LINKED, id="s3-link"),
    pytest.param(EVERY_FIELD, id="every-field"),
]


def policies_with(assemble: Assemble, changes: Path | dict[str, Any]) -> Policies:
    """Return the policies of a file, or of the default configuration with changes."""
    config = load_config(changes) if isinstance(changes, Path) else configure(changes)
    return policies_of(assemble(config).directory, deployment=config.name, environment=ENVIRONMENT)


@pytest.fixture(params=CONFIGS, scope="module")
def policies(request: pytest.FixtureRequest, assemble: Assemble) -> Policies:
    return policies_with(assemble, request.param)


@pytest.fixture(scope="module")
def default(assemble: Assemble) -> Policies:
    return policies_with(assemble, {})


def a_resource(kind: str, **properties: Any) -> TemplateResource:
    address = Address("ml", kind)
    return TemplateResource(address=address, type=kind, properties=properties, needs=())


def names_of(*resources: TemplateResource) -> Names:
    return Names(deployment="ml", environment=ENVIRONMENT, resources=resources)


def statements(policies: Policies) -> list[dict[str, Any]]:
    return [each for document in policies.cloudformation for each in document["Statement"]]


def of_deployer(policies: Policies) -> list[dict[str, Any]]:
    return [each for document in policies.deployer for each in document["Statement"]]


def resources_of(policies: Policies, action: str) -> set[str]:
    """Return what the deployer may do an action on."""
    return {
        resource
        for statement in of_deployer(policies)
        if action in statement["Action"]
        for resource in statement["Resource"]
    }


def allowed_on(policies: Policies, action: str) -> set[str]:
    return {
        resource
        for statement in statements(policies)
        if action in statement["Action"]
        for resource in statement["Resource"]
    }


def test_every_document_is_one_that_iam_takes(policies: Policies) -> None:
    documents = [*policies.deployer, *policies.cloudformation]

    assert len(policies.deployer) <= POLICIES_OF_A_ROLE
    assert len(policies.cloudformation) <= POLICIES_OF_A_ROLE
    assert all(size(document) <= DOCUMENT_CHARACTERS for document in documents)
    actions = {action for each in statements(policies) for action in each["Action"]}
    assert {action for action in actions if "*" in action} <= ALL_OF_S3


def test_every_action_exists(policies: Policies) -> None:
    actions = {action for statement in statements(policies) for action in statement["Action"]}
    unknown = {each for each in actions if not get_action_data(*each.split(":"))}

    assert actions
    assert unknown <= YOUNGER | ALL_OF_S3


def test_only_what_takes_no_resource_stands_on_everything(policies: Policies) -> None:
    everywhere = {
        action
        for statement in statements(policies)
        if "*" in statement["Resource"]
        for action in statement["Action"]
    }
    known = action_resources()

    assert {each for each in everywhere - YOUNGER if known[each].forms} == set()


def test_names_begin_with_that_of_the_deployment(default: Policies) -> None:
    iam = f"arn:aws:iam::{ACCOUNT}:role"
    eks = f"arn:aws:eks:us-west-2:{ACCOUNT}"
    functions = f"arn:aws:lambda:us-west-2:{ACCOUNT}"

    roles = allowed_on(default, "iam:CreateRole")
    assert roles
    assert all(fnmatchcase(each, f"{iam}/ml-platform-*") for each in roles)
    assert allowed_on(default, "lambda:InvokeFunction") == {
        f"{functions}:function:ml-platform-Provisio*"
    }
    # A layer's name is its logical ID: https://github.com/aws/aws-cdk/issues/24674
    assert {
        each.partition(":layer:")[2] for each in allowed_on(default, "lambda:GetLayerVersion")
    } == {
        "ml-platform-Provisio*:*",
        "ProvisionerKubectlLayerE8A5C563*:*",
    }
    assert allowed_on(default, "eks:DeleteCluster") == {f"{eks}:cluster/ml-eks"}
    assert allowed_on(default, "s3:DeleteBucket") == {
        "arn:aws:s3:::ml-platform-lifecycl*",
        f"arn:aws:s3:::sagemaker-ml-{ACCOUNT}-us-west-2",
    }


# What a deployment whose name begins alike, or is that of a stack, has.
OF_OTHERS = [
    f"arn:aws:iam::{ACCOUNT}:role/ml-prod-platform-ProvisionerRole-1A2B",
    f"arn:aws:iam::{ACCOUNT}:role/ml-platform-platform-ProvisionerRole-1A2B",
    f"arn:aws:lambda:us-west-2:{ACCOUNT}:function:ml-prod-platform-Provisioner-1A2B",
    "arn:aws:s3:::ml-prod-platform-lifecyclebucketaccesslogs-1a2b",
    "arn:aws:s3:::sagemaker-ml-prod-scripts/on_create.sh",
]


@pytest.mark.parametrize("arn", OF_OTHERS)
def test_what_others_have_is_not_allowed(policies: Policies, arn: str) -> None:
    allowed = [
        resource
        for statement in statements(policies)
        for resource in statement["Resource"]
        if resource != "*" and fnmatchcase(arn, resource)
    ]

    assert allowed == []


@pytest.mark.parametrize(
    "changes", [EVERY_FIELD, NODE_GROUPS, {"encryption": {"create_kms_key": True}}]
)
def test_what_has_no_name_of_the_deployment_has_a_tag(
    changes: Path | dict[str, Any], assemble: Assemble
) -> None:
    config = load_config(changes) if isinstance(changes, Path) else configure(changes)
    stacks = stacks_by_name(assemble(config).directory)
    resources = [each for stack in stacks for each in stack.resources.values()]
    names = Names(deployment=config.name, environment=ENVIRONMENT, resources=resources)

    made = {KIND_OF_TYPE[each.type] for each in resources if each.type in KIND_OF_TYPE}
    services = {each.type.split("::")[1].lower() for each in resources}
    drawn = {
        (kind, service)
        for name, action in action_resources().items()
        for service in services & {name.partition(":")[0]}
        for kind in made & action.tagged & action.forms.keys()
        if not names.are_in(action.forms[kind])
    }
    assert drawn
    assert {each for each in drawn if names.tag_of(each[0], service=each[1]) is None} == set()


def test_roles_are_passed_to_the_services_that_assume_them(default: Policies) -> None:
    (passing,) = [each for each in statements(default) if "iam:PassRole" in each["Action"]]

    assert {*passing["Resource"]} == allowed_on(default, "iam:CreateRole")
    # HyperPod gets the nodes' role from the provisioner, not from CloudFormation.
    assert passing["Condition"] == {
        "StringEquals": {
            "iam:PassedToService": [
                "eks.amazonaws.com",
                "lambda.amazonaws.com",
                "states.amazonaws.com",
                "vpc-flow-logs.amazonaws.com",
            ]
        }
    }


def test_who_makes_a_node_group_may_launch_what_its_template_names(assemble: Assemble) -> None:
    policies = policies_with(assemble, NODE_GROUPS)
    ec2, image = f"arn:aws:ec2:us-west-2:{ACCOUNT}", "arn:aws:ec2:us-west-2::image/*"
    conditions: dict[str, Any] = {}
    for each in statements(policies):
        if "ec2:RunInstances" in each["Action"]:
            conditions |= dict.fromkeys(each["Resource"], each.get("Condition"))
    unlimited = {arn for arn, condition in conditions.items() if condition is None}

    assert unlimited == {
        f"{ec2}:capacity-reservation/cr-0123456789abcdef0",
        image,
        *(f"{ec2}:{kind}/*" for kind in ("instance", "network-interface", "volume")),
    }
    assert conditions.keys() - unlimited == {
        f"{ec2}:{kind}/*"
        for kind in ("launch-template", "placement-group", "security-group", "subnet")
    }
    assert [
        each["Resource"]
        for each in statements(policies)
        if each.get("Condition") == {"StringEquals": {"ec2:CreateAction": ["RunInstances"]}}
    ] == [[f"{ec2}:{kind}/*" for kind in ("instance", "volume")]]
    services = {
        service
        for each in statements(policies)
        if "iam:PassRole" in each["Action"]
        for service in each["Condition"]["StringEquals"]["iam:PassedToService"]
    }
    assert {"ec2.amazonaws.com", "eks.amazonaws.com"} <= services


@pytest.mark.parametrize("keys", [[], [KEY]])
def test_keys_are_used_if_they_are_named(keys: list[str]) -> None:
    encrypted = [{"Provider": {"KeyArn": key}, "Resources": ["secrets"]} for key in keys]
    cluster = a_resource("AWS::EKS::Cluster", Name="ml-eks", EncryptionConfig=encrypted)
    names = names_of(cluster)
    found = {need.action: need.resources for need in needs({}, names)}

    assert found.get("kms:CreateGrant", ()) == tuple(keys)


IMAGE, PLAN = "ami-0123456789abcdef0", f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/p5"
OWN_ROLE = f"arn:aws:iam::{ACCOUNT}:role/Own"


def native_cluster(**group: Any) -> dict[str, tuple[str, ...]]:
    """Return what a native cluster of one group needs, by action."""
    names = names_of(
        a_resource("AWS::EKS::Cluster", Name="ml-eks"),
        a_resource("AWS::SageMaker::Cluster", ClusterName="ml-cluster", InstanceGroups=[group]),
    )
    found: dict[str, tuple[str, ...]] = {}
    for need in needs({}, names):
        found[need.action] = tuple(sorted({*found.get(need.action, ()), *need.resources}))
    return found


def test_an_unknown_service_linked_role_names_the_place_to_add_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(SERVICE_LINKED_ROLES, "AWS::EKS::Cluster")
    with pytest.raises(UnknownTypeError, match=r"^AWS::EKS::Cluster: .* SERVICE_LINKED_ROLES"):
        native_cluster()


def test_cloudformation_makes_a_native_cluster() -> None:
    found = native_cluster()
    eks, sagemaker = (f"arn:aws:{name}:us-west-2:{ACCOUNT}" for name in ("eks", "sagemaker"))

    assert found["sagemaker:CreateCluster"] == (f"{sagemaker}:cluster/*",)
    assert found["eks:CreateAccessEntry"] == (f"{eks}:cluster/ml-eks",)
    assert found["eks:AssociateAccessPolicy"] == (f"{eks}:access-entry/ml-eks/*",)
    assert "hyperpod.sagemaker.amazonaws.com" in str(found["iam:CreateServiceLinkedRole"])
    assert not {"ec2:ModifyImageAttribute", "iam:PassRole", "kms:CreateGrant"} & found.keys()


@pytest.mark.parametrize(
    ("group", "action", "resources"),
    [
        ({"ExecutionRole": OWN_ROLE}, "iam:PassRole", {OWN_ROLE}),
        ({"ImageId": IMAGE}, "ec2:ModifyImageAttribute", {"arn:aws:ec2:us-west-2::image/*"}),
        ({"ImageId": IMAGE}, "ec2:ModifySnapshotAttribute", {"arn:aws:ec2:us-west-2::snapshot/*"}),
        ({"TrainingPlanArn": PLAN}, "sagemaker:UpdateCluster", {PLAN.replace("p5", "*")}),
        ({"VolumeKmsKeyId": KEY}, "kms:CreateGrant", {KEY}),
        ({"VolumeKmsKeyId": KEY.rpartition("/")[2]}, "kms:CreateGrant", {KEY}),
    ],
)
def test_a_native_cluster_may_use_what_it_names(
    group: dict[str, str], action: str, resources: set[str]
) -> None:
    found = native_cluster(**group)[action]

    assert resources <= set(found)
    assert not resources & set(native_cluster().get(action, ()))


def test_fsx_may_get_rights_on_a_linked_bucket(assemble: Assemble) -> None:
    linked = policies_with(assemble, LINKED)
    roles = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role"
    bucket, objects = "arn:aws:s3:::bucket", "arn:aws:s3:::bucket/*"

    assert bucket in allowed_on(linked, "s3:GetBucketPolicy")
    for action in ALL_OF_S3:
        assert allowed_on(linked, action) == {bucket, objects}
    assert objects in allowed_on(linked, "s3:PutObject")
    for action in ("CreateServiceLinkedRole", "AttachRolePolicy", "PutRolePolicy"):
        assert f"{roles}/s3.data-source.lustre.fsx.amazonaws.com/*" in allowed_on(
            linked, f"iam:{action}"
        )


def test_the_deployer_assumes_the_roles_of_the_bootstrap(default: Policies) -> None:
    (assume,) = [each for each in of_deployer(default) if "sts:AssumeRole" in each["Action"]]
    prefix = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds"

    assert assume["Resource"] == [
        f"{prefix}-{name}-role-{ACCOUNT}-us-west-2"
        for name in ("deploy", "file-publishing", "lookup")
    ]
    assert default.execution_roles == (f"{prefix}-cfn-exec-role-{ACCOUNT}-us-west-2",)


def test_what_is_allowed_on_everything_takes_no_resource(default: Policies) -> None:
    for statement in of_deployer(default):
        for action in statement["Action"]:
            service = action.partition(":")[0]
            rows = get_action_data(*action.split(":"))[service]
            takes_none = {row["resource_arn_format"] for row in rows} == {"*"}
            for resource in statement["Resource"]:
                some = resource.endswith(("/*", "/ml-platform-Provisio*"))
                assert takes_none or "*" not in resource or some, action


def test_who_closes_a_network_may_look_for_endpoint_services(
    default: Policies, assemble: Assemble
) -> None:
    closed = policies_with(assemble, CONFIG_FOLDER / "examples" / "closed-network.yaml")
    looking = [
        resources_of(policies, "ec2:DescribeVpcEndpointServices") for policies in (default, closed)
    ]

    assert looking == [set(), {"*"}]


def test_who_deploys_may_follow_the_stacks_of_the_deployment(default: Policies) -> None:
    stacks = f"arn:aws:cloudformation:us-west-2:{ACCOUNT}:stack"

    # Also those that another version of the file has made.
    assert resources_of(default, "cloudformation:DescribeStackEvents") == {
        f"{stacks}/ml-{kind}/*" for kind in STACKS
    }


def test_who_deploys_may_run_what_a_failure_says_to_run(default: Policies) -> None:
    own = resources_of(default, "cloudformation:DescribeStackEvents")
    allowed = {
        action
        for each in of_deployer(default)
        if own <= {*each["Resource"]}
        for action in each["Action"]
    }
    service = botocore.session.get_session().get_service_model("cloudformation")
    for status in service.shape_for("StackStatus").metadata["enum"]:
        at = Situation(
            stack="ml-platform", region="us-west-2", status=status, again="hyperpod-cdk deploy"
        )
        steps = [step for step in (next_step(at), interrupted(at)) if step is not None]
        commands = [line.split() for step in steps for line in step.commands]
        for operation in [words[2] for words in commands if words[0] == "aws"]:
            name = "".join(part.title() for part in operation.split("-"))
            assert operation == "wait" or f"cloudformation:{name}" in allowed, status


def test_who_deploys_may_look_at_keys_and_at_the_name_of_a_bucket(
    assemble: Assemble,
) -> None:
    keyed = policies_with(assemble, CONFIG_FOLDER / "examples" / "customer-key.yaml")
    bucket = f"arn:aws:s3:::sagemaker-keyed-{ACCOUNT}-us-west-2"

    assert resources_of(keyed, "kms:DescribeKey") == {KEY}
    assert resources_of(keyed, "kms:GetKeyPolicy") == {KEY}
    assert resources_of(keyed, "s3:ListBucket") == {bucket}
    assert resources_of(keyed, "s3:GetBucketPolicy") == set()


def test_who_deploys_may_look_at_the_key_of_a_volume() -> None:
    volumes = [{"EbsVolumeConfig": {"VolumeKmsKeyId": KEY.rpartition("/")[2]}}]
    groups = [{"InstanceStorageConfigs": volumes, "ExecutionRole": ""}]
    names = names_of(a_resource("AWS::SageMaker::Cluster", InstanceGroups=groups))
    assert Need(action="kms:GetKeyPolicy", resources=(KEY,)) in [*read_permissions(names)]


def test_what_is_read_is_known_and_called() -> None:
    folder = REPOSITORY / "cli" / "hyperpod_cli"
    code = "".join(each.read_text("utf-8") for each in folder.rglob("*.py"))
    calls = {action: call for call, action in ACTIONS.items()}
    declared = {action for command in commands().values() for action in command.iam}
    unknown = read_actions().keys() - action_resources().keys()
    assert unknown == set(), "run `make generate`, which asks AWS's reference"
    for action in read_actions():
        operation = xform_name(calls.get(action, action).partition(":")[2])
        assert action in declared or re.search(rf"\b{operation}\b", code), action


# Always allowed.
ALLOWED = {"sts:GetCallerIdentity"}
OF_DEPLOYER = (
    "account",
    "addon-versions",
    "bootstrap",
    "deletion-check",
    "deploy",
    "destroy",
    "diff",
)


@pytest.mark.parametrize("name", sorted(OF_DEPLOYER))
def test_who_deploys_may_call_what_the_commands_call(assemble: Assemble, name: str) -> None:
    group = {"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}
    policies = policies_with(assemble, {"node_groups": [group]})
    allowed = {action for each in of_deployer(policies) for action in each["Action"]}
    assert {*commands()[name].iam} - ALLOWED <= allowed


def test_a_large_statement_is_split() -> None:
    actions = [f"service:Action{number:04}" for number in range(900)]
    documents = split([{"Effect": "Allow", "Action": actions, "Resource": ["*"]}])

    assert len(documents) > 2
    assert all(size(document) <= DOCUMENT_CHARACTERS for document in documents)
    assert [a for d in documents for s in d["Statement"] for a in s["Action"]] == actions


def test_the_command_writes_and_prints_them(assemble: Assemble, tmp_path: Path) -> None:
    assembly = assemble(configure({})).directory
    command = ("deployer-policy", "--templates", assembly, "--output", tmp_path)

    code, told, _ = ran(*command, "--account", ACCOUNT)
    names = sorted(path.stem for path in tmp_path.glob("*.json"))
    assert code == 0
    assert names[0] == "cloudformation-1"
    assert names[-1] == "deployer-1"
    assert all(f"file://{tmp_path}/{name}.json" in told for name in names)
    assert (
        f"hyperpod-cdk bootstrap config/default.yaml --policies arn:aws:iam::{ACCOUNT}:policy/ml-"
        in told
    )

    code, printed, _ = ran(*command, "--account", ACCOUNT, "--document", "deployer-1")
    assert code == 0
    assert json.loads(printed) == json.loads((tmp_path / "deployer-1.json").read_text("utf-8"))


def test_templates_that_are_not_there_are_told_in_a_line(tmp_path: Path) -> None:
    places = ("--templates", tmp_path / "none", "--output", tmp_path)
    code, _, error = ran("deployer-policy", *places, "--account", ACCOUNT)
    assert (code, error.count("\n")) == (2, 1)
    assert "run `hyperpod-cdk synth` first" in error
