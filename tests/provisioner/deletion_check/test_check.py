"""The check before a stack's deletion, with the real helm and kubectl."""

from collections.abc import Callable
from typing import Any

import pytest

from provisioner import handler
from provisioner.framework.errors import ProvisioningError
from rehearsal.kubernetes import Fault
from rehearsal.kubernetes.control_plane import unreachable
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, STACK_ID, event
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.helm_charts import definition
from tests.support.provisioner.helm_cloud import Cloud, namespace, properties

pytestmark = pytest.mark.slow(seconds=3)

CHECK = {"ClusterName": "ml", "Releases": '["training/deps"]', "DeleteUserObjects": "false"}
COMMAND = (
    "aws eks tag-resource --region us-west-2 "
    "--resource-arn arn:aws:eks:us-west-2:111122223333:cluster/ml "
    "--tags hyperpod-cdk:delete-user-objects=6f1c2b5e-aa11; then delete the stack again."
)
TAG = {"hyperpod-cdk:delete-user-objects": "6f1c2b5e-aa11"}
BUSY = Fault(
    code=503,
    reason="ServiceUnavailable",
    message="the server is currently unable to handle the request",
    verbs=frozenset({"list"}),
)
SPEC = {"containers": [{"name": "main", "image": "example/main:1"}], "nodeName": "hyperpod-i-1"}


@pytest.fixture
def deployed(cloud: Cloud) -> Cloud:
    """Return a cloud with a release that has a namespace and a definition, being deleted."""
    cloud.add_chart("3.0.0", {"templates/mpi.yaml": definition("mpijobs", "MPIJob", "v1")})
    cloud.send("Create", properties("3.0.0"))
    cloud.api.create(namespace("team-a"))
    cloud.api.put_node("hyperpod-i-1", instance_type="ml.m5.2xlarge")
    cloud.cloudformation.status = "DELETE_IN_PROGRESS"
    return cloud


def _send(
    cloud: Cloud, request_type: str, *, stack_id: str = STACK_ID, **changes: str
) -> dict[str, Any]:
    sent = event(
        request_type,
        "Custom::DeletionCheck",
        {**CHECK, **changes},
        physical_id=None if request_type == "Create" else "ml/deletion-check",
        stack_id=stack_id,
    )
    accepted = handler.on_event(sent, cloud.context)
    assert accepted["PhysicalResourceId"] == "ml/deletion-check"
    return handler.is_complete({**sent, **accepted}, cloud.context)


def _refusal(cloud: Cloud, **changes: str) -> str:
    with pytest.raises(ProvisioningError) as refused:
        _send(cloud, "Delete", **changes)
    text = str(refused.value)
    assert len(text.encode()) < 1000
    return text


def _mpi_job(cloud: Cloud) -> None:
    metadata = {"name": "ring", "namespace": "team-a"}
    cloud.api.create({"apiVersion": "example.com/v1", "kind": "MPIJob", "metadata": metadata})


def _pod(cloud: Cloud, name: str, **changes: Any) -> None:
    metadata = {"name": name, "namespace": "team-a", **changes.pop("metadata", {})}
    cloud.api.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**SPEC, **changes}}
    )


def test_a_deletion_without_users_work_goes_on(deployed: Cloud) -> None:
    assert _send(deployed, "Delete") == {"IsComplete": True}


def test_users_objects_are_named_with_the_way_to_consent(deployed: Cloud) -> None:
    _mpi_job(deployed)
    text = _refusal(deployed)
    assert "The stack ml-hyperpod is not deleted, and nothing of it was" in text
    assert "MPIJob team-a/ring" in text
    assert text.endswith(COMMAND)


def test_a_pod_that_runs_is_named_wherever_it_is(deployed: Cloud) -> None:
    _pod(deployed, "notebook")
    assert "Pod team-a/notebook" in _refusal(deployed)


def test_running_pods_are_named_by_their_job_once(deployed: Cloud) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "1", "controller": True}
    for number in range(3):
        _pod(deployed, f"bert-{number}", metadata={"ownerReferences": [job]})
    assert ": Job team-a/bert. Move" in _refusal(deployed)


@pytest.mark.parametrize("changes", [{"tags": TAG}, {"property": "true"}])
def test_consent_by_tag_or_property_lets_the_deletion_go_on(
    deployed: Cloud, changes: dict[str, Any]
) -> None:
    _mpi_job(deployed)
    deployed.tags = changes.get("tags", {})
    sent = {"DeleteUserObjects": changes.get("property", "false")}
    assert _send(deployed, "Delete", **sent) == {"IsComplete": True}


def test_consent_to_another_creation_of_the_stack_is_none(deployed: Cloud) -> None:
    _mpi_job(deployed)
    deployed.tags = {next(iter(TAG)): "0d0d0d0d-bb22"}
    assert "MPIJob team-a/ring" in _refusal(deployed)


@pytest.mark.parametrize(
    "status",
    ["ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"],
)
def test_a_rollback_or_replacement_is_never_refused(deployed: Cloud, status: str) -> None:
    _mpi_job(deployed)
    deployed.api.inject(unreachable())
    deployed.cloudformation.status = status
    assert _send(deployed, "Delete") == {"IsComplete": True}


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_a_deployment_looks_at_nothing(deployed: Cloud, request_type: str) -> None:
    deployed.exists = False
    deployed.cloudformation.error = AssertionError()
    assert _send(deployed, request_type) == {"IsComplete": True}


def test_a_stack_that_is_gone_meanwhile_is_being_deleted(deployed: Cloud) -> None:
    _mpi_job(deployed)
    deployed.cloudformation.status = None
    assert "MPIJob team-a/ring" in _refusal(deployed)


def test_nothing_is_lost_with_a_cluster_that_is_gone(deployed: Cloud) -> None:
    deployed.exists = False
    assert _send(deployed, "Delete") == {"IsComplete": True}


def _drop(cloud: Cloud) -> None:
    cloud.api.inject(unreachable())


def _forbid(cloud: Cloud) -> None:
    cloud.api.inject(
        Fault(code=403, reason="Forbidden", message="no", verbs=frozenset({"list"}), times=None)
    )


def _refuse_token(cloud: Cloud) -> None:
    cloud.tokens = ["unknown"]


def _fail_cluster(cloud: Cloud) -> None:
    cloud.eks_status = "FAILED"


@pytest.mark.parametrize("trouble", [_drop, _forbid, _refuse_token, _fail_cluster])
def test_a_cluster_that_cannot_be_asked_refuses_until_there_is_consent(
    deployed: Cloud, trouble: Callable[[Cloud], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("provisioner.deletion_check.check.REACH_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("provisioner.deletion_check.check.READ_SECONDS", 3.0)
    trouble(deployed)
    text = _refusal(deployed)
    assert "could not be found out" in text
    assert "Make its Kubernetes API reachable" in text
    assert text.endswith(COMMAND)
    deployed.tags = TAG
    assert _send(deployed, "Delete") == {"IsComplete": True}


def test_an_api_that_answers_late_is_asked_again(deployed: Cloud) -> None:
    deployed.api.inject(BUSY)
    assert _send(deployed, "Delete") == {"IsComplete": True}


def test_a_refusal_of_eks_is_no_loss(deployed: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*, name: str) -> None:
        raise client_error("AccessDeniedException", "DescribeCluster", name)

    monkeypatch.setattr(deployed, "describe_cluster", denied)
    deployed.context.seconds = 1
    assert "AccessDeniedException" in _refusal(deployed)


def test_a_release_that_is_absent_or_of_another_stack_deletes_nothing(deployed: Cloud) -> None:
    _mpi_job(deployed)
    assert _send(deployed, "Delete", stack_id=OTHER_STACK_ID) == {"IsComplete": True}
    assert _send(deployed, "Delete", Releases='["training/other"]') == {"IsComplete": True}


@pytest.mark.parametrize("releases", ["{}", '["deps"]', "[1]", "no json"])
def test_releases_are_names_with_namespaces(deployed: Cloud, releases: str) -> None:
    assert "property Releases" in _refusal(deployed, Releases=releases)


def test_what_a_deep_health_check_runs_is_no_job(deployed: Cloud) -> None:
    deployed.api.create(namespace("aws-hyperpod"))
    account = "deep-health-check-service-account"
    metadata = {"namespace": "aws-hyperpod"}
    _pod(deployed, "stress", metadata=metadata, serviceAccountName=account)
    assert _send(deployed, "Delete") == {"IsComplete": True}
    assert deployed.names("v1", "Pod") == ["stress"]
