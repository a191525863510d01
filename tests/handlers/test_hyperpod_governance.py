"""Task governance that keeps a HyperPod cluster from being deleted."""

import pytest

from provisioner.framework.errors import ProvisioningError
from provisioner.framework.request import Request
from provisioner.hyperpod import deletion as hyperpod_deletion
from rehearsal.hyperpod import Caller
from tests.handlers.cloudformation import Time
from tests.handlers.hyperpod_stack import ONE, HyperPodStack, describe, hyperpod_stack
from tests.handlers.local_sagemaker import LocalSageMaker

CONSENT = {"DeleteTaskGovernance": "true"}


@pytest.fixture
def stack(sagemaker: LocalSageMaker, time: Time) -> HyperPodStack:
    return hyperpod_stack(sagemaker, time)


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
    assert not {"DeleteComputeQuota", "DeleteClusterSchedulerConfig"} & set(sagemaker.writes)


def test_it_is_deleted_with_the_users_consent(
    stack: HyperPodStack, sagemaker: LocalSageMaker
) -> None:
    stack.create({**ONE, **CONSENT})
    govern(sagemaker)
    assert stack.delete().complete
    assert {"DeleteComputeQuota", "DeleteClusterSchedulerConfig"} <= set(sagemaker.writes)
    assert sagemaker.service.call("ListComputeQuotas", {}, Caller())["ComputeQuotaSummaries"] == []


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


def test_a_deletion_that_failed_over_it_goes_on(
    stack: HyperPodStack,
    sagemaker: LocalSageMaker,
    time: Time,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = {**ONE, **CONSENT}
    stack.create(wanted)
    stack.cloudformation.status = "DELETE_IN_PROGRESS"
    sent, accepted = stack.start("Delete", wanted)
    described = sagemaker.describe_cluster
    deleted: list[object] = []
    monkeypatch.setattr(
        sagemaker,
        "describe_cluster",
        lambda **asked: {**described(**asked), "ClusterStatus": "Failed"},
    )
    monkeypatch.setattr(hyperpod_deletion, "governance_of", lambda *_: ["compute quota q"])
    monkeypatch.setattr(
        hyperpod_deletion, "delete_governance", lambda _, all_: deleted.extend(all_)
    )
    sagemaker.calls.clear()

    polled = Request.from_event({**sent, **accepted.as_response()})
    assert not stack.resource.is_complete(polled, time.clock).complete
    assert (set(deleted), sagemaker.writes) == ({"compute quota q"}, ["DeleteCluster"])
