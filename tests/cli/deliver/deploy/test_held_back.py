"""Which updates of add-ons wait for nodes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.deliver.deploy.held_back import held_back
from tests.support.provisioner.fake_s3 import client_error

ADDONS = ("coredns", "aws-fsx-csi-driver")
RUNNING, PENDING = ("Running",), ("Pending", "DeepHealthCheckInProgress")


@dataclass(frozen=True, kw_only=True)
class Aws:
    """EKS with add-ons in some state, and HyperPod with nodes, or None for no cluster."""

    status: str | None
    nodes: Sequence[str] | None

    def polling_client(self, _service: str) -> "Aws":
        return self

    def describe_addon(self, *, clusterName: str, addonName: str) -> Mapping[str, Any]:
        assert (clusterName, addonName in ADDONS) == ("ml-eks", True)
        if self.status is None:
            raise client_error("ResourceNotFoundException", "DescribeAddon", "")
        return {"addon": {"status": self.status}}

    def get_paginator(self, operation: str) -> "Aws":
        assert operation == "list_cluster_nodes"
        return self

    def paginate(self, *, ClusterName: str, **_: object) -> Iterator[Mapping[str, Any]]:
        assert ClusterName == "ml-cluster"
        if self.nodes is None:
            raise client_error("ResourceNotFound", "ListClusterNodes", "")
        yield {
            "ClusterNodeSummaries": [
                {"InstanceGroupName": "g", "InstanceStatus": {"Status": each}}
                for each in self.nodes
            ]
        }


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


def held(config: Config, aws: Aws, former: Deployed | None, wanted: Mapping[str, Any]) -> list[str]:
    stacks = [
        Stack(name="ml-addons", template=wanted, needs=()),
        Stack(name="ml-hyperpod", template={"Resources": {}}, needs=()),
    ]
    found: dict[str, Any] = {"former": {"ml-addons": former, "ml-hyperpod": None}, "session": aws}
    return [*held_back(stacks, config=config, **found).values()]


@pytest.mark.parametrize("status", ["DEGRADED", "UPDATING", "UPDATE_FAILED"])
@pytest.mark.parametrize("nodes", [None, (), PENDING])
def test_an_update_waits_for_a_node(
    default_config: Config, status: str, nodes: Sequence[str] | None
) -> None:
    former = Deployed(status="UPDATE_COMPLETE", template=template("v1"))

    (line,) = held(default_config, Aws(status=status, nodes=nodes), former, template("v2"))

    # What runs on each node is healthy without any.
    assert line.startswith(
        "ml-addons stays as it is: no node runs the pods of coredns and aws-fsx-csi-driver, and"
    )


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

    assert held(default_config, Aws(status=status, nodes=nodes), found, wanted) == []
    assert held(default_config, Aws(status=status, nodes=nodes), None, wanted) == []
