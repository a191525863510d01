"""Editors get no namespace of the charts, nor of HyperPod's add-ons."""

from typing import Final

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import matches
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.node_health.section import RECURRING_NAMESPACE
from hyperpod_cdk.observability.section import CLOUDWATCH_NAMESPACE, METRICS_NAMESPACE
from hyperpod_cdk.observability.section import RELEASE as GRAFANA
from hyperpod_cdk.schema.errors import Findings, error
from hyperpod_shared.governance import KUEUE_NAMESPACE

# Those of what may be installed later, too. A law looks for each namespace of a template among
# them, and a test for each that a chart makes.
# https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
CLOSED_NAMESPACES: Final = frozenset(
    {
        *(addon.namespace for addon in OPERATOR_ADDONS),
        CLOUDWATCH_NAMESPACE,
        METRICS_NAMESPACE,
        GRAFANA,
        KUEUE_NAMESPACE,
        RECURRING_NAMESPACE,
        *HelmConfig.model_fields["adopt_namespaces"].default,
    }
)
"""Namespaces that no editor gets, whatever the configuration says."""


def editors_namespaces(config: Config) -> Findings:
    """Find namespaces of editors in which charts have service accounts.

    Some of these may make role bindings, read all secrets, or change nodes. The official chart's
    namespaces are those that its release may adopt by default.

    https://kubernetes.io/docs/concepts/security/rbac-good-practices/#workload-creation
    """
    helm = config.helm
    of_charts = sorted({helm.namespace, *helm.adopt_namespaces, *CLOSED_NAMESPACES})
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
