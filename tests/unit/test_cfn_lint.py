"""cfn-lint over the templates of every shipped configuration and the options beside them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.config import Config, load_config
from tests.conftest import Assemble, Configure

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "config").glob("*.yaml"))
ADMIN = "arn:aws:iam::111122223333:role/Admin"
OPTIONS: dict[str, Any] = {
    "eks": {"endpoint_access": "private", "admins": [ADMIN], "deletion_protection": True},
    "storage": {"data_repository_s3_uri": "s3://bucket/prefix"},
    "tags": {"team": "research"},
}


def findings(*templates: Path, region: str, repository: Path) -> list[str]:
    """Return what the linter says, one line a finding; the repository has its settings."""
    linter = Path(sys.executable).with_name("cfn-lint")
    result = subprocess.run(
        [linter, "--format", "parseable", "--regions", region, "--", *templates],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    return result.stdout.splitlines()


def of_config(config: Config, *, assemble: Assemble, repository: Path) -> list[str]:
    templates = sorted(assemble(config).directory.glob("*.template.json"))
    assert len(templates) >= 2
    assert config.region is not None
    return findings(*templates, region=config.region, repository=repository)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_no_shipped_configuration_has_a_finding(
    path: Path, assemble: Assemble, repository: Path
) -> None:
    assert of_config(load_config(path), assemble=assemble, repository=repository) == []


def test_options_have_no_finding(
    configure: Configure, assemble: Assemble, repository: Path
) -> None:
    assert of_config(configure(OPTIONS), assemble=assemble, repository=repository) == []


def test_the_linter_bites(tmp_path: Path, repository: Path) -> None:
    template = tmp_path / "wrong.template.json"
    wrong = {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    template.write_text(json.dumps({"Resources": {"Subnet": wrong}}))

    (finding,) = findings(template, region="us-west-2", repository=repository)

    assert "'VpcId' is a required property" in finding
