"""The HyperPod API over HTTP, as boto3 sees it."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import ClientError

from hyperpod_emulator.hyperpod import Faults, HyperPodApi, HyperPodService, Timings
from hyperpod_emulator.testing.hyperpod_api import NAME, create_request, group
from hyperpod_emulator.testing.patience import PATIENCE_SECONDS, eventually

QUICK = Timings(
    create=0.1,
    update=0.1,
    delete=0.1,
    node_launch=0.05,
    lifecycle_script=0.05,
    node_stop=0.05,
    payment=0.1,
)

# boto3 makes a client's methods at run time, so there is no static type with the operations.
SageMakerClient = Any


@pytest.fixture
def api() -> Iterator[HyperPodApi]:
    with HyperPodApi(service=HyperPodService(clock=time.time, timings=QUICK)) as running:
        yield running


@pytest.fixture
def sagemaker(api: HyperPodApi) -> SageMakerClient:
    return client(api)


def client(api: HyperPodApi, *, attempts: int = 1) -> SageMakerClient:
    config = Config(retries={"total_max_attempts": attempts, "mode": "standard"})
    return boto3.client(
        "sagemaker",
        endpoint_url=api.url,
        region_name="us-west-2",
        aws_access_key_id="any",
        aws_secret_access_key="any",  # noqa: S106 - no such secret
        config=config,
    )


def test_a_cluster_from_creation_to_deletion(sagemaker: SageMakerClient) -> None:
    request = create_request(group(count=2), NodeProvisioningMode="Continuous")
    arn = sagemaker.create_cluster(**request)["ClusterArn"]

    def count() -> int:
        described = sagemaker.describe_cluster(ClusterName=arn)
        return int(described["InstanceGroups"][0]["CurrentCount"])

    eventually(lambda: count() == 2)
    sagemaker.update_cluster(ClusterName=NAME, InstanceGroups=[group(count=1)])
    eventually(lambda: count() == 1)
    pages = sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=NAME)
    eventually(lambda: len(list(pages.search("ClusterNodeSummaries[]"))) == 1)
    assert sagemaker.list_cluster_events(ClusterName=NAME)["Events"]
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "b"}]
    sagemaker.delete_cluster(ClusterName=NAME)
    eventually(lambda: sagemaker.list_clusters()["ClusterSummaries"] == [])
    with pytest.raises(sagemaker.exceptions.ResourceNotFound):
        sagemaker.describe_cluster(ClusterName=NAME)


def test_errors_are_those_of_the_model() -> None:
    # Still being created when it is deleted, however slow this machine is.
    service = HyperPodService(clock=time.time, timings=replace(QUICK, create=PATIENCE_SECONDS))
    with HyperPodApi(service=service) as api:
        sagemaker = client(api)
        sagemaker.create_cluster(**create_request())

        with pytest.raises(sagemaker.exceptions.ResourceInUse):
            sagemaker.create_cluster(**create_request())
        with pytest.raises(sagemaker.exceptions.ConflictException):
            sagemaker.delete_cluster(ClusterName=NAME)
        with pytest.raises(ClientError, match="1 validation error detected") as caught:
            sagemaker.create_cluster(**create_request(group(InstanceType="ml.m5.huge")))
        error: Any = caught.value.response
        assert error["Error"]["Code"] == "ValidationException"
        assert error["ResponseMetadata"]["HTTPStatusCode"] == 400
        assert error["ResponseMetadata"]["RequestId"]
        with pytest.raises(ClientError, match="UnknownOperationException"):
            sagemaker.list_models()


def test_boto3_retries_what_is_throttled(api: HyperPodApi) -> None:
    api.service.faults = Faults(throttled_calls={"ListClusters": 1})

    answer = client(api, attempts=3).list_clusters()

    assert answer["ResponseMetadata"]["RetryAttempts"] == 1


def test_caller_is_read_from_the_proxys_headers(api: HyperPodApi) -> None:
    sagemaker = client(api)

    def add_headers(request: AWSRequest, **_: object) -> None:
        request.headers["x-emulator-account"] = "111122223333"
        request.headers["x-emulator-region"] = "eu-west-1"

    sagemaker.meta.events.register("before-send.sagemaker.*", add_headers)
    arn = sagemaker.create_cluster(**create_request())["ClusterArn"]

    assert arn.startswith("arn:aws:sagemaker:eu-west-1:111122223333:cluster/")
    assert client(api).list_clusters()["ClusterSummaries"] == []


@pytest.mark.parametrize("body", ["{", "[]", "null", "\udcff"])
def test_body_that_is_not_an_object(api: HyperPodApi, body: str) -> None:
    target = {"X-Amz-Target": "SageMaker.ListClusters"}
    url = urlsplit(api.url)
    connection = http.client.HTTPConnection(url.netloc)
    connection.request("POST", url.path, body.encode(errors="surrogateescape"), target)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()

    assert (response.status, answer["__type"]) == (400, "SerializationException")
    assert response.headers["Content-Type"].startswith("application/x-amz-json-1.1")


def test_answers_may_lack_what_the_model_does_not_require() -> None:
    service = HyperPodService(clock=time.time, timings=QUICK, omissions=Random(1))  # noqa: S311 - no secret
    with HyperPodApi(service=service) as running:
        sagemaker = client(running)
        sagemaker.create_cluster(**create_request(group(), NodeProvisioningMode="Continuous"))
        answers = [sagemaker.describe_cluster(ClusterName=NAME) for _ in range(20)]
        events = sagemaker.list_cluster_events(ClusterName=NAME)

    assert all({"ClusterArn", "ClusterStatus", "InstanceGroups"} <= each.keys() for each in answers)
    assert {"ClusterName" in each for each in answers} == {True, False}
    assert all(each["EventId"] for each in events.get("Events", ()))
