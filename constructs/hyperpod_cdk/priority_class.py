"""Kubernetes PriorityClasses: which pods are scheduled first, and which make room."""

from dataclasses import dataclass
from typing import Final

HIGHEST_VALUE: Final = 1_000_000_000
LOWEST_VALUE: Final = -(2**31)
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")


@dataclass(frozen=True, kw_only=True, slots=True)
class PriorityClass:
    """A class that pods name in `priorityClassName`.

    https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/

    Attributes:
        name: Lower-case letters, digits, inner hyphens and dots. Not `system-...`, which is
            Kubernetes' own, nor `...-priority`, as HyperPod task governance names its classes.
        value: -2147483648 to 1000000000; the greater goes first. Pods without a class have 0.
        preemption_policy: `PreemptLowerPriority` evicts pods of lower priority when there is no
            room, `Never` waits. Default: `PreemptLowerPriority`.
        description: For whom it is.
        global_default: Whether it is the class of pods that name none. Default: no.
    """

    name: str
    value: int
    preemption_policy: str = "PreemptLowerPriority"
    description: str = ""
    global_default: bool = False


DEFAULT_PRIORITY_CLASSES: Final = (
    PriorityClass(
        name="inference",
        value=100_000,
        description="Serves requests; takes the place of training and best-effort work",
    ),
    PriorityClass(
        name="training",
        value=10_000,
        description="Training; takes the place of best-effort work and of pods without a class",
    ),
    PriorityClass(
        name="best-effort",
        value=-10,
        preemption_policy="Never",
        description="Runs where nothing else does; makes room for every other pod",
    ),
)
