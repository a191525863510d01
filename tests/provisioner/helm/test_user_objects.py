"""Users' objects in what helm deletes: refused going forward, kept going back; in memory."""

from typing import Any

import pytest

from hyperpod_shared.errors import ProvisioningError
from provisioner.helm.release import HelmRelease
from provisioner.kubernetes.manifest import ReleaseId
from tests.conftest import Raises
from tests.provisioner.helm.test_release import PROPERTIES
from tests.support.provisioner.cloudformation import Framework, Time
from tests.support.provisioner.fake_helm import FakeHelm, FakeKubectl

RELEASE = ReleaseId("hyperpod-dependencies", "kube-system")
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n"
DEFINITION = (
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    "metadata: {name: mpijobs.kubeflow.org}\n"
)
EVERYTHING = (
    "pods,replicationcontrollers,deployments.apps,replicasets.apps,statefulsets.apps,"
    "daemonsets.apps,jobs.batch,cronjobs.batch,persistentvolumeclaims,mpijobs.kubeflow.org"
)
SERVED: dict[str, list[tuple[str, ...]]] = {
    "customresourcedefinitions": [("mpijobs.kubeflow.org", "Namespaced", "True")]
}
KEPT = ["helm.sh/resource-policy=keep"]


def _row(name: str = "mine", **changes: str) -> tuple[str, ...]:
    row = {"kind": "Pod", "namespace": "team-a", "name": name, "uid": name, "owners": ""}
    owner = {"deleted": "", "account": "", "template": "", "release": "", "of": ""}
    return tuple({**row, **owner, **changes}.values())


@pytest.fixture
def helm(time: Time) -> FakeHelm:
    """Return a helm whose next chart has no namespace any more, with a user's pod in it."""
    kubectl = FakeKubectl(rows={**SERVED, EVERYTHING: [_row()]})
    return FakeHelm(now=lambda: time.now, manifests={1: NAMESPACE}, kubectl=kubectl)


@pytest.fixture
def stack(helm: FakeHelm, time: Time) -> Framework:
    """Return the stack of a release that is deployed."""
    resource = HelmRelease(connect=helm.connect)
    stack = Framework(resource=resource, resource_type="Custom::HelmRelease", time=time)
    stack.create(PROPERTIES)
    helm.calls.clear()
    return stack


def _upgrade(stack: Framework, **changes: Any) -> None:
    stack.update({**PROPERTIES, "ChartDigest": "digest-2", **changes})


def test_an_upgrade_that_would_delete_them_is_refused(
    stack: Framework, helm: FakeHelm, raises: Raises
) -> None:
    with raises(ProvisioningError):
        _upgrade(stack)
    assert helm.mutations == []


def test_an_uninstallation_that_would_delete_them_is_refused(
    stack: Framework, helm: FakeHelm, raises: Raises
) -> None:
    with raises(ProvisioningError):
        stack.delete()
    assert helm.mutations == []


def test_some_of_many_are_named_and_the_others_counted(
    stack: Framework, helm: FakeHelm, raises: Raises
) -> None:
    assert isinstance(helm.kubectl, FakeKubectl)
    helm.kubectl.rows[EVERYTHING] = [_row(f"mine-{number}") for number in range(8)]
    with raises(ProvisioningError):
        stack.delete()


def test_consent_lets_them_go(stack: Framework, helm: FakeHelm) -> None:
    _upgrade(stack, DeleteUserObjects="true")
    stack.delete()
    assert helm.mutations == ["upgrade", "uninstall"]


def test_a_rollback_keeps_the_namespace(stack: Framework, helm: FakeHelm, raises: Raises) -> None:
    helm.manifests = {2: NAMESPACE}
    helm.failures["upgrade"] = ["Error: the server does not like it"]
    with raises(ProvisioningError):
        _upgrade(stack)
    assert helm.mutations == ["upgrade", "rollback 1"]
    assert isinstance(helm.kubectl, FakeKubectl)
    assert helm.kubectl.annotated == KEPT


def test_going_back_to_an_earlier_chart_keeps_the_namespace(
    stack: Framework, helm: FakeHelm
) -> None:
    helm.manifests = {2: NAMESPACE}
    _upgrade(stack)
    assert isinstance(helm.kubectl, FakeKubectl)
    assert helm.kubectl.annotated == []
    stack.update(PROPERTIES)
    assert helm.mutations == ["upgrade", "upgrade"]
    assert helm.kubectl.annotated == KEPT


@pytest.mark.parametrize(
    "row",
    [
        _row(release=RELEASE.name, of=RELEASE.namespace),
        _row(deleted="2026-01-01T00:00:00Z"),
        _row(owners="other,mine"),
        _row(namespace="aws-hyperpod", account="deep-health-check-service-account"),
        _row(namespace="aws-hyperpod", template="deep-health-check-service-account"),
    ],
    ids=["of-the-release", "goes-already", "of-one-that-is-listed", "health-check", "its-job"],
)
def test_what_is_no_users_object_hinders_nothing(
    stack: Framework, helm: FakeHelm, row: tuple[str, ...]
) -> None:
    assert isinstance(helm.kubectl, FakeKubectl)
    helm.kubectl.rows[EVERYTHING] = [row]
    stack.delete()
    assert helm.mutations == ["uninstall"]


@pytest.mark.parametrize(
    "row",
    [
        _row(release="other", of=RELEASE.namespace),
        _row(release=RELEASE.name, of="other"),
        _row(account="deep-health-check-service-account"),
        _row(owners="unlisted"),
    ],
    ids=["other-release", "other-namespace", "namesake-of-a-health-check", "owner-elsewhere"],
)
def test_what_only_looks_like_the_releases_is_a_users(
    stack: Framework, helm: FakeHelm, row: tuple[str, ...], raises: Raises
) -> None:
    assert isinstance(helm.kubectl, FakeKubectl)
    helm.kubectl.rows[EVERYTHING] = [row]
    with raises(ProvisioningError):
        stack.delete()


@pytest.mark.parametrize("served", ["True", "False"])
def test_objects_of_a_definition_are_users_while_it_is_served(
    stack: Framework, helm: FakeHelm, served: str, raises: Raises
) -> None:
    assert isinstance(helm.kubectl, FakeKubectl)
    helm.manifests = {1: DEFINITION}
    helm.kubectl.rows = {
        "customresourcedefinitions": [("mpijobs.kubeflow.org", "Namespaced", served)],
        "mpijobs.kubeflow.org": [_row("ring", kind="MPIJob")],
    }
    if served == "True":
        with raises(ProvisioningError):
            stack.delete()
    else:
        stack.delete()
