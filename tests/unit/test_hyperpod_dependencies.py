"""Values of the HyperPod dependencies' chart."""

from typing import Any

import pytest

from hyperpod_cdk.hyperpod_dependencies import hyperpod_dependency_values

AGENT = "health-monitoring-agent"


@pytest.mark.parametrize(
    ("overrides", "values"),
    [
        pytest.param(None, {AGENT: {"region": "eu-west-1"}}, id="default"),
        pytest.param({}, {AGENT: {"region": "eu-west-1"}}, id="none"),
        pytest.param(
            {AGENT: {"enabled": False}},
            {AGENT: {"region": "eu-west-1", "enabled": False}},
            id="beside",
        ),
        pytest.param({AGENT: {"region": "us-east-1"}}, {AGENT: {"region": "us-east-1"}}, id="over"),
        pytest.param({AGENT: None}, {AGENT: None}, id="removed"),
        pytest.param(
            {"mpi-operator": {"enabled": [1]}},
            {AGENT: {"region": "eu-west-1"}, "mpi-operator": {"enabled": [1]}},
            id="another-chart",
        ),
    ],
)
def test_overrides_are_merged_key_by_key(
    overrides: dict[str, Any] | None, values: dict[str, Any]
) -> None:
    assert hyperpod_dependency_values(region="eu-west-1", overrides=overrides) == values
