"""Why statements of IAM are there, and why policy findings are accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import (
    Acknowledgment,
    CfnResource,
    Reference,
    Stack,
    Token,
    Tokenization,
    Validations,
)
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

REASON = "hyperpod-cdk:reason"
"""Type of the metadata of a cloud assembly that gives a statement's reason."""


def statement(
    scope: IConstruct,
    *,
    sid: str,
    why: str,
    actions: Sequence[str],
    resources: Sequence[str],
    conditions: Mapping[str, Any] | None = None,
    added_by: str | None = None,
    wildcard: str | None = None,
    effect: iam.Effect = iam.Effect.ALLOW,
) -> iam.PolicyStatement:
    """Return a statement of a policy, and record its reason in the cloud assembly.

    docs/security.md is written of these reasons; templates do not have them. A number at the end of
    a sid is not part of the name. `added_by` is the keys of the configuration without which it is
    not there. `wildcard` is why cdk-nag's findings on resources with wildcards are accepted, in the
    scope, which is in the policy's stack and around the policy.
    """
    data = {"sid": sid, "why": why, "actions": list(actions), "added_by": added_by}
    scope.node.add_metadata(REASON, data)
    if wildcard is not None:
        wild = [each for each in resources if "*" in each]
        acknowledge(scope, {wildcard_nag_id(scope, each): wildcard for each in wild})
    return iam.PolicyStatement(
        sid=sid,
        effect=effect,
        actions=list(actions),
        resources=list(resources),
        conditions=conditions,
    )


NIST = "NIST.800.53.R5-"
"""Begins the ids of cdk-nag's NIST 800-53 rules."""


def acknowledge(construct: IConstruct, reasons: Mapping[str, str]) -> None:
    """Record why findings on a construct and its children are accepted, by their exact ids.

    The construct is the narrowest that carries the finding; the reason is one honest sentence.
    """
    validations = Validations.of(construct)
    for finding, reason in reasons.items():
        validations.acknowledge(Acknowledgment(id=finding, reason=reason))


def skip_checkov(scope: IConstruct, *, resource_type: str, reasons: Mapping[str, str]) -> None:
    """Have checkov skip checks (`CKV_AWS_18`) on resources of a type in `scope`, and say why."""
    skipped = [{"id": check, "comment": reason} for check, reason in reasons.items()]
    for construct in scope.node.find_all():
        if isinstance(construct, CfnResource) and construct.cfn_resource_type == resource_type:
            before = construct.get_metadata("checkov") or {"skip": []}
            construct.add_metadata("checkov", {"skip": [*before["skip"], *skipped]})


def acknowledge_log_groups(scope: IConstruct) -> None:
    """Record why the log groups under `scope` have no KMS key of their own."""
    reason = "It holds no secret; CloudWatch Logs encrypts it with a key that AWS owns."
    acknowledge(scope, {f"{NIST}CloudWatchLogGroupEncrypted": reason})
    skip_checkov(scope, resource_type="AWS::Logs::LogGroup", reasons={"CKV_AWS_158": reason})


def acknowledge_inline_policies(scope: IConstruct) -> None:
    """Record why the policies under `scope` are inline ones."""
    acknowledge(
        scope,
        {
            f"{NIST}IAMNoInlinePolicy": (
                "It belongs to one role and goes with what needs it; a managed policy could be "
                "attached to others, and a role takes ten by default."
            )
        },
    )


def wildcard_nag_id(scope: IConstruct, resource: str) -> str:
    """Return the id of cdk-nag's finding on a policy resource with a wildcard.

    The ARN, as the policy has it, may hold tokens of the policy's stack, in which `scope` is, and
    of others.
    """
    stack = Stack.of(scope)
    for token in Tokenization.reverse_string(resource).tokens:
        target = token.target if isinstance(token, Reference) else None
        if target is None or Stack.of(target).node.path == stack.node.path:
            continue
        # In another region or account, it has the name that both know.
        if Stack.of(target).environment == stack.environment:
            exported = Stack.of(target).export_value(token)
            resource = resource.replace(Token.as_string(token), exported)
    return f"AwsSolutions-IAM5[Resource::{_flattened(stack.resolve(resource))}]"


def managed_policy_nag_id(policy: str) -> str:
    """Return the id of cdk-nag's finding on an AWS managed policy."""
    return f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{policy}]"


def inline_policy(
    scope: Construct,
    construct_id: str,
    *,
    role: iam.IRole,
    statements: Sequence[iam.PolicyStatement],
) -> iam.Policy:
    """Give a role a policy of its own."""
    policy = iam.Policy(scope, construct_id, roles=[role], statements=list(statements))
    acknowledge_inline_policies(policy)
    return policy


def attach_managed_policy(role: iam.Role, policy: str, *, whose: str) -> None:
    """Attach the managed policy that AWS documents as, for example, "that of the agent"."""
    role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name(policy))
    reason = f"AWS documents this managed policy as {whose}, and keeps it."
    acknowledge(role, {managed_policy_nag_id(policy): reason})


def _flattened(value: Any) -> str:  # noqa: ANN401 - a resolved CloudFormation value is any JSON
    match value:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::ImportValue": name}:
            return str(name)
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(_flattened(part) for part in parts)
        case _:
            return str(value)
