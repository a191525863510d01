"""README.md and docs/: what they name exists."""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import botocore.session
import pytest
from botocore.model import StringShape
from typer.main import get_group

import hyperpod_cdk
from hyperpod_cdk.loading import load_config
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cli.main import app
from hyperpod_rehearsal.scenarios import SCENARIOS
from tests.support.configs import CONFIG_FOLDER, REPOSITORY, SHIPPED
from tools.generate.pages.config_reference import keys

DOCS = REPOSITORY / "docs"
MKDOCS = REPOSITORY / "mkdocs.yml"
PAGES = sorted(
    [
        *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *DOCS.glob("*.md"),
        *DOCS.glob("adr/*.md"),
    ]
)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_CODE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
_COMMAND = re.compile(r"(?:^|`)make ([a-z][a-z-]*)", re.MULTILINE)
_KEY = re.compile(
    r"`((?:network|eks|storage|helm|cluster|lifecycle_scripts)\.(?!amazonaws)[a-z_.\[\]]*[a-z\]])`"
)
_FILE = re.compile(r"`([\w./<>-]+/[\w.<>-]*|[\w.-]+\.(?:cjs|json|md|py|svg|txt|yaml))`")
_NAMED = re.compile(r"docs: ([a-z0-9-]+)|page ([a-z0-9-]+) of the docs")
_IN_CHECKOUT = re.compile(r"(?<![/\w])docs/[\w-]+\.md|charts/pins\.yaml|examples/slurm")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
_TREE_ENTRY = re.compile(r"^([\w./]+)  +\S", re.MULTILINE)


@pytest.fixture(scope="session")
def readme() -> str:
    """Return the text of README.md."""
    return (REPOSITORY / "README.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link[0]]
    assert [link for link, _ in links if not (page.parent / link).exists()] == []
    anchored = [(page.parent / link if link else page, anchor) for link, anchor in links if anchor]
    assert [
        f"{target.name}#{anchor}" for target, anchor in anchored if anchor not in anchors(target)
    ] == []


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MkDocs make them."""
    headings = _HEADING.findall(_CODE.sub("", page.read_text("utf-8")))
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_anchors_are_found(readme: str) -> None:
    assert len([anchor for _, anchor in _LINK.findall(readme) if anchor]) > 2
    assert {"limits", "use-the-constructs-in-your-own-app"} <= anchors(REPOSITORY / "README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_targets_of_make_exist(page: Path) -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    named = set(_COMMAND.findall(page.read_text("utf-8")))
    assert {name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_keys_are_keys_of_the_configuration(page: Path) -> None:
    named = {_without_index(key) for key in _KEY.findall(page.read_text("utf-8"))}
    assert named - keys_of_the_configuration() == set()


@cache
def keys_of_the_configuration() -> set[str]:
    return {_without_index(key) for key in keys()}


def test_keys_are_found() -> None:
    assert len(_KEY.findall((REPOSITORY / "docs" / "existing-resources.md").read_text("utf-8"))) > 3


def test_the_rooms_are_the_folders_at_the_top() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
    entries = _TREE_ENTRY.findall(page.split("## Rooms")[1].split("```")[1])
    ignored = (REPOSITORY / ".gitignore").read_text("utf-8")
    folders = {
        path.name
        for path in REPOSITORY.iterdir()
        if path.is_dir() and path.name[0] != "." and f"{path.name}/" not in ignored
    }
    assert [entry for entry in entries if not (REPOSITORY / entry).exists()] == []
    assert {entry.partition("/")[0] for entry in entries} - {"app.py"} == folders


def test_the_architecture_names_files_that_exist() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
    roots = [
        REPOSITORY / root for root in ("", "constructs/hyperpod_cdk", "lambda/provisioner", "docs")
    ]
    rows = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    named = [name for name in _FILE.findall(rows) if "<" not in name]
    assert len(named) > 10
    assert [name for name in named if not _is_there(name, roots=roots)] == []


def _is_there(name: str, *, roots: Sequence[Path]) -> bool:
    """Say whether a file is in one of the roots; one without a folder, anywhere in them."""
    if "/" in name:
        return any((root / name).exists() for root in roots)
    own = (
        REPOSITORY / folder
        for folder in ("tests", "rehearsal", "emulator", "cli", "tools", "aws_reference")
    )
    return (REPOSITORY / name).exists() or any(any(root.rglob(name)) for root in (*roots[1:], *own))


def test_the_mistake_is_reported_as_shown(readme: str, tmp_path: Path) -> None:
    shown = re.search(r"^mine\.yaml:([0-9]+: .+?: '(\S+)' .+)$", readme, re.MULTILINE)
    assert shown is not None
    text = (CONFIG_FOLDER / "default.yaml").read_text("utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(re.sub(r"(instance_type: )\S+", rf"\g<1>{shown[2]}", text, count=1), "utf-8")

    with pytest.raises(ConfigError) as refusal:
        load_config(file)
    assert str(refusal.value) == f"{file}:{shown[1]}"


def test_every_shipped_configuration_is_named(readme: str) -> None:
    assert [file.name for file in SHIPPED if f"config/{file.name}" not in readme] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_import_what_exists(page: Path) -> None:
    imports = [
        (node.module, name.name)
        for block in _PYTHON.findall(page.read_text("utf-8"))
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for name in node.names
        if node.module.split(".")[0] == "hyperpod_cdk"
    ]
    missing = [
        f"{module}.{name}"
        for module, name in imports
        if not hasattr(importlib.import_module(module), name)
    ]
    assert missing == []


def test_every_page_has_a_place_in_the_site() -> None:
    named = re.findall(r"^ +- (?:[\w ]+: )?(\S+\.md)$", MKDOCS.read_text("utf-8"), re.MULTILINE)
    pages = {path.name for path in DOCS.glob("*.md")}
    assert sorted(pages - {*named}) == [], "name each page under nav in mkdocs.yml"
    assert sorted(named) == sorted(pages | {"index.md"})


def test_python_examples_are_found() -> None:
    blocks = _PYTHON.findall((REPOSITORY / "docs" / "helm.md").read_text("utf-8"))
    assert any("hyperpod_cdk" in block for block in blocks)


def _without_index(key: str) -> str:
    """Return a key as pages write it where it stands in several sections."""
    return key.replace("[]", "")


def test_the_api_reference_has_every_public_name() -> None:
    page = (REPOSITORY / "docs" / "api.md").read_text("utf-8")
    named = re.findall(r"^::: hyperpod_cdk\.\S+\.(\w+)$", page, re.MULTILINE)
    assert set(dir(hyperpod_cdk)) == set(named)


_COMMANDS = get_group(app()).commands
_OPERATING = (REPOSITORY / "docs" / "operating.md").read_text("utf-8")


def test_every_command_is_described() -> None:
    pages = "\n".join(page.read_text("utf-8") for page in PAGES)
    missing = [
        name
        for name, command in _COMMANDS.items()
        if not command.hidden and not re.search(rf"hyperpod-cdk\s{name}(?![\w-])", pages)
    ]
    assert missing == [], "say in a page what the command does"
    named = {*re.findall(r"`hyperpod-cdk\s([a-z][\w-]*)", pages)}
    assert named - _COMMANDS.keys() == set(), "there is no such command"


def test_the_commands_that_take_a_cluster_are_named() -> None:
    [names] = re.findall(r"((?:`[a-z-]+`,?\s(?:and )?)+)also take\s`--cluster`", _OPERATING)
    taking = {
        name
        for name, command in _COMMANDS.items()
        if any("--cluster" in each.opts for each in command.params)
    }
    assert set(re.findall(r"[a-z-]+(?=`)", names)) == taking


_FAILED_DEPLOYMENTS = (REPOSITORY / "docs" / "failed-deployments.md").read_text("utf-8")
_OPERATIONS = _FAILED_DEPLOYMENTS.partition("| operation |")[2].partition("\n\n")[0]
_STATE = re.compile(r"\b[A-Z]+(?:_[A-Z]+)*_(?:COMPLETE|FAILED|IN_PROGRESS)\b")
_SHOWN = re.compile(r"--scenario ([a-z-]+)`\s(?:ends\s)?in\s`([A-Z_]+)`")


@pytest.fixture(scope="module")
def states() -> set[str]:
    """Return the states of a stack, but for those of imports and of cleaning up afterwards."""
    model = botocore.session.get_session().get_service_model("cloudformation")
    shape = model.shape_for("StackStatus")
    assert isinstance(shape, StringShape)
    return {state for state in shape.enum if "IMPORT" not in state and "CLEANUP" not in state}


def test_states_are_those_of_cloudformation(states: set[str]) -> None:
    assert set(_STATE.findall(_FAILED_DEPLOYMENTS)) - states == set()


def test_the_table_has_what_deploy_and_destroy_pass_through(states: set[str]) -> None:
    otherwise = {"CREATE_FAILED", "UPDATE_FAILED", "REVIEW_IN_PROGRESS", "DELETE_COMPLETE"}
    assert set(_STATE.findall(_OPERATIONS)) == states - otherwise


def test_each_state_that_is_left_after_a_failure_has_a_way_out(states: set[str]) -> None:
    rows = [
        line.split("|")[1] for line in _FAILED_DEPLOYMENTS.splitlines() if line.startswith("| `")
    ]
    left = {state for state in states if state.endswith(("FAILED", "ROLLBACK_COMPLETE"))}
    assert set(_STATE.findall(" ".join(rows))) == left | {"REVIEW_IN_PROGRESS"}


def source_of(function: Callable[..., object]) -> str:
    """Return the source of a function, and of those in its module that it calls."""
    assert inspect.isfunction(function)
    called = (function.__globals__.get(name) for name in function.__code__.co_names)
    own = [each for each in called if inspect.isfunction(each)]
    return "".join(
        inspect.getsource(each)
        for each in (function, *own)
        if each.__module__ == function.__module__
    )


def test_scenarios_end_in_the_state_that_the_page_says() -> None:
    shown = _SHOWN.findall(_FAILED_DEPLOYMENTS)
    assert len(shown) == 4
    for name, state in shown:
        assert f'"hyperpod", "{state}"' in source_of(SCENARIOS[name].play)


def texts(source: Path) -> list[str]:
    """Return the texts of a program that a user may read: all but what documents its code."""
    tree = ast.parse(source.read_text("utf-8"))
    code = [node for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)]
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    documentation = [ast.get_docstring(node, clean=False) for node in code]
    return [each for each in strings if isinstance(each, str) and each not in documentation]


@pytest.mark.parametrize("folder", ["cli", "constructs", "lambda", "rehearsal", "stacks"])
def test_messages_name_pages_and_no_file_of_the_checkout(folder: str) -> None:
    """Who has installed the wheel has no `docs/`."""
    said = [text for path in (REPOSITORY / folder).rglob("*.py") for text in texts(path)]
    assert [text for text in said if _IN_CHECKOUT.search(text)] == []
    named = {"".join(pair) for text in said for pair in _NAMED.findall(text)}
    assert named <= {page.stem for page in DOCS.glob("*.md")}
