"""What is known of AWS: instance types, the native type, prices, limits of the service."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.eks.section import HYPERPOD_KUBERNETES_VERSIONS
from hyperpod_cdk.facts import instance_types as facts_module
from hyperpod_cdk.facts import mig
from hyperpod_cdk.facts.instance_types import (
    InstanceFacts,
    default_threads_per_core,
    ec2_types,
    has_accelerators,
    instance_facts,
    instance_types,
    is_accelerated,
    is_arm,
    regions_known,
    regions_with,
    training_plan_types,
)
from hyperpod_cdk.facts.kubernetes_support import END_OF_EXTENDED_SUPPORT, END_OF_STANDARD_SUPPORT
from hyperpod_cdk.facts.native_cluster import lacking, native_regions
from hyperpod_cdk.facts.prices import Price, prices, pricing_pages
from hyperpod_cdk.facts.service_limits import regions, shape
from tests.support.configs import CONFIGS, EVERY_FIELD

UNDESCRIBED = "ml.p6e-gb200.36xlarge"

# The table of the HyperPod guide (pods and addresses), and the table of the `hyp` CLI (the rest):
# type, vCPUs, accelerators, memory in GiB, EFA interfaces, most pods, addresses of a node.
PUBLISHED = [
    ("ml.g5.8xlarge", 32, 1, 128, 1, 29, 30),
    ("ml.g5.12xlarge", 48, 4, 192, 1, 49, 50),
    ("ml.g5.xlarge", 4, 1, 16, 0, 14, 15),
    ("ml.g6e.48xlarge", 192, 8, 1536, 4, 49, 53),
    ("ml.g7e.24xlarge", 96, 4, 1024, 2, 49, 51),
    ("ml.p4d.24xlarge", 96, 8, 1152, 4, 49, 53),
    ("ml.p4de.24xlarge", 96, 8, 1152, 4, 49, 53),
    ("ml.p5.4xlarge", 16, 1, 256, 1, 29, 30),
    ("ml.p5.48xlarge", 192, 8, 2048, 32, 49, 81),
    ("ml.p5en.48xlarge", 192, 8, 2048, 16, 49, 65),
    ("ml.p6-b200.48xlarge", 192, 8, 2048, 8, 49, 57),
    ("ml.p6-b300.48xlarge", 192, 8, 4096, 16, 49, 66),
    ("ml.trn1.32xlarge", 128, 16, 512, 8, 49, 57),
    ("ml.trn2.3xlarge", 12, 1, 128, 1, 14, 15),
    ("ml.trn2.48xlarge", 192, 16, 2048, 16, 49, 65),
    ("ml.m5.2xlarge", 8, 0, 32, 0, 14, 15),
    ("ml.t3.medium", 2, 0, 4, 0, 5, 6),
]


def test_ec2_has_the_hardware_by_its_own_name() -> None:
    ours, theirs = known("p5.48xlarge"), known("ml.p5.48xlarge")

    assert ours.instance_type == "p5.48xlarge"
    assert (ours.accelerator, ours.efa_interfaces) == (theirs.accelerator, 32)


def test_a_node_of_ec2_has_pods_on_all_of_its_interfaces() -> None:
    # https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
    assert {name: known(name).max_pods for name in ("m5.2xlarge", "g5.12xlarge")} == {
        "m5.2xlarge": 58,
        "g5.12xlarge": 737,
    }


def known(instance_type: str) -> InstanceFacts:
    facts = instance_facts(instance_type)
    assert facts is not None
    return facts


@pytest.mark.parametrize(("instance_type", "figures"), [(row[0], row[1:]) for row in PUBLISHED])
def test_published_figures(instance_type: str, figures: tuple[int, ...]) -> None:
    vcpus, accelerators, memory_gib, efa, pods, addresses = figures
    facts = known(instance_type)

    count = facts.accelerator.count if facts.accelerator else 0
    assert (facts.vcpus, count, facts.efa_interfaces) == (vcpus, accelerators, efa)
    assert facts.memory_mib == memory_gib * 1024
    assert (facts.max_pods, facts.addresses_per_node) == (pods, addresses)


@pytest.mark.parametrize(
    ("instance_type", "default", "valid", "architecture"),
    [
        ("ml.g5.12xlarge", 2, (1, 2), "x86_64"),  # EC2 leaves the valid values out
        ("ml.p5.48xlarge", 2, (1, 2), "x86_64"),
        ("ml.g7.48xlarge", 1, (1,), "x86_64"),
        ("ml.m8a.16xlarge", 1, (1,), "x86_64"),
        ("ml.m7g.medium", 1, (1,), "arm64"),
    ],
)
def test_threads_per_core(
    instance_type: str, default: int, valid: tuple[int, ...], architecture: str
) -> None:
    facts = known(instance_type)

    assert facts.default_threads_per_core == default
    assert facts.valid_threads_per_core == valid
    assert facts.architecture == architecture


@pytest.mark.parametrize(
    ("types", "threads"),
    [
        (("ml.p5.48xlarge",), 2),
        (("ml.g7.48xlarge",), 1),
        (("ml.p5.48xlarge", "ml.g7.48xlarge"), 1),
        ((UNDESCRIBED,), None),
        (("ml.p5.48xlarge", UNDESCRIBED), None),
        ((), None),
    ],
)
def test_default_threads_per_core(types: tuple[str, ...], threads: int | None) -> None:
    assert default_threads_per_core(types) == threads


@pytest.mark.parametrize(
    ("instance_type", "kind", "name", "count", "memory_mib"),
    [
        ("ml.p4d.24xlarge", "GPU", "A100", 8, 40960),
        ("ml.p4de.24xlarge", "GPU", "A100", 8, 81920),
        ("ml.p5.48xlarge", "GPU", "H100", 8, 81920),
        ("ml.p5en.48xlarge", "GPU", "H200", 8, 144384),
        ("ml.trn1.32xlarge", "Neuron", "Trainium", 16, 32768),
        ("ml.trn2.48xlarge", "Neuron", "Trainium2", 16, 98304),  # EC2 says five times as much
    ],
)
def test_accelerators(
    instance_type: str, kind: str, name: str, count: int, memory_mib: int
) -> None:
    accelerator = known(instance_type).accelerator

    assert accelerator is not None
    assert (accelerator.kind, accelerator.name) == (kind, name)
    assert (accelerator.count, accelerator.memory_mib) == (count, memory_mib)


def test_local_storage() -> None:
    assert known("ml.p5.48xlarge").local_nvme_gb == 30400
    assert known("ml.m5.2xlarge").local_nvme_gb == 0
    assert known("ml.m5.2xlarge").ebs_volumes == 27


def test_every_type_but_the_undescribed_one_is_consistent() -> None:
    unknown = [name for name in instance_types() if instance_facts(name) is None]

    assert unknown == [UNDESCRIBED]
    for name in set(instance_types()) - {UNDESCRIBED}:
        facts = known(name)
        assert facts.default_threads_per_core in facts.valid_threads_per_core
        assert facts.efa_interfaces <= facts.network_cards
        assert 0 < facts.max_pods < facts.pod_addresses <= facts.addresses_per_node
        assert is_accelerated(name) is (facts.accelerator is not None)


def test_regions() -> None:
    assert regions_with("ml.trn2.48xlarge") == {"us-east-2"}
    assert regions_with(UNDESCRIBED) == frozenset()
    assert "us-west-2" in regions_with("ml.p5.48xlarge")
    assert "us-gov-west-1" not in regions_known()
    assert regions_known() <= set(regions())


def test_training_plans_take_hyperpod_types_with_accelerators() -> None:
    assert "ml.p5.48xlarge" in training_plan_types()
    assert training_plan_types() <= set(instance_types())
    assert all(is_accelerated(name) for name in training_plan_types())


@pytest.mark.parametrize("function", [instance_facts, is_accelerated, regions_with])
@pytest.mark.parametrize("name", ["p5.huge", "ml.p5.huge", ""])
def test_a_type_that_there_is_not_is_refused(function: Callable[[str], object], name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' is not"):
        function(name)


def test_data_file_covers_the_types_of_the_api() -> None:
    path = Path(facts_module.__file__).with_suffix(".json")

    assert tuple(json.loads(path.read_text())["types"]) == instance_types()


ACCELERATED_FAMILIES = {
    *("g4dn", "g5", "g6", "g6e", "g7", "g7e", "gr6"),
    *("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "p6e-gb200"),
    *("trn1", "trn1n", "trn2"),
}


def test_instance_types_are_those_of_the_api() -> None:
    types = instance_types()

    assert {"ml.p5.48xlarge", "ml.trn2.48xlarge", "ml.m5.2xlarge"} <= set(types)
    assert all(instance_type.startswith("ml.") for instance_type in types)
    assert len(set(types)) == len(types)


@pytest.mark.parametrize(
    ("name", "is_it"),
    [
        (UNDESCRIBED, True),
        ("ml.m7g.large", True),
        ("ml.p6-b200.48xlarge", False),
        ("p5.48xlarge", False),
    ],
)
def test_what_runs_no_programs_for_x86(name: str, is_it: bool) -> None:
    assert is_arm(name) is is_it


def test_accelerators_go_by_family() -> None:
    of_such_families = [
        name for name in instance_types() if name.split(".")[1] in ACCELERATED_FAMILIES
    ]

    assert [name for name in instance_types() if is_accelerated(name)] == of_such_families


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("ml.p5.48xlarge", True),
        ("p4d.24xlarge", True),
        (UNDESCRIBED, True),
        ("ml.m5.2xlarge", False),
        ("c5.2xlarge", False),
        ("ml.p5.huge", False),
        ("p5.huge", False),
        ("", False),
    ],
)
def test_a_node_of_any_type_has_accelerators_or_not(name: str, has: bool) -> None:
    assert has_accelerators(name) is has


def test_regions_are_those_with_a_schema() -> None:
    assert "us-west-2" in native_regions()
    assert "ca-west-1" not in native_regions()


def test_what_the_type_lacks_of_all_fields() -> None:
    found = lacking(load_config(EVERY_FIELD).cluster.to_request())

    assert [(".".join(map(str, each.path)), each.is_member) for each in found] == [
        ("InstanceGroups.0.AutoPatchConfig.IdleWaitWindowInSeconds", True),
        ("InstanceGroups.0.AutoPatchConfig.PatchSchedule.NextPatchDate", True),
        ("InstanceGroups.0.OnStartDeepHealthChecks.2", False),
        ("InstanceGroups.1.AutoPatchConfig.DrainPolicy", True),
        ("InstanceGroups.1.AutoPatchConfig.PatchingStrategy", False),
        ("RestrictedInstanceGroups.0.ScheduledUpdateConfig", True),
    ]


@pytest.mark.parametrize(
    ("group", "is_found"),
    [
        ({"ImageId": "default"}, False),
        ({"ImageId": "image"}, True),
        ({"ImageId": "${Token[Image.1]}"}, False),
        ({"KubernetesConfig": {"Labels": {"any/key": "a"}}}, False),
        ({"CapacityRequirements": {"Spot": {}}}, False),
        ({"CapacityRequirements": {"Spot": {"MaxPrice": "1"}}}, True),
        ({"CurrentCount": 1}, True),
    ],
)
def test_values_are_compared_unless_they_are_tokens(group: dict[str, Any], is_found: bool) -> None:
    assert bool([*lacking({"InstanceGroups": [group]})]) is is_found


ITEMS = {
    "CloudWatch": {"alarm metric", "dashboard"},
    "EC2": set(ec2_types()),
    "EKS": {"control plane", "control plane, extended support"},
    "FSx for Lustre": {f"{throughput} MB/s/TiB" for throughput in (125, 250, 500, 1000)},
    "FSx for OpenZFS": set(),  # no source yet
    "HyperPod": set(instance_types()),
    "SageMaker Studio": set(instance_types()),
    "KMS": {"key"},
    "Managed Grafana": {"editor", "viewer"},
    "Managed Prometheus": {"samples"},
    "RDS for MariaDB": set(),  # no source yet: those of PostgreSQL stand for them
    "RDS for PostgreSQL": {"db.t4g.micro", "db.t4g.small", "db.t4g.medium", "gp3"},
    "VPC": {"NAT gateway", "interface endpoint", "public IPv4 address"},
}


@pytest.mark.parametrize("price", prices(), ids=lambda price: f"{price.item} {price.region}")
def test_a_price_is_of_something_that_is_deployed(price: Price) -> None:
    assert price.item in ITEMS[price.service]
    assert price.region in {*regions(), *regions().values()}
    units = {"FSx for Lustre": "GB-month", "gp3": "GB-month", "Managed Prometheus": "10M samples"}
    units |= dict.fromkeys(("CloudWatch", "KMS", "Managed Grafana"), "month")
    assert price.unit == units.get(price.service, units.get(price.item, "hour"))
    assert price.usd > 0
    assert date(2022, 1, 1) < price.date
    assert price.source.startswith("https://")


def test_a_price_is_listed_once() -> None:
    keys = [(price.service, price.item, price.region) for price in prices()]
    assert len(keys) == len(set(keys))


def test_a_price_is_read_as_it_is_written() -> None:
    assert Decimal("25.91001756") in [price.usd for price in prices()]


def test_each_service_has_a_page() -> None:
    assert pricing_pages().keys() == ITEMS.keys()


def test_the_support_of_each_version_is_known() -> None:
    assert tuple(END_OF_STANDARD_SUPPORT) == HYPERPOD_KUBERNETES_VERSIONS
    assert tuple(END_OF_EXTENDED_SUPPORT) == HYPERPOD_KUBERNETES_VERSIONS
    # https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
    assert END_OF_EXTENDED_SUPPORT["1.32"] == date(2027, 3, 23)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_no_shipped_version_costs_more_within_sixty_days(path: Path) -> None:
    version = load_config(path).eks.version
    due = END_OF_STANDARD_SUPPORT[version] - timedelta(days=60)

    assert datetime.now(tz=UTC).date() < due, f"set the next version in {path.name}"


def test_shape_carries_its_limits() -> None:
    name = shape("sagemaker.ClusterName")

    assert (name.minimum, name.maximum) == (1, 63)
    assert shape("sagemaker.ClusterNodeRecovery").values == ("Automatic", "None")


@pytest.mark.parametrize(
    ("name", "text", "is_matched"),
    [
        ("ClusterName", "ml-cluster", True),
        ("ClusterName", "ml-cluster\n", False),
        # It names categories of Unicode.
        ("TagKey", "größe 名前", True),
        ("TagKey", "a;b", False),
        # It looks ahead for what is no space, of which ASCII's count, as in the service.
        ("AlarmName", "an alarm", True),
        ("AlarmName", "  ", False),
        ("AlarmName", "an alarm\n", False),
        ("AlarmName", "\N{NO-BREAK SPACE}", True),
    ],
)
def test_a_pattern_matches_as_in_the_service(name: str, text: str, *, is_matched: bool) -> None:
    assert shape(f"sagemaker.{name}").matches(text) is is_matched


def test_unknown_shape_is_refused() -> None:
    with pytest.raises(KeyError):
        shape("sagemaker.NoSuchShape")


def test_a_layout_fits_on_its_gpu() -> None:
    for instance_type in mig.types_with_layouts():
        most = mig.partitions(instance_type)
        for layout in mig.layouts(instance_type):
            parts = mig.partitioned(instance_type, layout)
            assert all(count <= most[profile] for profile, count in parts.items()), layout
            sevenths = sum(count * int(profile[0]) for profile, count in parts.items())
            assert sevenths <= 7, layout


def test_regions_know_their_partition() -> None:
    assert regions()["us-west-2"] == "aws"
    assert regions()["us-gov-west-1"] == "aws-us-gov"
    assert not [region for region in regions() if region.startswith("fips")]


def test_importing_the_configuration_leaves_the_sdk_and_the_cdk_alone() -> None:
    script = "import sys; from hyperpod_cdk import Config, load_config; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )

    assert {"botocore", "boto3", "aws_cdk"}.isdisjoint(result.stdout.split())
