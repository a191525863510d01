"""What a plan takes that CloudFormation's role may not do."""

from collections.abc import Collection, Iterator, Sequence

from botocore.exceptions import BotoCoreError, ClientError

from aws_reference.resource_schemas import UnknownTypeError
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.inspect.permissions.missing import MissingPermission, missing
from hyperpod_cli.inspect.permissions.names import Names, pattern
from hyperpod_cli.inspect.permissions.needs import needs
from hyperpod_cli.inspect.permissions.policies import document_of, statements_of
from hyperpod_cli.inspect.permissions.role_policies import role_policies


def missing_permissions(
    stacks: Sequence[Stack], *, types: Collection[str], deployment: str, session: AwsSession
) -> list[MissingPermission]:
    """Return what resources of some types take and the role lacks; nothing if that is not known."""
    roles = {stack.execution_role for stack in stacks if stack.execution_role}
    if not types or not roles:
        return []
    try:
        account = session.client("sts").get_caller_identity()["Account"]
        place = Environment(
            partition=session.session.get_partition_for_region(session.region),
            account=account,
            region=session.region,
        )
        resources = [each for stack in stacks for each in stack.resources.values()]
        names = Names(deployment=deployment, environment=place, resources=resources)
        templates = {stack.name: stack.template for stack in stacks}
        needed = [document_of(statements_of(needs(templates, names, types=types)))]
        return [
            each
            for role in sorted(pattern({"Fn::Sub": role}, place) for role in roles)
            for given in role_policies(session.client("iam"), role.rpartition("/")[2])
            if given
            for each in missing(needed, given.values(), who=role.rpartition("/")[2])
        ]
    except (BotoCoreError, ClientError, UnknownTypeError):
        return []


def permission_lines(lacks: Sequence[MissingPermission]) -> Iterator[str]:
    """Yield what each role lacks, an action in one line, and what gives it."""
    by_role: dict[str, dict[str, list[str]]] = {}
    for each in lacks:
        by_role.setdefault(each.who, {}).setdefault(each.action, []).append(each.resource)
    for role, actions in by_role.items():
        yield f"CloudFormation's role {role} lacks permissions that this may need:"
        for action, resources in actions.items():
            yield f"  {action} on {_some(resources)}"
    if lacks:
        yield (
            "`hyperpod-cdk deployer-policy` writes the policies; give them to `hyperpod-cdk "
            "bootstrap --policies`."
        )


def _some(resources: Sequence[str]) -> str:
    more = f" and {len(resources) - 1} more" if len(resources) > 1 else ""
    return f"{resources[0]}{more}"
