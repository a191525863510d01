"""The pin file of the repository is valid, and a bad one is refused with its key."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cli.deliver.charts.helm import ChartError
from hyperpod_cli.deliver.charts.pins import load_pins
from tests.support.configs import REPOSITORY

PINS = REPOSITORY / "charts" / "pins.yaml"


def test_the_pins_of_the_repository() -> None:
    pins = load_pins(PINS)
    assert pins.chart.path == "helm_chart/HyperPodHelmChart"
    assert {entry.label for entry in pins.dependencies} == {
        "nvidia-device-plugin 0.16.1",
        "aws-efa-k8s-device-plugin 0.5.20",
    }


@pytest.mark.parametrize(
    ("keys", "value", "shown"),
    [
        (("chart", "git_commit"), "main", "chart.git_commit: 'main'"),
        (("chart", "path"), "../elsewhere", "chart.path: '../elsewhere'"),
        (("chart", "path"), "/absolute", "chart.path: '/absolute'"),
        (("chart", "branch"), "main", "chart.branch: 'main'"),
        (("dependencies", 0, "version"), 0.16, "dependencies.0.version: 0.16"),
        (("dependencies", 0, "version"), "~0.16", "dependencies.0.version: '~0.16'"),
        (("dependencies", 0, "sha256"), "abc", "dependencies.0.sha256: 'abc'"),
        (("dependencies", 0, "repository"), "charts", "dependencies.0.repository: 'charts'"),
        (("left_out",), "cert-manager", "left_out: 'cert-manager'"),
    ],
)
def test_a_bad_value_is_refused(
    keys: tuple[str | int, ...], value: object, shown: str, tmp_path: Path
) -> None:
    content: Any = yaml.safe_load(PINS.read_text())
    target = content
    for key in keys[:-1]:
        target = target[key]
    target[keys[-1]] = value
    file = tmp_path / "pins.yaml"
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(ChartError) as error:
        load_pins(file)
    assert f"{file}: {shown}" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"), [("a: [", "is not YAML"), ("- a list", "the file: "), ("", "the file: ")]
)
def test_a_file_that_is_no_mapping_is_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "pins.yaml"
    file.write_text(text)
    with pytest.raises(ChartError, match=message):
        load_pins(file)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChartError, match="does not exist: restore it from git"):
        load_pins(tmp_path / "pins.yaml")
