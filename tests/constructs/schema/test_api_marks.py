"""Marks of fields: members of requests, patterns with their examples, zones."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

import botocore.session
import pytest
from botocore.model import ListShape, StructureShape
from botocore.validate import ParamValidator
from pydantic import TypeAdapter, ValidationError

from hyperpod_cdk import (
    ClusterConfig,
    Config,
    InstanceGroupConfig,
    PriorityClassConfig,
    load_config,
)
from hyperpod_cdk.facts.service_limits import regions, shape
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults
from hyperpod_cdk.hyperpod.node_settings import LifecycleConfig
from hyperpod_cdk.schema.availability_zones import AvailabilityZone, zone_id_prefix
from hyperpod_cdk.schema.errors import KeyPath, key_path
from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.section import (
    Api,
    Listed,
    Section,
    arguments,
    key_path_of,
    members,
    section_in,
)
from tests.support.configs import EVERY_FIELD

CREATE_CLUSTER: Any = (
    botocore.session.get_session()
    .get_service_model("sagemaker")
    .operation_model("CreateCluster")
    .input_shape
)
GROUP: dict[str, Any] = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 0}


def marks(section: type[Section]) -> Iterator[tuple[str, str]]:
    """Yield the name and the member of every marked field."""
    for name, field in section.model_fields.items():
        yield from ((name, mark.member) for mark in field.metadata if isinstance(mark, Api))


def at(request: dict[str, Any], member: str) -> Any:  # noqa: ANN401 - any member
    """Return a member of a request; None where there is none."""
    found: Any = request
    for step in member.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def landed(section: Section, request: dict[str, Any]) -> Iterator[str]:
    """Check every marked field of a section against its request; yield what was checked."""
    for name, member in marks(type(section)):
        value, found = getattr(section, name), at(request, member)
        where = f"{type(section).__name__}.{name}"
        if isinstance(value, Section):
            yield from landed(value, found)
        elif isinstance(value, tuple) and value and isinstance(value[0], Section):
            assert len(found) == len(value), where
            for item, of_item in zip(value, found, strict=True):
                yield from landed(item, of_item)
        elif value in (None, (), {}):
            assert found is None, where
        elif isinstance(value, dict):
            # Others add to it, as mig_profile adds a label.
            assert found.items() >= value.items(), where
            yield where
        else:
            assert found == (list(value) if isinstance(value, tuple) else value), where
            yield where


@pytest.fixture(scope="module")
def cluster() -> ClusterConfig:
    return load_config(EVERY_FIELD).cluster


def test_every_marked_field_lands_at_its_member(cluster: ClusterConfig) -> None:
    checked = set(landed(cluster, cluster.to_request()))

    assert {
        "ClusterConfig.name",
        "ClusterConfig.auto_scaling",
        "InstanceGroupConfig.instance_types",
        "InstanceGroupConfig.labels",
        "InstanceGroupConfig.network_interface_type",
        "OverrideVpcConfig.subnet_ids",
        "TaintConfig.effect",
        "AutoPatchConfig.next_patch_date",
        "BatchSizeConfig.value",
        "SharedEnvironmentConfig.fsx_lustre_deletion_policy",
        "RestrictedFileSystemConfig.size_gib",
    } <= checked


def test_storage_lands_in_one_list(cluster: ClusterConfig) -> None:
    group = cluster.instance_groups[0]
    kinds = {
        "EbsVolumeConfig": group.ebs_volumes,
        "FsxLustreConfig": group.fsx_lustre_mounts,
        "FsxOpenZfsConfig": group.fsx_openzfs_mounts,
    }

    stored = group.to_request()["InstanceStorageConfigs"]

    assert stored == [{kind: item.to_request()} for kind, items in kinds.items() for item in items]
    for section in (item for items in kinds.values() for item in items):
        assert set(landed(section, section.to_request()))


def unknown(section: type[Section], shape: StructureShape, path: str = "") -> Iterator[str]:
    """Yield the marks that name no member of the API's shape."""
    for _, member in marks(section):
        inner: Any = shape
        for step in member.split("."):
            inner = getattr(inner, "members", {}).get(step)
        if inner is None:
            yield f"{path}{member}"


def sections_with_shapes(
    section: Section, shape: StructureShape
) -> Iterator[tuple[type[Section], StructureShape]]:
    """Yield every section of a cluster with the API's shape that it becomes."""
    yield type(section), shape
    for name, member in marks(type(section)):
        inner: Any = shape
        for step in member.split("."):
            inner = inner.members[step]
        value = getattr(section, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Section):
                of_item: Any = inner.member if isinstance(inner, ListShape) else inner
                yield from sections_with_shapes(item, of_item)


def test_every_mark_names_a_member_of_the_api(cluster: ClusterConfig) -> None:
    found = dict(sections_with_shapes(cluster, CREATE_CLUSTER))

    assert InstanceGroupConfig in found
    assert [name for section, shape in found.items() for name in unknown(section, shape)] == []


def test_the_request_has_the_api_s_types(cluster: ClusterConfig) -> None:
    defaults = ClusterDefaults(
        execution_role_arn="arn:aws:iam::111122223333:role/Nodes",
        security_group_id="sg-12345678",
        training_plan_arn=lambda plan: plan,
        subnet_id_in={"usw2-az1": "subnet-11111111", "usw2-az2": "subnet-22222222"}.__getitem__,
        lifecycle_in=lambda _: LifecycleConfig(
            source_s3_uri="s3://scripts/b", on_create="on_create.sh"
        ),
    )

    request = cluster.filled_in(defaults).to_request()

    report = ParamValidator().validate(request, CREATE_CLUSTER)

    assert report.generate_report() == ""


def test_the_order_of_the_fields_does_not_show() -> None:
    class Forward(Section):
        one: Annotated[int, Api("B.Y")]
        two: Annotated[Listed[str], Api("B.X")]
        three: Annotated[dict[str, str], Api("A")]

    class Backward(Section):
        three: Annotated[dict[str, str], Api("A")]
        two: Annotated[Listed[str], Api("B.X")]
        one: Annotated[int, Api("B.Y")]

    forward = Forward(one=1, two=("b", "a"), three={"x": "1", "y": "2"})
    backward = Backward(one=1, two=("b", "a"), three={"y": "2", "x": "1"})

    assert json.dumps(forward.to_request()) == json.dumps(backward.to_request())
    assert forward.to_request() == {"A": {"x": "1", "y": "2"}, "B": {"X": ["b", "a"], "Y": 1}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"A": False, "B": 0, "C": ""}, {"A": False, "B": 0, "C": ""}),
        ({"A": None, "B": [], "C": (), "D": {}}, {}),
        ({"A.B": None, "A.C": []}, {}),
        ({"A.B": 1, "A.C": None}, {"A": {"B": 1}}),
    ],
)
def test_nothing_is_left_out_and_false_is_not_nothing(
    values: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert members(values) == expected


def test_false_of_a_priority_class_is_said() -> None:
    request = PriorityClassConfig(name="a", value=0).to_request()

    assert request == {
        "description": "",
        "globalDefault": False,
        "name": "a",
        "preemptionPolicy": "PreemptLowerPriority",
        "value": 0,
    }


@pytest.mark.parametrize(
    ("member", "key"),
    [
        (("ClusterName",), "name"),
        (("AutoScaling", "AutoScalerType"), "auto_scaling"),
        (("InstanceGroups", 1, "InstanceType"), "instance_groups[1].instance_type"),
        (("InstanceGroups", 0, "KubernetesConfig", "Labels", "pool"), "instance_groups[0].labels"),
        (
            ("InstanceGroups", 1, "AutoPatchConfig", "DrainPolicy", "OnDrainTimeout"),
            "instance_groups[1].auto_patch.drain.on_timeout",
        ),
        # What keys make together is their section's.
        (("InstanceGroups", 0, "InstanceStorageConfigs", 1), "instance_groups[0]"),
    ],
)
def test_the_key_of_a_member(member: KeyPath, key: str) -> None:
    assert key_path(key_path_of(load_config(EVERY_FIELD).cluster, member)) == key


EXAMPLE = re.compile(r" such as (\S+)")
# What the pattern allows, in words.
IN_WORDS = "(letters, digits, inner hyphens)"


def limits(section: type[Section]) -> Iterator[ApiLimits]:
    """Yield the limits of every field of a section and of those in it."""
    for field in section.model_fields.values():
        for mark in (*field.metadata, *arguments(field.annotation)):
            if isinstance(mark, ApiLimits):
                yield mark
        inner = section_in(field.annotation)
        if inner is not None:
            yield from limits(inner)


PATTERNS = {mark.shape_name: mark for mark in limits(Config) if shape(mark.shape_name).pattern}


@pytest.mark.parametrize("mark", PATTERNS.values(), ids=PATTERNS)
def test_an_example_matches(mark: ApiLimits) -> None:
    found = EXAMPLE.search(mark.noun)

    assert found is not None or mark.noun.endswith(IN_WORDS)
    assert found is None or shape(mark.shape_name).matches(found[1])


def test_there_are_patterns() -> None:
    assert len(PATTERNS) > 10


# Of each form of a name.
PREFIXES = {
    "af-south-1": "afs1",
    "ap-east-1": "ape1",
    "ap-northeast-2": "apne2",
    "ap-southeast-5": "apse5",
    "ca-central-1": "cac1",
    "ca-west-1": "caw1",
    "cn-northwest-1": "cnnw1",
    "eu-north-1": "eun1",
    "il-central-1": "ilc1",
    "us-east-2": "use2",
    "us-gov-west-1": "usgw1",
    "us-west-1": "usw1",
}


def test_every_public_region_has_a_prefix_of_its_own() -> None:
    public = [name for name, part in regions().items() if part in ("aws", "aws-cn", "aws-us-gov")]
    prefixes = {region: zone_id_prefix(region) for region in public}

    assert prefixes.items() >= PREFIXES.items()
    assert None not in prefixes.values()
    assert len({*prefixes.values()}) == len(public)


@pytest.mark.parametrize("region", ["us-iso-east-1", "us-isob-east-1", "eusc-de-east-1", "nowhere"])
def test_region_without_a_known_rule(region: str) -> None:
    assert zone_id_prefix(region) is None


@pytest.mark.parametrize(
    "zone",
    [
        *("use1-az6", "usw2-az4", "apne1-az4", "apne2-az4", "cac1-az4", "euw1-az3", "cnnw1-az3"),
        # Of the isolated regions, AWS publishes no IDs.
        "usie1-az9",
    ],
)
def test_a_zone_that_may_be(zone: str) -> None:
    assert TypeAdapter(AvailabilityZone).validate_python(zone) == zone


@pytest.mark.parametrize(
    ("zone", "region"),
    [
        ("use1-az7", "us-east-1"),
        ("usw2-az8", "us-west-2"),
        ("usw2-az5", "us-west-2"),
        ("euw1-az4", "eu-west-1"),
        ("usgw1-az4", "us-gov-west-1"),
    ],
)
def test_a_zone_that_the_region_does_not_have(zone: str, region: str) -> None:
    with pytest.raises(ValidationError, match=rf"is not a zone of {region} \(zones: .*-az3"):
        TypeAdapter(AvailabilityZone).validate_python(zone)
