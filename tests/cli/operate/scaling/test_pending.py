"""What a deployment would change besides the number of the group that is scaled."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_cdk import load_config
from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.operate.scaling import command
from hyperpod_cli.terminal.errors import OpsError
from tests.support.clusters import described
from tests.support.configs import CONFIG_FOLDER

DEFAULT = CONFIG_FOLDER / "default.yaml"
ONE, TWO = "worker-group-1", "worker-group-2"


def template(one: int, two: int, **properties: str) -> dict[str, Any]:
    """Return a template with the groups once as text and once as properties."""
    groups = [
        {"InstanceCount": count, "InstanceGroupName": name}
        for name, count in ((ONE, one), (TWO, two))
    ]
    text = {"Request": json.dumps(groups, separators=(",", ":"))}
    return {
        "Resources": {
            "Custom": {"Type": "Custom::HyperPodCluster", "Properties": {**text, **properties}},
            "Native": {
                "Type": "AWS::SageMaker::Cluster",
                "Properties": {"InstanceGroups": groups},
                "Metadata": {"aws:cdk:path": str(one)},
            },
        }
    }


def by_cli(template: dict[str, Any]) -> dict[str, Any]:
    """Return a template as the CDK CLI deploys it."""
    usage = {"Type": "AWS::CDK::Metadata", "Condition": "CDKMetadataAvailable"}
    return {
        **template,
        "Resources": {**template["Resources"], "CDKMetadata": usage},
        "Conditions": {"CDKMetadataAvailable": {"Fn::Or": []}},
    }


def refuse(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    wanted: dict[str, Any],
    deployed: dict[str, Any] | None,
    targets: tuple[int, int] = (1, 1),
    resource: str = "custom",
) -> None:
    """Scale the second group."""
    (tmp_path / "ml.template.json").write_text(json.dumps(wanted), "utf-8")
    artifact = {
        "type": "aws:cloudformation:stack",
        "properties": {"templateFile": "ml.template.json"},
    }
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": {"ml": artifact}}), "utf-8")

    @contextmanager
    def synthesized(_: Path) -> Iterator[Path]:
        yield tmp_path

    def get_template(**_: str) -> dict[str, Any]:
        if deployed is None:
            raise ClientError({"Error": {"Code": "ValidationError"}}, "GetTemplate")
        return {"TemplateBody": deployed}

    monkeypatch.setattr(command, "synthesized", synthesized)
    config = load_config(DEFAULT)
    config = config.model_copy(
        update={"cluster": config.cluster.model_copy(update={"resource": resource})}
    )
    session: Any = SimpleNamespace(client=lambda _: SimpleNamespace(get_template=get_template))
    cluster = described({ONE: (targets[0], targets[0]), TWO: (targets[1], targets[1])})
    chosen = Chosen(name="ml", session=session, config=config)
    command.refuse_pending(DEFAULT, group=TWO, chosen=chosen, cluster=cluster)


@pytest.mark.parametrize("two", [1, 7])
def test_the_number_of_the_group_itself_may_differ(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, two: int
) -> None:
    refuse(monkeypatch, tmp_path, wanted=template(1, two), deployed=by_cli(template(1, 1)))


@pytest.mark.parametrize(
    ("wanted", "deployed"),
    [
        (template(0, 1), template(1, 1)),
        (template(1, 1, Tags="new"), template(1, 1)),
        (template(1, 1), None),
    ],
)
def test_what_else_differs_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    wanted: dict[str, Any],
    deployed: dict[str, Any] | None,
) -> None:
    with pytest.raises(OpsError, match="differs from what is deployed already, in ml; `make diff"):
        refuse(monkeypatch, tmp_path, wanted=wanted, deployed=deployed)


def test_a_group_whose_number_differs_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(OpsError, match=f"{ONE}: 1 in the file, 3 in the cluster"):
        refuse(
            monkeypatch, tmp_path, wanted=template(1, 1), deployed=template(3, 1), targets=(3, 1)
        )


def test_a_number_that_aws_has_otherwise_stays_unless_all_groups_are_sent_as_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def scaled(resource: str) -> None:
        same = template(1, 1)
        refuse(monkeypatch, tmp_path, wanted=same, deployed=same, targets=(0, 1), resource=resource)

    scaled("custom")
    with pytest.raises(OpsError, match=f"{ONE}: 1 in the file, 0 in the cluster"):
        scaled("native")
