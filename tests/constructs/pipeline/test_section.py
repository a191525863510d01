"""What a pipeline's file may say, and the one line for each mistake in it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk import ConfigError, load_config, load_file
from tests.support.configs import CONFIG_FOLDER

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(CONFIG_FOLDER / "pipeline", tmp_path, dirs_exist_ok=True)
    return tmp_path


def edited(folder: Path, edit: Edit, *, name: str = "pipeline.yaml") -> Path:
    path = folder / name
    document = yaml.safe_load(path.read_text("utf-8"))
    edit(document)
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return folder / "pipeline.yaml"


def line_after(folder: Path, edit: Edit) -> str:
    """Change what is below `pipeline`; return the one line of the refusal."""
    path = edited(folder, lambda document: edit(document["pipeline"]))
    with pytest.raises(ConfigError) as caught:
        load_file(path)
    (line,) = caught.value.lines
    return line.replace(f"{folder}/", "")


def test_the_example_has_two_environments_in_two_regions() -> None:
    loaded = load_file(CONFIG_FOLDER / "pipeline" / "pipeline.yaml")

    assert loaded.pipeline is not None
    assert [environment.name for environment in loaded.pipeline.environments] == ["dev", "prod"]
    assert [each.config.region for each in loaded.deployments] == ["us-west-2", "us-east-1"]
    assert [environment.approval for environment in loaded.pipeline.environments] == [False, True]
    assert [each.rehearse_change for each in loaded.pipeline.environments] == [False, True]


def test_an_environment_gives_its_region_to_a_file_without_one(folder: Path) -> None:
    edited(folder, lambda document: document.pop("region"), name="dev.yaml")
    path = edited(
        folder, lambda document: document["pipeline"]["environments"][0].update(region="us-west-2")
    )

    assert load_file(path).deployments[0].config.region == "us-west-2"


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (
            lambda p: p["environments"][0].pop("config"),
            "environments[0] (dev).config: is missing and has no default",
        ),
        (
            lambda p: p["environments"][0].update(account="1234"),
            "environments[0] (dev).account: '1234' must be the 12 digits of an AWS account",
        ),
        (
            lambda p: p["environments"][0].update(account=111122223333),
            "account: 111122223333 must be text; write it in quotes",
        ),
        (
            lambda p: p["source"]["connection"].update(arn="arn:aws:s3:::x"),
            "source.connection.arn: 'arn:aws:s3:::x' must be the ARN of a connection, such as",
        ),
        (
            lambda p: p["source"]["connection"].update(repository="hyperpod"),
            "repository: 'hyperpod' must be owner/name",
        ),
        (
            lambda p: p["source"].update(code_commit={"repository": "x"}),
            "source: ['connection', 'code_commit'] must have exactly one of connection, code_co",
        ),
        (
            lambda p: p.update(tags={"hyperpod-cdk:stack-id": "x"}),
            "'hyperpod-cdk:stack-id' must not start with hyperpod-cdk:",
        ),
        (
            lambda p: p.update(source={"code_commit": {"repository": "sagemaker-hyperpod"}}),
            "source.code_commit.repository: 'sagemaker-hyperpod' must not contain 'sagemaker'",
        ),
        (
            lambda p: p.update(source={"s3": {"bucket": "sources", "key": "SageMaker/a.zip"}}),
            "source.s3.key: 'SageMaker/a.zip' must not contain 'sagemaker'",
        ),
        (lambda p: p["source"].pop("connection"), "source: [] must have exactly one of"),
        (lambda p: p.update(environments=[]), "must list at least one environment"),
        (
            lambda p: p["environments"][1].update(name="dev"),
            "environments[1] (dev).name: 'dev' is taken by an environment above",
        ),
        (
            lambda p: p["environments"][0].update(name="Dev"),
            "'Dev' must be 1 to 20 lower-case letters, digits and inner hyphens",
        ),
        (
            lambda p: p["environments"][0].update(rehearse_change=True),
            "environments[0] (dev).rehearse_change: true takes approval: true: a person reads",
        ),
        (lambda p: p["environments"][0].update(config="none.yaml"), "none.yaml: cannot be read"),
        (
            lambda p: p["environments"][0].update(config="pipeline.yaml"),
            "pipeline.yaml: describes a pipeline; an environment needs a deployment",
        ),
        (
            lambda p: p["environments"][0].update(region="eu-west-1"),
            "region: 'us-west-2' must be eu-west-1, the region of environment dev, or be left out",
        ),
        (
            lambda p: p["environments"][0].update(region="us-west2"),
            "'us-west2' is not an AWS region; did you mean us-west-2?",
        ),
        (
            lambda p: p["environments"].append({**p["environments"][0], "name": "test"}),
            "environments[2] (test).config: ",
        ),
        (
            lambda p: p.update(region="cn-north-1"),
            "must be of partition aws-cn, which the pipeline's region belongs to",
        ),
        (
            lambda p: p.update(chart={"bucket": "charts", "key": "a.tgz", "sha256": "1"}),
            "chart.sha256: '1' must be a SHA-256 digest: 64 hex digits",
        ),
        (
            lambda p: p.update(notification_emails=["somebody"]),
            "notification_emails[0]: 'somebody' must be an e-mail address",
        ),
        (lambda p: p.update(enviroments=[]), "is not a key here; did you mean environments?"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, edit: Edit, line: str) -> None:
    if line.startswith("must be of partition"):
        edited(folder, lambda document: document["pipeline"]["environments"].pop())
    assert line in line_after(folder, edit)


def test_an_environment_twice_is_refused_for_what_it_would_deploy_twice(folder: Path) -> None:
    line = line_after(
        folder, lambda p: p["environments"].append({**p["environments"][0], "name": "test"})
    )

    assert "deploys ml-dev to account 222233334444 in us-west-2, as an environment above" in line


def test_an_environment_needs_a_region(folder: Path) -> None:
    def without_region(document: dict[str, Any]) -> None:
        del document["region"]
        del document["network"]["availability_zone_ids"]
        del document["network"]["hyperpod_subnets"][0]["availability_zone_id"]

    path = edited(folder, without_region, name="dev.yaml")
    with pytest.raises(ConfigError) as caught:
        load_file(path)

    (line,) = caught.value.lines
    assert "environments[0] (dev).region: is missing here and in" in line


def test_nothing_stands_beside_a_pipeline(folder: Path) -> None:
    path = edited(folder, lambda document: document.update(name="ml"))
    with pytest.raises(ConfigError, match="'name' is not a key here"):
        load_file(path)


def test_what_takes_a_deployment_names_those_of_a_pipeline() -> None:
    path = CONFIG_FOLDER / "pipeline" / "pipeline.yaml"
    with pytest.raises(ConfigError) as caught:
        load_config(path)

    (line,) = caught.value.lines
    assert "describes a pipeline, which `hyperpod-cdk pipeline` deploys" in line
    assert f"{path.with_name('dev.yaml')}, {path.with_name('prod.yaml')}" in line
