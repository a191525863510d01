"""The app that `README.md` names to library users: it makes a whole HyperPod cluster."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from examples.one_stack.app import MyCluster
from tests.support.assembly import Assembly, new_app
from tests.support.linter import findings
from tests.support.template_view import TemplateView

CLUSTER, RELEASE = "Custom::HyperPodCluster", "Custom::HelmRelease"


@pytest.fixture(scope="module")
def assembly(chart: Path, tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    directory = tmp_path_factory.mktemp("library")
    app = new_app(directory)
    MyCluster(app, "MyCluster", chart=chart)
    app.synth()
    return Assembly(directory)


@pytest.fixture(scope="module")
def view(assembly: Assembly) -> TemplateView:
    return TemplateView(assembly.templates()["MyCluster"])


def test_it_uses_public_names_only(repository: Path) -> None:
    example = (repository / "examples" / "one_stack" / "app.py").read_text("utf-8")

    modules = re.findall(r"^(?:from|import) (hyperpod_cdk[\w.]*)", example, re.MULTILINE)

    assert modules == ["hyperpod_cdk"]


def test_the_request_is_a_whole_cluster(view: TemplateView) -> None:
    request: dict[str, Any] = json.loads(view.text(view.one(CLUSTER)["Request"]))

    assert request == {
        "ClusterName": "mine",
        "InstanceGroups": [
            {
                "ExecutionRole": "<AWS::IAM::Role.Arn>",
                "InstanceCount": 1,
                "InstanceGroupName": "gpu",
                "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
                "InstanceType": "ml.g5.xlarge",
                "LifeCycleConfig": {
                    "OnCreate": "on_create.sh",
                    "SourceS3Uri": "<Custom::LifecycleScripts.S3Uri>",
                },
                "ThreadsPerCore": 2,
            }
        ],
        "NodeProvisioningMode": "Continuous",
        "NodeRecovery": "Automatic",
        "Orchestrator": {"Eks": {"ClusterArn": "<AWS::EKS::Cluster.Arn>"}},
        "VpcConfig": {
            "SecurityGroupIds": ["<AWS::EC2::SecurityGroup.GroupId>"],
            "Subnets": ["<AWS::EC2::Subnet>"],
        },
    }


def test_the_control_plane_and_the_dependencies_are_there(view: TemplateView) -> None:
    release = view.one(RELEASE)
    values = json.loads(view.text(release["Values"]))

    assert view.one("AWS::EKS::Cluster")["Name"] == "mine-eks"
    assert release["ClusterName"] == {"Ref": view.id("AWS::EKS::Cluster")}
    assert (release["Release"], release["Namespace"]) == ("hyperpod-dependencies", "kube-system")
    assert values["health-monitoring-agent"] == {"enabled": True, "region": "us-west-2"}
    assert values["nvidia-device-plugin"] == {"devicePlugin": {"enabled": True}}


def test_everything_that_nodes_need_is_there_before_them(view: TemplateView) -> None:
    assert view.dependency_types(view.id(CLUSTER)) >= {
        "AWS::EC2::NatGateway",
        "AWS::EC2::Route",
        "AWS::EC2::VPCEndpoint",
        "AWS::EKS::AccessEntry",
        "AWS::EKS::Cluster",
        "AWS::IAM::Policy",
        "Custom::LifecycleScripts",
        RELEASE,
    }
    assert "AWS::EKS::AccessEntry" in view.dependency_types(view.id(RELEASE))


def test_the_linter_finds_nothing(assembly: Assembly) -> None:
    assert findings(assembly.texts()["MyCluster"], region="us-west-2") == ()
