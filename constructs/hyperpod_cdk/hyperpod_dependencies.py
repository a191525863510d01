"""Values of the HyperPod dependencies' Helm chart."""

from collections.abc import Mapping
from typing import Any


def hyperpod_dependency_values(
    *, region: str, overrides: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the chart's values for a region.

    The health-monitoring agent's image is regional and the chart would look the region up on a
    node; there is none yet when the chart is installed, and it would fall back to us-east-1.

    Args:
        region: AWS region; may be a token.
        overrides: Merged last, key by key. Default: none.
    """
    return _merged({"health-monitoring-agent": {"region": region}}, overrides or {})


def _merged(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in overrides.items():
        current = merged.get(key)
        if isinstance(current, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(current, value)
        else:
            merged[key] = value
    return merged
