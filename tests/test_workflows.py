"""What the workflows of .github/ may do, and what they run."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import part_of
from tests.support.configs import REPOSITORY

WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.name: yaml.safe_load(path.read_text("utf-8"))
    for path in (REPOSITORY / ".github" / "workflows").iterdir()
}

# A tag can be moved to another commit.
_BY_COMMIT = r"[\w./-]+@[0-9a-f]{40}"


def jobs(name: str) -> Iterator[tuple[dict[str, str], list[dict[str, Any]]]]:
    """Yield the permissions and the steps of each job."""
    workflow = WORKFLOWS[name]
    for job in workflow["jobs"].values():
        yield job.get("permissions", workflow["permissions"]), job["steps"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_nothing_foreign_runs_with_rights(name: str) -> None:
    # YAML reads `on` as true.
    assert "pull_request_target" not in WORKFLOWS[name][True]
    for permissions, steps in jobs(name):
        may_change = "write" in permissions.values()
        for step in steps:
            action = step.get("uses", "")
            assert not action or re.fullmatch(_BY_COMMIT, action)
            # What an expression gives becomes part of the script.
            assert "${{" not in step.get("run", "")
            if action.startswith("actions/checkout@"):
                assert not may_change, "what is checked out is built and run"
                assert step["with"]["persist-credentials"] is False


def test_the_actions_of_examples_are_named_by_their_commits() -> None:
    pages = {path.name: path.read_text("utf-8") for path in (REPOSITORY / "docs").rglob("*.md")}
    actions = {
        (name, action)
        for name, page in pages.items()
        for action in re.findall(r"^\s*(?:- )?uses: *(\S+)", page, re.MULTILINE)
    }
    assert any(action.startswith("actions/checkout@") for _, action in actions)
    assert {each for each in actions if not re.fullmatch(_BY_COMMIT, each[1])} == set()


def test_each_file_of_whole_tests_is_in_one_part_of_ci() -> None:
    files = [Path(f"test_{number}.py") for number in range(7)]
    parts = WORKFLOWS["ci.yml"]["jobs"]["run"]["strategy"]["matrix"]["part"]
    assert sorted(path for part in parts for path in part_of(files, part)) == files


@pytest.mark.slow(seconds=15)
def test_a_part_has_no_unused_snapshots() -> None:
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-o", "testpaths=tests/snapshot"]
    # As many parts as leave out every whole test.
    result = subprocess.run(
        [*pytest_run, "--part", "99/99"],
        check=False,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout
    assert "unused" not in result.stdout
