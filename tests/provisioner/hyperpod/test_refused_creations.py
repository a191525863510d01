"""What a deployment does when HyperPod refuses a cluster for what is around it, or has none."""

import json
from typing import Literal

import pytest

from emulator.hyperpod import Caller, HyperPodService, Timings, Unknowns
from emulator.kubernetes import InProcessControlPlane
from hyperpod_shared.errors import ProvisioningError
from rehearsal.environment import EksDependencies
from tests.support.hyperpod_api import TYPE, create_plan
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.hyperpod_stack import ONE, group, hyperpod_stack, properties
from tests.support.provisioner.local_sagemaker import LocalSageMaker


@pytest.mark.parametrize("code", ["ValidationException", "ResourceInUse"])
def test_the_cluster_that_uses_the_eks_cluster_is_named(
    time: Time, code: Literal["ValidationException", "ResourceInUse"]
) -> None:
    service = HyperPodService(clock=lambda: time.now, unknowns=Unknowns(second_cluster=code))
    theirs = properties(group("workers"), name="theirs")
    service.call("CreateCluster", json.loads(theirs["Request"]), Caller())
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    with pytest.raises(ProvisioningError, match="is already used by HyperPod cluster 'theirs'"):
        stack.create(ONE)


@pytest.mark.parametrize("code", ["ValidationException", "ResourceNotFound"])
def test_a_cluster_lives_however_it_is_said_not_to_exist(
    time: Time, code: Literal["ValidationException", "ResourceNotFound"]
) -> None:
    service = HyperPodService(clock=lambda: time.now, unknowns=Unknowns(unknown_cluster=code))
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    assert stack.create(ONE).data["ClusterStatus"] == "InService"
    assert stack.delete().complete
    assert stack.swept == ["ml-cluster"]


def test_missing_dependencies_are_named(time: Time) -> None:
    kubernetes = InProcessControlPlane(kubernetes_version="1.34")
    dependencies = EksDependencies(kubernetes)
    service = HyperPodService(clock=lambda: time.now, environment=dependencies)
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    with pytest.raises(ProvisioningError, match="Helm chart of the HyperPod dependencies"):
        stack.create(ONE)

    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "aws-hyperpod"}}
    kubernetes.create(namespace)
    assert stack.create(ONE).data["ClusterStatus"] == "InService"


def test_a_plan_that_cannot_be_used_is_named_with_what_to_check(time: Time) -> None:
    service = HyperPodService(clock=lambda: time.now, timings=Timings(payment=3600))
    plan = create_plan(service)
    stack = hyperpod_stack(LocalSageMaker(service=service), time)
    reserved = properties(group("workers", InstanceType=TYPE, TrainingPlanArn=plan))
    with pytest.raises(ProvisioningError, match=r"its status is Pending.*Check that the training"):
        stack.create(reserved)

    time.sleep(3600)
    assert stack.create(reserved).data["Shortage"] == "none"
