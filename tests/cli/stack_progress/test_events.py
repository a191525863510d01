"""Reading the events of a stack while CloudFormation works on it."""

import pytest
from botocore.exceptions import ClientError

from hyperpod_cli.aws.stack_events import StackReader, nested_events
from tests.support.stack_events import CloudFormation, event, names, refused, stack_id

NAME = "ml-hyperpod"


def begun(client: CloudFormation) -> StackReader:
    reader = StackReader(client=client, name=NAME)
    reader.begin()
    return reader


def test_a_stack_that_is_not_there_yet_has_no_event_and_then_all() -> None:
    client = CloudFormation()
    reader = begun(client)
    assert reader.read() == []
    client.add(event(NAME, "CREATE_IN_PROGRESS"), event("Vpc", "CREATE_IN_PROGRESS", 1))
    assert names(reader.read()) == [f"{NAME} CREATE_IN_PROGRESS", "Vpc CREATE_IN_PROGRESS"]


@pytest.mark.parametrize("new", [1, 3, 4, 10])
def test_what_happened_before_is_left_out_however_many_pages_follow(new: int) -> None:
    client = CloudFormation()
    client.add(*(event(f"Old{index}", "CREATE_COMPLETE", index) for index in range(10)))
    reader = begun(client)
    client.add(*(event(f"New{index}", "UPDATE_COMPLETE", 20 + index) for index in range(new)))
    found = reader.read()
    assert [each.logical_id for each in found] == [f"New{index}" for index in range(new)]
    assert reader.read() == found


def test_only_the_latest_page_is_read_when_little_is_new() -> None:
    client = CloudFormation()
    reader = begun(client)
    client.add(*(event(f"New{index}", "CREATE_COMPLETE", index) for index in range(30)))
    reader.read()
    client.calls = 0
    client.add(event("Last", "CREATE_COMPLETE", 40))
    assert len(reader.read()) == 31
    assert client.calls == 1


def test_an_event_that_appears_behind_a_known_one_is_not_missed() -> None:
    client = CloudFormation()
    reader = begun(client)
    late = event("Late", "CREATE_COMPLETE", 1)
    client.add(event(NAME, "CREATE_IN_PROGRESS"), event("Early", "CREATE_COMPLETE", 2))
    reader.read()
    client.stacks[stack_id(NAME)].insert(1, late)
    assert [each.logical_id for each in reader.read()] == [NAME, "Late", "Early"]


def test_a_stack_is_followed_beyond_its_deletion() -> None:
    client = CloudFormation()
    client.add(event(NAME, "CREATE_COMPLETE"))
    reader = begun(client)
    client.add(event(NAME, "DELETE_IN_PROGRESS", 5))
    reader.read()
    client.add(event(NAME, "DELETE_COMPLETE", 9))
    del client.ids[NAME]
    assert names(reader.read()) == [f"{NAME} DELETE_IN_PROGRESS", f"{NAME} DELETE_COMPLETE"]


def test_a_stack_that_comes_back_with_another_id_begins_anew() -> None:
    client = CloudFormation()
    client.add(event(NAME, "ROLLBACK_COMPLETE"))
    reader = begun(client)
    client.add(event(NAME, "DELETE_COMPLETE", 5))
    reader.read()
    client.add(event(NAME, "CREATE_IN_PROGRESS", 9, number=2))
    assert names(reader.read()) == [f"{NAME} CREATE_IN_PROGRESS"]


def test_a_refusal_is_no_absence() -> None:
    client = CloudFormation(error=refused("AccessDenied"))
    with pytest.raises(ClientError):
        StackReader(client=client, name=NAME).begin()


def test_what_failed_in_a_nested_stack_is_found() -> None:
    client = CloudFormation()
    inner = {"stack": "inner", "type": "AWS::EC2::VPC"}
    client.add(event("Vpc", "CREATE_FAILED", 1, reason="too many", **inner))  # type: ignore[arg-type]
    nested = event(
        "Inner",
        "CREATE_FAILED",
        2,
        type="AWS::CloudFormation::Stack",
        physical_id=stack_id("inner"),
    )
    assert names(nested_events(client, [event(NAME, "CREATE_IN_PROGRESS"), nested])) == [
        "Vpc CREATE_FAILED"
    ]
