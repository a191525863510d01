"""The release of the user's health check as CloudFormation sees it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk import aws_eks_v2 as eks
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import (
    ConfigError,
    HelmRelease,
    NodeHealth,
    NodeHealthConfig,
    Provisioner,
    RecurringHealthConfig,
    TooLargeError,
    load_config,
)
from hyperpod_cdk.config.daemon_sets import daemon_sets
from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.node_health.section import CHECK_IMAGE
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.support.chart_rendering import template
from tests.support.configs import CONFIG_FOLDER, REPOSITORY
from tests.support.refusals import lines_for

RELEASE = "Custom::HelmRelease"
CHART = REPOSITORY / "charts" / "node-health"
EXAMPLE = CONFIG_FOLDER / "examples" / "node-health.yaml"
SCRIPT = "#!/bin/sh\n# Ärger: ${AWS::Region}, ${name}, \\${x:-y}, {{ .Values }}\nexit 0\n"
GPU, TRAINIUM, CPU = "ml.p5.48xlarge", "ml.trn2.48xlarge", "ml.m5.2xlarge"
Add = Callable[..., None]
Release = Callable[..., tuple[Any, Any, str]]
DIGEST = f"registry.example/check@sha256:{'a' * 64}"


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "check.sh"
    path.write_bytes(SCRIPT.encode())
    return str(path)


@pytest.fixture
def add(stack: cdk.Stack, eks_cluster: eks.ICluster, provisioner: Provisioner) -> Add:
    """Return a function that adds what a section says."""

    def added(health: NodeHealthConfig, **further: Any) -> None:
        given = {"instance_types": [TRAINIUM, CPU, GPU], **further}
        NodeHealth(
            stack,
            "Health",
            cluster=eks_cluster,
            provisioner=provisioner,
            health=health,
            **given,
        )

    return added


@pytest.fixture
def release(add: Add, view: View, tmp_path: Path) -> Release:
    """Return a function from a section to its release, the values, and what the chart renders."""

    def released(health: NodeHealthConfig, **further: Any) -> tuple[Any, Any, str]:
        add(health, **further)
        properties = view().one(RELEASE)
        values = json.loads(properties["Values"])
        return properties, values, template("health", CHART, values=values, home=tmp_path)

    return released


def test_defaults_are_the_charts(release: Release, script: str, tmp_path: Path) -> None:
    properties, values, rendered = release(NodeHealthConfig(script=script))

    assert (properties["Release"], properties["Namespace"]) == ("node-health", "kube-system")
    # A script that fails must not fail the deployment that changes it.
    assert properties["WaitForReadyMinutes"] == "0"
    assert (values["script"], values["instanceTypes"]) == (SCRIPT, [GPU, TRAINIUM])
    required = {name: values[name] for name in ("script", "instanceTypes")}
    assert rendered == template("health", CHART, values=required, home=tmp_path)


def test_options(release: Release, script: str) -> None:
    health = NodeHealthConfig(
        script=script,
        interval_seconds=86_400,
        failures=100,
        action="replace",
        max_at_once=25,
        image=DIGEST,
    )
    properties, values, _ = release(health, release="mine")

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


def test_recurring_checks_know_what_nodes_must_have(release: Release, script: str) -> None:
    health = NodeHealthConfig(
        script=script, recurring=RecurringHealthConfig(schedule="0 3 * * 1-5", max_quarantined=2)
    )
    _, values, _ = release(health)
    program = (CHART.parent / "validation" / "files" / "node_check.py").read_text("utf-8")

    assert values["recurring"] == {
        "schedule": "0 3 * * 1-5",
        "image": CHECK_IMAGE,
        "program": program,
        "arguments": {GPU: ["--gpus=8", "--efa=32"], TRAINIUM: ["--neuron=16", "--efa=16"]},
        "maxQuarantined": 2,
        "timeoutSeconds": 600,
    }
    # The two charts run the same image.
    pinned = yaml.safe_load((CHART.parent / "validation" / "values.yaml").read_text("utf-8"))
    assert pinned["image"] == CHECK_IMAGE


SCHEDULES = [
    *("61 3 * * *", "0 0-24 * * *", "0 3 0 * *", "0 3 * 1,13 *", "0 3 * * 7", "*/0 3 * * *"),
    *("0 3 * * 5-1", "0 3- * * *", "daily", "0 3 * *", "0 3 * * MON", "@daily", "0 3 * * *\n"),
]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_is_one_that_kubernetes_takes(schedule: str, raises: Raises) -> None:
    assert RecurringHealthConfig(schedule="59,0-30/5 */6 1-31 12 0-6")
    with raises(ConfigError):
        RecurringHealthConfig(schedule=schedule)


def test_a_type_with_accelerators_is_needed(add: Add, script: str, raises: Raises) -> None:
    with raises(ValueError):
        add(NodeHealthConfig(script=script), instance_types=[CPU])


def test_a_script_that_does_not_reach_the_provisioner_is_refused(
    add: Add, tmp_path: Path, raises: Raises
) -> None:
    large = tmp_path / "large.sh"
    large.write_text("#!/bin/sh\n" + 'echo "\n' * 14_000)

    with raises(TooLargeError):
        add(NodeHealthConfig(script=str(large)))


def test_bytecode_is_no_part_of_a_chart(
    stack: cdk.Stack,
    eks_cluster: eks.ICluster,
    provisioner: Provisioner,
    view: View,
    tmp_path: Path,
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
            cluster=eks_cluster,
            provisioner=provisioner,
            chart=chart,
            release=name,
            namespace="kube-system",
        )

    assert len({item["ChartDigest"] for item in view().all(RELEASE)}) == 1


@pytest.mark.parametrize(("instance_type", "runs"), [("ml.g5.48xlarge", True), (CPU, False)])
def test_nodes_need_room_for_its_pod(instance_type: str, *, runs: bool) -> None:
    facts = instance_facts(instance_type)
    assert facts is not None

    with_check = daemon_sets(facts, config=load_config(EXAMPLE))

    assert ("node-health-check" in with_check) is runs


SCHEMA = REPOSITORY / "charts" / "node-health" / "values.schema.json"


def refusal(**values: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        NodeHealthConfig(**values)
    (line,) = caught.value.lines
    return line


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"exit 0\n", "begin it with #!/bin/sh"),
        (b"", "begin it with #!/bin/sh"),
        (b"#!/bin/sh\r\nexit 0\r\n", "sed -i 's/\\r$//' "),
        (b"#!/bin/sh\n\xff\n", "must be text in UTF-8"),
        (b"#!/bin/sh\n" + b"#" * 99_991, "has 100,001 characters"),
    ],
    ids=["no-first-line", "empty", "windows", "binary", "long"],
)
def test_a_script_that_no_node_could_run(content: bytes, part: str, tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    script.write_bytes(content)

    line = refusal(script=str(script))

    # A long path is cut in the middle.
    assert line.startswith("NodeHealthConfig.script: '")
    assert part in line


def test_a_file_that_is_not_there_or_a_folder_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to("nowhere")
    for script in (tmp_path / "missing", tmp_path, tmp_path / "broken"):
        assert f"must be a script; '{script}' is not a file" in refusal(script=str(script))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("interval_seconds", 9),
        ("interval_seconds", 86_401),
        ("failures", 0),
        ("failures", True),
        ("max_at_once", 26),
        ("action", "Reboot"),
        ("image", "python:3.13"),
    ],
)
def test_a_value_that_the_chart_refuses(
    key: str, value: object, script: str, snapshot: SnapshotAssertion
) -> None:
    line = refusal(script=script, **{key: value})

    assert line.startswith(f"NodeHealthConfig.{key}: ")
    assert line == snapshot


def test_the_limits_are_the_charts() -> None:
    chart = json.loads(SCHEMA.read_text("utf-8"))["properties"]
    own = NodeHealthConfig.model_json_schema()["properties"]

    for key, value in (
        ("interval_seconds", "intervalSeconds"),
        ("failures", "failures"),
        ("max_at_once", "maxAtOnce"),
    ):
        limits = {name: own[key][name] for name in ("type", "minimum", "maximum")}
        assert limits == chart[value]
    assert own["action"]["enum"] == chart["action"]["enum"]
    assert f"{chart['script']['maxLength']:,} characters" in own["script"]["description"]


def test_the_script_is_beside_the_file() -> None:
    health = load_config(EXAMPLE).node_health

    assert health is not None
    assert health.script is not None
    assert Path(health.script) == EXAMPLE.with_suffix("") / "gpus.sh"


def test_a_mistake_of_a_file_is_one_line() -> None:
    document = EXAMPLE.read_text("utf-8")

    (line,) = lines_for(document)

    assert line.startswith("node_health.script: 'node-health/gpus.sh' ")


def test_recurring_checks_alone_need_no_script_and_no_controller(release: Release) -> None:
    health = NodeHealthConfig(recurring=RecurringHealthConfig(schedule="0 3 * * *"))

    _, _, rendered = release(health)
    kinds = {item["kind"] for item in yaml.safe_load_all(rendered) if item}
    assert "CronJob" in kinds
    assert not kinds & {"DaemonSet", "Deployment"}


def test_a_section_that_checks_nothing_is_refused(raises: Raises) -> None:
    with raises(ValueError):
        NodeHealthConfig()
