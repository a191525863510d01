"""A Delete that comes before the Create's function has begun the release."""

from typing import Any

import pytest

from provisioner import handler
from provisioner.helm.state import LONGEST_INVOCATION_SECONDS
from tests.support.provisioner.cloudformation import event
from tests.support.provisioner.helm_cloud import ID, Cloud, properties

pytestmark = pytest.mark.slow

MADE_UP = "ml-hyperpod-Release-1ABCDEFGHIJKL"
"""What CloudFormation calls a resource whose Create it gave up before that was answered."""


def delete(cloud: Cloud, physical_id: str) -> dict[str, Any]:
    """Send the Delete's on_event and return what is_complete is sent."""
    sent = event(
        "Delete",
        "Custom::HelmRelease",
        properties(),
        physical_id=physical_id,
        request_id="the-delete",
    )
    return {**sent, **handler.on_event(sent, cloud.context)}


def test_it_waits_and_uninstalls_what_comes(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    real = cloud.s3.get_object
    deletes: list[dict[str, Any]] = []

    def get_object(**request: str) -> dict[str, Any]:
        if not deletes:
            deletes.append(delete(cloud, MADE_UP))
            assert cloud.poll(deletes[0]) == {"IsComplete": False}
        return real(**request)

    monkeypatch.setattr(cloud.s3, "get_object", get_object)
    cloud.start("Create", properties())
    assert cloud.operator() is not None
    assert deletes[0]["PhysicalResourceId"] == MADE_UP
    assert cloud.poll(deletes[0]) == {"IsComplete": True}
    assert cloud.operator() is None


def test_it_waits_no_longer_than_a_function_runs(cloud: Cloud) -> None:
    sent = delete(cloud, MADE_UP)
    assert cloud.poll(sent) == {"IsComplete": False}
    long_ago = str(float(sent["Claim"]) - LONGEST_INVOCATION_SECONDS)
    assert cloud.poll({**sent, "Claim": long_ago}) == {"IsComplete": True}


def test_it_does_not_wait_for_a_create_that_was_answered(cloud: Cloud) -> None:
    assert cloud.poll(delete(cloud, ID)) == {"IsComplete": True}


def test_it_does_not_wait_when_it_finds_the_release(cloud: Cloud) -> None:
    cloud.start("Create", properties())
    assert cloud.poll(delete(cloud, MADE_UP)) == {"IsComplete": True}
