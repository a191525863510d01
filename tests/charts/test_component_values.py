"""The toggles as values of the official chart, and as objects of every chart that is at hand."""

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from hyperpod_cdk.helm.chart.chart import read_hyperpod_chart
from hyperpod_cdk.helm.chart.rules import dependency_values, values_for_chart
from hyperpod_cdk.stacks.packaged_chart import OFFICIAL_CHART
from hyperpod_cli.deliver.charts.manifest import parse_objects
from rehearsal.chart_choice import STAND_IN
from tests.conftest import Configure
from tests.support.chart_rendering import template
from tests.support.component_cases import (
    CASES,
    NAMESPACE,
    OBJECTS,
    REGION,
    RELEASE,
    VALUES_CASES,
)
from tests.support.configs import REPOSITORY

_OFFICIAL = REPOSITORY / OFFICIAL_CHART
# `make charts` needs the network: where it has not been run, the stand-in speaks for both.
CHARTS = [STAND_IN, *([_OFFICIAL] if _OFFICIAL.is_file() else [])]
_CLUSTER_SCOPED = ("Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition")


@pytest.mark.parametrize("name", VALUES_CASES)
def test_values_are_as_reviewed(
    name: str, configure: Configure, snapshot: SnapshotAssertion
) -> None:
    config = configure(VALUES_CASES[name])

    values = dependency_values(
        config.helm, region=REGION, instance_types=config.cluster.instance_types
    )

    assert values == snapshot.use_extension(JSONSnapshotExtension)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_exactly_the_components_that_are_on_are_rendered(
    chart: Path, name: str, configure: Configure, tmp_path: Path
) -> None:
    config = configure(CASES[name])
    values = values_for_chart(
        read_hyperpod_chart(chart),
        helm=config.helm,
        region=REGION,
        instance_types=config.cluster.instance_types,
    )

    on = [component for component, is_on in config.components.switches().items() if is_on]
    assert rendered(chart, values=values, home=tmp_path) == {
        item for component in on for item in OBJECTS[component]
    }


def rendered(chart: Path, *, values: dict[str, Any], home: Path) -> set[str]:
    arguments = (RELEASE, chart, "--namespace", NAMESPACE, "--include-crds")
    text = template(*arguments, values=values, home=home)
    return {identity(item) for item in parse_objects(text).values()}


def identity(item: dict[str, Any]) -> str:
    """Name an object as the API server will: the official chart gives namespaces by chance."""
    kind, metadata = item["kind"], item["metadata"]
    if kind in _CLUSTER_SCOPED:
        return f"{kind} {metadata['name']}"
    return f"{kind} {metadata.get('namespace', NAMESPACE)}/{metadata['name']}"
