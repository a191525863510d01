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
    **dict.fromkeys(
        (
            f"{_FRAMEWORK}onEventServiceRole",
            f"{_FRAMEWORK}isCompleteServiceRole",
            f"{_FRAMEWORK}onTimeoutServiceRole",
            "ProvisionerProviderwaiterstatemachineRole",
        ),
        (
            "CDK's provider framework",
            "Three functions take CloudFormation's request, poll the provisioner, and tell "
            "CloudFormation that the time is over; a Step Functions state machine waits between "
            "two polls. Each has a role.",
        ),
    ),
    "EksClusterRole": ("EKS control plane", "EKS runs the control plane with it."),
    "NetworkVpcFlowLogIAMRole": ("VPC flow log", "The flow log is delivered with it."),
}
"""Title and text of each role that a default deployment has; some roles share them."""

_BY_CDK = {
    "lambda:InvokeFunction": "CDK's framework calls the provisioner's functions, each version.",
    "lambda:GetFunction": "CDK's framework waits until a function can be invoked.",
    "states:StartExecution": "It starts the waiter.",
    "logs:CreateLogStream": "It writes its own log group.",
    "logs:CreateLogDelivery": "Its steps are logged. AWS takes no resource for log delivery.",
}
"""Why statements are there that the CDK makes, which have no names, by their first action."""

_MOST_SHOWN = 3
_MOST_EXPLAINED = 3


def role_lines(roles: Sequence[Role], *, reasons: Sequence[Reason]) -> Iterator[str]:
    """Yield what is said of the roles of a default deployment, and of what keys add to them."""
    why = {each.key: each.why for each in reasons}
    of_title: dict[tuple[str, str], list[Role]] = {}
    for role in roles:
        of_title.setdefault(ROLES[role.name], []).append(role)
    for (title, text), alike in of_title.items():
        yield f"\n### {title}\n"
        yield f"{text} Assumed by {' and by '.join(dict.fromkeys(map(_trust, alike)))}."
        for policy in dict.fromkeys(policy for role in alike for policy in role.managed_policies):
            yield f"Has the AWS managed policy `{policy}`."
        statements = [each for role in alike for each in role.statements]
        if statements:
            yield "\n| statement | allows | on | why |\n|---|---|---|---|"
        yield from dict.fromkeys(
            _row(each, why=_BY_CDK.get(each.name) or why[each.key]) for each in statements
        )
    yield "\n### What keys of the configuration add\n"
    yield "| key | statements, and why |\n|---|---|"
    added: dict[str, dict[str, str]] = {}
    for each in reasons:
        if each.added_by is not None:
            added.setdefault(each.added_by, {})[f"`{each.name}`"] = each.why
    for key, reason_by_name in added.items():
        # Of many, the names say it; the templates have no other words.
        cell = (
            ", ".join(reason_by_name)
            if len(reason_by_name) > _MOST_EXPLAINED
            else "<br>".join(f"{name}: {reason}" for name, reason in reason_by_name.items())
        )
        yield f"| {key} | {cell} |"


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
