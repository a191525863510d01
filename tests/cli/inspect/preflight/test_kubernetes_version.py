"""What is said of a Kubernetes version that EKS would refuse in the middle of a deployment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from botocore.exceptions import ClientError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_config
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.schema.errors import Finding, Severity
from hyperpod_cli.inspect.kubernetes_support import support_findings
from hyperpod_cli.inspect.preflight.validators.eks.kubernetes_version import (
    kubernetes_version_findings,
)
from tests.support.configs import EXISTING_CONTROL_PLANE, configure, configured
from tests.support.provisioner.fake_s3 import client_error

VERSION = "1.34"
PINS = ADDON_VERSIONS[VERSION]
WITHOUT_DNS = {name: version for name, version in PINS.items() if name != "coredns"}
WITHOUT_FSX = {name: version for name, version in PINS.items() if name != "aws-fsx-csi-driver"}
COREDNS = PINS["coredns"]


@dataclass(frozen=True)
class Eks:
    """EKS with a cluster or none, and what it offers."""

    deployed: str | None = None
    addons: Mapping[str, str] = field(default_factory=dict)
    offered: Mapping[str, str] | None = None
    refusals: Mapping[str, str] = field(default_factory=dict)
    cluster: str = "ml-eks"

    def describe_cluster(self, *, name: str) -> object:
        assert name == self.cluster
        self._refuse("DescribeCluster", unless=self.deployed)
        return {"cluster": {"version": self.deployed}}

    def describe_addon(self, *, clusterName: str, addonName: str) -> object:
        assert clusterName == self.cluster
        self._refuse("DescribeAddon", unless=self.addons.get(addonName))
        return {"addon": {"addonVersion": self.addons[addonName]}}

    def get_paginator(self, operation: str) -> "Eks":
        assert operation == "describe_addon_versions"
        self._refuse("DescribeAddonVersions", unless="always there")
        return self

    def paginate(self, *, addonName: str, kubernetesVersion: str) -> list[dict[str, Any]]:
        everything = ADDON_VERSIONS[kubernetesVersion]
        version = (everything if self.offered is None else self.offered).get(addonName)
        compatible = {"clusterVersion": kubernetesVersion}
        found = [{"addonVersion": version, "compatibilities": [compatible]}] if version else []
        return [{"addons": [{"addonName": addonName, "addonVersions": found}]}]

    def _refuse(self, operation: str, *, unless: str | None) -> None:
        code = self.refusals.get(operation)
        if code is None and unless is None:
            code = "ResourceNotFoundException"
        if code is not None:
            raise client_error(code, operation, "")


def lines(eks: Eks, **changes: Any) -> list[str]:
    config = configure({"eks": {"version": VERSION}, **changes})
    return [reviewed(finding) for finding in kubernetes_version_findings(config, eks=eks)]


def reviewed(finding: Finding) -> str:
    """Return what is said, with a word for each version that is pinned: they are renewed."""
    text = str(finding)
    for name, version in PINS.items():
        text = text.replace(f"{name} {version}", f"{name} PIN")
    return text


@pytest.mark.parametrize("deployed", [None, "1.34", "1.33"])
def test_a_version_is_the_next_one_or_the_same(deployed: str | None) -> None:
    assert lines(Eks(deployed)) == []


@pytest.mark.parametrize(
    ("eks", "changes"),
    [
        (Eks(), {}),
        (Eks(offered=WITHOUT_DNS), {}),
        (Eks(offered={"aws-fsx-csi-driver": PINS["aws-fsx-csi-driver"]}), {"storage": None}),
        (Eks(offered=WITHOUT_FSX), {"storage": None}),
        # An add-on that is there already is not touched.
        (Eks("1.34", offered=WITHOUT_DNS, addons={"coredns": COREDNS}), {}),
        # Its pin may be the same for several versions of Kubernetes, not all of which it fits.
        (Eks("1.33", offered=WITHOUT_DNS, addons={"coredns": COREDNS}), {}),
        (Eks("1.34", offered=WITHOUT_DNS, addons={"coredns": "v1.12.3-eksbuild.1"}), {}),
        # None is offered.
        (Eks(offered={}), {}),
    ],
)
def test_addons_that_are_not_offered_are_named(
    eks: Eks, changes: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    assert lines(eks, **changes) == snapshot


@pytest.mark.parametrize(
    ("addons", "offered"),
    [
        ((), {}),
        (("aws-fsx-csi-driver",), WITHOUT_DNS),
        (("aws-fsx-csi-driver", "coredns"), WITHOUT_DNS),
    ],
)
def test_an_existing_cluster_gets_the_addons_that_are_listed(
    addons: tuple[str, ...], offered: Mapping[str, str], snapshot: SnapshotAssertion
) -> None:
    loaded = load_config(EXISTING_CONTROL_PLANE)
    config = loaded.model_copy(
        update={"eks": loaded.eks.model_copy(update={"addons": addons, "version": VERSION})}
    )
    eks = Eks("1.34", offered=offered, cluster="research")

    assert [
        reviewed(finding) for finding in kubernetes_version_findings(config, eks=eks)
    ] == snapshot


def test_the_version_of_an_existing_cluster_is_no_step() -> None:
    """Another validator says that it has to be named as it is."""
    config = load_config(EXISTING_CONTROL_PLANE)
    eks = Eks("1.33", offered=ADDON_VERSIONS[config.eks.version], cluster="research")
    places = [finding.path for finding in kubernetes_version_findings(config, eks=eks)]
    assert ("eks", "version") not in places


@pytest.mark.parametrize("operation", ["DescribeCluster", "DescribeAddonVersions", "DescribeAddon"])
def test_an_error_of_eks_is_the_callers(operation: str) -> None:
    for code in ("AccessDeniedException", "ServerException"):
        failing = Eks("1.34", offered=WITHOUT_DNS, refusals={operation: code})
        with pytest.raises(ClientError, match=code):
            lines(failing)


@pytest.mark.parametrize(
    ("version", "day"),
    [
        ("1.30", date(2026, 11, 22)),
        ("1.31", date(2026, 11, 26)),
        ("1.31", date(2026, 11, 25)),
        ("1.32", date(2026, 11, 25)),
        ("1.34", date(2026, 12, 2)),
    ],
    ids=str,
)
def test_the_end_of_extended_support_is_told(
    version: str, day: date, snapshot: SnapshotAssertion
) -> None:
    config = configured({"eks": {"version": version}})
    found = support_findings(config, day=day, is_new=True)
    assert [(str(each.severity), str(each)) for each in found] == snapshot
    # A cluster that is there is upgraded.
    there = support_findings(config, day=day, is_new=False)
    assert {each.severity for each in there} <= {Severity.WARNING}
