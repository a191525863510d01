"""The `helm.priority_classes` section: which pods are scheduled first."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.limits import DNS_SUBDOMAIN, Message, same_names
from hyperpod_cdk.schema.section import Api, Section

# https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
_HIGHEST_VALUE, _LOWEST_VALUE = 1_000_000_000, -(2**31)
# As long as a label's value, for Kueue's label kueue.x-k8s.io/priority-class.
_LONGEST_NAME = 63


def _reserved(name: str) -> str:
    if name.startswith("system-"):
        raise ValueError("must not start with system-, which Kubernetes keeps for its own classes")
    if name.endswith("-priority"):
        raise ValueError(
            "must not end with -priority: HyperPod task governance gives its classes such names, "
            "and jobs could not tell them apart"
        )
    return name


class PriorityClassConfig(Section):
    """A Kubernetes PriorityClass, which pods name in priorityClassName."""

    name: Annotated[
        str,
        Field(pattern=rf"^{DNS_SUBDOMAIN}$", max_length=_LONGEST_NAME),
        Message(f"must be 1 to {_LONGEST_NAME} lower-case letters, digits, inner hyphens and dots"),
        AfterValidator(_reserved),
        Api("name"),
    ]
    """Name of the class, unique in the list; neither system-... nor ...-priority, which belong to
    Kubernetes and to HyperPod task governance."""

    value: Annotated[
        int,
        Field(ge=_LOWEST_VALUE, le=_HIGHEST_VALUE),
        Message(f"must be {_LOWEST_VALUE} to {_HIGHEST_VALUE}, Kubernetes' limits"),
        Api("value"),
    ]
    """Priority, -2147483648 to 1000000000; higher values go first, and pods without a class have 0.
    Kubernetes does not allow changes: for another value, use another name."""

    preemption_policy: Annotated[
        Literal["PreemptLowerPriority", "Never"], Api("preemptionPolicy")
    ] = "PreemptLowerPriority"
    """PreemptLowerPriority: evicts pods of lower priority if there is no capacity. Never: waits.
    Kubernetes does not allow changes."""

    description: Annotated[str, Api("description")] = ""
    """Description of the class. Default: none."""

    global_default: Annotated[bool, Api("globalDefault")] = False
    """Whether pods without a class get this one; true for at most one class. Default: false."""


DEFAULT_PRIORITY_CLASSES: Final = (
    PriorityClassConfig(
        name="inference",
        value=100_000,
        description="Serves requests; takes the place of training and best-effort work",
    ),
    PriorityClassConfig(
        name="training",
        value=10_000,
        description="Training; takes the place of best-effort work and of pods without a class",
    ),
    PriorityClassConfig(
        name="best-effort",
        value=-10,
        preemption_policy="Never",
        description="Runs where nothing else does; makes room for every other pod",
    ),
)


def priority_class_findings(classes: Sequence[PriorityClassConfig]) -> Iterator[Finding]:
    """Find what keeps classes from standing next to each other."""
    yield from same_names(classes)
    default: str | None = None
    for index, item in enumerate(classes):
        if item.global_default and default is None:
            default = item.name
        elif item.global_default:
            message = f"must be false, for it is true for {default}: only one can be"
            yield Finding(path=(index, "global_default"), value=True, message=message)
