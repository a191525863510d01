"""Rules between the instance groups of a cluster."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.limits import limit_faults
from hyperpod_cdk.config.node_group import NodeGroupConfig
from hyperpod_cdk.config.validation_faults import faults_of
from hyperpod_cdk.service_limits import Shape

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
    """Validate a list of groups; a fault within one does not hide those between the groups.

    Args:
        value: The list as given.
        handler: Validates each group.
        model: The groups' section.
        key: The list's own key.
        limits: Of the number of groups.
        taken: Names of the groups in `instance_groups`, for the other list.

    Raises:
        RuleError: There are faults.
    """
    faults = (
        list(_list_faults(value, key=key, limits=limits, taken=taken))
        if isinstance(value, list | tuple)
        else []
    )
    try:
        groups = handler(value)
    except ValidationError as error:
        refuse([*faults_of(error, model=model), *faults])
        raise
    refuse(faults)
    return groups


def _list_faults(
    groups: Sequence[Any], *, key: str, limits: Shape, taken: Sequence[str]
) -> Iterator[Fault]:
    yield from limit_faults(len(groups), limits=limits, noun="the number of instance groups")
    owner = {name: f"instance_groups[{index}]" for index, name in enumerate(taken)}
    for index, group in enumerate(groups):
        name = group.get("name") if isinstance(group, dict) else getattr(group, "name", None)
        if not isinstance(name, str):
            continue
        if name in owner:
            message = f"is already the name of {owner[name]}; names must differ"
            yield Fault(path=(index, "name"), value=name, message=message)
        owner.setdefault(name, f"{key}[{index}]")
