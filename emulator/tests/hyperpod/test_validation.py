"""What the HyperPod API refuses: by its model, and by documented rules."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_emulator.testing.hyperpod_api import (
    CHECKS,
    EKS_CLUSTER,
    LIFECYCLE,
    NAME,
    TAINTS,
    create_request,
    group,
    subject,
)

LUSTRE = {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh"}
ROOT_VOLUME = {"RootVolume": True, "VolumeKmsKeyId": "alias/ml"}
VOLUME = {"VolumeSizeInGB": 500}
FLEXIBLE = {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5e.48xlarge"]}
OTHER_VPC = {"SecurityGroupIds": ["sg-2"], "Subnets": ["subnet-2"]}
AUTOSCALING = {"Mode": "Enable", "AutoScalerType": "Karpenter"}
LONG_ROLE = "arn:aws-us-gov:iam::123456789012:role/path/name"


def volumes(*configs: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the storage of a group with these EBS volumes."""
    return [{"EbsVolumeConfig": config} for config in configs]


GOOD_GROUPS: list[dict[str, Any]] = [
    {},
    {"InstanceCount": 0},
    {"InstanceCount": 6758},
    {"InstanceGroupName": "a--b"},
    {"ExecutionRole": LONG_ROLE},
    {"LifeCycleConfig": None},
    {"InstanceStorageConfigs": volumes(VOLUME)},
    {"InstanceStorageConfigs": volumes(VOLUME, ROOT_VOLUME)},
    {"InstanceStorageConfigs": [{"FsxLustreConfig": LUSTRE}]},
    {"OnStartDeepHealthChecks": CHECKS},
    {"InstanceType": "ml.trn1.32xlarge", "OnStartDeepHealthChecks": CHECKS},
    {"KubernetesConfig": {"Labels": {"example.com/team": "a"}, **TAINTS}},
    {"OverrideVpcConfig": OTHER_VPC},
    {"CapacityRequirements": {"Spot": {}}},
    {"AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 3600}},
]


@pytest.mark.parametrize("members", GOOD_GROUPS)
def test_accepts_group(members: dict[str, Any]) -> None:
    assert "ClusterArn" in subject().create(group(**members))


GOOD_REQUESTS: list[dict[str, Any]] = [
    {"InstanceGroups": None},
    {"Orchestrator": None, "VpcConfig": None},
    {"InstanceGroups": [group(f"g{n}", 0) for n in range(100)]},
    {"Tags": [{"Key": "costo según área", "Value": ""}]},
    {"NodeProvisioningMode": "Continuous", "InstanceGroups": [group(MinInstanceCount=1)]},
    {
        "NodeProvisioningMode": "Continuous",
        "InstanceGroups": [group(InstanceType=None, InstanceRequirements=FLEXIBLE)],
    },
    {"NodeProvisioningMode": "Continuous", "AutoScaling": AUTOSCALING, "ClusterRole": LONG_ROLE},
    {"TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20}},
    {"ClusterName": "a" * 63},
]


@pytest.mark.parametrize("members", GOOD_REQUESTS)
def test_accepts_request(members: dict[str, Any]) -> None:
    assert "ClusterArn" in subject().create(**members)


GROUP_PATH = "instanceGroups.1.member"

# Group members that break the model: where the error points, and a part of what it says.
BAD_BY_MODEL: list[tuple[dict[str, Any], str, str]] = [
    ({"InstanceCount": None}, "instanceCount", "must not be null"),
    ({"InstanceCount": True}, "instanceCount", "must be of type integer"),
    ({"InstanceCount": 1.5}, "instanceCount", "must be of type integer"),
    ({"InstanceCount": -1}, "instanceCount", "value greater than or equal to 0"),
    ({"InstanceCount": 6759}, "instanceCount", "value less than or equal to 6758"),
    ({"InstanceType": "ml.p9.48xlarge"}, "instanceType", "must satisfy enum value set"),
    ({"InstanceGroupName": "a" * 64}, "instanceGroupName", "length less than or equal to 63"),
    ({"Instancecount": 2}, "instancecount", "must be one of"),
    ({"LifeCycleConfig": {"SourceS3Uri": "bucket"}}, "lifeCycleConfig.sourceS3Uri", "pattern"),
    (
        {"InstanceStorageConfigs": [{"EbsVolumeConfig": VOLUME, "FsxLustreConfig": LUSTRE}]},
        "instanceStorageConfigs.1.member",
        "Exactly one member",
    ),
    (
        {"InstanceStorageConfigs": volumes(*[VOLUME] * 5)},
        "instanceStorageConfigs",
        "length less than or equal to 4",
    ),
    ({"OnStartDeepHealthChecks": ["Stress"]}, "onStartDeepHealthChecks.1.member", "enum"),
    ({"KubernetesConfig": {"Labels": {"-a": "b"}}}, "kubernetesConfig.labels.-a.key", "pattern"),
    ({"KubernetesConfig": {"Labels": {"a": "b!"}}}, "kubernetesConfig.labels.a.member", "pattern"),
]


@pytest.mark.parametrize(("members", "path", "constraint"), BAD_BY_MODEL)
def test_model_refuses_group(members: dict[str, Any], path: str, constraint: str) -> None:
    error = subject().refused("CreateCluster", **create_request(group(**members)))

    assert error.code == "ValidationException"
    assert error.message.startswith("1 validation error detected: Value ")
    assert f"at '{GROUP_PATH}.{path}' failed to satisfy constraint: Member" in error.message or (
        f"at '{GROUP_PATH}.{path}' failed to satisfy constraint: Exactly" in error.message
    )
    assert constraint in error.message


def test_model_errors_are_counted_and_listed() -> None:
    request = create_request(group(InstanceCount=-1), ClusterName="no_underscore", Typo=1)

    error = subject().refused("CreateCluster", **request)

    assert error.message.startswith("3 validation errors detected: ")
    for path in ("clusterName", "typo", f"{GROUP_PATH}.instanceCount"):
        assert f"at '{path}'" in error.message


def test_unknown_operation() -> None:
    error = subject().refused("CreateTrainingJob")

    assert (error.code, error.status) == ("UnknownOperationException", 400)


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
