"""Properties of `Custom::HelmRelease` that cannot be used."""

from typing import Any

import pytest

from hyperpod_shared.errors import ProvisioningError
from provisioner.helm.release import HelmRelease
from tests.support.provisioner.cloudformation import FakeCloudFormation, Framework, Time
from tests.support.provisioner.fake_helm import FakeHelm

PROPERTIES = {
    "ClusterName": "ml",
    "Release": "hyperpod-dependencies",
    "Namespace": "kube-system",
    "ChartBucket": "assets",
    "ChartKey": "abc.tgz",
    "ChartDigest": "digest-1",
    "Values": "{}",
}


@pytest.fixture
def stack(time: Time) -> Framework:
    resource = HelmRelease(
        connect=FakeHelm(now=lambda: time.now).connect, cloudformation=FakeCloudFormation()
    )
    return Framework(resource=resource, resource_type="Custom::HelmRelease", time=time)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Values": '["a"]'}, "Values must be a JSON object, got a list"),
        ({"Values": "{"}, "Values is not valid JSON"),
        ({"Values": {"password": "hunter2"}}, "Values must be a text that is not empty, got dict"),
        ({"AdoptNamespaces": "kubeflow"}, "AdoptNamespaces is not valid JSON"),
        ({"AdoptNamespaces": "[1]"}, r"AdoptNamespaces must be a JSON list of names, got \[1\]"),
        ({"DeleteUserObjects": "yes"}, "DeleteUserObjects must be true or false, got 'yes'"),
        ({"WaitForReadyMinutes": "-1"}, "must be a whole number of minutes, got '-1'"),
        ({"ChartKey": "chart.tar"}, "ChartKey must end in .tgz or .zip, got chart.tar"),
        ({"Release": ""}, "Release must be a text that is not empty"),
        ({"Release": "--kubeconfig=x"}, "Release must be 1 to 53 lower-case .* '--kubeconfig=x'"),
        ({"Release": "a" * 54}, "Release must be 1 to 53"),
        ({"Release": "a\n"}, "Release must be 1 to 53"),
        ({"Namespace": "Kube_System"}, "Namespace must be 1 to 63 lower-case letters, .*_System'"),
        ({"Namespace": "-n"}, "Namespace must be 1 to 63"),
        ({"Namespace": "n" * 64}, "Namespace must be 1 to 63"),
    ],
)
def test_bad_properties_are_named(stack: Framework, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ProvisioningError, match=message) as refused:
        stack.create({**PROPERTIES, **change})
    assert "hunter2" not in str(refused.value)
