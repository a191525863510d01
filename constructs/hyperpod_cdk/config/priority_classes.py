"""The `helm.priority_classes` section: which pods are scheduled first."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

from pydantic import AfterValidator, Field

from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.kubernetes_names import DNS_SUBDOMAIN
from hyperpod_cdk.config.limits import Matching, OneOf
from hyperpod_cdk.config.section import Section
from hyperpod_cdk.priority_class import (
    DEFAULT_PRIORITY_CLASSES,
    HIGHEST_VALUE,
    LOWEST_VALUE,
    PREEMPTION_POLICIES,
    PriorityClass,
)

# As long as a label's value, for Kueue's label kueue.x-k8s.io/priority-class.
_LONGEST_NAME = 63


def _reserved(name: str) -> str:
    if name.startswith("system-"):
        raise ValueError("must not start with system-, which Kubernetes keeps for its own classes")
    if name.endswith("-priority"):
        raise ValueError(
            "must not end with -priority: HyperPod task governance names its classes so, and jobs "
            "could not tell them apart"
        )
    return name


def _value(value: int) -> int:
    if not LOWEST_VALUE <= value <= HIGHEST_VALUE:
        raise ValueError(f"must be {LOWEST_VALUE} to {HIGHEST_VALUE}, Kubernetes' limits")
    return value


class PriorityClassConfig(Section):
    """A Kubernetes PriorityClass, which pods name in priorityClassName."""

    name: Annotated[
        str,
        Matching(
            pattern=DNS_SUBDOMAIN,
            longest=_LONGEST_NAME,
            rule=f"must be 1 to {_LONGEST_NAME} lower-case letters, digits, inner hyphens and dots",
        ),
        AfterValidator(_reserved),
    ]
    """Name of the class, once in the list; neither system-... nor ...-priority, which belong to
    Kubernetes and to HyperPod task governance."""

    value: Annotated[
        int,
        AfterValidator(_value),
        Field(json_schema_extra={"minimum": LOWEST_VALUE, "maximum": HIGHEST_VALUE}),
    ]
    """Priority, -2147483648 to 1000000000; the greater goes first, and pods without a class have 0.
    Kubernetes never changes it: for another value take another name."""

    preemption_policy: Annotated[str, OneOf(values=PREEMPTION_POLICIES, noun="a policy")] = (
        "PreemptLowerPriority"
    )
    """PreemptLowerPriority: evicts pods of lower priority where there is no room. Never: waits.
    Kubernetes never changes it."""

    description: str = ""
    """For whom the class is. Default: none."""

    global_default: bool = False
    """Whether pods that name no class get this one; true for one class at most. Default: false."""

    def priority_class(self) -> PriorityClass:
        """Return the class as constructs take it."""
        return PriorityClass(**self.model_dump())


DEFAULTS = tuple(PriorityClassConfig(**asdict(item)) for item in DEFAULT_PRIORITY_CLASSES)


def priority_class_faults(classes: Sequence[PriorityClassConfig]) -> Iterator[Fault]:
    """Find what keeps classes from standing beside each other."""
    first: dict[str, int] = {}
    default: int | None = None
    for index, item in enumerate(classes):
        if item.name in first:
            message = f"is already the name of [{first[item.name]}]; names must differ"
            yield Fault(path=(index, "name"), value=item.name, message=message)
        first.setdefault(item.name, index)
        if item.global_default and default is not None:
            message = f"must be false, for it is true for {classes[default].name}: only one can be"
            yield Fault(path=(index, "global_default"), value=True, message=message)
        if item.global_default and default is None:
            default = index


def check_priority_classes(
    classes: tuple[PriorityClassConfig, ...] | None,
) -> tuple[PriorityClassConfig, ...] | None:
    """Return the classes; raise what keeps them from standing beside each other."""
    refuse(priority_class_faults(classes or ()))
    return classes
