"""EKS add-ons whose pods need nodes, and the versions that EKS offers."""

import json
from pathlib import Path

import pytest

from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from rehearsal.aws.local_aws import LocalAws
from scripts import addon_versions
from tests.support.hyperpod_site import CLUSTER_ARN, Site
from tests.support.local_aws import client, deploy, resource

OFFERED = Path("rehearsal/aws/eks/addon_versions.json")


def test_an_addon_without_nodes_is_created_and_degraded(site: Site) -> None:
    cluster = site.names["Cluster"].rpartition("/")[2]
    eks = client(site.aws, "eks")

    def status() -> str:
        addon = eks.describe_addon(clusterName=cluster, addonName="coredns")["addon"]
        issues = [issue["code"] for issue in addon["health"]["issues"]]
        assert issues == ([] if addon["status"] == "ACTIVE" else ["InsufficientNumberOfReplicas"])
        return str(addon["status"])

    deploy(
        site.aws,
        {"Dns": resource("AWS::EKS::Addon", ClusterName=cluster, AddonName="coredns")},
        {},
    )
    assert status() == "DEGRADED"
    site.hyperpod.answer("CreateCluster", site.request())
    assert status() == "ACTIVE"
    site.hyperpod.answer("DeleteCluster", {"ClusterName": CLUSTER_ARN})
    assert status() == "DEGRADED"

    version = "v1.13.2-eksbuild.7"
    eks.update_addon(clusterName=cluster, addonName="coredns", addonVersion=version)
    assert status() == "UPDATING"


def test_each_pinned_version_is_offered(repository: Path) -> None:
    offered = json.loads((repository / OFFERED).read_text("utf-8"))
    pinned = {
        (name, kubernetes, version)
        for kubernetes, versions in ADDON_VERSIONS.items()
        for name, version in versions.items()
    }

    assert {each for each in pinned if each[2] not in offered[each[0]][each[1]]} == set()


def test_the_command_shows_pinned_default_and_newest_versions(
    aws: LocalAws,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    config = str(repository / "config" / "default.yaml")
    monkeypatch.setattr("sys.argv", ["addon_versions", "--config", config])

    assert addon_versions.main() == 0

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["coredns", "v1.13.2-eksbuild.7", "v1.12.3-eksbuild.1", "v1.13.2-eksbuild.7"] in rows
    newer = ["vpc-cni", "v1.21.1-eksbuild.7", "v1.20.4-eksbuild.2", "v1.21.1-eksbuild.8", "newer"]
    assert newer in rows
