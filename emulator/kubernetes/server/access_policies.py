"""What EKS's access policies allow, as rules of Kubernetes.

`access_policies.json` has the tables of
https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html, without the API
group `extensions`, which Kubernetes no longer serves. AmazonSagemakerHyperpodTrainingPolicy is in
words only, at https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-studio-setup-eks.html.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

_ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Verbs on resources of an API group; `*` is any.

    Attributes:
        group: API group; empty for the core group.
        resources: Plural names, or with a subresource: `pods/log`.
        verbs: Kubernetes verbs.
    """

    group: str
    resources: Sequence[str]
    verbs: Sequence[str]

    def allows(self, *, verb: str, group: str, resource: str) -> bool:
        """Whether the rule allows a verb on a resource, which may have a subresource."""
        return (
            self.group in (_ANY, group)
            and (_ANY in self.resources or resource in self.resources)
            and (_ANY in self.verbs or verb in self.verbs)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """An access policy, and where it holds.

    Attributes:
        policy: Its name; one without rules here allows nothing.
        namespaces: Namespaces, or patterns of them; none for the whole cluster.
    """

    policy: str
    namespaces: Sequence[str] = ()

    def allows(self, *, verb: str, group: str, resource: str, namespace: str) -> bool:
        """Whether it allows a verb on a resource in a namespace, empty for none."""
        return self._holds_in(namespace) and any(
            rule.allows(verb=verb, group=group, resource=resource)
            for rule in _policies().get(self.policy, ())
        )

    def _holds_in(self, namespace: str) -> bool:
        return not self.namespaces or any(
            namespace and fnmatchcase(namespace, pattern) for pattern in self.namespaces
        )


@cache
def _policies() -> Mapping[str, Sequence[Rule]]:
    tables = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {name: tuple(Rule(**rule) for rule in rules) for name, rules in tables.items()}
