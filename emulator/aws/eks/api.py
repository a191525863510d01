"""Call MiniStack's EKS operations in-process, and repair where they differ from EKS."""

import json
import re
import uuid
from http import HTTPStatus
from typing import Any

from emulator.aws.cloudformation.resource_type import Refused
from emulator.aws.iam import authorization
from emulator.aws.ministack import eks, get_account_id, get_region

ACCESS_ENTRY_TYPES = (
    "STANDARD",
    "EC2",
    "EC2_LINUX",
    "EC2_WINDOWS",
    "FARGATE_LINUX",
    "HYBRID_LINUX",
    "HYPERPOD_LINUX",
)
# https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
_ACCESS_POLICY = re.compile(r"arn:aws[a-z-]*:eks::aws:cluster-access-policy/[A-Za-z0-9]+")
EksResponse = tuple[int, dict[str, str], bytes]


def answer(response: EksResponse) -> dict[str, Any]:
    """Return the body of an operation's response.

    Raises:
        Refused: EKS answered with an error.
    """
    status, _headers, body = response
    content: dict[str, Any] = json.loads(body)
    if status >= HTTPStatus.BAD_REQUEST:
        raise Refused(f"{content['__type']}: {content['message']}")
    return content


def gone_or_answer(response: EksResponse) -> None:
    """Accept a deletion's response, also when there was nothing to delete."""
    if response[0] != HTTPStatus.NOT_FOUND:
        answer(response)


def access_entry_arn(cluster_name: str, principal_arn: str) -> str:
    """Return a new access entry's ARN: it names the principal and ends in a unique id."""
    _arn, _partition, _iam, _region, account, resource = principal_arn.split(":", 5)
    kind, _slash, path = resource.partition("/")
    return (
        f"arn:aws:eks:{get_region()}:{get_account_id()}:access-entry/{cluster_name}/{kind}/"
        f"{account}/{path.rsplit('/', 1)[-1]}/{uuid.uuid4()}"
    )


def _entry_problem(cluster_name: str, body: dict[str, Any]) -> tuple[str, str] | None:
    cluster = eks.clusters.get(cluster_name)
    mode = (cluster or {}).get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    if cluster is not None and mode == "CONFIG_MAP":
        return (
            "InvalidRequestException",
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to "
            "perform this operation.",
        )
    principal_arn = body.get("principalArn", "")
    if ":role/" in principal_arn and authorization.role(principal_arn) is None:
        return (
            "InvalidParameterException",
            f"The specified principalArn is invalid: no such principal {principal_arn}.",
        )
    return None


def install() -> None:
    """Let access entries have every type, real ARNs, and EKS's own preconditions."""
    eks.VALID_ACCESS_ENTRY_TYPES = ACCESS_ENTRY_TYPES
    eks.access_entry_arn = access_entry_arn
    unchecked = eks.create_access_entry

    def create_access_entry(cluster_name: str, body: dict[str, Any]) -> EksResponse:
        problem = _entry_problem(cluster_name, body)
        response: EksResponse = (
            eks.error(HTTPStatus.BAD_REQUEST, *problem)
            if problem
            else unchecked(cluster_name, body)
        )
        return response

    associate = eks.associate_access_policy

    def associate_access_policy(
        cluster_name: str, principal_arn: str, body: dict[str, Any]
    ) -> EksResponse:
        if _ACCESS_POLICY.fullmatch(body.get("policyArn", "")) is None:
            message = "The policyArn parameter format is not valid"
            refused: EksResponse = eks.error(
                HTTPStatus.BAD_REQUEST, "InvalidParameterException", message
            )
            return refused
        response: EksResponse = associate(cluster_name, principal_arn, body)
        return response

    eks.create_access_entry = create_access_entry
    eks.associate_access_policy = associate_access_policy
