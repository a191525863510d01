"""The journal's item of a resource: written on a condition, read as it was written."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from hyperpod_shared.errors import NotReadyError
from provisioner.framework.journal import Entry, Journal
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Time, journal
from tests.support.provisioner.fake_table import FakeTable
from tests.support.provisioner.large_cluster import group

CHANGED = Entry(request="own", operation=1.5, began_at=2.25, notes={"calls": [{"key": "update"}]})


@pytest.fixture
def table() -> FakeTable:
    return FakeTable()


@pytest.fixture
def item(table: FakeTable, time: Time) -> Journal:
    return journal(table, "Custom::HyperPodCluster/ml-cluster", time.clock)


def test_what_is_written_is_read(item: Journal) -> None:
    assert item.read() == Entry()
    for version in (1, 2):
        written = item.write(replace(CHANGED, version=version - 1))
        assert written == item.read() == replace(CHANGED, version=version)


def test_the_notes_of_a_hundred_groups_are_a_small_item(table: FakeTable, item: Journal) -> None:
    """DynamoDB takes 400 KB; a note has what is asked for, and what was."""
    groups = {f"workers-{number}": group(number) for number in range(100)}
    notes = {name: {"asked": asked, "was": {"asked": asked}} for name, asked in groups.items()}
    calls = [{"key": "update", "groups": groups}]
    item.write(replace(CHANGED, notes={"groups": notes, "calls": calls}))
    (written,) = (table.items or {}).values()
    assert len(written["notes"]["B"]) < 40_000


def test_a_write_whose_answer_is_lost_counts_once(
    table: FakeTable, item: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, lost = table.put_item, [ReadTimeoutError(endpoint_url="https://dynamodb")] * 2

    def put_item(**request: Any) -> None:
        put(**request)
        if lost:
            raise lost.pop()

    monkeypatch.setattr(table, "put_item", put_item)
    assert item.write(CHANGED) == item.read() == replace(CHANGED, version=1)


@pytest.mark.parametrize("before", [Entry(), CHANGED], ids=["new", "changed"])
def test_the_second_of_two_writers_is_refused(item: Journal, before: Entry, raises: Raises) -> None:
    read = item.read() if before == Entry() else item.write(before)
    first = item.write(replace(read, request="first"))
    with raises(NotReadyError):
        item.write(replace(read, request="second"))
    assert item.read() == first


def test_the_item_of_a_resource_that_is_gone_stays_for_a_day(
    table: FakeTable, item: Journal, time: Time
) -> None:
    item.write(item.write(CHANGED), is_gone=True)
    ((written,),) = [[*(table.items or {}).values()]]
    assert float(written["expires_at"]["N"]) == time.now + 86_400
    assert item.read().request == "own"


def test_a_table_that_is_gone_notes_nothing_and_says_so(table: FakeTable, item: Journal) -> None:
    table.items = None
    read = item.read()
    assert read == Entry(is_readable=False)
    assert item.write(read) == read
