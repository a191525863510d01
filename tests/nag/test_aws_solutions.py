"""cdk-nag's AwsSolutions rules over every shipped configuration and the options beside them."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.synthesis.acknowledge import acknowledge
from stacks.deployment import add_stacks
from tests.conftest import Configure
from tests.support.assembly import merged, new_app
from tests.support.configs import EVERY_FIELD

CONFIGS = sorted((Path(__file__).resolve().parents[2] / "config").glob("*.yaml"))
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
EVERY_KEY = yaml.safe_load(EVERY_FIELD.read_text("utf-8"))
OPTIONS: list[Any] = [
    pytest.param({"eks": {"endpoint_access": "private"}}, id="private"),
    pytest.param({"eks": {"public_access_cidrs": ["203.0.113.0/24"]}}, id="restricted"),
    pytest.param(
        {"eks": {"admins": ["arn:aws:iam::111122223333:role/A"], "secrets_kms_key_arn": KEY}},
        id="admins-and-key",
    ),
    pytest.param({"storage": None}, id="no-storage"),
    pytest.param({"storage": {"data_repository_s3_uri": "s3://bucket/prefix"}}, id="s3-link"),
    # Without a role of its own for scaling, one is made.
    pytest.param(merged(EVERY_KEY, {"cluster": {"role_arn": None}}), id="every-cluster-field"),
]


@pytest.fixture
def app(tmp_path: Path) -> cdk.App:
    """Return an app that the rules are checked on."""
    app = new_app(tmp_path)
    # The report is read below; CDK neither prints it nor raises.
    app.node.set_context("@aws-cdk/core:failSynthOnValidationErrors", False)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app


def findings(app: cdk.App) -> list[tuple[str, str]]:
    """Synthesize, and return the rule and the construct of each open finding."""
    app.synth()
    report = json.loads((Path(app.outdir) / "validation-report.json").read_text("utf-8"))
    return [
        (violation["ruleName"], construct["constructPath"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
        # The configuration's warnings are in the report too; they have tests of their own.
        if not violation["ruleName"].startswith("Annotation::")
    ]


def acknowledgments(app: cdk.App) -> list[tuple[str, str]]:
    """Return each rule acknowledged and the reason."""
    return [
        (rule, reason)
        for construct in app.node.find_all()
        for entry in construct.node.metadata
        if entry.type == "aws:cdk:acknowledged-rules"
        for rule, reason in entry.data.items()
        if "AwsSolutions-" in rule
    ]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_no_shipped_configuration_has_an_open_finding(
    path: Path, app: cdk.App, chart: Path
) -> None:
    add_stacks(app, config=load_config(path), chart=chart)

    assert findings(app) == []


@pytest.mark.parametrize("changes", OPTIONS)
def test_no_option_opens_a_finding(
    changes: dict[str, Any], configure: Configure, app: cdk.App, chart: Path
) -> None:
    add_stacks(app, config=configure(changes), chart=chart)

    assert findings(app) == []


def test_every_reason_is_a_sentence(default_config: Config, app: cdk.App, chart: Path) -> None:
    add_stacks(app, config=default_config, chart=chart)

    given = acknowledgments(app)

    assert len(given) > 10
    for rule, reason in given:
        assert reason[0].isupper(), rule
        assert reason.endswith("."), rule
        assert len(reason.split()) >= 6, rule


def test_the_rules_bite(app: cdk.App) -> None:
    stack = cdk.Stack(app, "Open")
    acknowledge(s3.Bucket(stack, "Bucket"), {"AwsSolutions-S1": "Logs are not what is tested."})

    assert findings(app) == [("AwsSolutions-S10", "Open/Bucket/Resource")]
