"""The app before `make charts`: templates that say so, and that nobody can deploy."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from app import main
from hyperpod_cdk import Config
from hyperpod_cdk.helm.chart_rules import CHART_CHECKS
from hyperpod_stacks.table import stack_names
from tests.support.assembly import merged
from tests.support.configs import default_document
from tests.support.linter import findings

# What only the chart can tell: its values, and its images in a region.
UNCHECKED = {
    "helm": {
        "components": {"gpu_operator": True, "nvidia_device_plugin": False},
        "values": {"unknown": {}},
    }
}


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the app writes in a folder without a packaged chart."""
    folder = tmp_path_factory.mktemp("placeholder")
    config = folder / "mine.yaml"
    config.write_text(yaml.safe_dump(merged(default_document(), UNCHECKED)), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(config=config, output=folder / "cdk.out") == 0
    return folder / "cdk.out"


def templates(assembly: Path) -> dict[str, dict[str, Any]]:
    return {
        path.name.removesuffix(".template.json"): json.loads(path.read_text("utf-8"))
        for path in assembly.glob("*.template.json")
    }


def test_a_rule_of_every_stack_refuses_it(assembly: Path, default_config: Config) -> None:
    found = templates(assembly)
    assert found.keys() == {*stack_names(default_config).values()}
    for template in found.values():
        (rule,) = [rule for name, rule in template["Rules"].items() if name.startswith("Chart")]
        (assertion,) = rule["Assertions"]
        given, packaged = assertion["Assert"]["Fn::Equals"]
        assert template["Parameters"][given["Ref"]]["Default"] != packaged
        assert "run `make charts`" in assertion["AssertDescription"]


def test_cfn_lint_accepts_the_rule(assembly: Path) -> None:
    text = (assembly / "ml-addons.template.json").read_text("utf-8")
    assert findings(text, region="us-west-2") == ()


def test_the_placeholder_is_an_asset(assembly: Path) -> None:
    (release,) = [
        resource["Properties"]
        for resource in templates(assembly)["ml-hyperpod"]["Resources"].values()
        if resource["Properties"].get("Release") == "hyperpod-dependencies"
    ]
    text = (assembly / f"asset.{release['ChartDigest']}" / "Chart.yaml").read_text("utf-8")
    assert "name: not-packaged\n" in text


def test_a_warning_names_the_checks_that_are_left_out(assembly: Path) -> None:
    text = (assembly / "validation-report.json").read_text("utf-8")
    assert "helm.chart: null is the official chart, which is not packaged: " in text
    assert [name for name in CHART_CHECKS if name not in text] == []
