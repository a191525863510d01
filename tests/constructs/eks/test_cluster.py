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
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.constructs.eks.conftest import Make

CLUSTER = "AWS::EKS::Cluster"
OFFICE, ANYWHERE, HALVES = "203.0.113.0/24", "0.0.0.0/0", ["0.0.0.0/1", "128.0.0.0/1"]
BOTH, PUBLIC, PRIVATE = "public_and_private", "public", "private"


def test_what_the_rules_of_a_control_plane_warn_of_is_an_annotation(make: Make) -> None:
    made = make(version="1.30", public_access_cidrs=("203.0.113.0/24",))

    (message,) = [str(each.data) for each in made.node.metadata if each.type == "aws:cdk:warning"]

    assert message.startswith("eks.version: '1.30' ")
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


@pytest.mark.parametrize("protects", [True, False])
def test_deletion_protection_is_stated_as_it_is_written(
    *, make: Make, view: View, protects: bool
) -> None:
    make(deletion_protection=protects)

    assert view().one(CLUSTER)["DeletionProtection"] is protects


def test_a_version_that_hyperpod_does_not_take_is_refused(raises: Raises) -> None:
    with raises(ConfigError):
        EksConfig(version="1.29")  # type: ignore[arg-type]


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
