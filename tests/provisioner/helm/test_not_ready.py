"""A release whose EKS cluster is not ready when the request comes, with a fake helm."""

import json

import pytest

from hyperpod_shared.errors import NotReadyError, ProvisioningError, UnreachableError
from provisioner.framework.request import Progress
from provisioner.helm.release import HelmRelease
from provisioner.kubernetes.eks_cluster import ClusterFailedError, ClusterNotFoundError
from tests.support.provisioner.cloudformation import FakeCloudFormation, Framework, Time
from tests.support.provisioner.fake_helm import FakeHelm

PROPERTIES = {
    "ClusterName": "ml",
    "Release": "hyperpod-dependencies",
    "Namespace": "kube-system",
    "ChartBucket": "assets",
    "ChartKey": "abc.tgz",
    "ChartDigest": "digest-1",
    "Values": json.dumps({}),
}
CREATING = NotReadyError("The EKS cluster ml is CREATING", next_step="Wait.")
NO_ACCESS = UnreachableError("helm could not read", next_step="Check the access entry.")


@pytest.fixture
def helm(time: Time) -> FakeHelm:
    return FakeHelm(now=lambda: time.now)


@pytest.fixture
def cloudformation() -> FakeCloudFormation:
    return FakeCloudFormation()


@pytest.fixture
def stack(helm: FakeHelm, time: Time, cloudformation: FakeCloudFormation) -> Framework:
    resource = HelmRelease(connect=helm.connect, cloudformation=cloudformation)
    return Framework(resource=resource, resource_type="Custom::HelmRelease", time=time)


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_it_is_installed_once_the_cluster_is_ready_and_lets_it_in(
    stack: Framework, helm: FakeHelm, request_type: str
) -> None:
    helm.unready = [CREATING, CREATING, NO_ACCESS]
    old = PROPERTIES if request_type == "Update" else None
    waiter = stack.begin(request_type, PROPERTIES, old)
    for error in (NotReadyError, UnreachableError):
        with pytest.raises(error):
            waiter.poll()
    assert helm.mutations == []
    assert not waiter.poll().complete
    assert waiter.poll().data["Status"] == "deployed"
    assert helm.mutations == ["upgrade"]


@pytest.mark.parametrize(
    "status", ["ROLLBACK_IN_PROGRESS", "DELETE_IN_PROGRESS", "DELETE_COMPLETE", "CREATE_FAILED"]
)
def test_it_is_not_installed_once_the_stack_has_turned(
    stack: Framework, helm: FakeHelm, cloudformation: FakeCloudFormation, status: str
) -> None:
    helm.unready = [CREATING]
    waiter = stack.begin("Create", PROPERTIES)
    cloudformation.status = status
    with pytest.raises(ProvisioningError, match="was not touched"):
        waiter.poll()
    assert helm.mutations == []


def test_an_update_that_takes_one_back_goes_on(
    stack: Framework, helm: FakeHelm, cloudformation: FakeCloudFormation
) -> None:
    helm.unready = [CREATING]
    cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    waiter = stack.begin("Update", PROPERTIES, PROPERTIES)
    assert not waiter.poll().complete
    assert helm.mutations == ["upgrade"]


def test_a_stack_is_not_asked_about_when_nothing_was_put_off(
    stack: Framework, cloudformation: FakeCloudFormation
) -> None:
    stack.create(PROPERTIES)
    assert cloudformation.asked == []


def test_a_delete_waits_for_a_cluster_that_is_being_created(
    stack: Framework, helm: FakeHelm
) -> None:
    stack.create(PROPERTIES)
    helm.unready = [CREATING, CREATING]
    waiter = stack.begin("Delete", PROPERTIES)
    with pytest.raises(NotReadyError):
        waiter.poll()
    assert waiter.poll() == Progress(complete=True)
    assert helm.mutations == ["upgrade", "uninstall"]


@pytest.mark.parametrize("error", [ClusterNotFoundError, ClusterFailedError])
def test_a_delete_has_nothing_to_do_without_a_kubernetes_api(
    stack: Framework, helm: FakeHelm, error: type[ProvisioningError]
) -> None:
    stack.create(PROPERTIES)
    helm.unready = [error("The EKS cluster ml is gone", next_step="None.")] * 2
    assert stack.delete() == Progress(complete=True)
    assert helm.mutations == ["upgrade"]


@pytest.mark.parametrize("error", [ClusterNotFoundError, ClusterFailedError])
def test_a_create_says_that_the_cluster_will_not_do(
    stack: Framework, helm: FakeHelm, error: type[ProvisioningError]
) -> None:
    helm.unready = [CREATING, error("The EKS cluster ml is FAILED", next_step="Mend it.")]
    waiter = stack.begin("Create", PROPERTIES)
    with pytest.raises(ProvisioningError, match="is FAILED"):
        waiter.poll()
