"""The check before a stack's deletion, with the real helm and kubectl."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_emulator.kubernetes import Fault, unreachable
from hyperpod_shared.errors import ProvisioningError
from provisioner import handler
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
def deleting(cloud: Cloud) -> Cloud:
    """Return a cloud with a node, whose stack is being deleted."""
    return _deleting(cloud)


@pytest.fixture
def deployed(cloud: Cloud) -> Cloud:
    """Return it with a release that has a namespace and a definition."""
    chart = {"templates/mpi.yaml": definition("mpijobs", "MPIJob", "v1")}
    cloud.add_chart("3.0.0", chart)
    cloud.install(properties("3.0.0"))
    return _deleting(cloud)


def _deleting(cloud: Cloud) -> Cloud:
    cloud.api.create(namespace("team-a"))
    cloud.api.put_node("hyperpod-i-1", instance_type="ml.m5.2xlarge")
    cloud.cloudformation.status = "DELETE_IN_PROGRESS"
    return cloud


def _send(
    cloud: Cloud,
    request_type: str,
    *,
    stack_id: str = STACK_ID,
    sent_ago: float = 0.0,
    **changes: str,
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
    begun = accepted["BegunAt"] - sent_ago
    return handler.is_complete({**sent, **accepted, "BegunAt": begun}, cloud.context)


def _refusal(cloud: Cloud, **changes: Any) -> str:
    with pytest.raises(ProvisioningError) as refused:
        _send(cloud, "Delete", **changes)
    text = str(refused.value)
    assert len(text.encode()) < 1000
    return text


def _pod(cloud: Cloud, name: str, **changes: Any) -> None:
    metadata = {"name": name, "namespace": "team-a", **changes.pop("metadata", {})}
    cloud.api.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**SPEC, **changes}}
    )


def test_users_objects_are_named_with_the_way_to_consent(deployed: Cloud) -> None:
    assert _send(deployed, "Delete") == {"IsComplete": True}
    metadata = {"name": "ring", "namespace": "team-a"}
    deployed.api.create({"apiVersion": "example.com/v1", "kind": "MPIJob", "metadata": metadata})
    text = _refusal(deployed)
    assert " ml-hyperpod " in text
    assert "MPIJob team-a/ring" in text
    assert text.endswith(COMMAND)
    # Of a release that is absent, or another stack's, nothing is deleted.
    assert _send(deployed, "Delete", stack_id=OTHER_STACK_ID) == {"IsComplete": True}
    assert _send(deployed, "Delete", Releases='["training/other"]') == {"IsComplete": True}


def test_jobs_that_run_are_named_once_and_no_deep_health_check(deleting: Cloud) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "1", "controller": True}
    for number in range(3):
        _pod(deleting, f"bert-{number}", metadata={"ownerReferences": [job]})
    _pod(deleting, "notebook")
    deleting.api.create(namespace("aws-hyperpod"))
    account = "deep-health-check-service-account"
    metadata = {"namespace": "aws-hyperpod"}
    _pod(deleting, "stress", metadata=metadata, serviceAccountName=account)
    assert ": Job team-a/bert, Pod team-a/notebook. " in _refusal(deleting)


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_a_deployment_looks_at_nothing(deleting: Cloud, request_type: str) -> None:
    deleting.exists = False
    assert _send(deleting, request_type) == {"IsComplete": True}


def test_nothing_is_lost_with_a_cluster_that_is_gone(deleting: Cloud) -> None:
    deleting.exists = False
    assert _send(deleting, "Delete") == {"IsComplete": True}


def test_nothing_is_left_to_lose_in_a_cluster_that_is_being_deleted(deleting: Cloud) -> None:
    _pod(deleting, "notebook")
    deleting.eks_status = "DELETING"
    assert _send(deleting, "Delete") == {"IsComplete": True}


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


@pytest.mark.parametrize("trouble", [_forbid, _fail_cluster])
def test_a_cluster_that_cannot_be_asked_refuses_until_there_is_consent(
    deleting: Cloud, trouble: Callable[[Cloud], None]
) -> None:
    trouble(deleting)
    _assert_unknown(_refusal(deleting))
    deleting.tags = TAG
    assert _send(deleting, "Delete") == {"IsComplete": True}


@pytest.mark.parametrize("trouble", [_drop, _refuse_token])
def test_an_api_that_does_not_answer_is_waited_for(
    deleting: Cloud, trouble: Callable[[Cloud], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("provisioner.deletion_check.REACH_PATIENCE_SECONDS", 0.0)
    # However slow kubectl is: that of an API that drops connections ends no other way.
    monkeypatch.setattr("provisioner.deletion_check.READ_SECONDS", 1.0)
    trouble(deleting)
    assert _send(deleting, "Delete") == {"IsComplete": False}
    text = _refusal(deleting, sent_ago=3500.0)
    assert text.startswith("Waited for 58 minutes.")
    _assert_unknown(text)
    deleting.tags = TAG
    assert _send(deleting, "Delete") == {"IsComplete": True}


def _assert_unknown(text: str) -> None:
    assert "Make its Kubernetes API reachable" in text
    assert text.endswith(COMMAND)


def test_the_command_is_whole_for_the_longest_names(deleting: Cloud) -> None:
    _fail_cluster(deleting)
    name, creation = "m" * 100, "6f1c2b5e-aa11-4c5e-9f0e-2f5a4b1c7d90"
    stack_id = STACK_ID.replace("6f1c2b5e-aa11", creation)
    text = _refusal(deleting, stack_id=stack_id, ClusterName=name)
    arn = f"arn:aws:eks:us-west-2:111122223333:cluster/{name}"
    assert f"--resource-arn {arn} --tags hyperpod-cdk:delete-user-objects={creation};" in text


def test_an_api_that_answers_late_is_asked_again(deleting: Cloud) -> None:
    deleting.api.inject(BUSY)
    assert _send(deleting, "Delete") == {"IsComplete": True}


def test_a_refusal_of_eks_is_no_loss(deleting: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*, name: str) -> None:
        raise client_error("AccessDeniedException", "DescribeCluster", name)

    monkeypatch.setattr(deleting, "describe_cluster", denied)
    deleting.context.seconds = 1
    assert "AccessDeniedException" in _refusal(deleting)


@pytest.mark.parametrize("releases", ["{}", '["deps"]', "[1]", "no json"])
def test_releases_are_names_with_namespaces(deleting: Cloud, releases: str) -> None:
    assert "property Releases" in _refusal(deleting, Releases=releases)
