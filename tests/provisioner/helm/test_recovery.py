"""A release in every state that an accident leaves, with the real helm."""

import json
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hyperpod_emulator.kubernetes import Fault, KubernetesApi, Principal, unreachable
from hyperpod_shared.errors import ProvisioningError
from provisioner import handler
from provisioner.framework import retry
from provisioner.framework.request import BEGUN_AT
from provisioner.helm import state, steps
from provisioner.helm.state import LONGEST_INVOCATION_SECONDS
from tests.conftest import Raises
from tests.support.patience import PATIENCE_SECONDS
from tests.support.provisioner.cloudformation import STACK_ID, event
from tests.support.provisioner.helm_accidents import (
    LambdaKilledError,
    delay,
    helm_by_hand,
    kill_helm,
    kill_lambda,
    wait_for_status,
)
from tests.support.provisioner.helm_cloud import ID, TOKEN, Cloud, mounted_layer, properties

pytestmark = pytest.mark.slow(seconds=4)


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let attempts follow each other at once."""
    monkeypatch.setattr(steps, "TRANSIENT_DELAY_SECONDS", 0.1)
    monkeypatch.setattr(retry, "FIRST_DELAY_SECONDS", 0.1)


def _kill(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, request_type: str, wanted: dict[str, str]
) -> None:
    """Kill the run of a request in the middle, the first time; then bring back what it left."""

    def killed() -> None:
        delay(cloud)
        when = "uninstalling" if request_type == "Delete" else "pending"
        kill_lambda(cloud, monkeypatch, lambda: cloud.send(request_type, wanted), when=when)

    cloud.once(("killed", request_type, json.dumps(wanted)), killed)


def test_install_left_behind_is_completed_by_the_next_request(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill(cloud, monkeypatch, "Create", properties())
    assert cloud.status() == "pending-install"
    monkeypatch.setattr(state, "LONGEST_INVOCATION_SECONDS", 0)
    namespace = cloud.uid("v1", "Namespace", "training")
    assert cloud.send("Update", properties("2.0.0"))["Data"]["Status"] == "deployed"
    assert cloud.operator() == "2.0.0 x1"
    assert cloud.uid("v1", "Namespace", "training") == namespace  # nothing was deleted


def test_install_left_behind_can_be_deleted(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    _kill(cloud, monkeypatch, "Create", properties())
    monkeypatch.setattr(state, "LONGEST_INVOCATION_SECONDS", 0)
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert cloud.api.objects("v1", "Secret", "training") == []


def test_delete_beside_a_running_install_waits_for_its_end(cloud: Cloud) -> None:
    held = Fault(kind="Deployment", delay_seconds=PATIENCE_SECONDS, passes=True, times=1)
    cloud.api.inject(held)
    install = Thread(target=cloud.send, args=("Create", properties()))
    install.start()
    wait_for_status(cloud, "pending-install")
    cloud.requests += 1
    accepted = cloud.start("Delete", properties())
    assert cloud.poll(accepted) == {"IsComplete": False}
    assert cloud.status() == "pending-install"  # the other run goes on
    cloud.api.clear_faults()
    install.join()
    assert cloud.poll(accepted) == {"IsComplete": True}
    assert cloud.operator() is None
    assert cloud.api.objects("v1", "Secret", "training") == []


def test_install_left_behind_by_a_former_stack_of_the_same_name(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    _kill(cloud, monkeypatch, "Create", properties())
    another = STACK_ID.replace("6f1c2b5e", "00000000")
    with raises(ProvisioningError):
        cloud.send("Create", properties(), stack_id=another)
    monkeypatch.setattr(state, "LONGEST_INVOCATION_SECONDS", 0)
    assert cloud.send("Create", properties(), stack_id=another)["Data"]["Status"] == "deployed"


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_upgrade_left_behind(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    cloud.install(properties())
    _kill(cloud, monkeypatch, "Update", properties("2.0.0"))
    assert cloud.status() == "pending-upgrade"
    monkeypatch.setattr(state, "LONGEST_INVOCATION_SECONDS", 0)
    assert cloud.send("Update", properties(version))["Data"]["Status"] == "deployed"
    assert cloud.operator() == f"{version} x1"


def test_rollback_left_behind(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cloud.install(properties())
    cloud.send("Update", properties("2.0.0"))
    delay(cloud)

    def roll_back() -> None:
        with pytest.raises(LambdaKilledError):
            helm_by_hand(cloud, tmp_path, "rollback", "deps", "1")
        raise LambdaKilledError

    kill_lambda(cloud, monkeypatch, roll_back, when="pending")
    assert cloud.status() == "pending-rollback"
    monkeypatch.setattr(state, "LONGEST_INVOCATION_SECONDS", 0)
    assert cloud.send("Update", properties())["Data"]["Status"] == "deployed"
    assert cloud.operator() == "1.0.0 x1"


@pytest.mark.parametrize("request_type", ["Delete", "Create"])
def test_uninstalling_left_behind(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, request_type: str
) -> None:
    cloud.install(properties())
    _kill(cloud, monkeypatch, "Delete", properties())
    done = cloud.send(request_type, properties())
    assert done["IsComplete"]
    assert cloud.operator() == (None if request_type == "Delete" else "1.0.0 x1")


def test_killed_helm_is_recovered_in_the_same_run(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    cloud.install(properties())
    delay(cloud)

    def update() -> None:
        with raises(ProvisioningError):
            cloud.send("Update", properties("2.0.0"))

    kill_helm(cloud, monkeypatch, update, when="pending")
    assert cloud.status() == "deployed"
    assert cloud.operator() == "1.0.0 x1"


def test_same_request_again_waits_for_the_first_and_then_takes_over(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kill(cloud, monkeypatch, "Create", properties())
    again = cloud.start("Create", properties())
    assert "Failure" not in again
    assert cloud.poll(again) == {"IsComplete": False}
    assert cloud.status() == "pending-install"  # the first may be alive
    monkeypatch.setattr(state, "LONGEST_INVOCATION_SECONDS", 0)
    assert cloud.poll(again) == {"IsComplete": False}
    assert cloud.poll(again)["Data"]["Status"] == "deployed"
    assert cloud.operator() == "1.0.0 x1"


@pytest.mark.usefixtures("impatience")
def test_connection_lost_in_the_middle(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud.install(properties())
    lost = Fault(kind="Deployment", drop=True, times=2)
    cloud.api.inject(lost)
    assert cloud.send("Update", properties("2.0.0"))["Data"]["Status"] == "deployed"
    assert cloud.operator() == "2.0.0 x1"
    monkeypatch.setattr(steps, "_MOST_STEPS", 1)  # a run that takes them all is no failure yet
    cloud.api.inject(lost)
    assert cloud.send("Update", properties()) == {"IsComplete": False}


def test_api_that_stays_unreachable_while_polling_is_no_failure(cloud: Cloud) -> None:
    accepted = cloud.start("Create", properties())
    cloud.api.inject(unreachable())
    cloud.context.seconds = 21
    assert cloud.poll(accepted) == {"IsComplete": False}
    cloud.api.clear_faults()
    cloud.context.seconds = 300
    assert cloud.poll(accepted)["Data"]["Status"] == "deployed"


def test_api_unreachable_in_a_delete_keeps_the_release(cloud: Cloud) -> None:
    cloud.install(properties())
    cloud.api.inject(unreachable())
    cloud.context.seconds = 21
    assert cloud.start("Delete", properties())["Deferred"]
    cloud.api.clear_faults()
    assert cloud.operator() == "1.0.0 x1"


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize("expires_after", [2, 6, 10])
def test_token_that_expires_in_the_middle_is_renewed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, expires_after: int
) -> None:
    monkeypatch.setenv("_LAMBDA_LAYERS_DIRS", str(mounted_layer(tmp_path / "layer")))
    left = {"short-lived": expires_after}
    refused: list[str] = []

    async def authenticate(token: str) -> Principal | None:
        if left.get(token, 1) <= 0:
            refused.append(token)
            return None
        left[token] = left.get(token, 1_000_000) - 1
        return Principal(username="provisioner", allowed=True)

    with KubernetesApi(authenticate=authenticate) as api:
        cloud = Cloud(api=api)
        cloud.add_chart("1.0.0")
        # One token a request of ours, one a command: whether there is a release, which
        # namespaces and definitions, helm upgrade.
        cloud.tokens = [TOKEN, TOKEN, TOKEN, "short-lived", TOKEN]
        monkeypatch.setattr(handler, "CLIENTS", cloud)
        assert cloud.send("Create", properties())["Data"]["Status"] == "deployed"
        assert cloud.operator() == "1.0.0 x1"
    assert refused


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
    long_ago = sent[BEGUN_AT] - LONGEST_INVOCATION_SECONDS
    assert cloud.poll({**sent, BEGUN_AT: long_ago}) == {"IsComplete": True}


def test_it_does_not_wait_for_a_create_that_was_answered(cloud: Cloud) -> None:
    assert cloud.poll(delete(cloud, ID)) == {"IsComplete": True}


def test_it_does_not_wait_when_it_finds_the_release(cloud: Cloud) -> None:
    cloud.install(properties())
    assert cloud.poll(delete(cloud, MADE_UP)) == {"IsComplete": True}
