"""Which updates of add-ons wait for nodes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.plan.held_back import held_back
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error

ADDONS = ("coredns", "aws-fsx-csi-driver")
RUNNING, PENDING = ("Running",), ("Pending", "DeepHealthCheckInProgress")


def aws(status: str | None, nodes: Sequence[str] | None) -> Played:
    """Return EKS with add-ons in some state, and HyperPod with nodes, or None for no cluster."""
    listed = [
        {"InstanceGroupName": "g", "InstanceStatus": {"Status": each}} for each in nodes or ()
    ]
    pages: object = [{"ClusterNodeSummaries": listed}]
    if nodes is None:
        pages = client_error("ResourceNotFound", "ListClusterNodes", "")
    absent = client_error("ResourceNotFoundException", "DescribeAddon", "")

    def describe_addon(*, clusterName: str, addonName: str) -> Mapping[str, Any]:
        assert (clusterName, addonName in ADDONS) == ("ml-eks", True)
        if status is None:
            raise absent
        return {"addon": {"status": status}}

    def paginate(*, ClusterName: str, **_: object) -> object:
        assert ClusterName == "ml-cluster"
        if isinstance(pages, Exception):
            raise pages
        return pages

    return Played(describe_addon=describe_addon, get_paginator=Played(paginate=paginate))


def template(version: str | None, **more: str) -> Mapping[str, Any]:
    """Return the add-ons in a version; none for no version."""
    names = [] if version is None else [*ADDONS, "kube-proxy"]
    return {
        "Resources": {
            name: {
                "Type": "AWS::EKS::Addon",
                "Properties": {"AddonName": name, "AddonVersion": version, **more},
            }
            for name in names
        }
    }


def held(
    config: Config, aws: Played, former: Deployed | None, wanted: Mapping[str, Any]
) -> list[str]:
    stacks = [
        Stack(name="ml-addons", template=wanted, needs=()),
        Stack(name="ml-hyperpod", template={"Resources": {}}, needs=()),
    ]
    found: dict[str, Any] = {
        "former": {"ml-addons": former, "ml-hyperpod": None},
        "client": lambda _: aws,
    }
    return [*held_back(stacks, config=config, **found).values()]


def test_an_update_waits_for_a_node(default_config: Config, snapshot: SnapshotAssertion) -> None:
    former = Deployed(status="UPDATE_COMPLETE", template=template("v1"))

    (lines,) = {
        tuple(held(default_config, aws(status, nodes), former, template("v2")))
        for status in ("DEGRADED", "UPDATING", "UPDATE_FAILED")
        for nodes in (None, (), PENDING)
    }

    # What runs on each node is healthy without any.
    assert lines == snapshot


@pytest.mark.parametrize(
    ("status", "nodes", "former", "wanted"),
    [
        pytest.param("DEGRADED", (), "v1", template("v1"), id="nothing changes"),
        pytest.param("DEGRADED", (), "v1", template("v1", Tags="other"), id="tags change"),
        pytest.param("DEGRADED", (), None, template("v2"), id="they are created"),
        pytest.param(None, (), "v1", template("v2"), id="they were removed"),
        pytest.param("ACTIVE", (), "v1", template("v2"), id="nodes of the user run them"),
        pytest.param("DEGRADED", (*PENDING, *RUNNING), "v1", template("v2"), id="there are nodes"),
        pytest.param("DEGRADED", (), "v1", template(None), id="they are deleted"),
    ],
)
def test_what_needs_no_node_does_not_wait(
    default_config: Config,
    status: str | None,
    nodes: Sequence[str],
    former: str | None,
    wanted: Mapping[str, Any],
) -> None:
    found = Deployed(status="CREATE_COMPLETE", template=template(former) if former else {})

    assert held(default_config, aws(status, nodes), found, wanted) == []
    assert held(default_config, aws(status, nodes), None, wanted) == []
