"""CDK's validation and cdk-nag's rules over the shipped configurations, and options."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks

from examples.one_stack.app import MyCluster
from hyperpod_cdk import Config, load_config
from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_cdk.synthesis.reasons import NIST, acknowledge
from hyperpod_stacks.deployment import add_stacks
from tests.conftest import Assemble, Configure
from tests.stacks.test_pipeline_stack import VARIANTS, example, variant
from tests.support.assembly import Assembly, new_app, synthesized
from tests.support.configs import CONFIG_FOLDER, CONFIGS, EVERY_EXISTING_RESOURCE, EVERY_FIELD

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
OPTIONS: list[Any] = [
    pytest.param({"eks": {"endpoint_access": "private"}}, id="private"),
    pytest.param({"eks": {"public_access_cidrs": ["203.0.113.0/24"]}}, id="restricted"),
    pytest.param(
        {"eks": {"admins": ["arn:aws:iam::111122223333:role/A"], "secrets_kms_key_arn": KEY}},
        id="admins-and-key",
    ),
    pytest.param({"storage": None}, id="no-storage"),
    pytest.param(
        {"storage": {"data_repositories": [{"s3_uri": "s3://bucket/prefix"}]}}, id="s3-link"
    ),
]


Findings = Callable[[Config], list[tuple[str, str]]]


@pytest.fixture
def app(tmp_path: Path) -> cdk.App:
    return new_app(tmp_path)


@pytest.fixture
def findings(chart: Path, tmp_path: Path) -> Findings:
    """Return a function from a configuration to the open findings of its templates."""

    def found(config: Config) -> list[tuple[str, str]]:
        made = synthesized(config, chart=chart, directory=tmp_path, nag=True, validate=True)
        return made.nag_findings()

    return found


def acknowledgments(app: cdk.App) -> list[tuple[str, str]]:
    """Return each rule acknowledged and the reason."""
    return [
        (rule, reason)
        for construct in app.node.find_all()
        for entry in construct.node.metadata
        if entry.type == "aws:cdk:acknowledged-rules"
        for rule, reason in entry.data.items()
        if "AwsSolutions-" in rule or NIST in rule
    ]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_no_shipped_configuration_has_an_open_finding(path: Path, findings: Findings) -> None:
    assert findings(load_config(path)) == []


@pytest.mark.parametrize("changes", OPTIONS)
def test_no_option_opens_a_finding(
    changes: dict[str, Any], configure: Configure, findings: Findings
) -> None:
    assert findings(configure(changes)) == []


def test_every_key_opens_none(findings: Findings) -> None:
    config = load_config(EVERY_FIELD)
    # Without a role of its own for scaling, one is made; the chart is the one of the tests.
    cluster = config.cluster.model_copy(update={"role_arn": None})
    helm = config.helm.model_copy(update={"chart": None})

    assert findings(config.model_copy(update={"cluster": cluster, "helm": helm})) == []


def test_every_existing_resource_opens_none(findings: Findings) -> None:
    assert findings(load_config(EVERY_EXISTING_RESOURCE)) == []


def test_a_pipeline_opens_none(tmp_path: Path, chart: Path) -> None:
    made = [
        example(directory=tmp_path / "example", chart=chart, validate=True),
        *(variant(name, directory=tmp_path / name, validate=True) for name in VARIANTS),
    ]
    assert [each.nag_findings() for each in made] == [[]] * len(made)


def test_the_example_in_one_stack_is_valid(tmp_path: Path, chart: Path) -> None:
    app = new_app(tmp_path, validate=True)
    MyCluster(app, "MyCluster", chart=chart)
    app.synth()  # raises if CDK finds anything


def test_every_reason_is_a_sentence(default_config: Config, app: cdk.App, chart: Path) -> None:
    add_stacks(app, config=default_config, chart=read_hyperpod_chart(chart))

    given = acknowledgments(app)

    assert len(given) > 30
    for rule, reason in given:
        assert reason[0].isupper(), rule
        assert reason.endswith("."), rule
        assert len(reason.split()) >= 6, rule


def test_hardening_leaves_no_finding_acknowledged_that_it_could_mend(
    default_config: Config, tmp_path: Path, chart: Path
) -> None:
    of_hardened = load_config(CONFIG_FOLDER / "examples" / "hardened.yaml")
    default, hardened = (
        set(acknowledgments(_with_stacks(tmp_path / config.name, config=config, chart=chart)))
        for config in (default_config, of_hardened)
    )

    mended = {rule for rule, _ in default} - {rule for rule, _ in hardened}
    for rule in ("AwsSolutions-EKS1", f"{NIST}CloudWatchLogGroupEncrypted"):
        assert [each for each in mended if rule in each], rule
    # S3 delivers access logs to no bucket with a KMS key.
    kms = {reason for rule, reason in hardened if "KMS" in rule}
    assert [reason.partition(" to ")[0] for reason in kms] == ["S3 delivers access logs"]
    assert len({reason for rule, reason in default if "KMS" in rule}) == 2


def test_hardening_leaves_no_check_of_encryption_skipped(
    default_config: Config, assemble: Assemble
) -> None:
    checks = ("CKV_AWS_58", "CKV_AWS_158", "CKV_AWS_173")
    for config, skipped in (
        (default_config, list(checks)),
        (load_config(CONFIG_FOLDER / "examples" / "hardened.yaml"), []),
    ):
        text = "".join(assemble(config).texts().values())
        assert [check for check in checks if f'"{check}"' in text] == skipped


def _with_stacks(directory: Path, *, config: Config, chart: Path) -> cdk.App:
    app = new_app(directory)
    add_stacks(app, config=config, chart=read_hyperpod_chart(chart))
    return app


def test_the_rules_bite(app: cdk.App) -> None:
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), NIST80053R5Checks(app))
    stack = cdk.Stack(app, "Open")
    acknowledge(s3.Bucket(stack, "Bucket"), {"AwsSolutions-S1": "Logs are not what is tested."})

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()

    found = Assembly(Path(app.outdir)).nag_findings()
    assert ("AwsSolutions-S10", "Open/Bucket/Resource") in found
    assert (f"{NIST}S3BucketVersioningEnabled", "Open/Bucket/Resource") in found
    assert "AwsSolutions-S1" not in {rule for rule, _ in found}
