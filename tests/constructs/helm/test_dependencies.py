"""Values of the HyperPod dependencies' chart: merging, and checks against what a chart contains."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import HelmConfig
from hyperpod_cdk.helm.chart import HyperPodChartError, read_hyperpod_chart
from hyperpod_cdk.helm.chart_rules import dependency_values, values_for_chart
from hyperpod_cli.deliver.charts.package import pack
from tests.conftest import Raises

AGENT = "health-monitoring-agent"
DEFAULT: dict[str, Any] = {}
GPU_OPERATOR: dict[str, Any] = {"components": {"gpu_operator": True}}
NO_AGENT: dict[str, Any] = {
    "components": {"health_monitoring_agent": False},
    "i_know_this_breaks_resiliency": True,
}
PACKAGING = {
    "health_monitoring_agent_regions": ["us-east-1", "us-west-2"],
    "absent": [
        {
            "component": "gpu-operator",
            "name": "gpu-operator",
            "version": "v26.3.1",
            "conditions": ["gpu-operator.enabled", "gpu-operator.gpu-operator.enabled"],
        },
        {
            "component": "cert-manager",
            "name": "cert-manager",
            "version": "v1.18.2",
            "conditions": ["cert-manager.enabled, certificates.enabled"],
        },
    ],
}
VENDORED = PACKAGING | {"absent": []}
REGIONAL = "gpu-operator: {gpu-operator: {operator: {repository: mirror, tag: v1}}}\n"

MakeChart = Callable[..., Path]


@pytest.fixture(params=["directory", "archive"])
def make_chart(request: pytest.FixtureRequest, tmp_path: Path) -> MakeChart:
    """Return a function from what `hyperpod-cdk charts` writes into a chart to a chart."""

    def chart(packaging: dict[str, Any] | None) -> Path:
        directory = tmp_path / "chart"
        (directory / "regional-values").mkdir(parents=True)
        (directory / "Chart.yaml").write_text(
            "name: chart\n"
            "dependencies: [{name: agent, alias: health-monitoring-agent}, {name: mpi}]\n"
        )
        (directory / "values.yaml").write_text("gpu-operator: {}\ncert-manager: {}\n")
        (directory / "templates" / "packaging").mkdir(parents=True)
        (directory / "templates" / "packaging" / "checks.yaml").write_text("{{ .Values }}")
        (directory / "templates" / "certificates.yaml").write_text(
            '{{ .Values.certificates.enabled }}{{ index $.Values "a-b" "c" }}'
        )
        (directory / "regional-values" / "values-us-west-2.yaml").write_text(REGIONAL)
        if packaging is not None:
            (directory / "packaging.json").write_text(json.dumps(packaging))
        if request.param == "directory":
            return directory
        archive = tmp_path / "chart.tgz"
        archive.write_bytes(pack(directory))
        return archive

    return chart


def values_of(
    helm: dict[str, Any], *, region: str = "us-west-2", chart: Path | None = None
) -> dict[str, Any]:
    config, types = HelmConfig(**helm), ["ml.g5.xlarge"]
    if chart is None:
        return dependency_values(config, region=region, instance_types=types)
    read = read_hyperpod_chart(chart)
    return values_for_chart(read, helm=config, region=region, instance_types=types)


@pytest.mark.parametrize(
    ("overrides", "agent"),
    [
        pytest.param({}, {"enabled": True, "region": "eu-west-1"}, id="none"),
        pytest.param(
            {AGENT: {"imageTag": "1"}},
            {"enabled": True, "region": "eu-west-1", "imageTag": "1"},
            id="beside",
        ),
        pytest.param(
            {AGENT: {"region": "us-east-1"}}, {"enabled": True, "region": "us-east-1"}, id="over"
        ),
        pytest.param(
            {AGENT: {"debug": None}},
            {"enabled": True, "region": "eu-west-1", "debug": None},
            id="removed",
        ),
    ],
)
def test_overrides_are_merged_key_by_key(overrides: dict[str, Any], agent: dict[str, Any]) -> None:
    values = values_of({"values": overrides}, region="eu-west-1")

    assert values[AGENT] == agent
    assert values["mpi-operator"] == {"enabled": True}


def test_the_plugin_of_gpus_runs_on_all_nodes_that_have_some() -> None:
    types = ["ml.g5.xlarge", "g5.xlarge", "trn1.32xlarge", "m5.large"]
    values = dependency_values(HelmConfig(), region="us-west-2", instance_types=types)

    affinity = values["nvidia-device-plugin"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [each["values"] for each in term["matchExpressions"]] == [["g5.xlarge", "ml.g5.xlarge"]]


def test_other_values_pass_through() -> None:
    overrides = {"storage": {"size": [1, 2]}, "odd": None}
    values = values_of({"values": overrides})

    assert {key: values[key] for key in overrides} == overrides


@pytest.mark.parametrize(
    ("region", "helm", "overrides"),
    [
        pytest.param("us-west-2", DEFAULT, {}, id="known"),
        pytest.param("eu-west-1", DEFAULT, {AGENT: {"region": "us-east-1"}}, id="borrowed"),
        pytest.param("eu-west-1", DEFAULT, {AGENT: {"hmaimage": "mine:1"}}, id="own-image"),
        pytest.param("eu-west-1", NO_AGENT, {}, id="no-agent"),
        pytest.param(cdk.Aws.REGION, DEFAULT, {}, id="token"),
        pytest.param("us-west-2", DEFAULT, {"cert-manager": {"enabled": False}}, id="off"),
        pytest.param(
            "us-west-2",
            GPU_OPERATOR,
            {"gpu-operator": {"gpu-operator": {"enabled": False}}},
            id="below",
        ),
    ],
)
def test_values_that_the_chart_can_serve(
    region: str, helm: dict[str, Any], overrides: dict[str, Any], make_chart: MakeChart
) -> None:
    helm = {**helm, "values": overrides}

    values = values_of(helm, region=region, chart=make_chart(PACKAGING))

    assert values[AGENT]["enabled"] is (helm.get("components") != NO_AGENT["components"])


@pytest.mark.parametrize(
    ("region", "helm", "place"),
    [
        ("eu-west-1", DEFAULT, "region"),
        (
            "us-west-2",
            {"values": {AGENT: {"region": "mars-1"}}},
            "helm.values.health-monitoring-agent.region",
        ),
        ("us-west-2", GPU_OPERATOR, "helm.components.gpu_operator"),
        (
            "us-west-2",
            {"values": {"certificates": {"enabled": True}}},
            "helm.values.certificates.enabled",
        ),
        (
            "us-west-2",
            {"values": {"certificate": {"enabled": True}}},
            "helm.values.certificate",
        ),
    ],
    ids=["region", "region-in-values", "absent", "absent-other-condition", "unknown-value"],
)
def test_values_that_the_chart_cannot_serve(
    region: str,
    helm: dict[str, Any],
    place: str,
    make_chart: MakeChart,
    snapshot: SnapshotAssertion,
) -> None:
    chart = make_chart(PACKAGING)

    with pytest.raises(HyperPodChartError) as caught:
        values_of(helm, region=region, chart=chart)

    message = str(caught.value)
    assert message.startswith(f"{chart}: {place}: ")
    assert message.replace(str(chart), "CHART") == snapshot


def test_the_gpu_operator_takes_the_registries_of_the_region(make_chart: MakeChart) -> None:
    own = {"gpu-operator": {"gpu-operator": {"operator": {"tag": "v2"}}}}

    values = values_of({**GPU_OPERATOR, "values": own}, chart=make_chart(VENDORED))

    operator = {"repository": "mirror", "tag": "v2"}
    assert values["gpu-operator"] == {"enabled": True, "gpu-operator": {"operator": operator}}


@pytest.mark.parametrize(
    "region",
    [
        "us-east-1",
        pytest.param(cdk.Aws.REGION, id="token"),
    ],
)
def test_the_gpu_operator_without_registries(
    region: str, make_chart: MakeChart, raises: Raises
) -> None:
    chart = make_chart(VENDORED)
    with raises(HyperPodChartError):
        values_of(GPU_OPERATOR, region=region, chart=chart)

    own = {"gpu-operator": {"gpu-operator": {"operator": {"repository": "mine"}}}}
    values = values_of({**GPU_OPERATOR, "values": own}, region=region, chart=chart)
    assert values["gpu-operator"]["gpu-operator"]["operator"] == {"repository": "mine"}


def test_a_chart_from_elsewhere_is_not_judged(make_chart: MakeChart) -> None:
    values = values_of({}, region="mars-1", chart=make_chart(None))

    assert values[AGENT]["region"] == "mars-1"


def test_a_chart_that_is_not_there_is_told(tmp_path: Path, raises: Raises) -> None:
    with raises(HyperPodChartError):
        values_of({}, chart=tmp_path / "chart.tgz")


def cut_off(folder: Path) -> bytes:
    """Return the first half of an archive."""
    folder.mkdir()
    (folder / "Chart.yaml").write_text("name: chart\n" * 500)
    archive = pack(folder)
    return archive[: len(archive) // 2]


@pytest.mark.parametrize("content", [b"", b"not an archive", None], ids=["none", "text", "half"])
def test_a_broken_archive_is_one_line(
    content: bytes | None, tmp_path: Path, raises: Raises
) -> None:
    chart = tmp_path / "chart.tgz"
    chart.write_bytes(cut_off(tmp_path / "chart") if content is None else content)

    with raises(HyperPodChartError) as caught:
        values_of({}, chart=chart)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("values.yaml", "- a list\n"),
        ("values.yaml", "a: [\n"),
        ("Chart.yaml", "text\n"),
        ("Chart.yaml", "dependencies: [text]\n"),
    ],
)
def test_a_chart_that_is_none_is_one_line(
    file: str, content: str, tmp_path: Path, raises: Raises
) -> None:
    (tmp_path / file).write_text(content)

    with raises(HyperPodChartError) as caught:
        values_of({}, chart=tmp_path)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["{{ toYaml .Values }}", "{{ range $.Values }}{{ end }}"])
def test_a_chart_that_passes_all_values_on_is_not_judged(text: str, tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("name: chart\n")
    (tmp_path / "templates" / "all.yaml").write_text(text)

    assert values_of({"values": {"anything": 1}}, chart=tmp_path)["anything"] == 1


def test_a_subchart_that_is_not_listed_has_values(tmp_path: Path) -> None:
    (tmp_path / "charts" / "folder").mkdir(parents=True)
    (tmp_path / "Chart.yaml").write_text("name: chart\n")
    (tmp_path / "charts" / "folder" / "Chart.yaml").write_text("name: subchart\n")

    values = values_of({"values": {"subchart": {"a": 1}}}, chart=tmp_path)

    assert values["subchart"] == {"a": 1}
