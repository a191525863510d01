"""Requests that keep the service model of the HyperPod API but break its rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.hyperpod_api import (
    AUTOSCALING,
    CHECKS,
    EKS_CLUSTER,
    FLEXIBLE,
    LIFECYCLE,
    LONG_ROLE,
    NAME,
    OTHER_VPC,
    ROOT_VOLUME,
    TAINTS,
    VOLUME,
    create_request,
    group,
    subject,
    volumes,
)

SLURM_JOB = {"NodeType": "Compute"}


# Group members that keep the model but break a rule, and a part of the sentence.
BAD_GROUPS: list[tuple[dict[str, Any], str]] = [
    ({"InstanceType": None}, "exactly one of InstanceType and InstanceRequirements"),
    ({"InstanceRequirements": FLEXIBLE}, "exactly one of InstanceType and InstanceRequirements"),
    ({"InstanceType": None, "InstanceRequirements": FLEXIBLE}, "only with NodeProvisioningMode"),
    ({"MinInstanceCount": 1}, "only with NodeProvisioningMode Continuous"),
    (
        {"LifeCycleConfig": {**LIFECYCLE, "OnCreate": "a", "OnInitComplete": "b"}},
        "exactly one of OnCreate and OnInitComplete",
    ),
    ({"LifeCycleConfig": LIFECYCLE}, "exactly one of OnCreate and OnInitComplete"),
    ({"LifeCycleConfig": {"OnCreate": "a"}}, "needs SourceS3Uri"),
    ({"InstanceStorageConfigs": volumes({})}, "VolumeSizeInGB must be specified"),
    ({"InstanceStorageConfigs": volumes({"RootVolume": True})}, "VolumeKmsKeyId must be"),
    ({"InstanceStorageConfigs": volumes({**ROOT_VOLUME, **VOLUME})}, "must not be specified"),
    ({"InstanceStorageConfigs": volumes(ROOT_VOLUME, ROOT_VOLUME)}, "at most one root"),
    ({"InstanceStorageConfigs": volumes(VOLUME, VOLUME)}, "at most one root and one secondary"),
    (
        {"InstanceType": "ml.m5.2xlarge", "OnStartDeepHealthChecks": CHECKS},
        "not supported for instance type ml.m5.2xlarge",
    ),
    (
        {"InstanceType": "ml.t3.medium", "OnStartDeepHealthChecks": CHECKS},
        "not supported for instance type ml.t3.medium",
    ),
    ({"OnStartDeepHealthChecks": CHECKS, "KubernetesConfig": TAINTS}, "cannot be combined"),
    ({"SlurmConfig": SLURM_JOB}, "only with the Slurm orchestrator"),
    ({"CapacityRequirements": {"Spot": {}, "OnDemand": {}}}, "exactly one of Spot and OnDemand"),
    (
        {"AutoPatchConfig": {"PatchingStrategy": "DrainFirst", "IdleWaitWindowInSeconds": 3600}},
        "IdleWaitWindowInSeconds is not supported",
    ),
    (
        {"AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "DrainPolicy": {}}},
        "DrainPolicy is not supported",
    ),
]


@pytest.mark.parametrize(("members", "sentence"), BAD_GROUPS)
def test_rule_refuses_group(members: dict[str, Any], sentence: str) -> None:
    error = subject().refused("CreateCluster", **create_request(group(**members)))

    assert error.code == "ValidationException"
    assert error.message.startswith("Instance group 'workers': ")
    assert sentence in error.message


BAD_REQUESTS: list[tuple[dict[str, Any], str]] = [
    ({"Orchestrator": {}}, "exactly one of Eks and Slurm"),
    (
        {"Orchestrator": {"Eks": {"ClusterArn": EKS_CLUSTER}, "Slurm": {}}},
        "exactly one of Eks and Slurm",
    ),
    ({"VpcConfig": None}, "VpcConfig must be specified"),
    ({"InstanceGroups": [group("a"), group("a")]}, "'a' is used more than once"),
    (
        {
            "InstanceGroups": [group("a")],
            "RestrictedInstanceGroups": [group("a", LifeCycleConfig=None)],
        },
        "'a' is used more than once",
    ),
    ({"AutoScaling": AUTOSCALING, "ClusterRole": LONG_ROLE}, "AutoScaling is supported only"),
    (
        {"AutoScaling": AUTOSCALING, "NodeProvisioningMode": "Continuous"},
        "ClusterRole must be specified",
    ),
    ({"Tags": [{"Key": "a", "Value": "b"}] * 2}, "'a' is used more than once"),
    ({"Tags": [{"Key": "aws:a", "Value": "b"}]}, "reserved"),
    (
        {
            "NodeProvisioningMode": "Continuous",
            "InstanceGroups": [group(count=1, MinInstanceCount=2)],
        },
        "must not be greater than InstanceCount",
    ),
    (
        {"Orchestrator": None, "InstanceGroups": [group(KubernetesConfig={})]},
        "only with the Amazon EKS orchestrator",
    ),
]


@pytest.mark.parametrize(("members", "sentence"), BAD_REQUESTS)
def test_rule_refuses_request(members: dict[str, Any], sentence: str) -> None:
    error = subject().refused("CreateCluster", **create_request(**members))

    assert error.code == "ValidationException"
    assert sentence in error.message


OTHER_ROLE = "arn:aws:iam::111122223333:role/another"
# Changes of an existing cluster that must be refused.
BAD_UPDATES: list[tuple[dict[str, Any], str]] = [
    ({"InstanceGroups": [group(OverrideVpcConfig=OTHER_VPC)]}, "OverrideVpcConfig cannot be"),
    ({"InstanceGroups": [group(InstanceType="ml.p5.48xlarge")]}, "InstanceType must match"),
    ({"InstanceGroups": [group(ExecutionRole=OTHER_ROLE)]}, "ExecutionRole must be the one"),
    ({"InstanceGroups": [group(ThreadsPerCore=2)]}, "ThreadsPerCore must be the one"),
    ({"InstanceGroups": [group("a"), group("a")]}, "'a' is used more than once"),
    ({"InstanceGroupsToDelete": ["other"]}, "'other' in InstanceGroupsToDelete does not exist"),
    (
        {"InstanceGroups": [group()], "InstanceGroupsToDelete": ["workers"]},
        "both to be updated and to be deleted",
    ),
    ({"Orchestrator": {"Eks": {"ClusterArn": EKS_CLUSTER + "-2"}}}, "cannot be changed"),
    ({"NodeProvisioningMode": "Continuous"}, "cannot be changed"),
    ({"VpcConfig": OTHER_VPC}, "at 'vpcConfig' failed to satisfy constraint: Member must be one"),
    ({"Tags": []}, "at 'tags' failed to satisfy constraint: Member must be one of"),
    ({"InstanceGroups": [group(InstanceCount=-1)]}, "greater than or equal to 0"),
]


@pytest.mark.parametrize(("members", "sentence"), BAD_UPDATES)
def test_update_is_refused(members: dict[str, Any], sentence: str) -> None:
    api = subject()
    api.create()
    api.wait()
    before = api("DescribeCluster", ClusterName=NAME)

    error = api.refused("UpdateCluster", ClusterName=NAME, **members)

    assert error.code == "ValidationException"
    assert sentence in error.message
    assert api("DescribeCluster", ClusterName=NAME) == before


def test_cluster_role_is_immutable_while_autoscaling_is_enabled() -> None:
    api = subject()
    api.create(NodeProvisioningMode="Continuous", AutoScaling=AUTOSCALING, ClusterRole=LONG_ROLE)
    api.wait()

    error = api.refused("UpdateCluster", ClusterName=NAME, ClusterRole=LONG_ROLE + "-2")

    assert "ClusterRole cannot be updated" in error.message
