"""What the provisioner logs of its calls of AWS: everything but secrets, and only if told to."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.stub import Stubber

from hyperpod_shared.recording import RECORDED, VARIABLE
from hyperpod_shared.redaction import HIDDEN
from provisioner.aws.api import Clients

SECRET = "hunter2-hunter2"  # noqa: S105 - it stands for one
AT = datetime(2026, 11, 30, tzinfo=UTC)
STACK = {"StackName": "ml", "StackId": "arn:aws:cloudformation:us-west-2:1:stack/ml/1"}


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Clients:
    for name in (VARIABLE, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    return Clients(region="us-west-2")


def lines(capsys: pytest.CaptureFixture[str]) -> list[Mapping[str, Any]]:
    printed = capsys.readouterr().out
    assert SECRET not in printed
    return [json.loads(line) for line in printed.splitlines()]


def test_a_call_and_its_answer_are_a_line(
    clients: Clients, capsys: pytest.CaptureFixture[str]
) -> None:
    with Stubber(clients.sagemaker) as stub:
        stub.add_response("list_tags", {"Tags": [{"Key": "a", "Value": "b"}]})
        clients.sagemaker.list_tags(ResourceArn="arn:aws:sagemaker:us-west-2:1:cluster/a")
    [line] = lines(capsys)
    assert datetime.fromisoformat(line["at"]).tzinfo is not None
    assert line["seconds"] >= 0
    assert {key: line[key] for key in line if key not in {"at", "seconds", "level", "retries"}} == {
        "message": RECORDED,
        "service": "sagemaker",
        "operation": "ListTags",
        "parameters": {"ResourceArn": "arn:aws:sagemaker:us-west-2:1:cluster/a"},
        "answer": {"Tags": [{"Key": "a", "Value": "b"}]},
    }


def test_an_error_is_an_answer(clients: Clients, capsys: pytest.CaptureFixture[str]) -> None:
    client = clients.sagemaker
    with Stubber(client) as stub, pytest.raises(ClientError):
        stub.add_client_error("delete_cluster", "ConflictException", "It is being updated", 400)
        client.delete_cluster(ClusterName="ml")
    [line] = lines(capsys)
    assert line["error"] == {"Code": "ConflictException", "Message": "It is being updated"}
    assert "answer" not in line


def test_a_call_without_an_answer_has_no_code(
    clients: Clients, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(EndpointConnectionError):
        clients.sagemaker.describe_cluster(ClusterName="ml")
    [line] = lines(capsys)
    assert line["error"]["Code"] == ""
    assert line["error"]["Message"].startswith("EndpointConnectionError: Could not connect")


def test_secrets_are_left_out(clients: Clients, capsys: pytest.CaptureFixture[str]) -> None:
    event = {**STACK, "EventId": "1", "Timestamp": AT, "ResourceStatus": "CREATE_IN_PROGRESS"}
    properties = json.dumps({"Values": json.dumps({"password": SECRET})})
    with Stubber(clients.cloudformation) as stub:
        answer = {"StackEvents": [{**event, "ResourceProperties": properties}], "NextToken": SECRET}
        stub.add_response("describe_stack_events", answer)
        clients.cloudformation.describe_stack_events(StackName="ml")
    with Stubber(clients.s3) as stub:
        stub.add_response("put_object", {"ETag": "e"})
        clients.s3.put_object(Bucket="sagemaker-ml", Key="on_create.sh", Body=SECRET.encode())
    with Stubber(clients.sagemaker) as stub:
        message = f"see https://example.com/?X-Amz-Signature={SECRET}"
        stub.add_client_error("list_tags", "ValidationException", message)
        with pytest.raises(ClientError):
            clients.sagemaker.list_tags(ResourceArn="arn:aws:sagemaker:us-west-2:1:cluster/a")
    clients.token_signer.token("ml")  # a signed URL, of which there is no line
    events, put, tags = lines(capsys)
    [shown] = events["answer"]["StackEvents"]
    assert (shown["EventId"], shown["ResourceProperties"]) == ("1", HIDDEN)
    assert datetime.fromisoformat(shown["Timestamp"]) == AT
    assert put["parameters"] == {"Bucket": "sagemaker-ml", "Key": "on_create.sh", "Body": HIDDEN}
    assert HIDDEN in tags["error"]["Message"]


def test_nothing_is_recorded_by_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    clients = Clients(region="us-west-2")
    with Stubber(clients.sagemaker) as stub:
        stub.add_response("list_tags", {"Tags": []})
        clients.sagemaker.list_tags(ResourceArn="arn:aws:sagemaker:us-west-2:1:cluster/a")
    assert lines(capsys) == []
