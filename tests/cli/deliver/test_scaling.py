"""`scale`: the change of the file, and what it refuses."""

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.deliver.scaling import command
from hyperpod_cli.deliver.scaling.change import CountChange, count_change
from hyperpod_cli.plan import plan, request
from hyperpod_cli.terminal.errors import OpsError
from tests.conftest import Raises
from tests.support.clusters import described
from tests.support.configs import CONFIG_FOLDER, SHIPPED
from tests.support.played import Played

BASE = "name: ml\nregion: us-west-2\ncluster:\n"
# The groups, and what they become with 3 nodes in group `b`.
CASES = {
    "block": (
        "  instance_groups:\n    - name: b # first\n      instance_type: ml.m5.2xlarge\n"
        "      instance_count:   1  # one\n",
        "instance_count:   3  # one\n",
    ),
    "flow": (
        "  instance_groups: [{name: b, instance_type: ml.m5.2xlarge, instance_count: 1}]\n",
        "{name: b, instance_type: ml.m5.2xlarge, instance_count: 3}]",
    ),
    "quoted key": (
        "  instance_groups: [{name: b, instance_type: ml.m5.2xlarge, 'instance_count' : 1}]\n",
        "'instance_count' : 3}",
    ),
    "alias": (
        "  instance_groups:\n    - {name: a, instance_type: ml.m5.2xlarge, instance_count: &n 1}\n"
        "    - {name: b, instance_type: ml.m5.2xlarge, instance_count: *n}\n",
        "instance_count: &n 1}\n    - {name: b, instance_type: ml.m5.2xlarge, instance_count: 3}",
    ),
    "anchor of nobody else": (
        "  instance_groups: [{name: b, instance_type: ml.m5.2xlarge, instance_count: &n 1}]\n",
        "instance_count: &n 3}",
    ),
    "merge key, block": (
        "  instance_groups:\n    - &a\n      name: a\n      instance_type: ml.m5.2xlarge\n"
        "      instance_count: 1\n    - <<: *a\n      name: b # second\n",
        "    - <<: *a\n      name: b # second\n      instance_count: 3\n",
    ),
    "merge key, flow": (
        "  instance_groups:\n    - &a {name: a, instance_type: ml.m5.2xlarge, instance_count: 1}\n"
        "    - {<<: *a, name: b}\n",
        "    - {<<: *a, name: b, instance_count: 3}\n",
    ),
    "no newline at the end": (
        "  instance_groups:\n    - &a\n      name: a\n      instance_type: ml.m5.2xlarge\n"
        "      instance_count: 1\n    - <<: *a\n      name: b",
        "      name: b\n      instance_count: 3",
    ),
}
SHARED = (
    "  instance_groups:\n    - {name: b, instance_type: ml.m5.2xlarge, instance_count: &n 1}\n"
    "    - {name: a, instance_type: ml.m5.2xlarge, instance_count: *n}\n"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where a configuration is put."""
    return tmp_path / "mine.yaml"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("case", CASES)
def test_layout_anchors_and_comments_stay(file: Path, case: str, newline: str) -> None:
    groups, expected = (text.replace("\n", newline) for text in CASES[case])
    file.write_text(BASE.replace("\n", newline) + groups, "utf-8", newline="")

    change = count_change(file, group="b", count=3)
    change.write()

    assert expected in file.read_bytes().decode()
    counts = {group.name: group.instance_count for group in load_config(file).cluster.all_groups}
    assert counts in ({"b": 3}, {"a": 1, "b": 3})
    change.take_back()
    assert file.read_bytes().decode() == BASE.replace("\n", newline) + groups
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_one_line_of_a_shipped_configuration_changes(path: Path) -> None:
    group = load_config(path).cluster.all_groups[-1]

    diff = [*count_change(path, group=group.name, count=group.instance_count + 1).diff()]

    changed = [line for line in diff[2:] if line[0] in "+-"]
    assert len(changed) == 2
    assert (
        changed[0].replace(f" {group.instance_count}", " N")[1:]
        == (changed[1].replace(f" {group.instance_count + 1}", " N")[1:])
    )


def test_what_cannot_be_changed_is_told_and_left(file: Path, raises: Raises) -> None:
    text = BASE + SHARED
    file.write_text(text, "utf-8")

    with raises(OpsError):
        count_change(file, group="b", count=3)
    with raises(OpsError):
        count_change(file, group="c", count=3)
    nodes = "node_groups: [{name: ng, instance_types: [m5.large], desired_size: 1}]\n"
    file.write_text(text + nodes, "utf-8")
    with raises(OpsError):
        count_change(file, group="ng", count=3)
    scaled = "name: ml\ncluster: null\noperators: {cluster_autoscaler: true}\n" + nodes
    file.write_text(scaled.replace("1}]", "1, max_size: 2}]"), "utf-8")
    with raises(OpsError):
        count_change(file, group="ng", count=3)
    file.write_text(text, "utf-8")
    with raises(ConfigError):
        count_change(file, group="a", count=99999999)
    change = count_change(file, group="a", count=2)
    file.write_text(text + "# mine\n", "utf-8")
    with raises(OpsError):
        change.write()
    assert file.read_text("utf-8") == text + "# mine\n"
    assert [*file.parent.iterdir()] == [file]


DEFAULT = CONFIG_FOLDER / "default.yaml"
ONE, TWO = "worker-group-1", "worker-group-2"


def template(one: int, two: int, **properties: str) -> dict[str, Any]:
    """Return a template with the groups."""
    groups = [
        {"InstanceCount": count, "InstanceGroupName": name, "InstanceType": "ml.m5.2xlarge"}
        for name, count in ((ONE, one), (TWO, two))
    ]
    request = json.dumps({"InstanceGroups": groups}, separators=(",", ":"))
    return {
        "Resources": {
            "Custom": {
                "Type": "Custom::HyperPodCluster",
                "Properties": {"Request": request, **properties},
            }
        }
    }


def by_cli(template: dict[str, Any]) -> dict[str, Any]:
    """Return a template as the CDK CLI deploys it."""
    usage = {"Type": "AWS::CDK::Metadata", "Condition": "CDKMetadataAvailable"}
    resources = {
        name: {**resource, "Metadata": {"aws:cdk:path": f"ml/{name}", "aws:asset:path": "asset.1"}}
        for name, resource in template["Resources"].items()
    }
    return {
        **template,
        "Resources": {**resources, "CDKMetadata": usage},
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
    is_protected: bool = False,
) -> None:
    """Scale the second group."""
    path = tmp_path / "mine.yaml"
    path.write_text(DEFAULT.read_text("utf-8"), "utf-8")
    change = CountChange(
        path=path, group=TWO, before=path.read_text("utf-8"), after=CHANGED, former=1, count=2
    )

    def synthesized(changed: Path) -> AbstractContextManager[Path]:
        # `helm.chart` is relative to the folder.
        assert (changed.read_text("utf-8"), changed.parent) == (CHANGED, tmp_path)
        return nullcontext(tmp_path)

    monkeypatch.setattr(command, "synthesized", synthesized)
    monkeypatch.setattr(request, "stacks_in", lambda _: [Stack(name="ml", template=wanted)])
    there = deployed and Deployed(
        status="CREATE_COMPLETE", template=deployed, is_protected=is_protected
    )
    monkeypatch.setattr(plan, "deployed_stacks", lambda *_, **__: {"ml": there})
    config = load_config(DEFAULT)
    config = config.model_copy(
        update={"cluster": config.cluster.model_copy(update={"resource": resource})}
    )
    monkeypatch.setattr(request, "load_config", lambda _: config)
    monkeypatch.setattr(plan, "held_back", lambda *_, **__: {})
    cluster = described({ONE: (targets[0], targets[0]), TWO: (targets[1], targets[1])})
    monkeypatch.setattr(plan, "ending_lines", lambda *_, **__: iter(()))
    session: Any = Played(describe_cluster=cluster.described)
    monkeypatch.setattr(request, "deployer_session", lambda _: session)
    made = command.make_plan_of(change)
    assert [*tmp_path.iterdir()] == [path]
    command.refuse_pending(made, group=TWO, config=config, file=path, cluster=cluster)


CHANGED = "name: ml # changed\n"
SAME = template(1, 1)
DIFFERS = "differs from what is deployed already, in ml"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"deployed": by_cli(SAME)}, ""),
        # The number of the group itself may differ.
        ({"deployed": by_cli(SAME), "wanted": template(1, 7)}, ""),
        # Nothing is said of the nodes where the cluster has that many.
        ({"wanted": template(1, 7), "targets": (1, 7)}, ""),
        ({"wanted": template(2, 7)}, f"{DIFFERS}; `hyperpod-cdk diff"),
        ({"wanted": template(0, 1)}, f"{DIFFERS}; `hyperpod-cdk diff"),
        ({"wanted": template(1, 1, Tags="new")}, f"{DIFFERS}; `hyperpod-cdk diff"),
        ({"wanted": template(1, 7, WaitFor="nodes")}, f"{DIFFERS}; `hyperpod-cdk diff"),
        ({"deployed": None}, f"{DIFFERS}; `hyperpod-cdk diff"),
        # The CDK CLI would lift what the file does not want.
        ({"is_protected": True}, f"{DIFFERS}; `hyperpod-cdk diff"),
        (
            {"deployed": template(3, 1), "targets": (3, 1)},
            rf"{DIFFERS} \({ONE}: 1 in the file, 3 in the cluster\); `hyperpod-cdk diff",
        ),
        # A number that AWS has otherwise stays, unless all groups are sent as written.
        ({"targets": (0, 1)}, ""),
        ({"targets": (0, 1), "resource": "native"}, f"{ONE}: 1 in the file, 0 in the cluster"),
    ],
)
def test_what_else_differs_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: dict[str, Any], told: str
) -> None:
    given = {"wanted": SAME, "deployed": SAME, **options}
    with pytest.raises(OpsError, match=told) if told else nullcontext():
        refuse(monkeypatch, tmp_path, **given)
