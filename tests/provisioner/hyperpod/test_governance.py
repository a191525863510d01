"""Task governance that keeps a HyperPod cluster from being deleted."""

import pytest

from emulator.hyperpod import Caller
from hyperpod_shared.errors import ProvisioningError
from tests.support.provisioner.hyperpod_stack import ONE, HyperPodStack, describe
from tests.support.provisioner.local_sagemaker import LocalSageMaker


def govern(sagemaker: LocalSageMaker) -> None:
    arn = describe(sagemaker)["ClusterArn"]
    quota = {
        "Name": "research-quota",
        "ClusterArn": arn,
        "ComputeQuotaConfig": {},
        "ComputeQuotaTarget": {"TeamName": "research"},
    }
    policy = {"Name": "fair", "ClusterArn": arn, "SchedulerConfig": {}}
    sagemaker.service.call("CreateComputeQuota", quota, Caller())
    sagemaker.service.call("CreateClusterSchedulerConfig", policy, Caller())


def test_it_is_named_and_left_to_the_user(stack: HyperPodStack, sagemaker: LocalSageMaker) -> None:
    stack.create(ONE)
    govern(sagemaker)
    with pytest.raises(
        ProvisioningError,
        match=r"task governance uses it: compute quota research-quota, cluster policy fair\. Del",
    ):
        stack.delete()
    assert describe(sagemaker)["ClusterStatus"] == "InService"


def test_a_property_of_earlier_versions_means_nothing(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create({**ONE, "DeleteTaskGovernance": "true"})
    govern(sagemaker)
    with pytest.raises(ProvisioningError, match=r"cannot be deleted .* delete-compute-quota"):
        stack.delete()
    left = sagemaker.service.call("ListComputeQuotas", {}, Caller())["ComputeQuotaSummaries"]
    assert len(left) == 1


def test_that_of_another_cluster_does_not_matter(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    govern(sagemaker)
    other = sagemaker.service.call(
        "ListComputeQuotas", {"ClusterArn": describe(sagemaker)["ClusterArn"][:-1] + "x"}, Caller()
    )
    assert other["ComputeQuotaSummaries"] == []


def test_a_cluster_without_any_is_deleted_without_asking(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create(ONE)
    assert stack.delete().complete
    assert "ListComputeQuotas" not in [operation for operation, _ in sagemaker.calls]
