"""Which chart of the HyperPod dependencies a deployment installs."""

import hashlib
import os
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.chart import HyperPodChart, HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.helm.chart_rules import placeholder_chart
from hyperpod_cdk.synthesis.assets import asset_directory

# `hyperpod-cdk charts` puts the official chart here under this name whatever its version.
OFFICIAL_CHART = Path("build/charts/hyperpod-helm-chart.tgz")
STAND_IN_VARIABLE = "REHEARSAL_CHART"
"""Names the chart that stands in for the official one, in the shell of a rehearsal that is kept."""
_LOCAL_AWS = "http://127.0.0.1:"


def own_chart(config: Config) -> Path | None:
    """Return the chart that is installed in the place of the official one; None for that one.

    Raises:
        HyperPodChartError: The environment names a stand-in that is not there, or not for this AWS.
    """
    if config.helm.chart is not None:
        return Path(config.helm.chart)
    stand_in = os.environ.get(STAND_IN_VARIABLE)
    if not stand_in:
        return None
    if not Path(stand_in).exists():
        raise HyperPodChartError(
            f"{STAND_IN_VARIABLE}: {stand_in} does not exist; unset the variable, which belongs to "
            "a rehearsal"
        )
    if not os.environ.get("AWS_ENDPOINT_URL", "").startswith(_LOCAL_AWS):
        raise HyperPodChartError(
            f"{STAND_IN_VARIABLE}: {stand_in} is for a rehearsal's AWS, which AWS_ENDPOINT_URL "
            "does not name; unset the variable"
        )
    return Path(stand_in)


def packaged_chart(config: Config) -> Path | None:
    """Return the chart to deploy; None while the official one, which it is, is not packaged.

    Raises:
        HyperPodChartError: The environment names a stand-in that is not there, or not for this AWS.
    """
    return own_chart(config) or (OFFICIAL_CHART if OFFICIAL_CHART.is_file() else None)


def helm_chart(config: Config) -> HyperPodChart:
    """Return the chart to look at: the one to deploy, else a placeholder.

    Raises:
        HyperPodChartError: It cannot be read.
    """
    path = packaged_chart(config)
    return placeholder_chart() if path is None else read_hyperpod_chart(path)


def pinned_chart(config: Config, *, sha256: str | None = None) -> HyperPodChart:
    """Return the chart to synthesize with, as `helm_chart`.

    Args:
        config: The configuration.
        sha256: Digest of the official chart's package. Default: the one that this version pins.

    Raises:
        HyperPodChartError: It cannot be read, or is another package of the official chart.
    """
    if config.needs_official_chart and packaged_chart(config) == OFFICIAL_CHART:
        _refuse_other(sha256)
    return helm_chart(config)


def _refuse_other(sha256: str | None) -> None:
    """Refuse a package with another digest; of a commit that the user names, none is pinned."""
    pins: dict[str, Any] = yaml.safe_load((asset_directory("charts") / "pins.yaml").read_text())
    commit = pins["chart"]["git_commit"]
    if (os.environ.get("CHART_GIT_COMMIT") or commit) != commit:
        return
    expected = sha256 or pins["package_sha256"]
    digest = hashlib.sha256(OFFICIAL_CHART.read_bytes()).hexdigest()
    if digest != expected:
        raise HyperPodChartError(
            f"{OFFICIAL_CHART}: has SHA-256 {digest}, but {expected} is pinned; run "
            "`hyperpod-cdk charts`; for a package of another commit, set CHART_GIT_COMMIT to it, "
            "as when it was packaged"
        )
