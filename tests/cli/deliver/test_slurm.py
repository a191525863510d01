"""Delivering a cluster that Slurm orchestrates: nothing of Kubernetes is asked or priced."""

import json
import re
from datetime import date
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.cost.cost import cost
from hyperpod_cdk.hyperpod.cluster_template import cluster_of
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.deliver import deletion_check
from hyperpod_cli.deliver.charts import command as charts
from hyperpod_cli.deliver.templates.package import template_findings
from hyperpod_cli.deliver.templates.parameters import parameters
from hyperpod_cli.inspect.permissions.policies import documents, policies_of
from hyperpod_cli.inspect.preflight.node_rights import needed_statements
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.plan.removal import ending
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Assemble
from tests.support.assembly import Assembly
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER

PATH = CONFIG_FOLDER / "slurm.yaml"
CONFIG = load_config(PATH)
PLACE = {"partition": "aws", "region": "us-west-2", "account": "111122223333"}


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("images", 0, "Slurm runs on the nodes' AMI: the deployment pulls no container image."),
        ("validate", 0, "HyperPod cluster ml-cluster with 3 instance groups:"),
        ("validate", 0, "- worker-group-1: 1 x ml.g5.12xlarge, compute partition gpu"),
        ("addon-versions", 2, "has no Kubernetes: Slurm orchestrates it; Slurm comes with the"),
        ("charts-check", 2, "cluster.orchestrator: 'slurm' installs no chart"),
    ],
)
def test_a_command_says_what_there_is(command: str, code: int, told: str) -> None:
    ended, *printed = ran(command, "--config", PATH)
    said = "".join(printed)
    assert (ended, told in said) == (code, True)
    assert not re.search(r"\bEKS\b|helm|eks\.", said)


def test_no_chart_is_packaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def package(**_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(charts, "package_chart", package)
    charts.package_if_needed(PATH, output=tmp_path)
    with pytest.raises(AssertionError):
        charts.package_if_needed(CONFIG_FOLDER / "default.yaml", output=tmp_path)


def _deploy(assembly: Assembly, monkeypatch: pytest.MonkeyPatch) -> None:
    templates = [json.loads(text) for text in assembly.texts().values()]
    template = next(each for each in templates if cluster_of(each) is not None)

    class Clients:
        """CloudFormation with the stack; there is nobody else to ask."""

        def __init__(self, *, region: str | None) -> None:
            assert region == "us-west-2"
            self.cloudformation = self

        def describe_stacks(self, *, StackName: str) -> dict[str, object]:
            return {"Stacks": [{"StackId": StackName, "StackStatus": "CREATE_COMPLETE"}]}

        def get_template(self, **_: object) -> dict[str, object]:
            return {"TemplateBody": template}

    monkeypatch.setattr(deletion_check, "Clients", Clients)


def test_who_deletes_is_told_that_jobs_end(
    assemble: Assemble, monkeypatch: pytest.MonkeyPatch
) -> None:
    _deploy(assemble(CONFIG), monkeypatch)
    deletion_check.check(CONFIG)

    assert [*ending(CONFIG)] != []
    assert [*ending(load_config(CONFIG_FOLDER / "default.yaml"))] == []


def test_a_file_that_became_one_of_slurm_deletes_no_cluster_on_eks(
    assemble: Assemble, monkeypatch: pytest.MonkeyPatch
) -> None:
    _deploy(assemble(load_config(CONFIG_FOLDER / "default.yaml")), monkeypatch)

    with pytest.raises(ProvisioningError, match=r"^cluster\.orchestrator: 'slurm': "):
        deletion_check.check(CONFIG)


def test_templates_ask_for_nothing_of_kubernetes() -> None:
    assert [*template_findings(CONFIG)] == []
    assert "KubernetesVersion" not in [each.name for each in parameters(CONFIG)]


def test_no_control_plane_is_billed() -> None:
    found = cost(CONFIG, region=None, day=date(2026, 11, 24))
    assert found.change is None
    assert [each for each in found.standing if "control plane" in str(each)] == []


def test_nobody_needs_rights_on_eks(assemble: Assemble) -> None:
    folder = assemble(CONFIG).directory
    policies = policies_of(folder, deployment="ml", environment=Environment(**PLACE))
    assert '"eks' not in json.dumps(dict(documents(policies)))

    target = Target(**PLACE, client=lambda _: None)
    rights = needed_statements(CONFIG, target, groups=CONFIG.cluster.instance_groups)
    assert rights and '"eks' not in json.dumps(rights)


@pytest.mark.parametrize(
    ("instance_type", "partitions"),
    [
        ("ml.p5.48xlarge", ["gpu", "cpu"]),
        ("ml.trn1.32xlarge", ["neuron", "cpu"]),
        ("ml.m5.2xlarge", ["cpu"]),
    ],
)
def test_a_configuration_is_written(
    tmp_path: Path, instance_type: str, partitions: list[str]
) -> None:
    path = tmp_path / "mine.yaml"
    given = ("--name=team", "--region=us-west-2", "--zones=usw2-az4", "--count=2", "--storage=none")
    options = ("--config", path, "--type", instance_type, "--orchestrator")
    assert ran("init", *given, *options, "pbs") == (
        2,
        "",
        "--orchestrator: 'pbs' must be eks or slurm\n",
    )

    assert ran("init", *given, *options, "slurm").code == 0
    controller, workers, *_ = groups = load_config(path).cluster.instance_groups
    assert (controller.instance_count, workers.instance_type) == (1, instance_type)
    slurm = [group.slurm for group in groups if group.slurm is not None]
    assert [each.node_type for each in slurm] == ["controller", *["compute"] * len(partitions)]
    assert [each.partition for each in slurm[1:]] == partitions
