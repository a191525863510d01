"""config/examples/scale-to-zero.yaml: no HyperPod cluster, and groups that an autoscaler sizes."""

from typing import Any

import pytest

from hyperpod_rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["scale-to-zero"]


def larger(document: dict[str, Any]) -> None:
    document["node_groups"][1] |= {"min_size": 1, "desired_size": 1, "max_size": 6}


def larger_and_tagged(document: dict[str, Any]) -> None:
    larger(document)
    document["tags"] = {"team": "research"}


def sizes(stage: Stage, group: str) -> dict[str, int]:
    found = stage.environment.clients("eks").describe_nodegroup(
        clusterName=stage.config.eks_cluster_name, nodegroupName=group
    )
    scaling: dict[str, int] = found["nodegroup"]["scalingConfig"]
    return scaling


def test_nothing_is_there_of_hyperpod(stage: Stage) -> None:
    outputs = stage.outputs()[stage.stack("platform")]
    pods = stage.environment.kubernetes.objects("apps/v1", "DaemonSet")
    names = {each["metadata"]["name"] for each in pods}

    assert stage.status("hyperpod") is None
    assert not {"S3BucketName", "SageMakerIAMRoleArn"} & outputs.keys()
    assert {"EKSClusterName", "EKSClusterArn", "VpcId", "PrivateSubnetId"} <= outputs.keys()
    assert any(name.endswith("nvidia-device-plugin") for name in names)
    assert not any("health-monitoring" in name for name in names)


@pytest.mark.slow(seconds=5)
def test_a_deployment_keeps_the_size_that_the_autoscaler_has_given(stage: Stage) -> None:
    stage.environment.clients("eks").update_nodegroup_config(
        clusterName=stage.config.eks_cluster_name,
        nodegroupName="gpu",
        scalingConfig={"desiredSize": 2},
    )
    stage.change(larger)

    assert stage.deploy() is None
    assert sizes(stage, "gpu") == {"minSize": 1, "maxSize": 6, "desiredSize": 2}


@pytest.mark.slow(seconds=5)
def test_other_tags_replace_nodes_and_send_no_size(stage: Stage) -> None:
    stage.environment.clients("eks").update_nodegroup_config(
        clusterName=stage.config.eks_cluster_name,
        nodegroupName="gpu",
        scalingConfig={"desiredSize": 3},
    )
    stage.change(larger_and_tagged)

    assert stage.deploy() is None
    assert sizes(stage, "gpu")["desiredSize"] == 3
    group = {"clusterName": stage.config.eks_cluster_name, "nodegroupName": "gpu"}
    found = stage.environment.clients("eks").describe_nodegroup(**group)["nodegroup"]
    assert found["launchTemplate"]["version"] == "2"
    assert "team" not in found["tags"]
