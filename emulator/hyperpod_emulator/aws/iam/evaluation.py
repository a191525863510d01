"""What MiniStack's evaluation of policies lacks.

MiniStack reads models and policies again for each request, and does not know the ARNs of some:
https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html
"""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import botocore.session
from botocore.exceptions import UnknownServiceError

from hyperpod_emulator.aws.ministack import (
    EvalContext,
    app,
    iam,
    iam_actions,
    iam_evaluator,
    wrap,
)
from hyperpod_emulator.aws.settings import own_settings


def install() -> None:
    """Put what evaluates policies as AWS does in the place of what does not."""
    _share_models()
    wrap(app, "pin_request_origin", _pin_as_tls)
    _add_managed_policies()
    wrap(iam_evaluator, "_resolve_condition_key", _resolve_role)
    wrap(iam_actions, "extract_resource_arn", _extract_resource_arn)
    _remember_policies()
    if own_settings().allowed_calls:
        _note_allowed_calls(Path(own_settings().allowed_calls))


def _pin_as_tls(pin: Callable[..., None], source_ip: str, _secure_transport: bool) -> None:
    """Let aws:SecureTransport be true for every request.

    The server listens on the loopback interface only and stands in for AWS's HTTPS endpoints. Were
    its HTTP taken literally, a bucket policy that demands TLS, as it should, would refuse everyone.
    """
    pin(source_ip, True)


def _share_models() -> None:
    """Let MiniStack share one session, whose loader keeps what it has read."""
    session = botocore.session.get_session()
    loader = session.get_component("data_loader")

    def load_botocore_model(name: str) -> dict[str, Any]:
        try:
            model: dict[str, Any] = loader.load_service_model(name, "service-2")
        except UnknownServiceError:
            return {}
        return model

    botocore.session.get_session = lambda env_vars=None: session  # noqa: ARG005 - its signature
    iam_actions._load_botocore_model = load_botocore_model


_CLUSTER_INSTANCE_ROLE = "AmazonSageMakerClusterInstanceRolePolicy"
_LOG_GROUPS = "arn:aws:logs:*:*:log-group:/aws/sagemaker/Clusters/*"
_DOCUMENTS: dict[str, list[dict[str, object]]] = {
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerHyperPodTrainingOperatorAccess.html
    "AmazonSageMakerHyperPodTrainingOperatorAccess": [
        {
            "Effect": "Allow",
            "Action": "sagemaker:DescribeClusterNode",
            "Resource": "arn:aws:sagemaker:*:*:cluster/*",
            "Condition": {"StringEquals": {"aws:ResourceTag/SageMaker": "true"}},
        }
    ],
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerSpacesControllerPolicy.html
    "AmazonSageMakerSpacesControllerPolicy": [
        {"Effect": "Allow", "Action": "ssm:DescribeSessions", "Resource": "*"}
    ],
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicy.html
    "service-role/AmazonEBSCSIDriverPolicy": [
        {"Effect": "Allow", "Action": "ec2:DescribeVolumes", "Resource": "*"}
    ],
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSWorkerNodeMinimalPolicy.html
    "AmazonEKSWorkerNodeMinimalPolicy": [
        {"Effect": "Allow", "Action": "eks-auth:AssumeRoleForPodIdentity", "Resource": "*"}
    ],
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEC2ContainerRegistryPullOnly.html
    "AmazonEC2ContainerRegistryPullOnly": [
        {"Effect": "Allow", "Action": "ecr:BatchGetImage", "Resource": "*"}
    ],
    # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerHyperPodInferenceAccess.html
    "AmazonSageMakerHyperPodInferenceAccess": [
        {
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": "arn:aws:s3:::hyperpod-tls*",
        }
    ],
    _CLUSTER_INSTANCE_ROLE: [
        {
            "Effect": "Allow",
            "Action": ["logs:PutLogEvents", "logs:CreateLogStream", "logs:DescribeLogStreams"],
            "Resource": f"{_LOG_GROUPS}:log-stream:*",
        },
        {"Effect": "Allow", "Action": "logs:CreateLogGroup", "Resource": _LOG_GROUPS},
        {
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/Clusters"}},
        },
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucket", "s3:GetObject"],
            # AWS adds "in the role's own account"; this AWS has no other account's buckets, and no
            # policy variables to say it with.
            "Resource": "arn:aws:s3:::sagemaker-*",
        },
        {
            "Effect": "Allow",
            "Action": [
                "ssmmessages:CreateControlChannel",
                "ssmmessages:CreateDataChannel",
                "ssmmessages:OpenControlChannel",
                "ssmmessages:OpenDataChannel",
            ],
            "Resource": "*",
        },
    ],
}


def _add_managed_policies() -> None:
    """Add the policies. MiniStack refuses to attach one it does not know, as AWS does."""
    for name, statements in _DOCUMENTS.items():
        arn = f"{iam._AWS_MANAGED_POLICY_PREFIX}{name}"
        if arn not in iam._aws_managed_policies:
            document = json.dumps({"Version": "2012-10-17", "Statement": statements})
            iam._aws_managed_policies[arn] = iam._make_aws_managed_record(name, document)


_SESSION = ":assumed-role/"


def _resolve_role(resolve: Callable[..., Any], key: str, context: EvalContext) -> Any:  # noqa: ANN401 - any key
    """Let the key of a role's session be the ARN of the role, path included, as in AWS.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-principalarn
    """
    value = resolve(key, context)
    if key.lower() != "aws:principalarn" or _SESSION not in value:
        return value
    record = iam._roles.get(value.partition(_SESSION)[2].partition("/")[0])
    return value if record is None else record["Arn"]


def _extract_resource_arn(found: Callable[..., str], service: str, *request: Any) -> str:
    """Find the role that a request names, or whose rights it simulates, and the listed groups."""
    _method, _path, headers, body, parameters, region, account = request
    if service == "iam":
        source = iam_actions._query_param(parameters, "PolicySourceArn")
        role = iam._roles.get(iam_actions._query_param(parameters, "RoleName") or "")
        if source or role:
            return str(source or role["Arn"])
    if service == "logs" and headers.get("x-amz-target", "").endswith(".DescribeLogGroups"):
        prefix = json.loads(body or b"{}").get("logGroupNamePrefix", "")
        # As the service names it in the words of a denial.
        return f"arn:aws:logs:{region}:{account}:log-group:{prefix}:log-stream:"
    return found(service, *request)


_Statements = list[Any]  # MiniStack's
# Of a deployment: a few dozen documents, and some hundred actions against each of their statements.
_POLICY_DOCUMENTS = 1024
_COMPARISONS = 1 << 17


def _remember_policies() -> None:
    """Remember what a policy's text says, and which of its actions match; nothing else decides."""
    parse: Callable[[str | dict[str, Any]], _Statements] = iam_evaluator.parse_policy_document
    matches: Callable[[str, list[str], list[str]], bool] = iam_evaluator._action_matches

    @lru_cache(_POLICY_DOCUMENTS)
    def statements(text: str) -> tuple[Any, ...]:
        return tuple(parse(text))

    @lru_cache(_COMPARISONS)
    def comparison(action: str, actions: tuple[str, ...], others: tuple[str, ...]) -> bool:
        return matches(action, [*actions], [*others])

    def parse_policy_document(document: str | dict[str, Any]) -> _Statements:
        return [*statements(document)] if isinstance(document, str) else parse(document)

    def action_matches(action: str, actions: list[str], others: list[str]) -> bool:
        return comparison(action, tuple(actions), tuple(others))

    iam_evaluator.parse_policy_document = parse_policy_document
    iam_evaluator._action_matches = action_matches


_Statement = Any  # MiniStack's
_Context = Any


class _Policies(list[list[_Statement]]):
    """The policies of a role."""

    def __init__(self, policies: list[list[_Statement]], *, role: str) -> None:
        super().__init__(policies)
        self.role = role


def _note_allowed_calls(file: Path) -> None:
    """Write a line into a file for each set of statements that together allowed a role's call."""
    written: set[str] = set()

    def gather_role_policies(
        gather: Callable[..., list[list[_Statement]]], role_name: str, *account: str
    ) -> _Policies:
        return _Policies(gather(role_name, *account), role=role_name)

    def evaluate_and_note(
        evaluate: Callable[..., Any],
        context: _Context,
        policies: list[list[_Statement]],
        *limits: Any,
    ) -> Any:  # noqa: ANN401 - MiniStack's result
        result = evaluate(context, policies, *limits)
        if isinstance(policies, _Policies) and result.decision == "Allow":
            line = _line(policies, context)
            if line not in written:
                written.add(line)
                with file.open("a", encoding="utf-8") as log:
                    log.write(f"{line}\n")
        return result

    wrap(iam_evaluator, "_gather_role_policies", gather_role_policies)
    wrap(iam_evaluator, "evaluate", evaluate_and_note)


def _line(policies: _Policies, context: _Context) -> str:
    allowing = [
        _described(statement)
        for document in policies
        for statement in document
        if statement.effect == "Allow" and _allows(statement, context)
    ]
    return json.dumps({"role": policies.role, "statements": allowing}, sort_keys=True)


def _allows(statement: _Statement, context: _Context) -> bool:
    return bool(
        iam_evaluator._action_matches(context.action, statement.actions, statement.not_actions)
        and iam_evaluator._resource_matches(
            context.resource_arn, statement.resources, statement.not_resources
        )
        and iam_evaluator._conditions_met(statement.conditions, context)
    )


def _described(statement: _Statement) -> dict[str, Any]:
    return {
        "name": statement.sid or statement.actions[0],
        "actions": statement.actions,
        "resources": statement.resources,
    }
