"""From a configuration to its findings: refused lines, warnings at synth."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk.assertions import Annotations, Match, Template

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.config.daemon_sets import ADD_ON_DAEMON_SETS, STORAGE_ADD_ON_DAEMON_SETS
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.synthesis.refusals import report
from tests.conftest import Configure
from tests.support.configs import configured

ADMINS = ["arn:aws:iam::111122223333:role/Admin"]
GROUP = {"name": "workers", "instance_type": "ml.p5.48xlarge", "instance_count": 4}


def cluster(*changes: Mapping[str, Any]) -> dict[str, Any]:
    groups = [GROUP | {"name": f"g{n}"} | dict(change) for n, change in enumerate(changes)]
    return {"instance_groups": groups}


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        (
            {"network": {"hyperpod_subnets": [{"cidr": "10.1.0.0/24"}]}, "cluster": cluster({})},
            [
                "9: network.hyperpod_subnets[0].cidr: '10.1.0.0/24' has 251 usable addresses for "
                "nodes and pods; the instance groups need 324: g0 4 x 81 (3 nodes of "
                "ml.p5.48xlarge would fit alone); a subnet cannot be resized"
            ],
        ),
        (
            {
                "cluster": cluster(
                    {"instance_type": "ml.g7.2xlarge", "threads_per_core": 2},
                    {"instance_type": "ml.c6g.medium"},
                )
            },
            [
                "6: cluster.instance_groups[0] (g0).threads_per_core: 2 must be 1 for "
                "ml.g7.2xlarge: it has no multithreading",
                "8: cluster.instance_groups[1] (g1).instance_type: 'ml.c6g.medium' has room for 3 "
                "pods, and 4 DaemonSets need one each (aws-node, kube-proxy, "
                "eks-pod-identity-agent, fsx-csi-node); take a larger",
            ],
        ),
    ],
)
def test_errors_refuse_the_file(document: dict[str, Any], lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"name": "ml"} | document))

    with pytest.raises(ConfigError) as caught:
        load_config(path)

    assert caught.value.lines == tuple(f"{path}:{line}" for line in lines)


def test_default_configuration_leaves_out_who_may_use_the_cluster(default_config: Config) -> None:
    assert [finding.rule for finding in findings(default_config)] == ["no_admins"]


def test_warnings_are_annotations_of_the_stack(configure: Configure) -> None:
    stack = cdk.Stack(cdk.App(), "Stack")

    report(stack, findings(configure({"eks": {"version": "1.30", "admins": ADMINS}})))

    (entry,) = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    text = str(entry.entry.data)
    assert text.startswith("eks.version: '1.30' is outside 1.33 to 1.35")
    assert text.endswith("[ack: hyperpod-cdk:kubernetes_version]")


def test_warning_can_be_acknowledged(configure: Configure) -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    cdk.Annotations.of(stack).acknowledge_warning("hyperpod-cdk:kubernetes_version")

    report(stack, findings(configure({"eks": {"version": "1.30", "admins": ADMINS}})))

    assert Annotations.from_stack(stack).find_warning("*", Match.any_value()) == []


def test_a_group_without_a_zone_is_in_the_first_subnet(configure: Configure) -> None:
    blocks = [{"cidr": f"10.{n}.0.0/16"} for n in (2, 3, 4)]
    network = {"availability_zone_ids": None, "hyperpod_subnets": blocks}

    config = configure({"network": network})

    subnet = subnet_for(config.cluster.instance_groups[0], config.network)
    assert subnet is not None
    assert subnet.path == ("network", "hyperpod_subnets", 0, "cidr")
    assert subnet.zone == "the region's zone 1 by name"
    assert subnet.availability_zone_id is None


def test_add_ons_with_daemon_sets_are_counted(
    synthesize: Callable[[Config], dict[str, Template]], default_config: Config
) -> None:
    add_ons = {
        resource["Properties"]["AddonName"]
        for template in synthesize(default_config).values()
        for resource in template.find_resources("AWS::EKS::Addon").values()
    }

    assert add_ons - {"coredns"} == {*ADD_ON_DAEMON_SETS, *STORAGE_ADD_ON_DAEMON_SETS}


def test_a_secret_is_not_shown() -> None:
    found = findings(configured({"helm": {"values": {"grafana": {"adminPassword": "hunter2"}}}}))

    (line,) = [str(finding) for finding in found if finding.rule == "secret_values"]

    assert line.startswith("helm.values.grafana.adminPassword: 'adminPassword' looks like a secret")
    assert "hunter2" not in line
