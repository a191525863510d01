"""The namespaces of charts and add-ons, which are no editor's."""

from typing import Final

from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.node_health.section import RECURRING_NAMESPACE
from hyperpod_cdk.observability.section import CLOUDWATCH_NAMESPACE, METRICS_NAMESPACE
from hyperpod_cdk.observability.section import RELEASE as GRAFANA
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
