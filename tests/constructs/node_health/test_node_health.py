"""The release of the user's health check as CloudFormation sees it."""

import json
import shutil
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_eks_v2 as eks

from hyperpod_cdk import (
    HelmRelease,
    NodeHealth,
    NodeHealthConfig,
    Provisioner,
    TooLargeError,
    load_config,
)
from hyperpod_cdk.config.daemon_sets import daemon_sets
from hyperpod_cdk.facts.instance_types import instance_facts
from tests.conftest import Assemble
from tests.constructs.conftest import View
from tests.support.chart_rendering import template
from tests.support.configs import CONFIG_FOLDER, REPOSITORY
from tests.support.template_view import TemplateView

RELEASE = "Custom::HelmRelease"
CHART = REPOSITORY / "charts" / "node-health"
EXAMPLE = CONFIG_FOLDER / "examples" / "node-health.yaml"
SCRIPT = "#!/bin/sh\n# Ärger: ${AWS::Region}, ${name}, \\${x:-y}, {{ .Values }}\nexit 0\n"
GPU, TRAINIUM, CPU = "ml.p5.48xlarge", "ml.trn2.48xlarge", "ml.m5.2xlarge"
DIGEST = f"registry.example/check@sha256:{'a' * 64}"


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "check.sh"
    path.write_bytes(SCRIPT.encode())
    return str(path)


@pytest.fixture
def arguments(eks_cluster: eks.ICluster, provisioner: Provisioner) -> dict[str, Any]:
    """Return the arguments without a default, but for the check."""
    types = [TRAINIUM, CPU, GPU]
    return {"cluster": eks_cluster, "provisioner": provisioner, "instance_types": types}


def test_defaults_are_the_charts(
    stack: cdk.Stack, arguments: dict[str, Any], script: str, view: View, tmp_path: Path
) -> None:
    NodeHealth(stack, "Health", health=NodeHealthConfig(script=script), **arguments)

    properties = view().one(RELEASE)
    values = json.loads(properties["Values"])

    assert (properties["Release"], properties["Namespace"]) == ("node-health", "kube-system")
    # A script that fails must not fail the deployment that changes it.
    assert properties["WaitForReadyMinutes"] == "0"
    assert (values["script"], values["instanceTypes"]) == (SCRIPT, [GPU, TRAINIUM])
    required = {name: values[name] for name in ("script", "instanceTypes")}
    assert template("health", CHART, values=values, home=tmp_path) == template(
        "health", CHART, values=required, home=tmp_path
    )


def test_options(
    stack: cdk.Stack, arguments: dict[str, Any], script: str, view: View, tmp_path: Path
) -> None:
    health = NodeHealthConfig(
        script=script,
        interval_seconds=86_400,
        failures=100,
        action="replace",
        max_at_once=25,
        image=DIGEST,
    )
    NodeHealth(stack, "Health", health=health, release="mine", **arguments)

    properties = view().one(RELEASE)
    values = json.loads(properties["Values"])

    assert properties["Release"] == "mine"
    assert values == {
        "script": SCRIPT,
        "instanceTypes": [GPU, TRAINIUM],
        "intervalSeconds": 86_400,
        "failures": 100,
        "action": "replace",
        "maxAtOnce": 25,
        "image": DIGEST,
    }
    assert template("mine", CHART, values=values, home=tmp_path)


def test_a_type_with_accelerators_is_needed(
    stack: cdk.Stack, arguments: dict[str, Any], script: str
) -> None:
    arguments["instance_types"] = [CPU]

    with pytest.raises(ValueError, match="none of them has GPUs or Trainium"):
        NodeHealth(stack, "Health", health=NodeHealthConfig(script=script), **arguments)


def test_a_script_that_does_not_reach_the_provisioner_is_refused(
    stack: cdk.Stack, arguments: dict[str, Any], tmp_path: Path
) -> None:
    large = tmp_path / "large.sh"
    large.write_text("#!/bin/sh\n" + 'echo "\n' * 14_000)

    with pytest.raises(TooLargeError, match=r"the script .*large\.sh has .* bytes"):
        NodeHealth(stack, "Health", health=NodeHealthConfig(script=str(large)), **arguments)


def test_bytecode_is_no_part_of_a_chart(
    stack: cdk.Stack, arguments: dict[str, Any], view: View, tmp_path: Path
) -> None:
    for name in ("clean", "used"):
        chart = tmp_path / name
        shutil.copytree(CHART, chart, ignore=shutil.ignore_patterns("__pycache__"))
        if name == "used":
            (chart / "files" / "__pycache__").mkdir()
            (chart / "files" / "__pycache__" / "controller.pyc").touch()
        HelmRelease(
            stack,
            name,
            cluster=arguments["cluster"],
            provisioner=arguments["provisioner"],
            chart=chart,
            release=name,
            namespace="kube-system",
        )

    assert len({item["ChartDigest"] for item in view().all(RELEASE)}) == 1


def test_the_stack_has_it_beside_the_cluster(assemble: Assemble) -> None:
    view = TemplateView(assemble(load_config(EXAMPLE)).templates()["health-hyperpod"])
    release = view.id(RELEASE, Release="node-health")

    assert release not in view.dependencies(view.id("Custom::HyperPodCluster"))
    assert view.dependency_types(release) == {"AWS::IAM::Policy"}
    assert release in view.dependencies(view.id("Custom::DeletionCheck"))


@pytest.mark.parametrize(("instance_type", "runs"), [("ml.g5.48xlarge", True), (CPU, False)])
def test_nodes_need_room_for_its_pod(instance_type: str, *, runs: bool) -> None:
    facts = instance_facts(instance_type)
    assert facts is not None

    with_check = daemon_sets(facts, config=load_config(EXAMPLE))

    assert ("node-health-check" in with_check) is runs
