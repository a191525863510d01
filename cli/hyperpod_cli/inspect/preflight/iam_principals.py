"""Roles and users that exist, wherever a configuration names them."""

import json
from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.schema.named_resources import NamedResource
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Target, as_list

# What assumes the role of a key.
_SERVICES = {
    "role_arn": "hyperpod.sagemaker.amazonaws.com",
    "execution_role_arn": "sagemaker.amazonaws.com",
}


def principal_problem(named: NamedResource, target: Target) -> str | None:
    """Return what is wrong with the ARN of a role or user, or with the trust in a role, or None.

    A name is unique within the account, whatever its path is, and the path is often forgotten:
    https://docs.aws.amazon.com/singlesignon/latest/userguide/referencingpermissionsets.html
    """
    kind, name = _kind(named.value), _name(named.value)
    if named.value.split(":")[4] != target.account:
        message = f"must be a role of account {target.account}, which the cluster is in"
        return message if named.kind == "role" else None
    iam = target.client("iam")
    if kind == "user":
        answer = answer_of(iam.get_user, "NoSuchEntity", UserName=name)
    else:
        answer = answer_of(iam.get_role, "NoSuchEntity", RoleName=name)
    if answer is None:
        return f"is no {kind} of account {target.account}; correct it"
    there = answer[kind.capitalize()]
    if there["Arn"] != named.value:
        return f"is not the {kind}'s ARN, which has its path; write {there['Arn']}"
    service = _SERVICES.get(str(named.path[-1]))
    if service is None or _trusts(there["AssumeRolePolicyDocument"], service):
        return None
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return f"does not trust {service}; add to its trust policy: {json.dumps(statement)}"


def get_command(arn: str) -> str:
    """Return the command that shows a role or user."""
    kind = _kind(arn)
    return f"aws iam get-{kind} --{kind}-name {_name(arn)}"


def _trusts(document: Mapping[str, Any], service: str) -> bool:
    """Return whether a trust policy lets a service assume the role; conditions are not judged.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    """
    return any(
        statement["Effect"] == "Allow"
        and service in as_list(statement.get("Principal", {}).get("Service", []))
        and {"sts:AssumeRole", "sts:*", "*"} & set(as_list(statement["Action"]))
        for statement in as_list(document["Statement"])
        if isinstance(statement.get("Principal"), dict)
    )


def _kind(arn: str) -> str:
    return "user" if ":user/" in arn else "role"


def _name(arn: str) -> str:
    return arn.rpartition("/")[2]
