"""A cluster that knows access entries: what EKS says of it -> what follows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_shared.errors import ProvisioningError
from provisioner.authentication_mode import AuthenticationMode, Step, decide
from provisioner.framework.resource import Progress
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Framework, Time
from tests.support.provisioner.fake_s3 import client_error

BOTH = "API_AND_CONFIG_MAP"


def cluster(mode: str | None, status: str = "ACTIVE") -> dict[str, Any]:
    access = {} if mode is None else {"accessConfig": {"authenticationMode": mode}}
    return {"name": "mine", "status": status, "endpoint": "https://mine", **access}


def refused(message: str, code: str = "InvalidParameterException") -> ClientError:
    return client_error(code, "UpdateClusterConfig", message)


@dataclass
class Eks:
    """A cluster that is described as `stale` says, one after the other, and then as it is."""

    mode: str = "CONFIG_MAP"
    stale: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[ClientError] = field(default_factory=list)
    changes: int = 0

    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        assert name == "mine"
        return {"cluster": self.stale.pop(0) if self.stale else cluster(self.mode)}

    def update_cluster_config(
        self, *, name: str, accessConfig: Mapping[str, str]
    ) -> dict[str, Any]:
        assert (name, accessConfig) == ("mine", {"authenticationMode": BOTH})
        self.changes += 1
        if self.refusals:
            raise self.refusals.pop(0)
        if self.mode != "CONFIG_MAP":
            raise refused(f"Unsupported authentication mode update from {self.mode} to {BOTH}")
        self.mode = BOTH
        return {}


def framework(eks: Eks) -> Framework:
    return Framework(
        resource=AuthenticationMode(eks=eks),
        resource_type="Custom::EksAuthenticationMode",
        time=Time(),
    )


@pytest.mark.parametrize(
    ("mode", "status", "step"),
    [
        ("API", "ACTIVE", "done"),
        (BOTH, "ACTIVE", "done"),
        ("CONFIG_MAP", "ACTIVE", "change"),
        (None, "ACTIVE", "change"),
        ("CONFIG_MAP", "UPDATING", "wait"),
        (BOTH, "UPDATING", "wait"),
        ("API", "PENDING", "wait"),
    ],
)
def test_the_step_follows_from_mode_and_status(mode: str | None, status: str, step: Step) -> None:
    assert decide(cluster(mode, status)) == step


def test_the_mode_is_changed_once_and_stays_when_the_resource_is_deleted() -> None:
    eks = Eks()
    stack = framework(eks)
    waiter = stack.begin("Create", {"ClusterName": "mine"})
    assert waiter.event["PhysicalResourceId"] == "mine/authentication-mode"
    assert not waiter.poll().complete
    assert waiter.poll() == Progress(complete=True)
    assert (eks.mode, eks.changes) == (BOTH, 1)

    stack.physical_id, stack.properties = "mine/authentication-mode", {"ClusterName": "mine"}
    assert stack.delete() == Progress(complete=True)
    assert (eks.mode, eks.changes) == (BOTH, 1)


@pytest.mark.parametrize("mode", ["API", BOTH])
def test_a_cluster_that_knows_access_entries_is_left_alone(mode: str) -> None:
    eks = Eks(mode=mode)
    assert framework(eks).begin("Create", {"ClusterName": "mine"}).poll().complete
    assert eks.changes == 0


@pytest.mark.parametrize(
    "make",
    [
        # A description that lags behind, after this request's change or another one's.
        lambda: Eks(
            stale=[cluster("CONFIG_MAP"), cluster("CONFIG_MAP"), cluster(BOTH, "UPDATING")]
        ),
        lambda: Eks(mode="API", stale=[cluster("CONFIG_MAP")]),
        # Somebody else's update.
        lambda: Eks(refusals=[refused("Cannot update", "ResourceInUseException")]),
        lambda: Eks(stale=[cluster("CONFIG_MAP", "UPDATING")]),
        lambda: Eks(stale=[cluster("CONFIG_MAP", "CREATING")]),
    ],
    ids=["stale", "changed by another", "busy", "updating", "creating"],
)
def test_what_overlaps_or_lags_is_waited_for(make: Any) -> None:  # noqa: ANN401 - a factory
    eks = make()
    waiter = framework(eks).begin("Create", {"ClusterName": "mine"})
    polls = [waiter.poll().complete for _ in range(4)]
    assert polls[-1]
    assert not polls[0]
    assert eks.mode in {"API", BOTH}


@pytest.mark.parametrize(
    "eks",
    [
        Eks(refusals=[refused("bootstrap")]),
        Eks(stale=[cluster("CONFIG_MAP", "FAILED")]),
        Eks(stale=[cluster("CONFIG_MAP", "DELETING")]),
    ],
)
def test_any_other_refusal_is_told(eks: Eks, raises: Raises) -> None:
    with raises(ProvisioningError):
        framework(eks).begin("Create", {"ClusterName": "mine"}).poll()
