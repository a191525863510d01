"""`Custom::HelmRelease` through the framework's eyes, with helm in memory."""

import json
from typing import Any

import pytest

from hyperpod_shared.errors import ProvisioningError
from provisioner.helm.release import HelmRelease
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import (
    Framework,
    Time,
)
from tests.support.provisioner.fake_helm import FakeHelm

PROPERTIES = {
    "ClusterName": "ml",
    "Release": "hyperpod-dependencies",
    "Namespace": "kube-system",
    "ChartBucket": "assets",
    "ChartKey": "abc.tgz",
    "ChartDigest": "digest-1",
    "Values": json.dumps({"a": {"enabled": True, "text": "true", "count": 2, "none": None}}),
}
ID = "ml/kube-system/hyperpod-dependencies"
UPGRADED = {**PROPERTIES, "ChartDigest": "digest-2", "ChartKey": "def.tgz"}


@pytest.fixture
def helm(time: Time) -> FakeHelm:
    return FakeHelm(now=lambda: time.now)


@pytest.fixture
def stack(helm: FakeHelm, time: Time) -> Framework:
    return _stack(helm, time)


def _stack(helm: FakeHelm, time: Time, **options: Any) -> Framework:
    resource = HelmRelease(connect=helm.connect)
    return Framework(resource=resource, resource_type="Custom::HelmRelease", time=time, **options)


def test_values_keep_their_types(stack: Framework, helm: FakeHelm) -> None:
    stack.create(PROPERTIES)
    assert helm.values == {"a": {"enabled": True, "text": "true", "count": 2, "none": None}}
    assert helm.values["a"]["enabled"] is True


def test_update_without_a_change_runs_nothing(stack: Framework, helm: FakeHelm) -> None:
    stack.create(PROPERTIES)
    reordered = {**PROPERTIES, "Values": json.dumps(json.loads(PROPERTIES["Values"]), indent=2)}
    assert stack.update(reordered).data["Revision"] == "1"
    assert helm.mutations == ["upgrade"]
    assert helm.charts_fetched == ["assets/abc.tgz"]


@pytest.mark.parametrize(
    "changed", [UPGRADED, {**PROPERTIES, "Values": '{"a": {"enabled": false}}'}]
)
def test_changed_chart_or_values_upgrade(
    stack: Framework, helm: FakeHelm, changed: dict[str, str]
) -> None:
    stack.create(PROPERTIES)
    answer = stack.update(changed).data
    assert (answer["Revision"], answer["Ready"]) == ("2", "not waited for")
    assert helm.mutations == ["upgrade", "upgrade"]
    assert stack.physical_id == ID


@pytest.mark.parametrize("name", ["ClusterName", "Namespace", "Release"])
def test_other_identity_is_a_replacement(stack: Framework, helm: FakeHelm, name: str) -> None:
    stack.create(PROPERTIES)
    helm.revisions, helm.labels = [], {}  # another cluster, namespace or name: nothing is there
    stack.update({**PROPERTIES, name: "another"})
    assert stack.physical_id != ID


def test_a_second_attempt_at_an_install_is_one_too(
    stack: Framework, helm: FakeHelm, raises: Raises
) -> None:
    helm.failures["upgrade"] = ["Error: Post https://x: EOF", "Error: field is immutable"]
    with raises(ProvisioningError):
        stack.create(PROPERTIES)
    assert helm.mutations == ["upgrade", "upgrade"]


def test_copy_that_finds_the_first_at_work_waits_as_well(stack: Framework, helm: FakeHelm) -> None:
    first = stack.start("Create", PROPERTIES).event
    (deployed,), labels = helm.revisions, dict(helm.labels)
    helm.revisions = []
    helm.failures["upgrade"] = ['secrets "sh.helm.release.v1.r.v1" already exists']

    def appear() -> None:
        helm.revisions, helm.labels = [deployed._replace(status="pending-install")], labels

    stack.time.while_asleep = appear
    second = stack.start("Create", PROPERTIES).event
    assert not {"Failure"} & {*first, *second}
    assert helm.mutations == ["upgrade", "upgrade"]


def test_new_access_entry_is_waited_for(stack: Framework, helm: FakeHelm, time: Time) -> None:
    helm.failures["read"] = ["Error: kubernetes cluster unreachable: Unauthorized"] * 3
    stack.create(PROPERTIES)
    assert sum(time.slept) >= 10


def test_unreachable_api_ends_in_time_and_says_what_to_check(
    stack: Framework, helm: FakeHelm, time: Time, raises: Raises
) -> None:
    helm.failures["read"] = ["Error: dial tcp 10.0.0.1:443: i/o timeout"] * 100
    waiter = stack.begin("Create", PROPERTIES)
    assert sum(time.slept) < 120
    helm.failures["read"] *= 100
    time.sleep(58 * 60)
    with raises(ProvisioningError):
        waiter.poll()
    assert helm.mutations == []


def test_terminating_namespace_is_waited_for(stack: Framework, helm: FakeHelm) -> None:
    helm.failures["upgrade"] = ['Error: namespace "kubeflow" is being terminated'] * 2
    assert stack.create(PROPERTIES).data["Status"] == "deployed"
    assert helm.mutations == ["upgrade"] * 3


def test_helm_is_stopped_before_the_function_is(
    stack: Framework, helm: FakeHelm, time: Time
) -> None:
    time.lambda_seconds = 300
    stack.create(PROPERTIES)
    assert max(helm.timeouts) <= 280


@pytest.mark.parametrize(("seconds", "kept"), [(900, 120), (100, 40), (22, 1), (15, 1)])
def test_upgrade_that_takes_all_its_time_is_rolled_back(
    stack: Framework, helm: FakeHelm, seconds: float, kept: float, raises: Raises
) -> None:
    stack.create(PROPERTIES)
    stack.time.lambda_seconds = seconds
    helm.while_upgrading = stack.time.sleep
    helm.failures["upgrade"] = ["helm upgrade did not end in time and was stopped."]
    with raises(ProvisioningError):
        stack.update(UPGRADED)
    assert helm.mutations == ["upgrade", "upgrade", "rollback 1"]
    assert helm.timeouts[helm.calls.index("rollback 1")] == kept


def test_error_that_every_attempt_meets_is_named(
    stack: Framework, helm: FakeHelm, raises: Raises
) -> None:
    helm.failures["upgrade"] = ["Error: Post https://x: EOF"] * 100
    waiter = stack.begin("Create", PROPERTIES)
    assert helm.mutations == ["upgrade"] * 6
    stack.time.sleep(56 * 60)
    with raises(ProvisioningError):
        waiter.poll()


def test_release_lost_after_the_install_is_a_failure(
    stack: Framework, helm: FakeHelm, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    install = helm.upgrade

    def install_and_lose(*arguments: Any, **options: Any) -> None:
        install(*arguments, **options)
        helm.revisions = []

    monkeypatch.setattr(helm, "upgrade", install_and_lose)
    with raises(ProvisioningError):
        stack.create(PROPERTIES)


def test_secret_values_never_reach_a_message(
    stack: Framework, helm: FakeHelm, raises: Raises
) -> None:
    helm.failures["upgrade"] = ["Error: cannot parse hunter2-hunter2 in k8s-aws-v1.aGVsbG8"]
    values = json.dumps({"db": {"adminPassword": "hunter2-hunter2"}})
    with raises(ProvisioningError) as failed:
        stack.create({**PROPERTIES, "Values": values})
    assert "hunter2" not in str(failed.value)
    assert "aGVsbG8" not in str(failed.value)


def test_secret_values_never_reach_a_log(
    stack: Framework, helm: FakeHelm, capsys: pytest.CaptureFixture[str]
) -> None:
    helm.failures["upgrade"] = ["Error: EOF after hunter2-hunter2"]
    values = json.dumps({"env": [{"name": "DB_PASSWORD", "value": "hunter2-hunter2"}]})
    stack.create({**PROPERTIES, "Values": values})
    logged = capsys.readouterr().out
    assert "EOF after <hidden>" in logged
    assert "hunter2" not in logged


@pytest.mark.parametrize(
    "change",
    [
        {"Values": '["a"]'},
        {"Values": "{"},
        {"Values": {"password": "hunter2"}},
        {"AdoptNamespaces": "kubeflow"},
        {"AdoptNamespaces": "[1]"},
        {"DeleteUserObjects": "yes"},
        {"WaitForReadyMinutes": "-1"},
        {"ChartKey": "chart.tar"},
        {"Release": ""},
        {"Release": "--kubeconfig=x"},
        {"Release": "a" * 54},
        {"Release": "a\n"},
        {"Namespace": "Kube_System"},
        {"Namespace": "-n"},
        {"Namespace": "n" * 64},
    ],
)
def test_bad_properties_are_named(stack: Framework, change: dict[str, Any], raises: Raises) -> None:
    with raises(ProvisioningError) as refused:
        stack.create({**PROPERTIES, **change})
    assert "hunter2" not in str(refused.value)
