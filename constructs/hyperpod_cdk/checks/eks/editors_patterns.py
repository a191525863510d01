"""Editors' namespaces have names, where a policy belongs to a namespace."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, warning


def editors_patterns(config: Config) -> Findings:
    """Find patterns: a network policy, and a quota, is of one namespace that exists.

    https://kubernetes.io/docs/concepts/services-networking/network-policies/
    """
    for index, editors in enumerate(config.eks.editors):
        for position, pattern in enumerate(editors.namespaces):
            if "*" in pattern:
                message = (
                    "is a pattern: its namespaces get no network policy and no limit of dynamic "
                    "storage, so pods of other teams reach theirs; list the namespaces instead"
                )
                yield warning(("eks", "editors", index, "namespaces", position), pattern, message)
