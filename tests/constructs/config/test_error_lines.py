"""A mistake in a file is one line that begins with the file, the line, and the key."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_cdk.loading import check_chart
from tests.support.configs import CONFIGS

CONFIG = """\
name: ml
region: us-west-2
network:
  availability_zone_ids: [usw2-az1, usw2-az2]
eks:
  version: "1.34"
storage:
  throughput_mbps_per_tib: 250
helm:
  values:
    mpi-operator: {}
cluster:
  node_recovery: Automatic
  instance_groups:
    - name: system
      instance_type: ml.m5.2xlarge
      instance_count: 1
    - name: gpu
      instance_type: ml.p5.48xlarge
      instance_count: 1
      capacity: OnDemand
      labels:
        team: research
"""


def lines_of(path: Path, text: str) -> list[str]:
    """Load a file with this text; return what follows its name in each line of the refusal."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert all(line.startswith(f"{path}:") for line in caught.value.lines)
    return [line.removeprefix(f"{path}:") for line in caught.value.lines]


@pytest.mark.parametrize(
    ("written", "wrong", "place"),
    [
        pytest.param("ml.p5.48xlarge", "ml.p5.48xlrge", "19", id="type"),
        pytest.param(
            "node_recovery: Automatic",
            "training_plan_arn: arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan",
            "13",
            id="key-of-another-section",
        ),
        pytest.param(
            "availability_zone_ids: [usw2-az1, usw2-az2]",
            "vpc_id: vpc-0123456789abcdef0",
            "3",
            id="existing-vpc",
        ),
        pytest.param('version: "1.34"', "version: 1.30", "6", id="version-without-quotes"),
        pytest.param("node_recovery: Automatic", "node_recovery: no", "13", id="no"),
        pytest.param("name: system", "name: no", "15", id="no-choices"),
        pytest.param("capacity: OnDemand", "capacity: {type: spot}", "21", id="mapping-for-text"),
        pytest.param("team: research", "-team: research", "23", id="label-key"),
        pytest.param(
            "region: us-west-2\nnetwork:\n  availability_zone_ids: [usw2-az1, usw2-az2]",
            "network:\n  availability_zone_ids: [usw2-az1, usq2-az2]",
            "3",
            id="zone-letters-without-a-region",
        ),
        pytest.param(
            "instance_count: 1\n      capacity: OnDemand",
            "instance_count: 0x2710\n      capacity: OnDemand",
            "20",
            id="number-as-written",
        ),
        pytest.param(
            "name: gpu\n      instance_type: ml.p5.48xlarge\n      instance_count: 1",
            "instance_type: ml.p5.48xlarge\n      instance_count: 1",
            "18",
            id="missing",
        ),
        pytest.param(
            "  instance_groups:", "  instance_group:", "14", id="missing-because-misspelled"
        ),
    ],
)
def test_the_line_of_a_mistake(
    written: str, wrong: str, place: str, snapshot: SnapshotAssertion, tmp_path: Path
) -> None:
    assert CONFIG.count(written) == 1

    (line,) = lines_of(tmp_path / "mine.yaml", CONFIG.replace(written, wrong))

    assert line.startswith(f"{place}: ")
    assert line == snapshot


def test_the_configuration_of_these_cases_is_right(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(CONFIG)

    assert load_config(path).name == "ml"


@pytest.mark.parametrize(
    ("written", "wrong", "place"),
    [
        pytest.param("mpi-operator: {}", "mpi-operater: {}", "11", id="value"),
        pytest.param(
            "region: us-west-2\nnetwork:\n  availability_zone_ids: [usw2-az1, usw2-az2]",
            "region: af-south-1",
            "2",
            id="region",
        ),
    ],
)
def test_the_line_of_what_a_chart_lacks(
    written: str, wrong: str, place: str, snapshot: SnapshotAssertion, tmp_path: Path
) -> None:
    path, chart = tmp_path / "mine.yaml", tmp_path / "chart"
    path.write_text(CONFIG.replace(written, wrong))
    chart.mkdir()
    (chart / "Chart.yaml").write_text("name: chart\n")
    (chart / "values.yaml").write_text("mpi-operator: {enabled: true}\n")
    (chart / "packaging.json").write_text('{"health_monitoring_agent_regions": ["us-west-2"]}')

    with pytest.raises(ConfigError) as caught:
        check_chart(load_config(path), path=path, chart=read_hyperpod_chart(chart))

    (line,) = caught.value.lines
    assert line.startswith(f"{path}:{place}: ")
    assert line.removeprefix(f"{path}:").replace(str(tmp_path), "FOLDER") == snapshot


GROUPS = "name: ml\ncluster:\n  instance_groups:\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(
            f"{GROUPS}    - &g {{name: a, instance_type: ml.m5.large, instance_count: 1}}\n"
            "    - {<<: *g, name: b, instance_count: -1}\n",
            "5: cluster.instance_groups[1] (b).instance_count: -1 ",
            id="own-key-beside-a-merged-one",
        ),
        pytest.param(
            f"helm: {{values: {{x: &l {{team: -a}}}}}}\n{GROUPS}"
            "    - {name: a, instance_type: ml.m5.large, instance_count: 1, labels: *l}\n",
            "1: cluster.instance_groups[0] (a).labels.team: '-a' ",
            id="mapping-behind-an-alias",
        ),
        pytest.param(
            f"{GROUPS}    - name: a\n      instance_type: ml.m5.large\n      instance_count: 1\n"
            "      <<: &more\n        threads_per_core: 3\n",
            "8: cluster.instance_groups[0] (a).threads_per_core: 3 ",
            id="merged-key",
        ),
        pytest.param(
            f"{GROUPS}    - &a {{name: a, instance_type: ml.m5.large, instance_count: 1}}\n"
            "    - &b {<<: *a, name: b}\n    - {<<: *b, name: b}\n",
            "6: cluster.instance_groups[2] (b).name: 'b' ",
            id="merged-twice",
        ),
    ],
)
def test_aliases_and_merges_lead_to_what_is_written(text: str, line: str, tmp_path: Path) -> None:
    first, *_ = lines_of(tmp_path / "mine.yaml", text)

    assert first.startswith(line)


TEXTS = {path: path.read_text("utf-8") for path in CONFIGS}


# Their keys are the user's own.
FREE = ("labels", "limits", "tags", "values")


def keys(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """Yield each key of a configuration that is not free."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield from keys(value) if key.value not in FREE else ()
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from keys(item)


PLACES = [
    (path, key.start_mark.index, key.value)
    for path, text in TEXTS.items()
    for key in keys(yaml.compose(text, Loader=yaml.SafeLoader))
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("typos") / "mine.yaml"


@settings(max_examples=60, deadline=None)
@given(place=st.sampled_from(PLACES), at=st.integers(0, 30), letter=st.sampled_from("xzqj"))
def test_a_typo_in_a_key_is_found_on_its_line(
    file: Path, place: tuple[Path, int, str], at: int, letter: str
) -> None:
    source, index, key = place
    typo = key[: at % len(key)] + letter + key[at % len(key) + 1 :]
    assume(typo != key)
    text = TEXTS[source]
    number = text[:index].count("\n") + 1

    found = lines_of(file, text[:index] + typo + text[index + len(key) :])

    named = [line for line in found if repr(typo) in line]
    assert [line.partition(": ")[0] for line in named] == [str(number)]
    for line in found:
        assert 1 <= int(line.partition(": ")[0]) <= text.count("\n")
