"""Editors get no namespace of the charts, nor of HyperPod's add-ons."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import matches
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.observability.section import CLOUDWATCH_NAMESPACE, METRICS_NAMESPACE, RELEASE
from hyperpod_cdk.schema.errors import Findings, error

# Of what may be installed later, too: the EKS add-ons of `operators`, of observability and of task
# governance, and Grafana.
# https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
_OF_ADDONS = {
    *(addon.namespace for addon in OPERATOR_ADDONS),
    CLOUDWATCH_NAMESPACE,
    METRICS_NAMESPACE,
    RELEASE,
    "kueue-system",
}


def editors_namespaces(config: Config) -> Findings:
    """Find namespaces of editors in which charts have service accounts.

    Some of these may make role bindings, read all secrets, or change nodes. The official chart's
    namespaces are those that its release may adopt by default.

    https://kubernetes.io/docs/concepts/security/rbac-good-practices/#workload-creation
    """
    helm = config.helm
    official = HelmConfig.model_fields["adopt_namespaces"].default
    of_charts = sorted({helm.namespace, *helm.adopt_namespaces, *official, *_OF_ADDONS})
    for index, editors in enumerate(config.eks.editors):
        for position, pattern in enumerate(editors.namespaces):
            for name in matches(pattern, of_charts):
                yield error(
                    ("eks", "editors", index, "namespaces", position),
                    pattern,
                    f"must leave out {name}, where the Helm release or an add-on has, or once it "
                    "is installed gets, service accounts with rights on the whole cluster: an "
                    "editor may act as them, and so as an admin; name other namespaces, or list "
                    "the principals in eks.admins",
                )
