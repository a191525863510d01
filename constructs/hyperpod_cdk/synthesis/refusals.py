"""What is refused while an app is synthesized, and what CloudFormation is to refuse."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from aws_cdk import Annotations, CfnParameter, CfnRule, CfnRuleAssertion, Fn, Stack, Token
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from hyperpod_cdk.schema.errors import (
    NONE,
    Finding,
    KeyPath,
    error,
    kept_in,
    key_path,
    refuse_errors,
)
from hyperpod_cdk.synthesis.template_parameters import ParameterText


def report(construct: IConstruct, found: Iterable[Finding]) -> None:
    """Refuse errors, and show warnings at synth, as annotations of what they are about.

    A warning is acknowledged by `hyperpod-cdk:<rule>`.

    Raises:
        ConfigError: There is an error among them.
    """
    findings = list(found)
    refuse_errors(findings, place=construct.node.path)
    for finding in findings:
        Annotations.of(construct).add_warning_v2(f"hyperpod-cdk:{finding.rule}", str(finding))


class FixedValue(Construct):
    """A value whose change CloudFormation refuses before it touches anything.

    The template has the value twice: as the default of a parameter, and in a rule that compares the
    two. A deployment keeps the values of parameters that a stack has, so the parameter goes on
    holding what the stack was created with (ADR 43).

    A value that is not there yet, such as that of another subnet, may be added.

    Args:
        key: Keys and list positions from the top of the configuration to the value.
        value: The value; None where the configuration leaves it to AWS. A token is not compared,
            nor is a parameter.
        reason: Why it cannot change; reads on from "cannot be changed once it is deployed: ".
        instead: What to do besides restoring it; reads on from "restore it, or ".
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        key: KeyPath,
        value: str | None,
        reason: str,
        instead: str,
    ) -> None:
        super().__init__(scope, construct_id)
        if Token.is_unresolved(value):
            return  # neither a parameter's default nor a rule can refer to a resource
        if isinstance(value, ParameterText):
            return  # a template does not know what its parameter held before
        text = NONE if value is None else value
        deployed = CfnParameter(
            self,
            "Resource",
            default=text,
            description=f"{key_path(key)} as the stack was created. Pass no value.",
        )
        message = (
            f"cannot be changed once it is deployed: {reason}; restore the former value"
            f"{kept_in(deployed.logical_id)} or {instead}"
        )
        CfnRule(
            self,
            "Unchanged",
            assertions=[
                CfnRuleAssertion(
                    assert_=Fn.condition_equals(deployed.value_as_string, text),
                    assert_description=str(error(key, value, message)),
                )
            ],
        )


# Input of a Step Functions execution, which the provider framework's waiter starts with the event.
# https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
_MOST_EVENT_BYTES = 262_144
# ARNs, ids, the signed response URL, the other properties.
_REST_BYTES = 8_192
MOST_REQUEST_BYTES = (_MOST_EVENT_BYTES - _REST_BYTES) // 2
"""Of one request as a JSON text within JSON; an update carries the old and the new one."""

# IAM's limit for all inline policies of a role together, not counting white space.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
_MOST_POLICY_CHARACTERS = 10_240
_PSEUDO_PARAMETERS = {
    "AWS::AccountId": "1" * 12,
    "AWS::Partition": "aws",
    "AWS::Region": "us-west-2",
}
# What a reference becomes has at least this length: subnet-0123456789abcdef0, or the ARN of a role.
_ID = "i" * 24
_ARN = "a" * 40


class TooLargeError(Exception):
    """What a configuration makes is larger than AWS takes; one line says what and what to do."""


def request_bytes(scope: Construct, request: Any) -> int:  # noqa: ANN401 - any JSON value
    """Return the size of a request in an event; a reference counts as long as it is written."""
    text = json.dumps(Stack.of(scope).resolve(request), separators=(",", ":"))
    return len(json.dumps(text).encode())


def refuse_large_request(
    scope: Construct,
    request: Any,  # noqa: ANN401 - any JSON value
    *,
    noun: str,
    to_do: str,
) -> None:
    """Refuse what a custom resource asks for if it would not reach the provisioner.

    What makes it smaller reads on from "reach the provisioner: ".

    Raises:
        TooLargeError: It is too large.
    """
    size = request_bytes(scope, request)
    if size > MOST_REQUEST_BYTES:
        raise TooLargeError(
            f"{scope.node.path}: {noun} has {size:,} bytes, but at most {MOST_REQUEST_BYTES:,} "
            f"reach the provisioner: {to_do}"
        )


def refuse_large_policy(policy: iam.Policy, *, to_do: str) -> None:
    """Refuse a policy that IAM would, estimated from below: references are not known yet.

    What makes it smaller reads on from "too large: ".

    Raises:
        TooLargeError: It is too large.
    """
    document = Stack.of(policy).resolve(policy.document.to_json())
    size = len(json.dumps(_written(document), separators=(",", ":")))
    if size > _MOST_POLICY_CHARACTERS:
        raise TooLargeError(
            f"{policy.node.path}: the role's policy has {size:,} characters or more, but IAM takes "
            f"{_MOST_POLICY_CHARACTERS:,}: {to_do}"
        )


def _written(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Write a part of a policy as CloudFormation will, near enough to count its characters."""
    if isinstance(value, list):
        return [_written(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return separator.join(str(_written(part)) for part in parts)
    if "Ref" in value:
        return _PSEUDO_PARAMETERS.get(value["Ref"], _ID)
    if any(key.startswith("Fn::") for key in value):
        return _ARN if "Arn" in json.dumps(value) else _ID
    return {key: _written(item) for key, item in value.items()}
