"""The part of docs/security.md that is written from the templates."""

from collections.abc import Iterator, Mapping, Sequence

from tools.security.roles import Reason, Role, Statement

_FRAMEWORK = "ProvisionerProviderframework"

ROLES: Mapping[str, tuple[str, str]] = {
    "ExecutionRole": (
        "Nodes",
        "Every HyperPod node runs as this role, and so does anyone who is root on a node or in a "
        "pod with the host's network.",
    ),
    "ProvisionerRole": (
        "Provisioner",
        "The Lambda functions behind the custom resources. An access entry makes the role "
        "cluster admin in Kubernetes, since charts make CRDs, cluster roles and namespaces.",
    ),
    f"{_FRAMEWORK}onEventServiceRole": (
        "CDK's provider framework: start",
        "Takes CloudFormation's request and calls the provisioner.",
    ),
    f"{_FRAMEWORK}isCompleteServiceRole": (
        "CDK's provider framework: poll",
        "Asks the provisioner whether the work is done.",
    ),
    f"{_FRAMEWORK}onTimeoutServiceRole": (
        "CDK's provider framework: end of time",
        "Tells CloudFormation that the hour is over.",
    ),
    "ProvisionerProviderwaiterstatemachineRole": (
        "CDK's provider framework: waiter",
        "The Step Functions state machine between two polls.",
    ),
    "EksClusterRole": ("EKS control plane", "EKS runs the control plane with it."),
    "NetworkVpcFlowLogIAMRole": ("VPC flow log", "The flow log is delivered with it."),
}
"""Title and text of each role that a default deployment has."""

_BY_CDK = {
    "lambda:InvokeFunction": "CDK's framework calls the provisioner's functions, each version.",
    "lambda:GetFunction": "CDK's framework waits until a function can be invoked.",
    "states:StartExecution": "It starts the waiter.",
    "logs:CreateLogStream": "It writes its own log group.",
    "logs:CreateLogDelivery": "Its steps are logged. AWS takes no resource for log delivery.",
}
"""Why statements are there that the CDK makes, which have no names, by their first action."""

_MOST_SHOWN = 3


def role_lines(roles: Sequence[Role], *, reasons: Sequence[Reason]) -> Iterator[str]:
    """Yield what is said of the roles of a default deployment, and of what keys add to them."""
    why = {each.key: each.why for each in reasons}
    for role in roles:
        title, text = ROLES[role.name]
        yield f"\n### {title}\n"
        yield f"{text} Assumed by {_trust(role)}."
        for policy in role.managed_policies:
            yield f"Has the AWS managed policy `{policy}`."
        if role.statements:
            yield "\n| statement | allows | on | why |\n|---|---|---|---|"
        yield from dict.fromkeys(
            _row(each, why=_BY_CDK.get(each.name) or why[each.key]) for each in role.statements
        )
    yield "\n### What keys of the configuration add\n"
    yield "| key | statements, and why |\n|---|---|"
    added: dict[str, list[str]] = {}
    for each in reasons:
        if each.added_by is not None:
            added.setdefault(each.added_by, []).append(f"`{each.name}`: {each.why}")
    for key, statements in added.items():
        yield f"| {key} | {'<br>'.join(statements)} |"


def _trust(role: Role) -> str:
    return " and by ".join(
        f"`{principal}`{_under(conditions)}" for principal, conditions in role.trust.items()
    )


def _under(conditions: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    named = [f"`{operator}` `{key}`" for operator, keys in conditions.items() for key in keys]
    return f" under {' and '.join(named)}" if named else ""


def _row(statement: Statement, *, why: str) -> str:
    conditions = [
        f"`{key}`: {_some(values)}"
        for keys in statement.conditions.values()
        for key, values in keys.items()
    ]
    where = _some([_named(resource) for resource in dict.fromkeys(statement.resources)])
    if conditions:
        where += f", if {' and '.join(conditions)}"
    actions = ", ".join(f"`{action}`" for action in statement.actions)
    return f"| `{statement.name}` | {actions} | {where} | {why} |"


def _named(resource: str) -> str:
    """Return a resource without what differs from one synthesis to the next."""
    bucket, slash, _ = resource.partition("/")
    return f"{bucket}/<digest>.zip" if slash and "-assets-" in bucket else resource


def _some(values: Sequence[str]) -> str:
    shown = ", ".join(f"`{value}`" for value in values[:_MOST_SHOWN])
    more = len(values) - _MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
