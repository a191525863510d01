"""Roles and users that exist, wherever a configuration names them."""

from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Target


def principal_problem(arn: str, target: Target) -> str | None:
    """Return what is wrong with the ARN of a role or user of the account, or None.

    A name is unique within the account, whatever its path is, and the path is often forgotten:
    https://docs.aws.amazon.com/singlesignon/latest/userguide/referencingpermissionsets.html
    """
    kind, name = _kind(arn), _name(arn)
    iam = target.client("iam")
    if kind == "user":
        answer = answer_of(iam.get_user, "NoSuchEntity", UserName=name)
    else:
        answer = answer_of(iam.get_role, "NoSuchEntity", RoleName=name)
    if answer is None:
        return f"is no {kind} of account {target.account}; correct it"
    there = str(answer[kind.capitalize()]["Arn"])
    return None if there == arn else f"is not the {kind}'s ARN, which has its path; write {there}"


def get_command(arn: str) -> str:
    """Return the command that shows a role or user."""
    kind = _kind(arn)
    return f"aws iam get-{kind} --{kind}-name {_name(arn)}"


def _kind(arn: str) -> str:
    return "user" if ":user/" in arn else "role"


def _name(arn: str) -> str:
    return arn.rpartition("/")[2]
