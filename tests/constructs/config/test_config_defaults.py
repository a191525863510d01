"""What loads, and with which values."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import (
    Config,
    HelmConfig,
    HyperPodSubnetConfig,
    InstanceGroupConfig,
    NetworkConfig,
    load_config,
)
from tests.support.configs import CONFIG_FOLDER, default_document

DEFAULT = load_config(CONFIG_FOLDER / "default.yaml")


def load(folder: Path, document: object) -> Config:
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return load_config(path)


def test_default_configuration_has_the_designed_values(snapshot: SnapshotAssertion) -> None:
    assert DEFAULT.model_dump(mode="json") == snapshot


def test_sections_left_out_take_the_designed_defaults(tmp_path: Path) -> None:
    group = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 0}

    config = load(tmp_path, {"name": "lab", "cluster": {"instance_groups": [group]}})

    assert config.region is None
    assert config.cluster.name == "lab-cluster"
    assert config.network == NetworkConfig(
        hyperpod_subnets=(HyperPodSubnetConfig(cidr="10.1.0.0/16"),)
    )
    assert config.network.availability_zone_ids is None
    assert (config.eks, config.storage) == (DEFAULT.eks, DEFAULT.storage)
    assert config.helm == HelmConfig()
    assert config.cluster.node_provisioning_mode == "Continuous"
    assert config.cluster.instance_groups[0] == InstanceGroupConfig(
        name="g",
        instance_type="ml.m5.large",
        instance_count=0,
        volume_size_gib=500,
        threads_per_core=None,
        deep_health_checks=(),
    )


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("region", "us-gov-west-1"),
        ("storage", None),
        ("storage", {"capacity_gib": 2400, "throughput_mbps_per_tib": 1000, "compression": "NONE"}),
        (
            "storage",
            {
                "capacity_gib": 48000,
                "data_repositories": [{"s3_uri": "s3://my-bucket/some/prefix"}],
            },
        ),
        ("storage", {"delete_with_stack": True, "i_understand_all_files_are_deleted": True}),
        ("eks", {"endpoint_access": "private"}),
        ("eks", {"endpoint_access": "public"}),
        ("eks", {"version": "1.30", "public_access_cidrs": ["52.0.0.0/16", "54.1.2.3/32"]}),
        ("eks", {"admins": ["arn:aws-us-gov:iam::111122223333:user/path/me@example.com"]}),
        ("eks", {"secrets_kms_key_arn": "arn:aws:kms:us-west-2:111122223333:key/mrk-12ab"}),
        ("helm", {"values": {"a": [1, 2.5, None, True, {"b": "c"}]}}),
        ("helm", {"release": "a.b-c", "namespace": "n" * 63}),
        ("tags", {"Größe/名前": "a+b = c:d@e", "empty": ""}),
        ("network", {"hyperpod_subnets": [{"cidr": "10.192.128.0/17"}]}),
        ("network", {"hyperpod_subnets": [{"cidr": f"10.{n}.0.0/16"} for n in range(1, 5)]}),
        ("network", {"hyperpod_subnets": [{"cidr": "100.64.0.0/16"}]}),
        (
            "network",
            {
                "public_subnet_cidrs": ["10.192.10.0/24", "10.192.11.0/24", "10.192.12.0/24"],
                "eks_subnet_cidrs": ["10.192.7.0/28", "10.192.8.0/28", "10.192.9.0/28"],
                "availability_zone_ids": ["use1-az6", "use1-az2", "use1-az4"],
                "hyperpod_subnets": [
                    {"cidr": "10.1.0.0/17", "availability_zone_id": "use1-az4"},
                    {"cidr": "10.1.128.0/17", "availability_zone_id": "use1-az4"},
                ],
            },
        ),
    ],
)
def test_allowed_variation_loads(section: str, value: object, tmp_path: Path) -> None:
    document = default_document()
    minimal = {"name": "ml", "cluster": document["cluster"]}

    load(tmp_path, minimal | {section: value})


def test_hyperpod_subnets_without_a_zone_take_the_zones_in_turn(tmp_path: Path) -> None:
    document = default_document()
    document["network"]["hyperpod_subnets"] = [{"cidr": f"10.{n}.0.0/16"} for n in range(2, 5)]
    document["storage"]["availability_zone_id"] = "usw2-az2"

    config = load(tmp_path, document)

    assert config.network.hyperpod_zone_ids == ("usw2-az1", "usw2-az2", "usw2-az1")


@pytest.mark.parametrize("chart", ["chart.tgz", "chart"])
def test_chart_is_found_beside_the_configuration(chart: str, tmp_path: Path) -> None:
    document = default_document()
    if chart.endswith(".tgz"):
        (tmp_path / chart).write_bytes(b"")
    else:
        (tmp_path / chart).mkdir()
        (tmp_path / chart / "Chart.yaml").write_text("name: chart\n")
    document["helm"]["chart"] = chart

    assert load(tmp_path, document).helm.chart == str(tmp_path / chart)


def test_every_section_is_frozen() -> None:
    for section in (DEFAULT, DEFAULT.network, DEFAULT.cluster.instance_groups[0]):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(section, next(iter(type(section).model_fields)), "x")
