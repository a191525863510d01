"""Every worker collects the same tests, whatever the others have written meanwhile."""

from pathlib import Path

import pytest

from tests.conftest import WHOLE
from tests.support.collection import READS, Reads


def test_no_module_of_tests_reads_what_a_run_writes() -> None:
    assert READS.found == []


def test_no_test_is_named_after_what_a_run_writes(request: pytest.FixtureRequest) -> None:
    names = [item.nodeid for item in request.session.items]
    assert [name for name in names if "__pycache__" in name] == []


def test_the_folders_left_to_make_test_all_are_there() -> None:
    assert [folder for folder in WHOLE if not folder.is_dir()] == []


def test_what_is_read_is_noted(repository: Path) -> None:
    compiled = repository / "tests" / "__pycache__"
    compiled.mkdir(exist_ok=True)
    reads = Reads()
    reads.begin()

    list(repository.glob("*.toml"))
    assert reads.found == []
    list(compiled.iterdir())
    assert [found.partition(" reads ")[2] for found in reads.found] == [str(compiled)]

    reads.end()
    list(compiled.iterdir())
    assert len(reads.found) == 1
