"""Editors get no namespace of the charts."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import left_out, matches
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.schema.errors import Finding, error


def editors_namespaces(config: Config) -> Iterator[Finding]:
    """Find namespaces of editors in which charts have service accounts.

    Some of these may make role bindings, read all secrets, or change nodes. The official chart's
    namespaces are those that its release may adopt by default.

    https://kubernetes.io/docs/concepts/security/rbac-good-practices/#workload-creation
    """
    helm = config.helm
    official = HelmConfig.model_fields["adopt_namespaces"].default
    of_charts = sorted({helm.namespace, *helm.adopt_namespaces, *official})
    for index, editors in enumerate(config.eks.editors):
        for position, pattern in enumerate(editors.namespaces):
            for name in matches(pattern, of_charts):
                path = ("eks", "editors", index, "namespaces", position)
                yield error(path, pattern, left_out(name, owner="the Helm release"))
