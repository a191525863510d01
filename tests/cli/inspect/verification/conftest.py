"""What verification looks at in its unit tests: a Kubernetes API in process, and a fake AWS."""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes.client import ApiClient, Configuration

from hyperpod_cdk import Config
from hyperpod_cli.inspect.verification.check import Check, LiveDeployment
from hyperpod_cli.inspect.verification.verify import problems
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import ADMIN

Deployed = Callable[..., LiveDeployment]
OUTPUTS = {
    "ml-platform": {
        "VpcId": "vpc-1",
        "SecurityGroupId": "sg-1",
        "OutputPrivateSubnetIds": "subnet-1,subnet-2",
        "SageMakerIAMRoleArn": "arn:aws:iam::111122223333:role/nodes",
        "S3BucketName": "bucket",
    },
    "ml-storage": {"FileSystemId": "fs-1"},
    "ml-hyperpod": {"HyperPodClusterShortage": "none"},
}


def paginated(**answers: list[Any]) -> Callable[[str], SimpleNamespace]:
    """Return a client's `get_paginator`."""
    return lambda name: SimpleNamespace(paginate=lambda **_asked: answers[name])


def report(checks: Iterable[Check]) -> str:
    """Return what a person reads of the checks that do not hold."""
    return "\n".join(problems([*checks]))


def join(
    kubernetes: KubernetesApi,
    name: str,
    instance_type: str = "ml.m5.xlarge",
    *,
    cluster: str = "ml",
    group: str = "nodes",
    capacity: Mapping[str, str] | None = None,
    **labels: str,
) -> None:
    """Let a node of a HyperPod cluster join; further labels of HyperPod by their last part."""
    labels = {"cluster_name": cluster, "instance_group_name": group, **labels}
    kubernetes.put_node(
        name,
        instance_type=instance_type,
        labels={
            f"sagemaker.amazonaws.com/{key.replace('_', '-')}": value
            for key, value in labels.items()
        },
        capacity=capacity,
    )


@pytest.fixture
def deployed(kubernetes: KubernetesApi, tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """Return a function that makes a deployment of a configuration."""
    authority = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.write_text(kubernetes.ca_pem)

    def make(
        config: Config,
        *,
        token: str = ADMIN,
        outputs: Mapping[str, Mapping[str, str]] = OUTPUTS,
        **services: Mapping[str, Callable[..., Any]],
    ) -> LiveDeployment:
        configuration = Configuration(host=kubernetes.url)
        configuration.ssl_ca_cert = str(authority)
        configuration.api_key = {"authorization": f"Bearer {token}"}
        return LiveDeployment(
            config=config,
            client=lambda service: SimpleNamespace(**services[service]),
            kubernetes=ApiClient(configuration),
            outputs=outputs,
        )

    return make
