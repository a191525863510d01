"""The EKS control plane: access, endpoint, logs, add-ons, options."""

import re
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest

from hyperpod_cdk import ConfigError, EksConfig
from hyperpod_cdk.eks.checks.kubernetes_version import (
    HELM_KUBERNETES_MINOR,
    KUBECTL_KUBERNETES_MINOR,
)
from hyperpod_cli.helm.layer_binaries import layer_binaries
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View
from tests.constructs.eks.conftest import Make

CLUSTER, ADDON = "AWS::EKS::Cluster", "AWS::EKS::Addon"
OFFICE, ANYWHERE, HALVES = "203.0.113.0/24", "0.0.0.0/0", ["0.0.0.0/1", "128.0.0.0/1"]
BOTH, PUBLIC, PRIVATE = "public_and_private", "public", "private"


def test_the_default_control_plane(make: Make, view: View) -> None:
    make(version="1.33")

    seen = view()
    cluster = seen.one(CLUSTER)

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
    # It has no nodes of its own, and add-ons that need none.
    assert cluster["ComputeConfig"] == {"Enabled": False}
    assert cluster["StorageConfig"] == {"BlockStorage": {"Enabled": False}}
    assert cluster["KubernetesNetworkConfig"]["ElasticLoadBalancing"] == {"Enabled": False}
    assert not seen.ids("AWS::EKS::Nodegroup") + seen.ids("AWS::Lambda::Function")
    names = [addon["AddonName"] for addon in seen.all(ADDON)]
    assert sorted(names) == ["eks-pod-identity-agent", "kube-proxy", "vpc-cni"]


def test_its_logs_expire_and_end_with_it(make: Make, view: View) -> None:
    make()

    seen = view()
    group = seen.id("AWS::Logs::LogGroup", LogGroupName="/aws/eks/ml-eks/cluster")

    assert seen.resources[group]["Properties"]["RetentionInDays"] == 90
    assert seen.resources[group]["DeletionPolicy"] == "Delete"
    # Before the cluster, or EKS makes a group whose logs stay for ever.
    assert group in seen.dependencies(seen.id(CLUSTER))


def test_what_the_rules_of_a_control_plane_warn_of_is_an_annotation(make: Make) -> None:
    made = make(version="1.30", public_access_cidrs=("203.0.113.0/24",))

    (message,) = [str(each.data) for each in made.node.metadata if each.type == "aws:cdk:warning"]

    assert message.startswith("eks.version: '1.30' is outside 1.33 to 1.35")
    assert message.endswith("[ack: hyperpod-cdk:kubernetes_version]")


@pytest.mark.parametrize(
    ("access", "cidrs", "listed", "anywhere"),
    [
        (BOTH, [ANYWHERE], None, True),
        (BOTH, [OFFICE], [OFFICE], False),
        (BOTH, [OFFICE, ANYWHERE], [OFFICE, ANYWHERE], True),
        (BOTH, HALVES, HALVES, True),
        (PUBLIC, [ANYWHERE], None, True),
        (PUBLIC, [ANYWHERE, OFFICE], [ANYWHERE, OFFICE], True),
        (PRIVATE, [ANYWHERE], None, False),
        (PRIVATE, [OFFICE], [], False),
    ],
)
def test_endpoint(
    *,
    make: Make,
    view: View,
    access: str,
    cidrs: Sequence[str],
    listed: Sequence[str] | None,
    anywhere: bool,
) -> None:
    section: dict[str, Any] = {"endpoint_access": access, "public_access_cidrs": cidrs}
    make(**section)

    network = view().one(CLUSTER)["ResourcesVpcConfig"]

    assert network["EndpointPublicAccess"] is (access != PRIVATE)
    assert network["EndpointPrivateAccess"] is (access != PUBLIC)
    assert network.get("PublicAccessCidrs") == listed
    assert EksConfig(**section).is_reachable_from_anywhere is anywhere


def test_secrets_key(make: Make, view: View) -> None:
    arn = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    make(secrets_kms_key_arn=arn)

    assert view().one(CLUSTER)["EncryptionConfig"] == [
        {"Provider": {"KeyArn": arn}, "Resources": ["secrets"]}
    ]


@pytest.mark.parametrize("protects", [True, False])
def test_deletion_protection_is_stated_as_it_is_written(
    *, make: Make, view: View, protects: bool
) -> None:
    make(deletion_protection=protects)

    assert view().one(CLUSTER)["DeletionProtection"] is protects


def test_a_version_that_hyperpod_does_not_take_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^EksConfig\.version: '1\.29' is not a Kubernetes version"
    ):
        EksConfig(version="1.29")


@pytest.mark.parametrize(
    ("binary", "command", "pattern", "expected"),
    [
        ("helm", ["version"], r'KubeClientVersion:"v1\.(\d+)"', HELM_KUBERNETES_MINOR),
        (
            "kubectl",
            ["version", "--client"],
            r"Client Version: v1\.(\d+)",
            KUBECTL_KUBERNETES_MINOR,
        ),
    ],
)
def test_the_layers_binaries_are_built_for_the_minor_version(
    binary: str, command: list[str], pattern: str, expected: int
) -> None:
    program = str(getattr(layer_binaries(), binary))
    told = subprocess.run([program, *command], check=True, capture_output=True, text=True).stdout
    assert re.findall(pattern, told) == [str(expected)]
