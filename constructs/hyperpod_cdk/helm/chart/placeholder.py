"""What stands for the official chart where it is not packaged, so that templates can be made."""

from hyperpod_cdk.helm.chart.chart import HyperPodChart, read_hyperpod_chart
from hyperpod_cdk.helm.chart.rules import CHART_CHECKS
from hyperpod_cdk.schema.errors import Finding, Severity
from hyperpod_cdk.synthesis.assets import asset_directory

TO_PACKAGE = (
    "run `make charts` (needs git and the network) and synthesize again, or name a chart of your "
    "own in helm.chart"
)
"""What to do about a placeholder."""


def placeholder_chart() -> HyperPodChart:
    """Return the chart that stands for the official one."""
    return read_hyperpod_chart(asset_directory("charts") / "not-packaged")


def placeholder_warning() -> Finding:
    """Return what is shown at synth, with the checks that are left out."""
    message = (
        "is the official chart, which is not packaged: the templates have a placeholder and cannot "
        f"be deployed; {TO_PACKAGE} (not checked: {', '.join(CHART_CHECKS)})"
    )
    return Finding(
        path=("helm", "chart"),
        value=None,
        message=message,
        severity=Severity.WARNING,
        rule="chart_not_packaged",
    )
