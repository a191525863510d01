"""Rules between the instance groups of a cluster."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from hyperpod_cdk.facts.service_limits import Shape
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import limit_findings
from hyperpod_cdk.schema.section import findings_of

Group = TypeVar("Group", bound=NodeGroupConfig)


def checked_groups(
    value: object,
    *,
    handler: Callable[[object], tuple[Group, ...]],
    model: type[Group],
    key: str,
    limits: Shape,
    taken: Sequence[str] = (),
) -> tuple[Group, ...]:
    """Validate a list of groups; a finding within one does not hide those between the groups.

    Args:
        value: The list as given.
        handler: Validates each group.
        model: The groups' section.
        key: The list's own key.
        limits: The limits of the number of groups.
        taken: Names of the groups in `instance_groups`, for the other list.

    Raises:
        RefusedError: There are findings.
    """
    findings = (
        list(_list_findings(value, key=key, limits=limits, taken=taken))
        if isinstance(value, list | tuple)
        else []
    )
    try:
        groups = handler(value)
    except ValidationError as error:
        refuse([*findings_of(error, model=model), *findings])
        raise
    refuse(findings)
    return groups


def _list_findings(
    groups: Sequence[Any], *, key: str, limits: Shape, taken: Sequence[str]
) -> Iterator[Finding]:
    yield from limit_findings(len(groups), limits=limits, noun="the number of instance groups")
    owner = {name: f"instance_groups[{index}]" for index, name in enumerate(taken)}
    for index, group in enumerate(groups):
        name = group.get("name") if isinstance(group, dict) else getattr(group, "name", None)
        if not isinstance(name, str):
            continue
        if name in owner:
            message = f"is already the name of {owner[name]}; names must differ"
            yield Finding(path=(index, "name"), value=name, message=message)
        owner.setdefault(name, f"{key}[{index}]")
