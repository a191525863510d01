"""All policies of a deployment: their documents, and the files that they are written to."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from aws_reference.action_resources import forms
from hyperpod_cdk import Config
from hyperpod_cli.aws.account import AccountError, Environment, region_of
from hyperpod_cli.aws.assembly import roles_of_cli, stacks_by_name, stacks_in
from hyperpod_cli.inspect.permissions import READS
from hyperpod_cli.inspect.permissions.names import Condition, Names, pattern
from hyperpod_cli.inspect.permissions.needs import Need, needs
from hyperpod_cli.inspect.permissions.read_permissions import read_permissions
from hyperpod_cli.terminal.options import command_line
from hyperpod_shared.owner import CONSENT_TAG

Document = Mapping[str, Any]
Statement = dict[str, Any]

# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html: without white space.
DOCUMENT_CHARACTERS = 6144
POLICIES_OF_A_ROLE = 10


def size(document: Document) -> int:
    """Return the characters of a document that count."""
    return len(json.dumps(document, separators=(",", ":")))


def document_of(statements: Iterable[Statement]) -> Document:
    """Return a policy document."""
    return {"Version": "2012-10-17", "Statement": [*statements]}


def statements_of(needs: Iterable[Need]) -> Iterator[Statement]:
    """Yield statements that allow what is needed, one for each set of resources."""
    resources: dict[tuple[str, tuple[Condition, ...]], set[str]] = {}
    for need in needs:
        resources.setdefault((need.action, need.conditions), set()).update(need.resources)
    for (action, conditions), every in resources.items():
        # What is allowed under the same conditions if their keys are there is so without them.
        weaker = tuple(item._replace(operator=f"{item.operator}IfExists") for item in conditions)
        if weaker:
            every.difference_update(resources.get((action, weaker), ()))
    allowed: dict[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], _Allowed] = {}
    for (action, conditions), every in resources.items():
        if not every:
            continue
        arns = ("*",) if "*" in every else tuple(sorted(every))
        keys = tuple((condition.operator, condition.key) for condition in conditions)
        group = allowed.setdefault((arns, keys), _Allowed(set(), [set() for _ in keys]))
        group.actions.add(action)
        for values, condition in zip(group.values, conditions, strict=True):
            values.update(condition.values)
    for (arns, keys), group in sorted(allowed.items(), key=lambda item: min(item[1].actions)):
        statement: Statement = {
            "Effect": "Allow",
            "Action": sorted(group.actions),
            "Resource": [*arns],
        }
        for (operator, key), values in zip(keys, group.values, strict=True):
            condition = statement.setdefault("Condition", {}).setdefault(operator, {})
            condition[key] = sorted(values)
        yield statement


class _Allowed(NamedTuple):
    """Actions of a statement, and the values of its conditions."""

    actions: set[str]
    values: list[set[str]]


def split(statements: Iterable[Statement]) -> list[Document]:
    """Return as few documents as the order of the statements allows."""
    documents: list[list[Statement]] = [[]]
    for statement in statements:
        for part in _parts(statement):
            if size(document_of([*documents[-1], part])) > DOCUMENT_CHARACTERS:
                documents.append([])
            documents[-1].append(part)
    return [document_of(document) for document in documents]


def _parts(statement: Statement) -> Iterator[Statement]:
    """Yield a statement, or the halves of one that is too large by itself."""
    actions = statement["Action"]
    if size(document_of([statement])) <= DOCUMENT_CHARACTERS or len(actions) == 1:
        yield statement
        return
    middle = len(actions) // 2
    for half in (actions[:middle], actions[middle:]):
        yield from _parts({**statement, "Action": half})


_RECOVER_STACKS = [
    "cloudformation:CancelUpdateStack",
    "cloudformation:ContinueUpdateRollback",
    "cloudformation:DeleteStack",
    "cloudformation:RollbackStack",
]


def execution_roles(assembly: Path, environment: Environment) -> Iterator[str]:
    """Yield the roles with which CloudFormation works on the stacks."""
    for stack in stacks_in(assembly):
        if stack.execution_role:
            yield pattern({"Fn::Sub": stack.execution_role}, environment)


def _statements(assembly: Path, names: Names) -> Iterator[Statement]:
    environment = names.environment
    clusters = names.of_type("AWS::EKS::Cluster") if names.have("AWS::EKS::") else ()
    roles = sorted({pattern({"Fn::Sub": arn}, environment) for arn in roles_of_cli(assembly)})
    if roles:
        yield _allow("UseBootstrapRoles", ["sts:AssumeRole"], roles)
    storage = f"{names.deployment}-storage"
    stack_arn = partial(environment.arn, "cloudformation")
    stacks = [stack_arn(f"stack/{name}/*") for name in names.in_place_of("StackName")]
    cluster = next(iter(clusters), None)
    yield from statements_of(read_permissions(names))
    # A plan says what the role that CloudFormation works with may not do.
    executing = sorted({*execution_roles(assembly, environment)})
    if executing:
        policies = [environment.iam_arn("policy/*"), environment.iam_arn("policy/*", account="aws")]
        read = {"role": tuple(executing), "policy": tuple(policies)}
        yield from statements_of(
            Need(action=action, resources=read[kind]) for action in READS for kind in forms(action)
        )
    # What `hyperpod-cdk deploy` says to run after a failure; CloudFormation does it with the
    # stack's role.
    yield _allow("RecoverStacks", _RECOVER_STACKS, stacks)
    # Of a stack whose creation failed. No more than CDK's bootstrap gives its role for deployments.
    lifted = ["cloudformation:UpdateTerminationProtection"]
    yield _allow("LiftProtection", lifted, [stack_arn(f"stack/{storage}/*")])
    if cluster is not None:
        yield from _to_kubernetes(cluster, environment)


def _to_kubernetes(cluster: str, environment: Environment) -> Iterator[Statement]:
    cluster_arn = [environment.arn("eks", f"cluster/{cluster}")]
    admin = "cluster-access-policy/AmazonEKSClusterAdminPolicy"
    # The command with which a refused deletion is consented to.
    yield _allow("Consent", ["eks:TagResource"], cluster_arn) | {
        "Condition": {"ForAllValues:StringEquals": {"aws:TagKeys": [CONSENT_TAG]}}
    }
    # The command in the output GrantAdminCommand of the platform stack.
    yield _allow("CreateAccessEntries", ["eks:CreateAccessEntry"], cluster_arn)
    entries = environment.arn("eks", f"access-entry/{cluster}/*")
    policy = environment.arn("eks", admin, region="", account="aws")
    yield _allow("MakeAdmins", ["eks:AssociateAccessPolicy"], [entries]) | {
        "Condition": {"ArnEquals": {"eks:policyArn": policy}}
    }


def _allow(name: str, actions: list[str], resources: list[str]) -> Statement:
    return {"Sid": name, "Effect": "Allow", "Action": actions, "Resource": resources}


@dataclass(frozen=True, kw_only=True, slots=True)
class Policies:
    """Who must be allowed what.

    The documents of the person or pipeline, and those of CloudFormation's execution role, are each
    meant together. The ARNs of that role are empty without a bootstrap.
    """

    deployer: tuple[Document, ...]
    cloudformation: tuple[Document, ...]
    execution_roles: tuple[str, ...]


def policies_of(assembly: Path, *, deployment: str, environment: Environment) -> Policies:
    """Return the policies with which a synthesized deployment is deployed, updated and destroyed.

    An OSError if nothing was synthesized into the directory; an UnknownTypeError as `needs` says.
    """
    stacks = stacks_by_name(assembly)
    resources = [resource for stack in stacks for resource in stack.resources.values()]
    names = Names(deployment=deployment, environment=environment, resources=resources)
    needed = needs({stack.name: stack.template for stack in stacks}, names)
    return Policies(
        deployer=tuple(split(_statements(assembly, names))),
        cloudformation=tuple(split(statements_of(needed))),
        execution_roles=tuple(sorted(set(execution_roles(assembly, environment)))),
    )


def environment_of(config: Config, *, account: str | None) -> Environment:
    """Return where a configuration goes; if no account is given, it is that of the credentials."""
    session = boto3.Session()
    region = region_of(config, session=session)
    if account is None:
        try:
            account = session.client("sts", region_name=region).get_caller_identity()["Account"]
        except (BotoCoreError, ClientError) as error:
            raise AccountError(
                f"The account is not known ({error}): name it with --account 111122223333."
            ) from error
    partition = session.get_partition_for_region(region)
    return Environment(partition=partition, region=region, account=account)


def documents(policies: Policies) -> Iterator[tuple[str, Document]]:
    """Yield the documents, each with its name."""
    for kind, those in (
        ("deployer", policies.deployer),
        ("cloudformation", policies.cloudformation),
    ):
        for number, document in enumerate(those, start=1):
            yield f"{kind}-{number}", document


def write(documents: dict[str, Document], directory: Path) -> None:
    """Write documents into a folder, in the place of all that are there."""
    directory.mkdir(parents=True, exist_ok=True)
    for earlier in directory.glob("*.json"):
        earlier.unlink()
    for name, document in documents.items():
        text = json.dumps(document, indent=2) + "\n"
        (directory / f"{name}.json").write_text(text, encoding="utf-8")


def next_steps(
    config_path: Path,
    deployment: str,
    policies: Policies,
    environment: Environment,
    directory: Path,
) -> Iterator[str]:
    """Yield what the documents are for, and the commands that use them."""
    made = dict(documents(policies))
    sizes = {
        name: f"  {directory}/{name}.json ({size(document)} characters)"
        for name, document in made.items()
    }
    yield "For the person or pipeline that deploys:"
    yield from (line for name, line in sizes.items() if name.startswith("deployer"))
    roles = ", ".join(policies.execution_roles)
    yield f"For CloudFormation's role {roles}, instead of AdministratorAccess:"
    yield from (line for name, line in sizes.items() if name.startswith("cloudformation"))
    count = len(policies.cloudformation)
    yield f"  {count} of the {POLICIES_OF_A_ROLE} managed policies that a role can have by default"
    yield "Create them, and bootstrap with them:"
    # A name for each content and region, so that an update's policies fit next to the former ones.
    names = {
        name: f"{name}-{environment.region}-{sha256(json.dumps(document).encode()).hexdigest()[:8]}"
        for name, document in made.items()
    }
    for name in made:
        yield (
            f"  aws iam create-policy --policy-name {deployment}-{names[name]} "
            f"--policy-document file://{directory}/{name}.json"
        )
    arns = ",".join(
        environment.iam_arn(f"policy/{deployment}-{names[name]}")
        for name in made
        if name.startswith("cloudformation")
    )
    yield f"  {command_line('bootstrap', config_path, '--policies', arns)}"
