"""cfn-lint over the templates of every shipped configuration and the options beside them."""

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config, load_config
from tests.conftest import Assemble, Configure
from tests.support.configs import CONFIGS
from tests.support.linter import findings

ADMIN = "arn:aws:iam::111122223333:role/Admin"
OPTIONS: dict[str, Any] = {
    "eks": {"endpoint_access": "private", "admins": [ADMIN], "deletion_protection": True},
    "storage": {"data_repositories": [{"s3_uri": "s3://bucket/prefix"}]},
    "tags": {"team": "research"},
}


def of_config(config: Config, *, assemble: Assemble) -> list[str]:
    texts = assemble(config).texts().values()
    assert len(texts) >= 2
    assert config.region is not None
    return [finding for text in texts for finding in findings(text, region=config.region)]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_no_shipped_configuration_has_a_finding(path: Path, assemble: Assemble) -> None:
    assert of_config(load_config(path), assemble=assemble) == []


def test_options_have_no_finding(configure: Configure, assemble: Assemble) -> None:
    assert of_config(configure(OPTIONS), assemble=assemble) == []


def test_the_linter_bites() -> None:
    wrong = {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    template = json.dumps({"Resources": {"Subnet": wrong}})

    (finding,) = findings(template, region="us-west-2")

    assert "'VpcId' is a required property" in finding
