"""Editors get no namespace of the charts, nor of HyperPod's add-ons."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import matches
from hyperpod_cdk.schema.errors import Findings, error


def editors_namespaces(config: Config) -> Findings:
    """Find namespaces of editors in which charts have service accounts.

    Some of these may make role bindings, read all secrets, or change nodes.

    https://kubernetes.io/docs/concepts/security/rbac-good-practices/#workload-creation
    """
    for path, editors in config.editors:
        for position, pattern in enumerate(editors.namespaces):
            place = (*path, "namespaces", position)
            for name in matches(pattern, config.closed_namespaces):
                yield error(
                    place,
                    pattern,
                    f"must leave out {name}, where the Helm release or an add-on has, or once it "
                    "is installed gets, service accounts with rights on the whole cluster: an "
                    "editor may act as them, and so as an admin; name other namespaces, or list "
                    "the principals in eks.admins",
                )
