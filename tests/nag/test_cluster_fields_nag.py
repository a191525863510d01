"""cdk-nag finds nothing unacknowledged in the rights that the fields of the cluster bring."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from cdk_nag import AwsSolutionsChecks

from hyperpod_cdk.config import Config
from stacks.deployment import add_stacks
from tests.unit.assembly import new_app

EVERY_FIELD = Path(__file__).parents[1] / "config" / "every_field.yaml"


@pytest.fixture
def config() -> Config:
    document: dict[str, Any] = yaml.safe_load(EVERY_FIELD.read_text("utf-8"))
    del document["cluster"]["role_arn"]  # so that one is made
    return Config.model_validate(document)


def test_every_finding_is_acknowledged(config: Config, chart: Path, tmp_path: Path) -> None:
    app = new_app(tmp_path)
    add_stacks(app, config=config, chart=chart)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    app.synth()  # raises for a finding that is not
