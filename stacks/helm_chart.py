"""Which chart of the HyperPod dependencies a deployment installs."""

from pathlib import Path

from hyperpod_cdk.config import Config

# `make charts` puts the official chart here under this name whatever its version.
OFFICIAL_CHART = Path("build/charts/hyperpod-helm-chart.tgz")


class HelmChartMissingError(Exception):
    """There is no packaged chart to deploy."""


def helm_chart(config: Config, *, config_path: Path) -> Path:
    """Return the chart to deploy: the configured one, else the official one.

    Args:
        config: The configuration.
        config_path: File it came from; a relative `helm.chart` is relative to its folder.

    Raises:
        HelmChartMissingError: The file is not there; one line that says how to get it.
    """
    if config.helm.chart is not None:
        chart: Path = config_path.parent / config.helm.chart
        if not chart.exists():
            raise HelmChartMissingError(
                f"{config_path}: helm.chart: {config.helm.chart!r} does not exist "
                f"(looked for {chart}); give a packaged chart (.tgz) or a chart directory, or "
                "remove the key to use the official chart"
            )
        return chart
    if not OFFICIAL_CHART.is_file():
        raise HelmChartMissingError(
            f"{OFFICIAL_CHART}: the HyperPod dependencies' Helm chart is not packaged yet; run "
            "`make charts` once (needs git and the network), or set helm.chart in "
            f"{config_path} to a chart of your own"
        )
    return OFFICIAL_CHART
