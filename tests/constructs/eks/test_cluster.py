"""The EKS control plane: access, endpoint, logs, add-ons, options."""

import re
import subprocess
from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
import pytest

from hyperpod_cdk import ConfigError, EksCluster, EksConfig
from hyperpod_cdk.eks.checks.kubernetes_version import (
    HELM_KUBERNETES_MINOR,
    KUBECTL_KUBERNETES_MINOR,
)
from hyperpod_cli.helm.layer_binaries import layer_binaries
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View

CLUSTER, ADDON, ENTRY = "AWS::EKS::Cluster", "AWS::EKS::Addon", "AWS::EKS::AccessEntry"
OFFICE = "203.0.113.0/24"
BOTH, PUBLIC, PRIVATE = "public_and_private", "public", "private"


def test_the_default_control_plane(
    stack: cdk.Stack, surroundings: dict[str, Any], view: View
) -> None:
    EksCluster(stack, "Eks", **surroundings, eks=EksConfig(version="1.33"))

    cluster = view().one(CLUSTER)

    assert cluster["Name"] == "ml-eks"
    assert cluster["Version"] == "1.33"
    assert cluster["AccessConfig"] == {
        "AuthenticationMode": "API",
        "BootstrapClusterCreatorAdminPermissions": False,
    }
    assert cluster["BootstrapSelfManagedAddons"] is False
    assert cluster["ResourcesVpcConfig"]["SubnetIds"] == list(SUBNET_IDS)
    assert cluster["ResourcesVpcConfig"]["SecurityGroupIds"] == [SECURITY_GROUP_ID]
    assert {item["Type"] for item in cluster["Logging"]["ClusterLogging"]["EnabledTypes"]} == {
        "api",
        "audit",
        "authenticator",
        "controllerManager",
        "scheduler",
    }
    assert not cluster.keys() & {"EncryptionConfig", "DeletionProtection"}


def test_its_logs_expire_and_end_with_it(
    stack: cdk.Stack, surroundings: dict[str, Any], view: View
) -> None:
    EksCluster(stack, "Eks", **surroundings, eks=EksConfig())

    seen = view()
    group = seen.id("AWS::Logs::LogGroup", LogGroupName="/aws/eks/ml-eks/cluster")

    assert seen.resources[group]["Properties"]["RetentionInDays"] == 90
    assert seen.resources[group]["DeletionPolicy"] == "Delete"
    # Before the cluster, or EKS makes a group whose logs stay for ever.
    assert group in seen.dependencies(seen.id(CLUSTER))


def test_what_the_rules_of_a_control_plane_warn_of_is_an_annotation(
    stack: cdk.Stack, surroundings: dict[str, Any]
) -> None:
    eks = EksConfig(version="1.30", public_access_cidrs=("203.0.113.0/24",))
    made = EksCluster(stack, "Eks", **surroundings, eks=eks)

    (message,) = [str(each.data) for each in made.node.metadata if each.type == "aws:cdk:warning"]

    assert message.startswith("eks.version: '1.30' is outside 1.33 to 1.35")
    assert message.endswith("[ack: hyperpod-cdk:kubernetes_version]")


def test_it_has_no_nodes_of_its_own(
    stack: cdk.Stack, surroundings: dict[str, Any], view: View
) -> None:
    EksCluster(stack, "Eks", **surroundings, eks=EksConfig())

    seen = view()
    cluster = seen.one(CLUSTER)

    assert cluster["ComputeConfig"] == {"Enabled": False}
    assert cluster["StorageConfig"] == {"BlockStorage": {"Enabled": False}}
    assert cluster["KubernetesNetworkConfig"]["ElasticLoadBalancing"] == {"Enabled": False}
    assert not seen.ids("AWS::EKS::Nodegroup")
    assert not seen.ids("AWS::Lambda::Function")


@pytest.mark.parametrize(
    ("access", "cidrs", "public", "private", "only_from", "anywhere"),
    [
        pytest.param(BOTH, ("0.0.0.0/0",), True, True, None, True, id="both"),
        pytest.param(BOTH, (OFFICE,), True, True, [OFFICE], False, id="both-restricted"),
        pytest.param(
            BOTH,
            (
                OFFICE,
                "0.0.0.0/0",
            ),
            True,
            True,
            [OFFICE, "0.0.0.0/0"],
            True,
            id="both-open-anyway",
        ),
        pytest.param(
            BOTH,
            ("0.0.0.0/1", "128.0.0.0/1"),
            True,
            True,
            ["0.0.0.0/1", "128.0.0.0/1"],
            True,
            id="both-open-in-halves",
        ),
        pytest.param(PUBLIC, ("0.0.0.0/0",), True, False, None, True, id="public"),
        pytest.param(PRIVATE, ("0.0.0.0/0",), False, True, None, False, id="private"),
        pytest.param(PRIVATE, (OFFICE,), False, True, [], False, id="private-ignores-cidrs"),
        pytest.param(
            PUBLIC, ("0.0.0.0/0", OFFICE), True, False, ["0.0.0.0/0", OFFICE], True, id="reopened"
        ),
    ],
)
def test_endpoint(
    *,
    stack: cdk.Stack,
    surroundings: dict[str, Any],
    view: View,
    access: str,
    cidrs: tuple[str, ...],
    public: bool,
    private: bool,
    only_from: Sequence[str] | None,
    anywhere: bool,
) -> None:
    eks = EksConfig(endpoint_access=access, public_access_cidrs=cidrs)
    EksCluster(stack, "Eks", **surroundings, eks=eks)

    network = view().one(CLUSTER)["ResourcesVpcConfig"]

    assert network["EndpointPublicAccess"] is public
    assert network["EndpointPrivateAccess"] is private
    assert network.get("PublicAccessCidrs") == only_from
    assert eks.is_reachable_from_anywhere is anywhere


def test_addons_need_no_node(stack: cdk.Stack, surroundings: dict[str, Any], view: View) -> None:
    EksCluster(stack, "Eks", **surroundings, eks=EksConfig())

    names = [addon["AddonName"] for addon in view().all(ADDON)]

    assert sorted(names) == ["eks-pod-identity-agent", "kube-proxy", "vpc-cni"]


def test_secrets_key(stack: cdk.Stack, surroundings: dict[str, Any], view: View) -> None:
    arn = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    EksCluster(stack, "Eks", **surroundings, eks=EksConfig(secrets_kms_key_arn=arn))

    assert view().one(CLUSTER)["EncryptionConfig"] == [
        {"Provider": {"KeyArn": arn}, "Resources": ["secrets"]}
    ]


@pytest.mark.parametrize(
    ("said", "found"),
    [({}, None), *(({"deletion_protection": value}, value) for value in (True, False))],
)
def test_deletion_protection_is_stated_as_it_is_written(
    *,
    stack: cdk.Stack,
    surroundings: dict[str, Any],
    view: View,
    said: dict[str, Any],
    found: bool | None,
) -> None:
    EksCluster(stack, "Eks", **surroundings, eks=EksConfig(**said))

    assert view().one(CLUSTER).get("DeletionProtection") is found


def test_a_version_that_hyperpod_does_not_take_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^EksConfig\.version: '1\.29' is not a Kubernetes version"
    ):
        EksConfig(version="1.29")


def minor(pattern: str, *command: object) -> int:
    arguments = [str(part) for part in command]
    result = subprocess.run(arguments, check=True, capture_output=True, text=True)
    (found,) = re.findall(pattern, result.stdout)
    return int(found)


def test_helm_of_the_layer_is_built_for_the_minor_version() -> None:
    helm = layer_binaries().helm

    assert minor(r'KubeClientVersion:"v1\.(\d+)"', helm, "version") == HELM_KUBERNETES_MINOR


def test_kubectl_of_the_layer_is_of_the_minor_version() -> None:
    kubectl = layer_binaries().kubectl

    told = minor(r"Client Version: v1\.(\d+)", kubectl, "version", "--client")
    assert told == KUBECTL_KUBERNETES_MINOR
