"""A cluster of references that only CloudFormation resolves: what other stacks make and import."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from hyperpod_cdk import (
    ClusterConfig,
    ClusterSecurityGroup,
    EbsVolumeConfig,
    Eks,
    ExecutionRole,
    HyperPodCluster,
    InstanceGroupConfig,
    LifecycleConfig,
    LifecycleScripts,
    NodeSubnets,
    OverrideVpcConfig,
    Provisioner,
)
from tests.support.assembly import new_app
from tests.support.template_view import TemplateView, listed


class Platform(cdk.Stack):
    """What another team made, and what it imported."""

    def __init__(self, app: cdk.App) -> None:
        super().__init__(app, "Platform", env=cdk.Environment(region="us-west-2"))
        self.vpc = ec2.Vpc(self, "Vpc", nat_gateways=1)
        self.nodes_group = ClusterSecurityGroup(self, "Nodes", vpc=self.vpc).security_group
        self.own_group = ec2.SecurityGroup(self, "Own", vpc=self.vpc)
        self.key = kms.Key(self, "Key")
        self.scripts = s3.Bucket(self, "Scripts")
        name = cdk.Fn.import_value("nodes-role-name")
        self.role = iam.Role.from_role_name(self, "Role", name)
        self.scaling = cdk.Fn.import_value("scaling-role-arn")
        self.provisioner = Provisioner(self, "Provisioner")


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> tuple[TemplateView, TemplateView]:
    """Return the templates of the platform and of the cluster."""
    directory: Path = tmp_path_factory.mktemp("tokens")
    platform = Platform(new_app(directory))
    stack = cdk.Stack(cdk.App.of(platform), "Cluster", env=cdk.Environment(region="us-west-2"))
    private = platform.vpc.private_subnets
    own = InstanceGroupConfig(
        name="own",
        instance_type="ml.m5.large",
        instance_count=1,
        execution_role_arn=platform.role.role_arn,
    )
    gpu = InstanceGroupConfig(
        name="gpu",
        instance_type="ml.g5.xlarge",
        instance_count=1,
        ebs_volumes=(EbsVolumeConfig(volume_size_gib=100, kms_key_id=platform.key.key_arn),),
        override_vpc=OverrideVpcConfig(
            subnet_ids=(private[1].subnet_id,),
            security_group_ids=(platform.own_group.security_group_id,),
        ),
        lifecycle=LifecycleConfig(
            source_s3_uri=platform.scripts.s3_url_for_object("gpu"), on_create="setup.sh"
        ),
    )
    scripts = LifecycleScripts(
        stack, "Scripts", bucket=platform.scripts, provisioner=platform.provisioner
    )
    again = InstanceGroupConfig(
        name="again",
        instance_type="ml.m5.large",
        instance_count=1,
        lifecycle=LifecycleConfig(source_s3_uri=scripts.s3_uri, on_create="other.sh"),
    )
    cluster = ClusterConfig(
        name="ml",
        auto_scaling="Karpenter",
        role_arn=platform.scaling,
        instance_groups=(own, gpu, again),
    )
    orchestrator = Eks(
        cluster=eks.Cluster.from_cluster_attributes(
            stack, "Eks", cluster_name=cdk.Fn.import_value("eks-name")
        )
    )
    subnets = NodeSubnets(subnets=private)
    role = ExecutionRole(
        stack,
        "ExecutionRole",
        cluster=cluster,
        orchestrator=orchestrator,
        vpc=platform.vpc,
        subnets=subnets,
        security_group=platform.nodes_group,
        lifecycle_scripts=scripts,
    ).role
    HyperPodCluster(
        stack,
        "HyperPod",
        cluster=cluster,
        orchestrator=orchestrator,
        provisioner=platform.provisioner,
        execution_role=role,
        subnets=subnets,
        security_group=platform.nodes_group,
    )
    made = [TemplateView(Template.from_stack(item).to_json()) for item in (platform, stack)]
    return made[0], made[1]


@pytest.fixture(scope="module")
def platform(views: tuple[TemplateView, TemplateView]) -> TemplateView:
    return views[0]


@pytest.fixture(scope="module")
def view(views: tuple[TemplateView, TemplateView]) -> TemplateView:
    return views[1]


@pytest.fixture(scope="module")
def request_(view: TemplateView) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(view.text(view.one("Custom::HyperPodCluster")["Request"]))
    return result


def output(platform: TemplateView, kind: str, attribute: str | None = None) -> set[str]:
    """Return how the cluster's template refers to resources of the platform."""
    values = [
        {"Ref": name} if attribute is None else {"Fn::GetAtt": [name, attribute]}
        for name in platform.ids(kind)
    ]
    return {
        f"<output {name}>" for name, item in platform.outputs.items() if item["Value"] in values
    }


def resources(view: TemplateView, sid: str) -> set[str]:
    return {view.text(arn) for arn in listed(view.statement(sid)["Resource"])}


def test_references_arrive_in_the_request(platform: TemplateView, request_: dict[str, Any]) -> None:
    own, gpu, _ = request_["InstanceGroups"]
    subnets = output(platform, "AWS::EC2::Subnet")
    (bucket,) = output(platform, "AWS::S3::Bucket")
    (key,) = output(platform, "AWS::KMS::Key", "Arn")

    assert own["ExecutionRole"].endswith(":role/<output nodes-role-name>")
    assert request_["ClusterRole"] == "<output scaling-role-arn>"
    (first,), (second,) = request_["VpcConfig"]["Subnets"], gpu["OverrideVpcConfig"]["Subnets"]
    assert {first, second} == subnets
    assert first != second
    assert {
        *gpu["OverrideVpcConfig"]["SecurityGroupIds"],
        *request_["VpcConfig"]["SecurityGroupIds"],
    } == output(platform, "AWS::EC2::SecurityGroup", "GroupId")
    assert gpu["LifeCycleConfig"] == {
        "OnCreate": "setup.sh",
        "SourceS3Uri": f"s3://{bucket}/gpu",
    }
    (volume,) = gpu["InstanceStorageConfigs"]
    assert volume["EbsVolumeConfig"]["VolumeKmsKeyId"] == key


def test_references_arrive_in_the_rights(platform: TemplateView, view: TemplateView) -> None:
    (bucket,) = output(platform, "AWS::S3::Bucket")
    (key,) = output(platform, "AWS::KMS::Key", "Arn")

    passed = resources(view, "PassExecutionRole")
    assert {arn.rpartition("/")[2] for arn in passed} == {
        "<output nodes-role-name>",
        "<AWS::IAM::Role.Arn>",
    }
    assert resources(view, "PassClusterRole") == {"<output scaling-role-arn>"}
    granted = [item for _, item in view.statements() if item.get("Sid") == "GrantVolumeKeys"]
    assert [{view.text(arn) for arn in listed(item["Resource"])} for item in granted] == [
        {key},
        {key},
    ]
    uri = "<Custom::LifecycleScripts.S3Uri>"
    assert resources(view, "ReadOtherScripts") == {
        f"arn:<AWS::Partition>:s3:::{bucket}/gpu/*",
        f"arn:<AWS::Partition>:s3:::<{uri} split at s3://, 1>/*",
    }
    assert resources(view, "ListOtherScripts") == {
        f"arn:<AWS::Partition>:s3:::{bucket}",
        f"arn:<AWS::Partition>:s3:::<<{uri} split at s3://, 1> split at /, 0>",
    }
