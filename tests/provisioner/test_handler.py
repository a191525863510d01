"""The Lambda's two entry points: dispatch, failures, limits, logs."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError

from hyperpod_emulator.hyperpod import HyperPodService
from hyperpod_shared.errors import (
    MESSAGE_LIMIT_BYTES,
    NotReadyError,
    ProvisioningError,
    UnreachableError,
)
from provisioner import handler
from provisioner.framework.request import BEGUN_AT
from provisioner.framework.retry import Clock
from provisioner.helm.client import ReleaseClient
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import (
    RESPONSE_URL,
    FakeCloudFormation,
    Time,
    event,
)
from tests.support.provisioner.fake_s3 import FakeS3, client_error, zipped
from tests.support.provisioner.fake_table import FakeTable
from tests.support.provisioner.hyperpod_stack import slurm_properties
from tests.support.provisioner.local_sagemaker import LocalSageMaker

SCRIPTS = {
    "SourceBucket": "assets",
    "SourceKey": "scripts.zip",
    "SourceDigest": "d",
    "DestinationBucket": "sagemaker-ml",
    "Keys": '["on_create.sh"]',
}
CLUSTER = {"ClusterName": "ml", "Request": '{"ClusterName": "ml", "InstanceGroups": []}'}
HELM = {
    "ClusterName": "ml",
    "Release": "r",
    "Namespace": "n",
    "ChartBucket": "b",
    "ChartKey": "k.tgz",
    "ChartDigest": "d",
    "Values": '{"password": "hunter2-hunter2"}',
}


EntryPoint = Callable[[Mapping[str, Any], handler.Context], dict[str, Any]]


class Context:
    def get_remaining_time_in_millis(self) -> int:
        return 10_000  # so little that nothing is retried


class FakeClients:
    """Clients whose every call answers, or raises, the same."""

    def __init__(self) -> None:
        self.s3 = FakeS3()
        self.cloudformation = FakeCloudFormation()
        self.dynamodb = FakeTable()
        self.sagemaker: Any = self
        self.eks: Any = self
        self.fsx = self
        self.error: Exception | None = None
        self.answer: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., dict[str, Any]]:
        return lambda **_: self._answer()

    def _answer(self) -> dict[str, Any]:
        if self.error:
            raise self.error
        return self.answer


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClients]:
    fake = FakeClients()
    fake.s3.add("assets", "scripts.zip", zipped({"on_create.sh": b"#!/bin/sh\n"}))
    fake.s3.buckets["sagemaker-ml"] = []
    monkeypatch.setattr(handler, "CLIENTS", fake)
    yield fake


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> float:
    """A time that stands still, however long the machine takes."""
    moment = float(round(time.time()))
    monkeypatch.setattr(handler, "Clock", partial(Clock, now=lambda: moment))
    return moment


class SlurmClients(FakeClients):
    """HyperPod as the emulator plays it; there is no EKS, and no layer with kubectl and helm."""

    def __init__(self) -> None:
        super().__init__()
        self.time = Time()
        service = HyperPodService(clock=lambda: self.time.now)
        self.sagemaker = self.local = LocalSageMaker(service=service)
        self.eks = None  # Slurm needs none


def test_a_slurm_cluster_needs_neither_eks_nor_a_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    clients = SlurmClients()
    monkeypatch.setattr(handler, "CLIENTS", clients)
    monkeypatch.setattr(
        handler, "Clock", partial(Clock, now=lambda: clients.time.now, sleep=clients.time.sleep)
    )
    properties = slurm_properties()
    for kind, phase in (("Create", "CREATE_IN_PROGRESS"), ("Delete", "DELETE_IN_PROGRESS")):
        clients.cloudformation.status = phase
        sent = event(kind, "Custom::HyperPodCluster", properties, physical_id="ml-cluster")
        sent |= handler.on_event(sent, Context())
        for _ in range(100):
            progress = handler.is_complete(sent, Context())
            if progress["IsComplete"]:
                break
            clients.time.sleep(30)
        assert progress["IsComplete"], kind
    assert clients.local.writes == ["CreateCluster", "DeleteCluster"]


def test_a_request_from_start_to_end(clients: FakeClients) -> None:
    sent = event("Create", "Custom::LifecycleScripts", SCRIPTS)
    accepted = handler.on_event(sent, Context())
    assert accepted["PhysicalResourceId"] == "sagemaker-ml/lifecycle-scripts"
    assert clients.s3.keys("sagemaker-ml") == ["on_create.sh"]
    progress = handler.is_complete({**sent, **accepted}, Context())
    assert progress == {"IsComplete": True, "Data": {"S3Uri": "s3://sagemaker-ml"}}


@pytest.mark.usefixtures("clients")
@pytest.mark.parametrize("entry_point", [handler.on_event, handler.is_complete])
def test_unknown_resource_type_is_named(entry_point: EntryPoint, raises: Raises) -> None:
    with raises(ProvisioningError):
        entry_point(event("Create", "Custom::Other", {}), Context())


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ThrottlingException", 400),
        ("RequestLimitExceeded", 503),
        ("ServiceUnavailable", 503),
        # botocore models these two for EKS, and any proxy on the way has names of its own.
        ("ServerException", 500),
        ("ServiceUnavailableException", 503),
        ("502", 502),
    ],
)
def test_trouble_of_aws_while_polling_is_no_failure(
    clients: FakeClients, code: str, status: int
) -> None:
    clients.error = client_error(code, "DescribeCluster", status=status)
    sent = event("Create", "Custom::HyperPodCluster", CLUSTER, physical_id="ml")
    assert handler.is_complete(sent, Context()) == {"IsComplete": False}


def test_unreachable_cluster_while_polling_is_no_failure(
    clients: FakeClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: Any) -> ReleaseClient:
        raise UnreachableError("helm could not read", next_step="Wait.")

    monkeypatch.setattr("provisioner.helm.client.ReleaseConnection.connect", unreachable)
    clients.error = AssertionError()
    sent = event("Create", "Custom::HelmRelease", HELM, physical_id="ml/n/r")
    assert handler.is_complete(sent, Context()) == {"IsComplete": False}


@pytest.mark.usefixtures("clients")
@pytest.mark.parametrize(
    "error",
    [
        UnreachableError("helm could not read", next_step="Wait."),
        NotReadyError("The EKS cluster ml is CREATING", next_step="Wait."),
    ],
)
@pytest.mark.parametrize("minutes", [57, 58])
def test_the_wait_is_told_and_ends(
    *,
    error: UnreachableError,
    minutes: int,
    now: float,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raises: Raises,
) -> None:
    def connect(*_: Any) -> ReleaseClient:
        raise error

    monkeypatch.setattr("provisioner.helm.client.ReleaseConnection.connect", connect)
    sent = event("Create", "Custom::HelmRelease", HELM, physical_id="ml/n/r")
    sent[BEGUN_AT] = now - 60 * minutes
    if minutes == 58:
        with raises(ProvisioningError):
            handler.is_complete(sent, Context())
    else:
        assert handler.is_complete(sent, Context()) == {"IsComplete": False}
    told = json.loads(capsys.readouterr().out.splitlines()[1])
    assert (told["cause"], told["waited_seconds"]) == (str(error), minutes * 60)


@pytest.mark.parametrize(
    ("resource_type", "properties"),
    [
        ("Custom::FileSystemAvailability", {"FileSystemId": "fs-1"}),
        ("Custom::HyperPodCluster", CLUSTER),
    ],
)
@pytest.mark.parametrize(("minutes", "ends"), [(57, False), (58, True)])
def test_the_wait_for_throttled_calls_is_told_and_ends(
    clients: FakeClients,
    now: float,
    *,
    resource_type: str,
    properties: dict[str, Any],
    minutes: int,
    ends: bool,
    capsys: pytest.CaptureFixture[str],
    raises: Raises,
) -> None:
    clients.error = client_error("ThrottlingException", "Describe", "Rate exceeded")
    begun_at = now - 60 * minutes
    sent = event("Create", resource_type, properties, physical_id="ml")
    sent |= {BEGUN_AT: begun_at}
    if ends:
        with raises(ProvisioningError):
            handler.is_complete(sent, Context())
    else:
        assert handler.is_complete(sent, Context()) == {"IsComplete": False}
    told = json.loads(capsys.readouterr().out.splitlines()[1])
    assert (told["message"], told["waited_seconds"]) == ("waiting", minutes * 60)
    assert "Rate exceeded" in told["cause"]


@pytest.mark.parametrize("entry_point", [handler.on_event, handler.is_complete])
def test_refusal_of_aws_is_one_line_with_a_next_step(
    clients: FakeClients, entry_point: EntryPoint, raises: Raises
) -> None:
    clients.error = client_error("AccessDeniedException", "DescribeCluster", "not authorized " * 99)
    sent = event("Delete", "Custom::HyperPodCluster", CLUSTER, physical_id="ml")
    with raises(ProvisioningError) as failed:
        entry_point(sent, Context())
    text = str(failed.value)
    assert len(text.encode()) <= MESSAGE_LIMIT_BYTES < 1000


def test_carried_failure_is_raised_as_it_was(clients: FakeClients) -> None:
    clients.s3.put_error = client_error("AccessDenied", "PutObject", "no s3:PutObject")
    sent = event("Create", "Custom::LifecycleScripts", SCRIPTS)
    accepted = handler.on_event(sent, Context())
    assert accepted["PhysicalResourceId"] == "sagemaker-ml/lifecycle-scripts"
    with pytest.raises(ProvisioningError) as failed:
        handler.is_complete({**sent, **json.loads(json.dumps(accepted))}, Context())
    assert str(failed.value) == accepted["Failure"]
    assert "no s3:PutObject" in accepted["Failure"]


@pytest.mark.parametrize("filler", ["x", "é", "漢", "🛰", '"', "\n"])
def test_whole_response_to_cloudformation_fits(filler: str) -> None:
    """The framework adds its own stack trace and log group to the reason."""
    error = ProvisioningError(filler * 5000, detail=filler * 5000, next_step=filler * 5000)
    trace = "Error: \n\nLogs: /aws/lambda/" + "f" * 64 + "\n    at invoke (/var/task/x.js)" * 12
    response = {
        "Status": "FAILED",
        "Reason": str(error) + trace,
        "PhysicalResourceId": "c" * 100 + "/" + "n" * 63 + "/" + "r" * 53,
        "StackId": "arn:aws-us-gov:cloudformation:us-gov-west-1:111122223333:stack/" + "s" * 165,
        "RequestId": "r" * 36,
        "LogicalResourceId": "l" * 255,
        "Data": {"ClusterName": "c" * 63, "ClusterArn": "a" * 110, "ClusterStatus": "InService"},
    }
    assert len(json.dumps(response, ensure_ascii=False).encode()) < 4096


def test_logs_are_json_without_credentials(
    clients: FakeClients, capsys: pytest.CaptureFixture[str]
) -> None:
    clients.error = client_error("AccessDenied", "X", f"at {RESPONSE_URL} k8s-aws-v1.aGVsbG8")
    for resource_type, properties in {
        "Custom::HelmRelease": HELM,
        "Custom::HyperPodCluster": CLUSTER,
    }.items():
        for entry_point in (handler.on_event, handler.is_complete):
            with pytest.raises(ProvisioningError):
                entry_point(event("Create", resource_type, properties), Context())
    handler.on_event(event("Create", "Custom::LifecycleScripts", SCRIPTS), Context())
    logged = capsys.readouterr().out
    lines = [json.loads(line) for line in logged.splitlines()]
    assert {"level", "message", "request_id", "physical_id"} <= lines[0].keys()
    for secret in ("hunter2", "X-Amz-Signature", "c0ffee", "aGVsbG8", "ResponseURL"):
        assert secret not in logged


FSX = "https://fsx.us-west-2.amazonaws.com/"


@pytest.mark.parametrize(
    ("entry_point", "resource_type", "properties"),
    [
        (handler.is_complete, "Custom::FileSystemAvailability", {"FileSystemId": "fs-1"}),
        (handler.on_event, "Custom::HyperPodCluster", CLUSTER),
    ],
)
def test_a_service_without_a_way_to_it_is_named_with_what_to_look_for(
    clients: FakeClients,
    entry_point: EntryPoint,
    resource_type: str,
    properties: dict[str, Any],
    raises: Raises,
) -> None:
    clients.error = ConnectTimeoutError(endpoint_url=FSX)
    sent = event("Create", resource_type, properties)
    sent[BEGUN_AT] = time.time() - 60 * 58

    with raises(ProvisioningError):
        entry_point(sent, Context())
