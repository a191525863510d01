"""The PriorityClasses, that of Kubernetes for what a node needs and those of the configuration."""

from collections.abc import Sequence

from kubernetes.client import SchedulingV1Api

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject

_ADVICE = (
    "Pods that name a missing class are refused: run `hyperpod-cdk deploy`, and restore what was "
    "deleted"
)


@subject(phase=Phase.INSTALLATION, needs_kubernetes=True)
def priorities(deployment: LiveDeployment) -> Checks:
    """The classes of `helm.priority_classes` and `system-node-critical` exist."""
    listed = SchedulingV1Api(deployment.kubernetes).list_priority_class().items
    there = {item.metadata.name for item in listed}
    yield from _check(["system-node-critical"], there=there)
    wanted = [item.name for item in deployment.config.helm.priority_classes or ()]
    if wanted:
        yield from _check(wanted, there=there)


def _check(names: Sequence[str], *, there: set[str]) -> Checks:
    missing = [name for name in names if name not in there]
    yield checked(
        f"kubectl get priorityclass {' '.join(names)}",
        problem=f"there is no {' and no '.join(missing)}" if missing else None,
        advice=_ADVICE,
    )
