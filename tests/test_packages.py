"""The packages: what each imports and holds, and the wheel outside the repository."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import aws_reference
from hyperpod_cdk import load_config
from hyperpod_stacks.table import stack_names
from tests.support.commands import bare_environment
from tests.support.configs import REPOSITORY

Graph = Mapping[str, set[str]]

LIBRARY = ("constructs", "hyperpod_cdk")
# The source root of each tree of packages, and the packages' name; a test looks across them.
TREES = [
    LIBRARY,
    ("stacks", "hyperpod_stacks"),
    ("shared", "hyperpod_shared"),
    ("lambda", "provisioner"),
    ("lambda", "notifier"),
    ("cli", "hyperpod_cli"),
    ("aws_reference", "aws_reference"),
    (".", "tools"),
    ("emulator", "hyperpod_emulator"),
    ("rehearsal", "hyperpod_rehearsal"),
]


def modules(root: str, top: str) -> dict[str, Path]:
    """Return every file of a tree by the name that it is imported by."""
    folder = REPOSITORY / root
    return {
        ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted([*folder.glob(f"{top}.py"), *folder.glob(f"{top}/**/*.py")])
    }


def imported(path: Path) -> Iterator[str]:
    """Yield what a file imports, when it is loaded, when it runs, or for its types alone."""
    return imported_in(path.read_text("utf-8"))


def imported_in(code: str) -> Iterator[str]:
    """Yield what some code imports."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{ast.unparse(node)}: a relative import"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def module_graph(root: str, top: str) -> dict[str, set[str]]:
    """Return the modules of the tree that each of its modules imports."""
    known = modules(root, top)
    return {
        name: {other for other in imported(path) if other in known and other != name}
        for name, path in known.items()
    }


def rooms(root: str, top: str) -> set[str]:
    """Return the packages of a tree, at any depth."""
    return {name for name, path in modules(root, top).items() if path.name == "__init__.py"}


def package_graph(root: str, top: str, *, room: str | None = None) -> dict[str, set[str]]:
    """Return what each package or module in a room imports of the others there.

    Args:
        root: The source root.
        top: Name of the tree.
        room: A package of the tree. Default: the tree.
    """
    inside = room or top
    depth = inside.count(".") + 2

    def members(names: Iterable[str]) -> set[str]:
        return {
            ".".join(name.split(".")[:depth])
            for name in names
            if f"{name}.".startswith(f"{inside}.")
        }

    graph: dict[str, set[str]] = {}
    for module, others in module_graph(root, top).items():
        for member in members([module]):
            graph.setdefault(member, set()).update(members(others) - {member})
    return graph


def cycle(graph: Graph) -> list[str]:
    """Return the members of one cycle; none of an acyclic graph."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize(("root", "top"), TREES)
def test_packages_are_acyclic_in_each_room(root: str, top: str) -> None:
    found = {room: cycle(package_graph(root, top, room=room)) for room in rooms(root, top)}

    assert {room: members for room, members in found.items() if members} == {}


def tree_graph() -> dict[str, set[str]]:
    """Return the trees that each tree imports."""
    return {
        top: {
            other.partition(".")[0]
            for path in modules(root, top).values()
            for other in imported(path)
        }
        & ({name for _, name in TREES} - {top})
        for root, top in TREES
    }


def test_trees_are_acyclic() -> None:
    # By its name alone, `commands/rehearsal.py` loads what rehearses, which imports the commands.
    graph = tree_graph()

    assert cycle(graph) == []
    assert graph["hyperpod_shared"] == graph["aws_reference"] == set()
    assert graph["hyperpod_cdk"] == {"hyperpod_shared", "aws_reference"}
    assert graph["provisioner"] == graph["notifier"] == {"hyperpod_shared"}
    assert graph["hyperpod_emulator"] <= {"aws_reference"}
    assert {"hyperpod_stacks", "hyperpod_emulator", "hyperpod_cli"} <= graph["hyperpod_rehearsal"]


def test_only_the_check_before_a_deletion_imports_the_function() -> None:
    importers = {
        name
        for root, top in TREES
        if top not in {"provisioner", "hyperpod_rehearsal"}
        for name, path in modules(root, top).items()
        if any(other.partition(".")[0] == "provisioner" for other in imported(path))
    }

    # And the generator of the page of its steps.
    assert importers == {
        "hyperpod_cli.deliver.deletion_check",
        "tools.generate.pages.provisioner_steps",
    }


def test_what_is_shared_loads_nothing_but_the_sdk() -> None:
    others = {
        other.partition(".")[0]
        for path in modules("shared", "hyperpod_shared").values()
        for other in imported(path)
    }

    assert others - sys.stdlib_module_names == {"hyperpod_shared", "boto3", "botocore"}


def test_modules_of_the_library_are_acyclic() -> None:
    assert cycle(module_graph(*LIBRARY)) == []


def test_a_package_of_the_library_imports_no_module_above_it() -> None:
    below = rooms(*LIBRARY) - {"hyperpod_cdk"}

    for package, others in package_graph(*LIBRARY).items():
        assert package not in below or others <= below, package


def test_the_walk_finds_packages_and_what_they_import() -> None:
    graph = package_graph(*LIBRARY)
    inside = package_graph(*LIBRARY, room="hyperpod_cdk.helm")

    assert "hyperpod_cdk.schema" in graph["hyperpod_cdk.network"]
    assert "hyperpod_cdk.facts" in graph["hyperpod_cdk.schema"]
    assert {"hyperpod_cdk.checks", "hyperpod_cdk.config"} <= graph["hyperpod_cdk.loading"]
    assert "hyperpod_cdk.helm.components" in inside["hyperpod_cdk.helm.chart_rules"]


@pytest.mark.parametrize(
    ("graph", "members"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, set()),
        ({"a": {"b"}, "b": {"a"}}, {"a", "b"}),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, {"b", "c"}),
    ],
)
def test_a_cycle_is_found(graph: Graph, members: set[str]) -> None:
    assert set(cycle(graph)) == members


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


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project's wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "build", "--wheel", "--no-isolation", "--outdir"]
    subprocess.run([sys.executable, *build, folder, repository], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the packages of the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an interpreter that has no package installed, this repository's least of all."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False)
    return folder / "bin" / "python"


def environment(installed: Path) -> dict[str, str]:
    """Return that of an app outside; its templates are validated elsewhere, as the app's own."""
    # Dependencies only: a directory of PYTHONPATH has no .pth file read, so the editable
    # installation of the repository beside them is not seen.
    dependencies = Path(pytest.__file__).parents[1]
    # A dependency, too, whose installation is editable.
    reference = Path(aws_reference.__file__).parents[1]
    path = os.pathsep.join([str(installed), str(reference), str(dependencies)])
    return {**bare_environment(), "PYTHONPATH": path, "CDK_VALIDATION": "false"}


def test_an_app_outside_the_repository(
    installed: Path, python: Path, tmp_path: Path, repository: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "app.py").write_text(OUTSIDE_APP)
    run = subprocess.run(
        [python, "app.py"],
        cwd=outside,
        env=environment(installed),
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
    assert models == {"cloudformation", "dynamodb", "ec2", "eks", "fsx", "s3", "sagemaker", "sts"}
    # Nothing but what is packaged: without the packages of an installation.
    code = "import provisioner.handler"
    subprocess.run([python, "-S", "-c", code], check=True, env={"PYTHONPATH": str(function)})
    # The kubectl layer makes it large.
    shutil.rmtree(outside)


@pytest.mark.whole
def test_an_app_of_twelve_lines_deploys_everything(
    installed: Path, python: Path, tmp_path: Path, repository: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "config").mkdir(parents=True)
    shutil.copy(repository / "config" / "default.yaml", outside / "config")
    example = repository / "examples" / "cluster" / "app.py"
    shutil.copy(example, outside)
    given = {
        **environment(installed),
        "CDK_OUTDIR": "cdk.out",
        "CDK_CONTEXT_JSON": json.dumps({"aws:cdk:bundling-stacks": []}),
    }
    subprocess.run([python, "app.py"], cwd=outside, env=given, check=True, capture_output=True)

    made = {path.name.partition(".")[0] for path in outside.glob("cdk.out/*.template.json")}
    assert made == {*stack_names(load_config(repository / "config" / "default.yaml")).values()}
    assert len(example.read_text("utf-8").splitlines()) <= 12
    charts = installed / "hyperpod_cdk" / "_assets" / "charts"
    assert {"pins.yaml", "value_checks.yaml"} <= {path.name for path in charts.iterdir()}
    assert (charts / "training" / "files" / "resources.json").is_file()
    # Its own checks of values are read when a chart is packaged.
    code = "import hyperpod_cli.deliver.charts.inspection"
    subprocess.run([python, "-c", code], cwd=outside, env=given, check=True)


def test_it_carries_the_packages_and_what_they_read(
    wheel: Path,
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {f"hyperpod_{name}" for name in ("cdk", "cli", "rehearsal", "shared", "stacks")}
    assert "hyperpod_cdk/py.typed" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


@pytest.mark.parametrize(
    ("package", "version", "admitted"),
    [
        # They send no token: https://github.com/kubernetes-client/python/issues/2582.
        ("kubernetes", "36.0.0", False),
        ("kubernetes", "36.0.1", False),
        ("kubernetes", "36.0.2", True),
        # sagemaker-core, which sagemaker-hyperpod 3.12.0 (`hyp`) needs, takes rich below 15.
        ("rich", "14.3.4", True),
    ],
)
def test_the_commands_take_clients_that_work_and_share_an_environment_with_hyp(
    package: str, version: str, admitted: bool
) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    ranges = {
        required.name: required.specifier for required in map(Requirement, project["dependencies"])
    }
    assert (version in ranges[package]) is admitted
