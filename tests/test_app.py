"""`python app.py`: what it refuses, and what it writes, also without a packaged chart."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk import Config
from hyperpod_stacks.app import main
from hyperpod_stacks.table import stack_names
from tests.support.assembly import merged
from tests.support.commands import CLI_CONTEXT, bare_environment, desk, start_app
from tests.support.configs import REPOSITORY, default_document
from tests.support.linter import findings

TWO_FAULTS = """\
name: ml
regionn: us-west-2
cluster:
  instance_groups:
    - {name: worker, instance_type: ml.m5.2xlarge, instance_count: 100000}
"""


def refusal(directory: Path, context: Mapping[str, Any] | None = None) -> list[str]:
    """Return the lines with which the app refuses to synthesize."""
    app = start_app(directory, output=directory / "cdk.out", context=context)
    code, errors = app.result()
    assert code == 2, errors
    assert not list(app.output.glob("*.template.json"))
    return errors.splitlines()


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        pytest.param(
            TWO_FAULTS,
            [":2: regionn: ", ":5: cluster.instance_groups[0] (worker).instance_count: 100000 "],
            id="two-faults",
        ),
        pytest.param("name: [ml", [":1:7: YAML syntax error: "], id="syntax"),
        pytest.param(None, [": cannot be read: "], id="no-file"),
    ],
)
def test_a_bad_configuration_is_one_line_a_fault(
    tmp_path: Path, document: str | None, lines: list[str]
) -> None:
    if document is not None:
        (tmp_path / "bad.yaml").write_text(document)

    found = refusal(desk(tmp_path, chart=None), {"config": "bad.yaml"})

    starts = [f"bad.yaml{line}" for line in lines]
    for line, start in zip(sorted(found), sorted(starts), strict=True):
        assert line.startswith(start)


def test_the_cli_runs_it_with_the_python_of_the_project(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "the project runs $*"\n')
    python.chmod(0o755)
    command = json.loads((REPOSITORY / "cdk.json").read_text("utf-8"))["app"]

    said = subprocess.check_output(
        ["/bin/sh", "-c", command], cwd=tmp_path, env={"PATH": os.defpath}, text=True
    )

    assert said == "the project runs app.py\n"


def test_without_a_set_up_it_names_the_command() -> None:
    # -S: without the packages of this environment.
    done = subprocess.run(
        [sys.executable, "-S", "app.py"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"hyperpod_stacks: is not installed for {sys.executable}; run `make setup`\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize(
    ("context", "told"),
    [({}, "config/default.yaml:1"), ({"config": "mine.yaml"}, "../mine.yaml:1")],
)
def test_it_runs_from_any_folder(tmp_path: Path, context: dict[str, str], told: str) -> None:
    project, elsewhere = tmp_path / "a project", tmp_path
    (project / "config").mkdir(parents=True)
    for name in ("app.py", "cdk.json"):
        (project / name).symlink_to(REPOSITORY / name)
    for path in (project / "config" / "default.yaml", elsewhere / "mine.yaml"):
        path.write_text("wrong: true\n")
    done = subprocess.run(
        [sys.executable, str(project / "app.py")],
        cwd=elsewhere,
        env={**bare_environment(), "CDK_CONTEXT_JSON": json.dumps(context)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(told)


def test_what_a_former_synthesis_said_is_gone(tmp_path: Path) -> None:
    stale = [tmp_path / "old.template.json", tmp_path / "validation-report.json"]
    others = [tmp_path / "notes.txt", tmp_path / "other" / "old.template.json"]
    (tmp_path / "other").mkdir()
    for path in (*stale, *others):
        path.write_text("{}")

    assert main(config=tmp_path / "none.yaml", output=tmp_path) == 2

    assert [path.exists() for path in (*stale, *others)] == [False, False, True, True]


def test_a_mistake_is_told_before_the_cdk_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(TWO_FAULTS)
    script = (
        "import sys; from pathlib import Path; from app import main; "
        "print(main(config=Path(sys.argv[1])), 'aws_cdk' in sys.modules)"
    )

    run = subprocess.run(
        [sys.executable, "-c", script, path],
        cwd=REPOSITORY,
        env=bare_environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout == "2 False\n"
    assert run.stderr.startswith(f"{path}:")


def test_a_request_that_is_too_large_is_one_line(
    tmp_path: Path, chart: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = {f"label-{number}": "x" * 60 for number in range(50)}
    group = {"instance_type": "ml.m5.2xlarge", "instance_count": 1, "labels": labels}
    groups = [{"name": f"group-{number}", **group} for number in range(50)]
    large = {"name": "ml", "cluster": {"instance_groups": groups}}
    (tmp_path / "large.yaml").write_text(json.dumps(large))

    assert main(config=tmp_path / "large.yaml", output=tmp_path / "cdk.out", chart=chart) == 2

    *_, line = capsys.readouterr().err.splitlines()
    assert line.startswith("ml-hyperpod/Cluster: ")


@pytest.fixture(scope="module")
def outputs(chart: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Return what three runs wrote: the app alone, the same again, and with the CLI's context.

    The second one finds an unsupported Node of the system.
    """
    directory = tmp_path_factory.mktemp("app")
    (directory / "desk").mkdir()
    here = desk(directory / "desk", chart=chart)
    cdk_json = json.loads((REPOSITORY / "cdk.json").read_text("utf-8"))["context"]
    contexts = {"alone": None, "again": None, "cli": {**cdk_json, **CLI_CONTEXT}}
    # A Node that the CDK cannot run in comes first on the PATH of one of them.
    node = directory / "system" / "node"
    node.parent.mkdir()
    node.write_text("#!/bin/sh\nexit 1\n")
    node.chmod(0o755)
    folders = {"again": node.parent}
    runs = {
        name: start_app(
            here, output=directory / name, context=context, first_on_path=folders.get(name)
        )
        for name, context in contexts.items()
    }
    for name, (code, errors) in {name: run.result() for name, run in runs.items()}.items():
        assert code == 0, f"{name}: {errors}"
    yield {name: run.output for name, run in runs.items()}
    # The kubectl layer makes each of them large.
    shutil.rmtree(directory)


def contents(directory: Path, pattern: str) -> dict[str, str]:
    """Return a digest of each file, by its path in the directory."""
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.glob(pattern)
        if path.is_file()
    }


def templates_of(assembly: Path) -> dict[str, dict[str, Any]]:
    return {
        path.name.removesuffix(".template.json"): json.loads(path.read_text("utf-8"))
        for path in assembly.glob("*.template.json")
    }


def templates(output: Path) -> dict[str, dict[str, Any]]:
    """Return the templates without what the CDK adds about itself."""
    result = {}
    for name, template in templates_of(output).items():
        template.get("Conditions", {}).pop("CDKMetadataAvailable", None)
        template["Resources"].pop("CDKMetadata", None)
        for resource in template["Resources"].values():
            resource.pop("Metadata", None)
        result[name] = {k: v for k, v in template.items() if v}
    return result


def test_it_writes_a_template_a_stack(outputs: dict[str, Path], default_config: Config) -> None:
    assert templates(outputs["alone"]).keys() == {*stack_names(default_config).values()}


@pytest.mark.parametrize("pattern", ["*.template.json", "*.assets.json", "asset.*/**/*"])
def test_two_runs_write_the_same_bytes(outputs: dict[str, Path], pattern: str) -> None:
    first = contents(outputs["alone"], pattern)

    assert first
    assert first == contents(outputs["again"], pattern)


def test_the_cli_gets_the_same_templates(outputs: dict[str, Path]) -> None:
    assert "CDKMetadata" in (outputs["cli"] / "ml-platform.template.json").read_text("utf-8")
    assert templates(outputs["cli"]) == templates(outputs["alone"])


def test_the_provisioner_is_packaged_with_its_sdk(outputs: dict[str, Path]) -> None:
    files = contents(outputs["alone"], "asset.*/**/*")
    packaged = {path.split("/", 1)[1] for path in files}

    assert {"provisioner/handler.py", "boto3/__init__.py", "botocore/__init__.py"} <= packaged
    assert not [path for path in packaged if "__pycache__" in path]


CONFIG = """\
name: ml
region: eu-west-1
cluster:
  instance_groups:
    - {name: worker, instance_type: ml.g5.xlarge, instance_count: 1}
"""


def test_one_line_before_anything_is_written(tmp_path: Path, chart: Path) -> None:
    packaged, here = tmp_path / "chart", tmp_path / "desk"
    shutil.copytree(chart, packaged)
    (packaged / "packaging.json").write_text('{"health_monitoring_agent_regions": ["us-west-2"]}')
    here.mkdir()
    (here / "mine.yaml").write_text(CONFIG)

    app = start_app(
        desk(here, chart=packaged), output=tmp_path / "out", context={"config": "mine.yaml"}
    )
    code, errors = app.result()

    assert code == 2, errors
    (line,) = errors.splitlines()
    assert line.startswith("mine.yaml:2: region: 'eu-west-1' has no image of HyperPod's health")
    assert not list(app.output.glob("*.template.json"))


# What only the chart can tell: its values, and its images in a region.
UNCHECKED = {
    "helm": {
        "components": {"gpu_operator": True, "nvidia_device_plugin": False},
        "values": {"unknown": {}},
    }
}


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the app writes in a folder without a packaged chart."""
    folder = tmp_path_factory.mktemp("placeholder")
    config = folder / "mine.yaml"
    config.write_text(yaml.safe_dump(merged(default_document(), UNCHECKED)), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(config=config, output=folder / "cdk.out") == 0
    return folder / "cdk.out"


def test_a_rule_of_every_stack_refuses_it(assembly: Path, default_config: Config) -> None:
    found = templates_of(assembly)
    assert found.keys() == {*stack_names(default_config).values()}
    for template in found.values():
        (rule,) = [rule for name, rule in template["Rules"].items() if name.startswith("Chart")]
        (assertion,) = rule["Assertions"]
        given, packaged = assertion["Assert"]["Fn::Equals"]
        assert template["Parameters"][given["Ref"]]["Default"] != packaged
        assert "run `hyperpod-cdk charts`" in assertion["AssertDescription"]


def test_cfn_lint_accepts_the_rule(assembly: Path) -> None:
    text = (assembly / "ml-addons.template.json").read_text("utf-8")
    assert findings(text, region="us-west-2") == ()


def test_the_placeholder_is_an_asset(assembly: Path) -> None:
    (release,) = [
        resource["Properties"]
        for resource in templates_of(assembly)["ml-hyperpod"]["Resources"].values()
        if resource["Properties"].get("Release") == "hyperpod-dependencies"
    ]
    staged = assembly / f"asset.{release['ChartKey'].removesuffix('.zip')}"
    text = (staged / "Chart.yaml").read_text("utf-8")
    assert "name: not-packaged\n" in text


def test_a_warning_says_what_packages_the_chart(assembly: Path) -> None:
    text = (assembly / "validation-report.json").read_text("utf-8")
    assert "helm.chart: null is the official chart, not packaged yet: run " in text
