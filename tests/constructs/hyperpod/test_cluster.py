"""The HyperPod cluster as CloudFormation sees it: the request, rights, order."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from hyperpod_cdk.hyperpod_waiting import Waiting
from hyperpod_cdk.instance_group import InstanceGroup
from hyperpod_cdk.instance_storage import EbsVolume

from hyperpod_cdk.hyperpod.cluster import HyperPodCluster
from hyperpod_cdk.hyperpod.lifecycle import LifecycleConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View
from tests.support.template_view import TemplateView

CLUSTER = "Custom::HyperPodCluster"
LIFECYCLE = LifecycleConfig(source_s3_uri="s3://bucket", on_create="on_create.sh")
GPU = InstanceGroup(
    name="gpu",
    instance_type="ml.p5.48xlarge",
    instance_count=2,
    ebs_volumes=[EbsVolume(volume_size_gib=500)],
    lifecycle=LIFECYCLE,
    threads_per_core=2,
    deep_health_checks=["InstanceStress", "InstanceConnectivity"],
)
CPU = InstanceGroup(
    name="cpu",
    instance_type="ml.m5.2xlarge",
    instance_count=0,
    ebs_volumes=[EbsVolume(volume_size_gib=100)],
    lifecycle=LIFECYCLE,
    threads_per_core=1,
)


def group_request(group: InstanceGroup, **more: object) -> dict[str, Any]:
    return {
        "InstanceGroupName": group.name,
        "InstanceType": group.instance_type,
        "InstanceCount": group.instance_count,
        "ExecutionRole": "<AWS::IAM::Role.Arn>",
        "LifeCycleConfig": {"SourceS3Uri": "s3://bucket", "OnCreate": "on_create.sh"},
        "ThreadsPerCore": group.threads_per_core,
        "InstanceStorageConfigs": [
            {"EbsVolumeConfig": {"VolumeSizeInGB": volume.volume_size_gib}}
            for volume in group.ebs_volumes
        ],
        **more,
    }


CREATE_CLUSTER: dict[str, Any] = {
    "ClusterName": "ml-cluster",
    "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:<AWS::AccountId>:cluster/eks"}},
    "VpcConfig": {"SecurityGroupIds": [SECURITY_GROUP_ID], "Subnets": list(SUBNET_IDS)},
    "NodeRecovery": "Automatic",
    "NodeProvisioningMode": "Continuous",
    "InstanceGroups": [
        group_request(GPU, OnStartDeepHealthChecks=["InstanceStress", "InstanceConnectivity"]),
        group_request(CPU),
    ],
}


@pytest.fixture
def arguments(
    stack: cdk.Stack,
    eks_cluster: eks.ICluster,
    provisioner: Provisioner,
    subnets: list[ec2.ISubnet],
    security_group: ec2.ISecurityGroup,
) -> dict[str, Any]:
    """Return the arguments without a default."""
    principal = iam.ServicePrincipal("sagemaker.amazonaws.com")
    return {
        "cluster_name": "ml-cluster",
        "eks_cluster": eks_cluster,
        "provisioner": provisioner,
        "execution_role": iam.Role(stack, "NodeRole", assumed_by=principal),
        "subnets": subnets,
        "security_group": security_group,
        "instance_groups": [GPU, CPU],
    }


def request(view: TemplateView) -> dict[str, Any]:
    """Return the CreateCluster input, with `<type.attribute>` for each reference."""
    result: dict[str, Any] = json.loads(view.text(view.one(CLUSTER)["Request"]))
    return result


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        pytest.param({}, {}, id="default"),
        pytest.param({"node_recovery": "None"}, {"NodeRecovery": "None"}, id="no-recovery"),
        pytest.param(
            {"node_provisioning_mode": None}, {"NodeProvisioningMode": None}, id="all-or-none"
        ),
        pytest.param(
            {"tags": {"team": "research", "cost": "42"}},
            {"Tags": [{"Key": "cost", "Value": "42"}, {"Key": "team", "Value": "research"}]},
            id="tags",
        ),
        pytest.param({"tags": {}}, {}, id="no-tags"),
        pytest.param(
            {"instance_groups": [CPU]}, {"InstanceGroups": [group_request(CPU)]}, id="one-group"
        ),
    ],
)
def test_the_request_is_the_create_cluster_input(
    stack: cdk.Stack,
    arguments: dict[str, Any],
    view: View,
    options: dict[str, Any],
    changes: dict[str, Any],
) -> None:
    HyperPodCluster(stack, "Cluster", **{**arguments, **options})

    expected = {**CREATE_CLUSTER, **changes}

    assert request(view()) == {key: item for key, item in expected.items() if item is not None}


def test_numbers_stay_numbers(stack: cdk.Stack, arguments: dict[str, Any], view: View) -> None:
    HyperPodCluster(stack, "Cluster", **arguments)

    group = request(view())["InstanceGroups"][0]

    assert type(group["InstanceCount"]) is int
    assert type(group["ThreadsPerCore"]) is int


def test_properties_and_attributes(stack: cdk.Stack, arguments: dict[str, Any], view: View) -> None:
    cluster = HyperPodCluster(stack, "Cluster", **arguments)

    seen = view()
    properties = seen.one(CLUSTER)

    assert properties.keys() == {
        "ServiceToken",
        "ServiceTimeout",
        "ClusterName",
        "Request",
        *Waiting().properties,
    }
    assert properties["ClusterName"] == "ml-cluster"
    assert stack.resolve(cluster.cluster_name) == {"Fn::GetAtt": [seen.id(CLUSTER), "ClusterName"]}
    assert stack.resolve(cluster.cluster_arn) == {"Fn::GetAtt": [seen.id(CLUSTER), "ClusterArn"]}


def test_only_the_execution_role_is_passed_and_only_to_sagemaker(
    stack: cdk.Stack, arguments: dict[str, Any], view: View
) -> None:
    HyperPodCluster(stack, "Cluster", **arguments)

    seen = view()
    passing = [item for _, item in seen.statements() if "iam:PassRole" in item["Action"]]

    assert passing == [
        {
            "Sid": "PassExecutionRole",
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": stack.resolve(arguments["execution_role"].role_arn),
            "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        }
    ]


def test_the_service_linked_role_is_hyperpods(
    stack: cdk.Stack, arguments: dict[str, Any], view: View
) -> None:
    HyperPodCluster(stack, "Cluster", **arguments)

    seen = view()
    statement = seen.statement("FirstUseOfHyperPod")

    assert statement["Action"] == "iam:CreateServiceLinkedRole"
    assert seen.text(statement["Resource"]).endswith(
        ":role/aws-service-role/hyperpod.sagemaker.amazonaws.com/AWSServiceRoleForSageMakerHyperPod"
    )
    assert statement["Condition"] == {
        "StringEquals": {"iam:AWSServiceName": "hyperpod.sagemaker.amazonaws.com"}
    }


def test_it_waits_for_its_rights_and_for_the_release(
    stack: cdk.Stack, arguments: dict[str, Any], view: View
) -> None:
    release = cdk.CfnResource(stack, "First", type="AWS::CloudFormation::WaitConditionHandle")
    HyperPodCluster(stack, "Cluster", **arguments, depends_on=[release])

    seen = view()
    explicit = seen.resources[seen.id(CLUSTER)]["DependsOn"]
    rights = [
        name
        for name in seen.ids("AWS::IAM::Policy")
        if seen.statement("ManageCluster")
        in seen.resources[name]["Properties"]["PolicyDocument"]["Statement"]
    ]

    assert {stack.get_logical_id(release), *rights} <= set(explicit)
    assert len(rights) == 1


def test_scaling_needs_a_role(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="auto_scaling 'Karpenter' needs a cluster_role"):
        HyperPodCluster(stack, "Cluster", **arguments, auto_scaling="Karpenter")
