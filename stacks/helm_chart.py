"""Which chart of the HyperPod dependencies a deployment installs."""

from pathlib import Path

from hyperpod_cdk import Config

# `make charts` puts the official chart here under this name whatever its version.
OFFICIAL_CHART = Path("build/charts/hyperpod-helm-chart.tgz")


class HelmChartMissingError(Exception):
    """There is no packaged chart to deploy."""


def helm_chart(config: Config) -> Path:
    """Return the chart to deploy: the configured one, else the official one.

    Raises:
        HelmChartMissingError: The official chart is not packaged; one line that says what to do.
    """
    if config.helm.chart is not None:
        return Path(config.helm.chart)
    if not OFFICIAL_CHART.is_file():
        raise HelmChartMissingError(
            f"{OFFICIAL_CHART}: the HyperPod dependencies' Helm chart is not packaged yet; run "
            "`make charts` once (needs git and the network), or name a chart of your own in the "
            "configuration's helm.chart"
        )
    return OFFICIAL_CHART
