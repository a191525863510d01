"""The check before a deletion as CloudFormation sees it: properties, rights, order."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_eks_v2 as eks

from hyperpod_cdk import DeletionCheck, HelmRelease, Provisioner
from tests.constructs.conftest import View

CHECK = "Custom::DeletionCheck"


@pytest.fixture
def arguments(
    stack: cdk.Stack, eks_cluster: eks.ICluster, provisioner: Provisioner, tmp_path: Path
) -> dict[str, Any]:
    """Return the arguments without a default."""
    chart = tmp_path / "some-chart-1.2.3.tgz"
    chart.write_bytes(b"chart")
    shared: dict[str, Any] = {"cluster": eks_cluster, "provisioner": provisioner}
    release = HelmRelease(
        stack, "Release", **shared, chart=chart, release="deps", namespace="training"
    )
    return {**shared, "releases": [release], "depends_on": [release]}


@pytest.mark.parametrize(
    ("options", "written"), [({}, "false"), ({"delete_user_objects": True}, "true")]
)
def test_properties(
    stack: cdk.Stack, arguments: dict[str, Any], view: View, options: dict[str, Any], written: str
) -> None:
    DeletionCheck(stack, "Check", **arguments, **options)

    properties = view().one(CHECK)

    assert properties["ClusterName"] == "eks"
    assert properties["Releases"] == '["training/deps"]'
    assert properties["DeleteUserObjects"] == written
