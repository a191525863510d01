"""When a file system can be mounted: what FSx says -> what follows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.file_system_availability import FileSystemAvailability, decide
from provisioner.framework.resource import Progress
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, Framework, Time
from tests.support.provisioner.fake_s3 import client_error

ID = "fs-0123456789abcdef0"
NAMES = {"DNSName": f"{ID}.fsx.us-west-2.amazonaws.com", "LustreConfiguration": {"MountName": "ab"}}
FAILURE = {"FailureDetails": {"Message": "no free IP address"}}


@dataclass
class Fsx:
    """Answers with one description after the other, and with the last one for ever."""

    answers: list[dict[str, Any] | Exception] = field(default_factory=list)

    def describe_file_systems(self, *, FileSystemIds: Sequence[str]) -> dict[str, Any]:
        assert FileSystemIds == [ID]
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return {"FileSystems": [{"FileSystemId": ID, **answer}]}


@pytest.mark.parametrize("lifecycle", ["AVAILABLE", "UPDATING"])
def test_one_that_can_be_mounted_has_its_names(lifecycle: str) -> None:
    assert decide(ID, {"Lifecycle": lifecycle, **NAMES}) == {
        "DnsName": f"{ID}.fsx.us-west-2.amazonaws.com",
        "MountName": "ab",
    }


@pytest.mark.parametrize(
    ("found", "error"),
    [
        (None, NotReadyError),
        ({"Lifecycle": "CREATING", **NAMES}, NotReadyError),
        ({"Lifecycle": "AVAILABLE"}, NotReadyError),
        ({"Lifecycle": "AVAILABLE", "DNSName": "x"}, NotReadyError),
        ({"Lifecycle": "FAILED", **FAILURE}, ProvisioningError),
        ({"Lifecycle": "FAILED"}, ProvisioningError),
        ({"Lifecycle": "MISCONFIGURED", **NAMES}, ProvisioningError),
        ({"Lifecycle": "MISCONFIGURED_UNAVAILABLE"}, ProvisioningError),
        ({"Lifecycle": "DELETING", **NAMES}, ProvisioningError),
    ],
)
def test_any_other_is_waited_for_or_told(
    found: dict[str, Any] | None, error: type[ProvisioningError], raises: Raises
) -> None:
    with raises(ProvisioningError) as raised:
        decide(ID, found)
    assert type(raised.value) is error


def test_requests_from_start_to_end() -> None:
    unknown = client_error("FileSystemNotFound", "DescribeFileSystems")
    fsx = Fsx(answers=[unknown, {"Lifecycle": "CREATING"}, {"Lifecycle": "AVAILABLE", **NAMES}])
    stack = Framework(
        resource=FileSystemAvailability(fsx=fsx),
        resource_type="Custom::FileSystemAvailability",
        time=Time(),
    )
    waiter = stack.begin("Create", {"FileSystemId": ID})
    for _ in range(2):
        assert not waiter.poll().complete
    assert waiter.poll().data["MountName"] == "ab"
    assert waiter.event["PhysicalResourceId"] == f"{ID}/availability"

    stack.physical_id, stack.properties = f"{ID}/availability", {"FileSystemId": ID}
    fsx.answers = [AssertionError()]
    assert stack.delete() == Progress(complete=True)


def test_two_stacks_wait_for_one_file_system(time: Time) -> None:
    """They share a provisioner; neither request gives the other one up."""
    coming: dict[str, Any] = {"Lifecycle": "CREATING"}
    fsx = Fsx([coming, coming, {"Lifecycle": "AVAILABLE", **NAMES}])
    one, other = (
        Framework(
            resource=FileSystemAvailability(fsx=fsx),
            resource_type="Custom::FileSystemAvailability",
            time=time,
        ),
        Framework(
            resource=FileSystemAvailability(fsx=fsx),
            resource_type="Custom::FileSystemAvailability",
            time=time,
            stack_id=OTHER_STACK_ID,
        ),
    )
    other.table = one.table
    waiters = [stack.begin("Create", {"FileSystemId": ID}) for stack in (one, other)]
    assert [waiter.poll().complete for waiter in waiters] == [False, False]
    assert [waiter.poll().complete for waiter in waiters] == [True, True]
