"""A configuration, a job that asks for its nodes, and a cluster that can run the job."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from hyperpod_cdk import Config
from hyperpod_cli.operate.job_options import Given
from hyperpod_cli.operate.training.request import JobRequest, requested
from hyperpod_cli.terminal.configuration import DEFAULT_CONFIG
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import claim, pod
from tests.conftest import Configure
from tests.support.configs import STAND_IN_CHART

IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1"
P4D = {"name": "a100", "instance_type": "ml.p4d.24xlarge", "instance_count": 2}
CPU = {"name": "cpu", "instance_type": "ml.m5.2xlarge", "instance_count": 1}
SLOW = {"name": "slow", "instance_type": "ml.g5.4xlarge", "instance_count": 4}
STOP = "stop it"


@pytest.fixture
def config(configure: Configure) -> Config:
    return configure({"cluster": {"instance_groups": [P4D, CPU, SLOW]}})


def given(*files: str, **options: Any) -> Given:
    return Given(
        files=[*files] or ["llama2-7b-p4d"],
        **{"config": DEFAULT_CONFIG, "name": "llama", **options},
    )


def asked(config: Config, *files: str, **options: Any) -> JobRequest:
    return requested(given(*files, **options), config=config, built_image=lambda _: IMAGE)


@pytest.fixture
def ready(kubernetes: KubernetesApi) -> KubernetesApi:
    """A cluster that a job can run on."""
    definition = STAND_IN_CHART / "charts/training-operators/crds/pytorchjobs.yaml"
    kubernetes.create(yaml.safe_load(definition.read_text("utf-8")))
    for number, group in enumerate([P4D, P4D, *[SLOW] * 4]):
        join(kubernetes, f"hyperpod-i-{number}", group)
    secret = {"name": "hugging-face", "namespace": "default"}
    kubernetes.create({"apiVersion": "v1", "kind": "Secret", "metadata": secret})
    kubernetes.create(claim())
    made = {"metadata": {"name": "training"}, "value": 1}
    kubernetes.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", **made})
    return kubernetes


def join(kubernetes: KubernetesApi, name: str, group: Mapping[str, Any]) -> None:
    labels = {"cluster-name": "ml-cluster", "node-health-status": "Schedulable"}
    labels["instance-group-name"] = group["name"]
    kubernetes.put_node(
        name,
        instance_type=group["instance_type"],
        labels={f"sagemaker.amazonaws.com/{key}": value for key, value in labels.items()},
    )


def busy(kubernetes: KubernetesApi, node: str) -> None:
    kubernetes.create(pod(f"other-{node[-1]}", devices="8", nodeName=node))
