"""The IAM actions that effects take, and those that CloudFormation's role or its user lacks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from botocore.exceptions import BotoCoreError, ClientError

from aws_reference.resource_schemas import UnknownTypeError
from hyperpod_cdk.effects.effect import Effect, StackState, resources_of
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Address, Stack, TemplateResource
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.inspect.permissions.missing import MissingPermission, missing
from hyperpod_cli.inspect.permissions.names import Names, pattern
from hyperpod_cli.inspect.permissions.needs import HANDLERS, needs
from hyperpod_cli.inspect.permissions.policies import document_of, statements_of
from hyperpod_cli.inspect.permissions.read_permissions import read_permissions
from hyperpod_cli.inspect.permissions.role_policies import role_policies
from hyperpod_cli.inspect.permissions.simulation import denied
from hyperpod_cli.plan.differences import Difference

WHO_DEPLOYS = "whoever deploys"
# No action depends on the account.
_ANYWHERE = Environment(partition="aws", account="*", region="*")

# The handlers that run for what becomes of a resource. A rollback deletes what was created.
_HANDLERS = {
    "created": ("create", "read", "delete"),
    "updated": ("read", "update"),
    "replaced": ("create", "read", "delete"),
    "perhaps_replaced": HANDLERS,
    "deleted": ("read", "delete"),
}


def resources_before_and_after(
    stacks: Iterable[Stack], *, before: Mapping[str, StackState]
) -> dict[Address, TemplateResource]:
    """Return the resources of stacks, and those that a deployment deletes."""
    resources: dict[Address, TemplateResource] = {}
    for stack in stacks:
        resources |= {each.address: each for each in _before(stack, before=before)}
        resources |= stack.resources
    return resources


def _before(stack: Stack, *, before: Mapping[str, StackState]) -> Iterator[TemplateResource]:
    for logical_id, kind, properties in resources_of(before[stack.name].template):
        address = Address(stack.name, logical_id)
        yield TemplateResource(address=address, type=str(kind), properties=properties, needs=())


def with_actions(
    effects: Iterable[Effect],
    difference: Difference,
    *,
    resources: Mapping[Address, TemplateResource],
    deployment: str,
) -> Iterator[Effect]:
    """Yield effects on a stack with the IAM actions that they take, as far as these are known."""
    names = Names(deployment=deployment, environment=_ANYWHERE, resources=[*resources.values()])
    for effect in effects:
        actions: set[str] = set()
        try:
            for kind, handlers in _HANDLERS.items():
                own = effect.resources.intersection(difference.resources.get(kind, ()))
                changed = [*_named(own, resources, stack=difference.name)]
                needed = needs({}, names, resources=changed, handlers=handlers)
                actions.update(need.action for need in needed)
        except UnknownTypeError:
            actions.clear()
        yield replace(effect, iam_actions=tuple(sorted(actions)))


def missing_permissions(
    stacks: Sequence[Stack],
    *,
    before: Mapping[str, StackState],
    effects: Iterable[Effect],
    deployment: str,
    session: AwsSession,
) -> list[MissingPermission]:
    """Return what effects take and the role lacks; nothing if that is not known."""
    roles = {stack.execution_role for stack in stacks if stack.execution_role}
    actions = {action for effect in effects for action in effect.iam_actions}
    if not actions or not roles:
        return []
    resources = resources_before_and_after(stacks, before=before)
    try:
        account = session.client("sts").get_caller_identity()["Account"]
        place = Environment(
            partition=session.session.get_partition_for_region(session.region),
            account=account,
            region=session.region,
        )
        names = Names(deployment=deployment, environment=place, resources=[*resources.values()])
        changed = [
            resource
            for effect in effects
            for resource in _named(effect.resources, resources, stack=effect.stack)
        ]
        templates = {stack.name: stack.template for stack in stacks}
        taken = [
            *needs(templates, names, resources=()),
            *(each for each in needs({}, names, resources=changed) if each.action in actions),
        ]
        needed = [document_of(statements_of(taken))]
        return [
            each
            for role in sorted(pattern({"Fn::Sub": role}, place) for role in roles)
            for given in role_policies(session.client("iam"), role.rpartition("/")[2])
            if given
            for each in missing(needed, given.values(), who=role.rpartition("/")[2])
        ]
    except (BotoCoreError, ClientError, UnknownTypeError):
        return []


def missing_reads(
    stacks: Sequence[Stack],
    *,
    before: Mapping[str, StackState],
    deployment: str,
    session: AwsSession,
) -> list[MissingPermission]:
    """Return what is read of what a deployment adds, and its user may not read.

    That is all of it if IAM does not say; nothing in a first deployment, whose policies are new.
    """
    former = [resource for stack in stacks for resource in _before(stack, before=before)]
    wanted = [resource for stack in stacks for resource in stack.resources.values()]

    def anew(place: Environment) -> list[MissingPermission]:
        given, needed = (
            document_of(
                statements_of(
                    read_permissions(
                        Names(deployment=deployment, environment=place, resources=resources)
                    )
                )
            )
            for resources in (former, wanted)
        )
        return missing([needed], [given], who=WHO_DEPLOYS)

    if not former or not anew(_ANYWHERE):
        return []
    caller = session.client("sts").get_caller_identity()
    arn, iam = str(caller["Arn"]), session.client("iam")
    if arn.endswith(":root"):
        return []
    read = anew(
        Environment(partition=arn.split(":")[1], account=caller["Account"], region=session.region)
    )
    try:
        if ":assumed-role/" in arn:
            arn = iam.get_role(RoleName=arn.split("/")[1])["Role"]["Arn"]
        return [
            each
            for each in read
            if denied({"Action": each.action, "Resource": each.resource}, iam, arn=arn)
        ]
    except ClientError:
        return read


def _named(
    logical_ids: Iterable[str], resources: Mapping[Address, TemplateResource], *, stack: str
) -> Iterator[TemplateResource]:
    """Yield the resources of a stack by their names; odd ones are left out."""
    for logical_id in sorted(logical_ids):
        if (address := Address(stack, logical_id)) in resources:
            yield resources[address]


def permission_lines(lacks: Sequence[MissingPermission]) -> Iterator[str]:
    """Yield what gives each role what it lacks, and that, a service in one line."""
    by_service: dict[tuple[str, str], list[str]] = {}
    for permission in lacks:
        service, _, action = permission.action.partition(":")
        actions = by_service.setdefault((permission.who, service), [])
        if action not in actions:
            actions.append(action)
    for role in {who: None for who, _ in by_service}:
        yield (
            f"{role} may not read all that this adds, as `verify` does: give them what "
            "`hyperpod-cdk deployer-policy` writes"
            if role == WHO_DEPLOYS
            else f"CloudFormation's role {role} lacks permissions that this may need: give "
            "`hyperpod-cdk bootstrap --policies` what `hyperpod-cdk deployer-policy` writes"
        )
        for (who, service), actions in by_service.items():
            if who == role:
                yield f"  {service}: {', '.join(actions)}"
