"""What a pipeline's file may say, and the one line for each mistake in it."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, load_config, load_file
from tests.conftest import Raises
from tests.support.configs import CONFIG_FOLDER
from tests.support.refusals import without_names

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
    # Shortened in the middle, if the folder's name is long.
    return re.sub(r"'/[^']*/dev\.yaml'", "'dev.yaml'", line).replace(f"{folder}/", "")


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
    ("place", "edit"),
    [
        ("environments[0].config", lambda p: p["environments"][0].pop("config")),
        ("environments[0].account", lambda p: p["environments"][0].update(account="1234")),
        ("environments[0].account", lambda p: p["environments"][0].update(account=111122223333)),
        ("source.connection.arn", lambda p: p["source"]["connection"].update(arn="arn:aws:s3:::x")),
        (
            "source.connection.repository",
            lambda p: p["source"]["connection"].update(repository="hyperpod"),
        ),
        ("source", lambda p: p["source"].update(code_commit={"repository": "x"})),
        ("tags['hyperpod-cdk:stack-id']", lambda p: p.update(tags={"hyperpod-cdk:stack-id": "x"})),
        (
            "source.code_commit.repository",
            lambda p: p.update(source={"code_commit": {"repository": "sagemaker-hyperpod"}}),
        ),
        (
            "source.s3.key",
            lambda p: p.update(source={"s3": {"bucket": "sources", "key": "SageMaker/a.zip"}}),
        ),
        ("source", lambda p: p["source"].pop("connection")),
        ("environments", lambda p: p.update(environments=[])),
        ("environments[1].name", lambda p: p["environments"][1].update(name="dev")),
        ("environments[0].name", lambda p: p["environments"][0].update(name="Dev")),
        (
            "environments[0].rehearse_change",
            lambda p: p["environments"][0].update(rehearse_change=True),
        ),
        ("none.yaml", lambda p: p["environments"][0].update(config="none.yaml")),
        ("pipeline.yaml", lambda p: p["environments"][0].update(config="pipeline.yaml")),
        ("region", lambda p: p["environments"][0].update(region="eu-west-1")),
        ("environments[0].region", lambda p: p["environments"][0].update(region="us-west2")),
        (
            "environments[2].config",
            lambda p: p["environments"].append({**p["environments"][0], "name": "test"}),
        ),
        (
            "environments[0].region",
            lambda p: p.update(region="cn-north-1", environments=p["environments"][:-1]),
        ),
        (
            "chart.sha256",
            lambda p: p.update(chart={"bucket": "charts", "key": "a.tgz", "sha256": "1"}),
        ),
        ("notification_emails[0]", lambda p: p.update(notification_emails=["somebody"])),
        ("enviroments", lambda p: p.update(enviroments=[])),
    ],
)
def test_a_mistake_is_one_line(
    folder: Path, place: str, edit: Edit, snapshot: SnapshotAssertion
) -> None:
    line = line_after(folder, edit).replace(str(folder), "FOLDER")

    pattern = rf"((pipeline|dev)\.yaml:\d+: )?(pipeline\.)?{re.escape(place)}: "
    assert re.match(pattern, without_names(line))
    assert line == snapshot


def test_an_environment_twice_is_refused_for_what_it_would_deploy_twice(
    folder: Path, snapshot: SnapshotAssertion
) -> None:
    line = line_after(
        folder, lambda p: p["environments"].append({**p["environments"][0], "name": "test"})
    )

    assert line.replace(str(folder), "FOLDER") == snapshot


def test_an_environment_needs_a_region(folder: Path, raises: Raises) -> None:
    def without_region(document: dict[str, Any]) -> None:
        del document["region"]
        del document["network"]["availability_zone_ids"]
        del document["network"]["hyperpod_subnets"][0]["availability_zone_id"]

    path = edited(folder, without_region, name="dev.yaml")
    with raises(ConfigError):
        load_file(path)


def test_nothing_stands_beside_a_pipeline(folder: Path, raises: Raises) -> None:
    path = edited(folder, lambda document: document.update(name="ml"))
    with raises(ConfigError):
        load_file(path)


def test_what_takes_a_deployment_names_those_of_a_pipeline(raises: Raises) -> None:
    with raises(ConfigError):
        load_config(CONFIG_FOLDER / "pipeline" / "pipeline.yaml")
