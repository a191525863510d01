"""The keys about waiting and failing in the `cluster` section."""

from typing import Any

import pytest
from pydantic import ValidationError

from hyperpod_cdk.hyperpod.waiting import WaitingConfig


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"wait_for": "accepted"},
        {"wait_for": "nodes", "wait_minutes": 55, "on_shortage": "fail"},
        {"on_create_failure": "delete", "software_update": "2026-11"},
        {"software_update": None},
    ],
)
def test_good(keys: dict[str, Any]) -> None:
    assert WaitingConfig.model_validate(keys).model_dump().items() >= keys.items()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"wait_for": "node"}, "did you mean nodes.*allowed: accepted, in_service, nodes"),
        ({"wait_minutes": 0}, "must be 1 to 55 minutes"),
        ({"wait_minutes": 56}, "must be 1 to 55 minutes: CloudFormation waits no longer"),
        ({"wait_minutes": "20"}, "valid integer"),
        ({"on_shortage": "ignore"}, "allowed: fail, continue"),
        ({"on_create_failure": "retain"}, "allowed: keep, delete"),
        ({"software_update": ""}, "must be 1 to 64"),
        ({"software_update": "x" * 65}, "must be 1 to 64"),
        ({"wait": "nodes"}, "Extra inputs"),
    ],
)
def test_bad(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        WaitingConfig.model_validate(keys)
