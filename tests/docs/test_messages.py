"""docs/messages.md: who reads a message finds it there."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ProfileNotFound

from hyperpod_cdk.checks import ALL_RULES
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.operate.clusters import HyperPodCluster
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explained
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.failures import CAUSES
from provisioner.framework.properties import text, truth
from provisioner.hyperpod.failures import kept, renamed
from provisioner.kubernetes.cluster import require_usable
from tests.constructs.checks.test_rules import CASES
from tests.support.configs import REPOSITORY
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
    (row,) = [line for line in _PAGE.splitlines() if line.startswith(f"| {first} | ")]
    assert len(row.split(" | ")[1]) > 10


def unknown_cluster() -> None:
    """Ask for the EKS cluster of one that Slurm orchestrates."""
    HyperPodCluster(described={"ClusterName": "ml-cluster"}).eks_cluster_name  # noqa: B018


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
