"""The check before a deletion, in memory: what users would lose, and what consents to it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import CONSENT_TAG
from provisioner.deletion_check import DeletionCheck, claims_among, jobs_among
from provisioner.framework.resource import DONE, Progress
from provisioner.framework.retry import Clock
from provisioner.kubernetes.cluster import Cluster, ClusterCommands, EksConnection
from provisioner.kubernetes.failures import CommandFailedError
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import (
    STACK_ID,
    FakeCloudFormation,
    Framework,
    Time,
)
from tests.support.provisioner.fake_helm import FakeKubectl

PROPERTIES = {"ClusterName": "ml", "Releases": '["kube-system/deps"]', "DeleteUserObjects": "false"}
ARN = "arn:aws:eks:us-west-2:111122223333:cluster/ml"
CREATION = STACK_ID.rpartition("/")[2]
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"
IN_NAMESPACE = (
    "pods,replicationcontrollers,deployments.apps,replicasets.apps,statefulsets.apps,"
    "daemonsets.apps,jobs.batch,cronjobs.batch,persistentvolumeclaims"
)
POD = {
    "namespace": "team",
    "name": "p",
    "deleted": "",
    "node": "hyperpod-i-1",
    "account": "default",
    "phase": "Running",
    "kind": "",
    "controller": "",
}
VOLUME = {
    "name": "pvc-1",
    "driver": "fsx.csi.aws.com",
    "policy": "Delete",
    "namespace": "team",
    "claim": "data",
    "deleted": "",
}
WEB = ("Deployment", "team", "web", "uid", "", "", "", "", "", "")
LOSSES = {
    "pods": tuple(POD.values()),
    "persistentvolumes": tuple(VOLUME.values()),
    IN_NAMESPACE: WEB,
}


@dataclass
class Eks:
    """An EKS cluster with a release of a stack, and with what kubectl lists."""

    home: Path
    rows: dict[str, list[tuple[str, ...]]]
    tags: dict[str, str] = field(default_factory=dict)
    stack: str = "ml-hyperpod"
    reachable: bool = True

    def describe(self, name: str, _clock: Clock) -> dict[str, Any]:
        return {"name": name, "arn": ARN, "tags": self.tags}

    @contextmanager
    def connect(self, _described: object, *, namespace: str) -> Iterator[ClusterCommands]:
        assert namespace
        yield ClusterCommands(
            cluster=Cluster(server={}, token=str, arn=ARN, tags=self.tags),
            helm=self.helm,
            run_kubectl=FakeKubectl(rows=self.rows),
            home=self.home,
        )

    def helm(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        assert timeout_seconds
        if not self.reachable:
            raise CommandFailedError("Error: cluster unreachable")
        if arguments[1] == "manifest":
            return NAMESPACE
        return json.dumps({"labels": {"hyperpod-cdk/stack": self.stack}})


@pytest.fixture(params=LOSSES, ids=["job", "volume", "object"])
def losing(request: pytest.FixtureRequest, tmp_path: Path) -> Eks:
    """Return a cluster in which a user would lose one thing."""
    return Eks(home=tmp_path, rows={request.param: [LOSSES[request.param]]})


def _delete(eks: Eks, *, status: str | None = "DELETE_IN_PROGRESS", **changes: str) -> Progress:
    stack = Framework(
        resource=DeletionCheck(connection=cast("EksConnection", eks)),
        resource_type="Custom::DeletionCheck",
        time=Time(),
        cloudformation=FakeCloudFormation(status=status),
        physical_id="x",
        properties={**PROPERTIES, **changes},
    )
    return stack.delete()


def test_each_loss_refuses_and_is_named(losing: Eks, raises: Raises) -> None:
    with raises(ProvisioningError):
        _delete(losing)


def test_consent_to_this_creation_lets_it_go(losing: Eks) -> None:
    assert _delete(losing, DeleteUserObjects="true") == DONE
    losing.tags = {CONSENT_TAG: CREATION}
    assert _delete(losing) == DONE
    losing.tags = {CONSENT_TAG: "another-creation"}
    with pytest.raises(ProvisioningError):
        _delete(losing)


@pytest.mark.parametrize(
    "status",
    ["ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"],
)
def test_a_rollback_or_replacement_is_never_refused(losing: Eks, status: str) -> None:
    losing.reachable = False
    assert _delete(losing, status=status) == DONE


def test_a_stack_that_is_gone_meanwhile_is_being_deleted(losing: Eks, raises: Raises) -> None:
    with raises(ProvisioningError):
        _delete(losing, status=None)


def test_a_deletion_whose_own_event_is_not_shown_yet_is_the_stacks(
    losing: Eks, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    shown = FakeCloudFormation.describe_stack_events

    def late(self: FakeCloudFormation, **asked: str) -> dict[str, Any]:
        events = shown(self, **asked)["StackEvents"]
        return {"StackEvents": [one for one in events if "PhysicalResourceId" in one]}

    monkeypatch.setattr(FakeCloudFormation, "describe_stack_events", late)
    with raises(ProvisioningError):
        _delete(losing, status="UPDATE_COMPLETE")


def test_only_the_releases_of_the_stack_delete_objects(tmp_path: Path) -> None:
    eks = Eks(home=tmp_path, rows={IN_NAMESPACE: [WEB]}, stack="other")
    assert _delete(eks) == DONE


def test_nothing_to_lose_lets_it_go(tmp_path: Path) -> None:
    assert _delete(Eks(home=tmp_path, rows={})) == DONE


def test_what_cannot_be_asked_refuses(tmp_path: Path, raises: Raises) -> None:
    with raises(ProvisioningError):
        _delete(Eks(home=tmp_path, rows={}, reachable=False))


@pytest.mark.parametrize(
    ("changes", "job"),
    [
        ({}, "Pod team/p"),
        ({"kind": "Job", "controller": "bert"}, "Job team/bert"),
        ({"kind": "PyTorchJob", "controller": "bert"}, "PyTorchJob team/bert"),
        ({"kind": "RayCluster", "controller": "ray"}, "RayCluster team/ray"),
        ({"phase": "Pending"}, "Pod team/p"),
        ({"phase": "Unknown"}, "Pod team/p"),
        ({"phase": ""}, "Pod team/p"),
        ({"account": "deep-health-check-service-account"}, "Pod team/p"),
        ({"phase": "Succeeded"}, None),
        ({"phase": "Failed"}, None),
        ({"phase": "Pending", "node": ""}, None),
        ({"deleted": "2026-01-01T00:00:00Z"}, None),
        ({"kind": "DaemonSet", "controller": "agent"}, None),
        ({"kind": "ReplicaSet", "controller": "web-1"}, None),
        ({"kind": "StatefulSet", "controller": "db"}, None),
        ({"kind": "ReplicationController", "controller": "old"}, None),
        ({"kind": "Node", "controller": "hyperpod-i-1"}, None),
        (
            {"namespace": "aws-hyperpod", "account": "deep-health-check-service-account"},
            None,
        ),
        ({"namespace": "aws-hyperpod"}, "Pod aws-hyperpod/p"),
    ],
)
def test_only_what_runs_to_an_end_is_a_job(changes: dict[str, str], job: str | None) -> None:
    found = [str(item) for item in jobs_among([tuple((POD | changes).values())])]
    assert found == ([] if job is None else [job])


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({}, "PersistentVolumeClaim team/data"),
        ({"deleted": "2026-01-01T00:00:00Z"}, "PersistentVolumeClaim team/data"),
        ({"namespace": "", "claim": ""}, "pvc-1"),
        ({"policy": "Retain"}, None),
        ({"driver": ""}, None),  # made by hand, or by a chart
        ({"driver": "ebs.csi.aws.com"}, "PersistentVolumeClaim team/data"),
        ({"driver": "efs.csi.aws.com"}, None),
    ],
)
def test_what_the_driver_made_is_a_claim(changes: dict[str, str], claim: str | None) -> None:
    found = [str(item) for item in claims_among([tuple((VOLUME | changes).values())])]
    assert found == ([] if claim is None else [claim])


@pytest.mark.parametrize(
    "definition",
    [
        "workspaces.workspace.jupyter.org",
        "inferenceendpointconfigs.inference.sagemaker.aws.amazon.com",
        "jumpstartmodels.inference.sagemaker.aws.amazon.com",
    ],
)
def test_objects_of_operators_are_named_where_there_are_any(
    tmp_path: Path, definition: str, raises: Raises
) -> None:
    eks = Eks(home=tmp_path, rows={definition: [("team", "mine")]}, stack="other")
    assert _delete(eks) == DONE

    eks.rows["customresourcedefinitions"] = [(definition,)]
    with raises(ProvisioningError):
        _delete(eks)
