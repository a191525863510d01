"""docs/messages.md and docs/recipes.md: what they show is what happens."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError, NoCredentialsError, ProfileNotFound

from hyperpod_cdk import Config, ConfigError
from hyperpod_cdk.checks import ALL_RULES, findings
from hyperpod_cdk.loading import load_config
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.operate.clusters import DescribedCluster
from hyperpod_cli.operate.orchestrators import orchestrator_of
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explained
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.failures import CAUSES
from hyperpod_stacks.table import stack_names
from provisioner.framework.properties import text, truth
from provisioner.hyperpod.failures import kept, renamed
from provisioner.kubernetes.cluster import require_usable
from tests.constructs.checks.test_checks import CASES
from tests.support.assembly import merged, synthesized
from tests.support.configs import CONFIG_FOLDER, REPOSITORY, default_document
from tests.support.rule_cases import Case
from tools.generate.message_texts import ErrorText, scopes

_PAGE = (REPOSITORY / "docs" / "messages.md").read_text("utf-8")


def entries() -> Iterator[re.Pattern[str]]:
    """Yield what finds each message of the page in what a user reads."""
    for row in re.findall(r"^(?:- |\| )(.+?)(?: \|)?$", _PAGE, re.MULTILINE):
        for cell in re.split(r" (?<!\\)\| |<br>", row):
            text = re.sub(r"\\([*_\[\]<|\\])", r"\1", cell).strip("… ")
            if re.search(r"[a-z]{2,} [a-z]{2,}", text):
                yield re.compile(".*".join(map(re.escape, text.split("…"))), re.DOTALL)


_ENTRIES = [*entries()]


def is_found(message: str) -> bool:
    """Say whether the page has a message."""
    return any(entry.search(message) for entry in _ENTRIES)


@pytest.mark.parametrize(
    "name",
    [
        *(cause.name for cause in CAUSES),
        *VALIDATORS,
        *(rule.__name__ for rule in ALL_RULES),
    ],
)
def test_each_cause_rule_and_validator_has_a_row(name: str) -> None:
    first = name.replace("_", "\\_")
    # A node group of EKS may have a cause of the same name, in another table.
    rows = [line for line in _PAGE.splitlines() if line.startswith(f"| {first} | ")]
    assert rows
    assert all(len(row.split(" | ")[1]) > 10 for row in rows)


def unknown_cluster() -> None:
    """Ask for the EKS cluster of one that Slurm orchestrates."""
    orchestrator_of(DescribedCluster(described={"ClusterName": "ml-cluster"})).eks_cluster_name()


@pytest.mark.parametrize(
    "fails",
    [
        lambda: text("Release", 3),
        lambda: truth("Wait", "perhaps"),
        lambda: require_usable({"name": "ml-eks", "status": "CREATING"}),
        lambda: require_usable({"name": "ml-eks", "status": "FAILED"}),
        unknown_cluster,
    ],
)
def test_an_error_is_found_by_its_words(fails: Callable[[], object]) -> None:
    with pytest.raises((ProvisioningError, OpsError)) as error:
        fails()
    assert is_found(str(error.value))


@pytest.mark.parametrize("case", [case for case in CASES if case.expected], ids=str)
def test_a_finding_is_found_by_its_words(case: Case[Any]) -> None:
    assert [each.message for each in case.rule(case.subject) if not is_found(each.message)] == []


def test_failures_of_the_cluster_are_found() -> None:
    assert is_found(str(renamed("ml-cluster")))
    assert is_found(str(kept("ml-cluster", nodes=3)))
    assert not is_found("The deployment ml is haunted. Call somebody.")


@pytest.mark.parametrize(
    "error",
    [
        NoCredentialsError(),
        ProfileNotFound(profile="mine"),
        ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "DescribeCluster"),
        ClientError({"Error": {"Code": "Throttling", "Message": "slow"}}, "DescribeCluster"),
        ClientError({"Error": {"Code": "ExpiredToken", "Message": "old"}}, "DescribeCluster"),
    ],
)
def test_errors_of_aws_are_found(error: Exception) -> None:
    (line,) = explained(error) or ()
    assert is_found(line)


_FORMS = """
_AGAIN = "Deploy it again."

def one(name):
    what = f"The thing {name} is gone"
    raise OwnError(what, next_step=_AGAIN)

def other(name, many):
    raise OwnError(
        "Two things are gone" if many else "One thing is gone",
        next_step=f"Look at {name} first.",
    )

def third(path, value):
    message = "must be something else"
    yield error(path, value, message)
    yield _problem(path, value, message)
    yield warning(path, value, f"is {value}, which nobody knows")
"""


def test_each_form_of_a_message_is_read(tmp_path: Path) -> None:
    file = tmp_path / "forms.py"
    file.write_text(_FORMS)
    assert [text for scope in scopes(file) for text in scope.failures()] == [
        ErrorText(what="The thing … is gone", next_step="Deploy it again."),
        ErrorText(what="Two things are gone", next_step="Look at … first."),
        ErrorText(what="One thing is gone", next_step="Look at … first."),
    ]
    assert {text for scope in scopes(file) for text in scope.findings()} == {
        "must be something else",
        "is …, which nobody knows",
    }


_RECIPES_PAGE = (REPOSITORY / "docs" / "recipes.md").read_text("utf-8")
_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPES: Mapping[str, Mapping[str, Any]] = {
    part.partition("\n")[0]: yaml.safe_load("".join(_BLOCK.findall(part)))
    for part in _RECIPES_PAGE.split("\n## ")[1:]
}
WARNED = {"Nodes in a second zone": {"efa_zones"}}
"""Rules whose warning is what a recipe tells of."""


def loaded(changes: Mapping[str, Any], directory: Path) -> Config:
    """Return the default configuration with changes, read from a file as users have it."""
    examples = directory / "examples"
    if not examples.exists():
        examples.symlink_to(CONFIG_FOLDER / "examples")
    path = directory / "mine.yaml"
    path.write_text(yaml.safe_dump(merged(default_document(), changes)), "utf-8")
    return load_config(path)


def test_there_are_as_many_as_blocks() -> None:
    assert len(_BLOCK.findall(_RECIPES_PAGE)) == len(RECIPES) > 20


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_is_accepted(title: str, default_config: Config, tmp_path: Path) -> None:
    config = loaded(RECIPES[title], tmp_path)

    assert config != default_config
    usual = {finding.rule for finding in findings(default_config)}
    assert {finding.rule for finding in findings(config)} - usual == WARNED.get(title, set())


def test_what_the_page_for_eksctl_writes_is_accepted(tmp_path: Path) -> None:
    (block,) = _BLOCK.findall((REPOSITORY / "docs" / "eksctl.md").read_text("utf-8"))
    path = tmp_path / "mine.yaml"
    cluster = default_document()["cluster"]
    path.write_text(yaml.safe_dump({"name": "ml", "cluster": cluster, **yaml.safe_load(block)}))

    assert [*findings(load_config(path))] == []


@pytest.mark.whole
@pytest.mark.slow(seconds=3)
def test_recipes_synthesize(chart: Path, tmp_path: Path) -> None:
    together = [*_combined(tmp_path)]
    for number, config in enumerate(together):
        directory = tmp_path / str(number)
        assembly = synthesized(config, chart=chart, directory=directory)
        assert len(assembly.templates()) == len(stack_names(config))
    assert len(together) < 6


def _combined(directory: Path) -> Iterator[Config]:
    """Yield configurations that hold every recipe; those that exclude each other are apart.

    A synthesis of each would take a dozen seconds.
    """
    waiting = dict(RECIPES)
    while waiting:
        together: Mapping[str, Any] = {}
        for title, recipe in list(waiting.items()):
            known, new = dict(_settings(together)), dict(_settings(recipe))
            if any(known.get(key, value) != value for key, value in new.items()):
                continue
            candidate = _with(together, recipe)
            try:
                config = loaded(candidate, directory)
            except ConfigError:
                continue
            together = candidate
            del waiting[title]
        yield config


def _with(config: Mapping[str, Any], recipe: Mapping[str, Any]) -> Mapping[str, Any]:
    result = merged(config, recipe)
    groups = {group["name"]: group for each in (config, recipe) for group in _groups(each)}
    return (
        merged(result, {"cluster": {"instance_groups": [*groups.values()]}}) if groups else result
    )


def _groups(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = document.get("cluster", {}).get("instance_groups", [])
    return groups


def _settings(document: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each key with its value, and each group of nodes under its name."""
    for key, value in document.items():
        if key == "instance_groups":
            yield from ((f"{key}.{group['name']}", group) for group in value)
        elif isinstance(value, Mapping):
            yield from _settings(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value
