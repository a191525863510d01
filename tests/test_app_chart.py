"""`python app.py` with a packaged chart that cannot serve the configuration."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import desk, start_app

CONFIG = """\
name: ml
region: {region}
cluster:
  instance_groups:
    - {{name: worker, instance_type: ml.g5.xlarge, instance_count: 1}}
helm:
  components: {{gpu_operator: {gpu_operator}}}
"""
PACKAGING = {
    "health_monitoring_agent_regions": ["us-east-1", "us-west-2"],
    "absent": [
        {
            "component": "gpu-operator",
            "name": "gpu-operator",
            "version": "v26.3.1",
            "conditions": ["gpu-operator.enabled", "gpu-operator.gpu-operator.enabled"],
        }
    ],
}


@pytest.mark.parametrize(
    ("region", "gpu_operator", "message"),
    [
        pytest.param(
            "eu-west-1",
            "false",
            "2: region: 'eu-west-1' has no image of HyperPod's health monitoring agent",
            id="region",
        ),
        pytest.param(
            "us-west-2",
            "true",
            "7: helm.components.gpu_operator: true needs the chart gpu-operator v26.3.1",
            id="absent",
        ),
    ],
)
def test_one_line_before_anything_is_written(
    region: str, gpu_operator: str, message: str, tmp_path: Path, chart: Path
) -> None:
    packaged, here = tmp_path / "chart", tmp_path / "desk"
    shutil.copytree(chart, packaged)
    (packaged / "packaging.json").write_text(json.dumps(PACKAGING))
    registries = packaged / "regional-values" / "values-us-west-2.yaml"
    registries.parent.mkdir()
    registries.write_text("gpu-operator: {gpu-operator: {operator: {repository: mirror}}}\n")
    here.mkdir()
    (here / "mine.yaml").write_text(CONFIG.format(region=region, gpu_operator=gpu_operator))

    app = start_app(
        desk(here, chart=packaged), output=tmp_path / "out", context={"config": "mine.yaml"}
    )
    code, errors = app.result()

    assert code == 2, errors
    (line,) = errors.splitlines()
    assert line.startswith(f"mine.yaml:{message}")
    assert not list(app.output.glob("*.template.json"))
