"""Priorities of jobs go in the order of the pods' priority classes."""

from itertools import combinations

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error


def governance_priorities(config: Config) -> Findings:
    """Find two names in both lists that go in another order in each.

    Kueue admits jobs by the one, and Kubernetes evicts pods by the other: a job that goes first
    would be evicted by the one that waits for it.

    https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/
    """
    if config.governance is None:
        return
    values = {each.name: each.value for each in config.helm.priority_classes or ()}
    both = [
        (index, each)
        for index, each in enumerate(config.governance.priority_classes)
        if each.name in values
    ]
    for (_, one), (index, other) in combinations(both, 2):
        by_weight, by_value = one.weight - other.weight, values[one.name] - values[other.name]
        if by_weight * by_value < 0:
            first, last = (other, one) if by_value < 0 else (one, other)
            yield error(
                ("governance", "priority_classes", index, "weight"),
                other.weight,
                f"puts {last.name} before {first.name}, and helm.priority_classes has them in the "
                "other order; give both lists one order",
            )
