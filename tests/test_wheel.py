"""The wheel: an app outside the repository synthesizes with it, and finds its assets."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_stacks.table import stack_names
from tests.support.commands import bare_environment

OUTSIDE_APP = """\
import aws_cdk as cdk
import hyperpod_cdk
from aws_cdk import aws_eks_v2 as eks
from hyperpod_cdk import HelmRelease, LifecycleBucket, LifecycleScripts, Provisioner
from hyperpod_cdk.synthesis import assets

app = cdk.App(outdir="cdk.out")
stack = cdk.Stack(app, "Outside")
cluster = eks.Cluster.from_cluster_attributes(stack, "Eks", cluster_name="eks")
provisioner = Provisioner(stack, "Provisioner")
bucket = LifecycleBucket(stack, "Bucket", bucket_name="sagemaker-mine").bucket
LifecycleScripts(stack, "Scripts", bucket=bucket, provisioner=provisioner)
HelmRelease(
    stack, "Claim", cluster=cluster, provisioner=provisioner, release="fsx",
    namespace="kube-system", chart=assets.asset_directory("charts") / "fsx-storage",
)
app.synth()
print(hyperpod_cdk.__version__)
print(assets.__file__)
"""


@pytest.fixture
def wheel(repository: Path, tmp_path: Path) -> Path:
    """Return the project's wheel."""
    build = ["-m", "build", "--wheel", "--no-isolation", "--outdir"]
    subprocess.run([sys.executable, *build, tmp_path, repository], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    return wheel


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Return an interpreter that has no package installed, this repository's least of all."""
    venv.create(tmp_path / "venv", with_pip=False)
    return tmp_path / "venv" / "bin" / "python"


def test_an_app_outside_the_repository(
    wheel: Path, python: Path, tmp_path: Path, repository: Path
) -> None:
    installed, outside = tmp_path / "installed", tmp_path / "outside"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    outside.mkdir()
    (outside / "app.py").write_text(OUTSIDE_APP)
    # Dependencies only: a directory of PYTHONPATH has no .pth file read, so the editable
    # installation of the repository beside them is not seen.
    dependencies = Path(pytest.__file__).parents[1]
    run = subprocess.run(
        [python, "app.py"],
        cwd=outside,
        env={
            **bare_environment(),
            "PYTHONPATH": os.pathsep.join([str(installed), str(dependencies)]),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    source = installed / "hyperpod_cdk" / "synthesis" / "assets.py"
    assert run.stdout.splitlines()[-2:] == [project["version"], str(source)]
    template = json.loads((outside / "cdk.out" / "Outside.template.json").read_text("utf-8"))
    kinds = [resource["Type"] for resource in template["Resources"].values()]
    assert {"Custom::LifecycleScripts", "Custom::HelmRelease"} <= set(kinds)
    for script in ("provisioner/handler.py", "on_create.sh", "Chart.yaml"):
        assert len(list((outside / "cdk.out").glob(f"asset.*/{script}"))) == 1
    assert str(repository) not in json.dumps(template)
    (function,) = (path.parent for path in (outside / "cdk.out").glob("asset.*/provisioner"))
    models = {path.name for path in (function / "botocore" / "data").iterdir() if path.is_dir()}
    assert models == {"cloudformation", "eks", "fsx", "s3", "sagemaker", "sts"}
    # Nothing but what is packaged: without the packages of an installation.
    code = "import provisioner.handler"
    subprocess.run([python, "-S", "-c", code], check=True, env={"PYTHONPATH": str(function)})
    # The kubectl layer makes it large.
    shutil.rmtree(outside)


def test_an_app_of_twelve_lines_deploys_everything(
    wheel: Path, python: Path, tmp_path: Path, repository: Path
) -> None:
    installed, outside = tmp_path / "installed", tmp_path / "outside"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    (outside / "config").mkdir(parents=True)
    shutil.copy(repository / "config" / "default.yaml", outside / "config")
    example = repository / "examples" / "cluster" / "app.py"
    shutil.copy(example, outside)
    path = [str(installed), str(Path(pytest.__file__).parents[1])]
    environment = {
        **bare_environment(),
        "PYTHONPATH": os.pathsep.join(path),
        "CDK_OUTDIR": "cdk.out",
        "CDK_CONTEXT_JSON": json.dumps({"aws:cdk:bundling-stacks": []}),
    }
    subprocess.run(
        [python, "app.py"], cwd=outside, env=environment, check=True, capture_output=True
    )

    made = {path.name.partition(".")[0] for path in outside.glob("cdk.out/*.template.json")}
    assert made == {*stack_names(load_config(repository / "config" / "default.yaml")).values()}
    assert len(example.read_text("utf-8").splitlines()) <= 12
    charts = installed / "hyperpod_cdk" / "_assets" / "charts"
    assert {"pins.yaml", "value_checks.yaml"} <= {path.name for path in charts.iterdir()}
    # Its own checks of values are read when a chart is packaged.
    code = "import hyperpod_cli.deliver.charts.inspection"
    subprocess.run([python, "-c", code], cwd=outside, env=environment, check=True)


def test_it_carries_the_library_with_its_assets_and_the_operators_commands_only(
    wheel: Path,
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"hyperpod_cdk", "hyperpod_cli", "hyperpod_shared", "hyperpod_stacks"}
    assert "hyperpod_cdk/py.typed" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
