"""What a job asks for: values, options and configuration, and what is refused of them."""

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, GovernanceConfig, TeamConfig
from hyperpod_cli.operate.training.request import requested
from hyperpod_cli.terminal.errors import OpsError
from tests.cli.operate.training.conftest import IMAGE, P4D, asked, given
from tests.conftest import Configure, Raises
from tests.support.chart_rendering import objects
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "training"


def test_the_configuration_fills_in_what_the_values_do_not_say(config: Config) -> None:
    request = asked(config)

    assert request.added == {
        "claim": {"name": "fsx-claim"},
        "group": "a100",
        "image": IMAGE,
        "name": "llama",
        "priorityClass": "training",
    }
    assert (request.name, request.namespace, request.nodes) == ("llama", "default", 2)
    assert request.node_labels == {
        "node.kubernetes.io/instance-type": "ml.p4d.24xlarge",
        "sagemaker.amazonaws.com/instance-group-name": "a100",
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
    }


def test_a_group_of_partitions_gives_one_of_them(configure: Configure) -> None:
    parts = {**P4D, "mig_profile": "mixed-3-1g.5gb-1-4g.20gb"}
    config = configure(
        {
            "helm": {"components": {"gpu_operator": True}},
            "cluster": {"instance_groups": [parts]},
        }
    )
    request = asked(config, nodes=1)

    assert request.container["resources"]["limits"] == {
        "nvidia.com/mig-4g.20gb": "1",
        "memory": "33344Mi",
    }
    assert request.container["resources"]["requests"]["cpu"] == "1437m"
    assert "--nproc-per-node=1" in request.container["args"]
    wanted = ["resources.accelerator=nvidia.com/mig-1g.5gb"]
    limits = asked(config, nodes=1, settings=wanted).container["resources"]["limits"]
    assert limits["nvidia.com/mig-1g.5gb"] == "1"


def test_options_win_over_values_and_settings_over_both(config: Config, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("{instanceType: ml.p4d.24xlarge, nodes: 1, image: a:1, claim: {name: other}}")
    settings = ["nodes=3", "arguments.max-steps=5"]
    request = asked(config, str(file), name=None, group="slow", nodes=2, settings=settings)

    assert (request.name, request.nodes, request.instance_type) == ("mine", 3, "ml.g5.4xlarge")
    assert request.container["image"] == "a:1"
    assert "--max-steps=5" in request.container["args"]
    claims = [each.get("persistentVolumeClaim") for each in request.pod["volumes"]]
    assert claims[0] == {"claimName": "other"}


@pytest.mark.parametrize(
    "settings",
    [
        [],
        ["rendezvous.backend=etcd"],
        ["nodes=3", "arguments.max-steps=5"],
        ["arguments.learning-rate=0.0001", "arguments.keep=1000000"],
        ["tolerations[0].operator=Exists", "secret=", "priorityClass=null"],
        ["secret=null"],
        ["env.A=1\\,2,env.B=c"],
    ],
)
def test_helm_renders_the_job_from_its_files_and_the_values_added(
    config: Config, tmp_path: Path, settings: list[str]
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("{instanceType: ml.p4d.24xlarge, nodes: 1, arguments: {keep: 5}, env: {B: b}}")
    files = [CHART / "values" / "deepspeed-zero3.yaml", mine]
    request = asked(config, *map(str, files), settings=settings)

    values = [word for file in files for word in ("--values", file)]
    made = objects(CHART, *values, values=request.added, home=tmp_path)
    rendered, requested = (
        [{key: value for key, value in item.items() if key != "data"} for item in items]
        for items in (made, request.objects)
    )
    assert rendered == requested  # but for keys, which are others each time


@pytest.mark.parametrize(
    ("files", "options"),
    [
        (["no-such"], {}),
        ([], {"group": "cpu"}),
        ([], {"group": "gpus"}),
        (["trainium"], {}),
        ([], {"settings": ["nodes=many"]}),
        ([], {"nodes": 0}),
        ([], {"settings": ["maxSteps=abc"]}),
        ([], {"settings": ["claim.nmae=a"]}),
        ([], {"settings": ["arguments.Max=1"]}),
        ([], {"settings": ["kind=Job"]}),
        ([], {"image": "not an image"}),
        ([], {"settings": ["nodes"]}),
        ([], {"settings": ["env.HF_TOKEN=x"]}),
        ([], {"name": "Llama"}),
        (["smddp"], {"group": "slow"}),
        (["trainium"], {"group": "slow"}),
    ],
)
def test_bad_input_is_one_line(
    files: list[str], options: dict[str, Any], config: Config, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(OpsError) as refused:
        asked(config, *files, **options)
    [line] = refused.value.lines
    assert line == snapshot


def test_bad_values_of_a_file_are_a_line_each(
    config: Config, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    file = tmp_path / "My_Job.yaml"
    file.write_text("{instanceType: ml.p4d.24xlarge, foo: 1, claim: {name: ''}}")
    with pytest.raises(OpsError) as refused:
        asked(config, str(file), name=None)
    assert sorted(refused.value.lines) == snapshot


@pytest.mark.parametrize(
    "text", ["a: [", "a: 2026-99-99", f"a: {'9' * 5_000}", "[" * 5_000, "\x00"], ids=range(5)
)
def test_a_file_that_is_no_yaml_is_a_line(config: Config, tmp_path: Path, text: str) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text)
    with pytest.raises(OpsError, match="--values: ") as refused:
        asked(config, str(file))
    assert len(refused.value.lines) == 1


def test_a_missing_image_says_where_it_comes_from(config: Config, raises: Raises) -> None:
    with raises(OpsError):
        requested(given(), config=config, built_image=lambda _: None)


def _governed(config: Config) -> Config:
    quota = {"instance_type": "ml.p4d.24xlarge", "nodes": 1}
    team = TeamConfig.model_validate({"name": "research", "quota": [quota]})
    return config.model_copy(update={"teams": (team,), "governance": GovernanceConfig()})


@pytest.mark.parametrize(
    ("options", "priority"),
    [({}, "training-priority"), ({"priority": "inference"}, "inference-priority")],
)
def test_a_team_has_a_namespace_a_queue_and_priorities(
    options: dict[str, Any], priority: str, config: Config
) -> None:
    request = asked(_governed(config), team="research", **options)

    labels = request.job["metadata"]["labels"]
    assert request.namespace == "hyperpod-ns-research"
    assert labels["kueue.x-k8s.io/queue-name"] == "hyperpod-ns-research-localqueue"
    assert labels["kueue.x-k8s.io/priority-class"] == priority


@pytest.mark.parametrize(
    "options",
    [
        {"team": "product"},
        {"team": "research", "namespace": "ml"},
        {"team": "research", "priority": "urgent"},
        {"priority": "training"},
    ],
)
def test_a_team_or_priority_that_is_not_there_is_refused(
    options: dict[str, Any], config: Config, raises: Raises
) -> None:
    with raises(OpsError):
        asked(_governed(config), **options)


def test_a_deployment_without_teams_has_none(config: Config, raises: Raises) -> None:
    with raises(OpsError):
        asked(config, team="research")
