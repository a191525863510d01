"""The section of a cluster: its request, and how long a deployment waits for it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator
from constructs import Construct
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import (
    ConfigError,
    Eks,
    HyperPodCluster,
    LifecycleScripts,
    NodeSubnets,
    Provisioner,
    load_config,
)
from hyperpod_cdk.hyperpod.orchestrator import Slurm
from hyperpod_cdk.hyperpod.waiting import WaitingConfig
from hyperpod_cdk.slurm.accounting import ImportedAccountingDatabase
from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from hyperpod_cdk.synthesis.refusals import MOST_REQUEST_BYTES, request_bytes
from hyperpod_emulator.hyperpod.group_rules import validate_create
from hyperpod_emulator.hyperpod.service_model import violations_of
from provisioner.hyperpod.cluster_request import HyperPodClusterProperties
from tests.support.assembly import new_app
from tests.support.configs import (
    CONFIG_FOLDER,
    EVERY_FIELD,
    EVERY_SLURM_FIELD,
    SHIPPED,
    orchestrated_by,
)
from tests.support.provisioner.large_cluster import properties
from tests.support.template_view import TemplateView

DEFAULT = CONFIG_FOLDER / "default.yaml"
CONFIGS = list(
    dict.fromkeys([EVERY_FIELD, *EVERY_SLURM_FIELD, *SHIPPED, *orchestrated_by("slurm")])
)
ROLE = "arn:aws:iam::111122223333:role/Nodes"
SCRIPTS = ("<Custom::LifecycleScripts.S3Uri>", "s3://sagemaker-ml")

RESTRICTED_VOLUME = "RestrictedInstanceGroups[].InstanceStorageConfigs[].EbsVolumeConfig"

# Fields, with everything under them, that have no key in the configuration, and why.
REASONS = {
    f"{RESTRICTED_VOLUME}.VolumeKmsKeyId": "restricted instance groups take no key",
    f"{RESTRICTED_VOLUME}.RootVolume": "its key is all that can be chosen for a root volume",
}


Requests = dict[Path, dict[str, Any]]


@pytest.fixture(scope="module")
def service() -> ServiceModel:
    return botocore.session.get_session().get_service_model("sagemaker")


@pytest.fixture(scope="module")
def shape(service: ServiceModel) -> StructureShape:
    result = service.operation_model("CreateCluster").input_shape
    assert result is not None
    return result


def leaves(shape: Shape, path: str = "") -> Iterator[str]:
    """Yield the path of every field that holds a value of its own."""
    if isinstance(shape, StructureShape) and shape.members:
        for name, member in shape.members.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(shape, ListShape):
        yield from leaves(shape.member, f"{path}[]")
    else:  # of a map, the keys are the user's own
        yield path


def reached(shape: Shape, value: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield the path of every leaf that a request sets."""
    if isinstance(shape, StructureShape) and shape.members:
        for name, item in value.items():
            yield from reached(shape.members[name], item, f"{path}.{name}" if path else name)
    elif isinstance(shape, ListShape):
        for item in value:
            yield from reached(shape.member, item, f"{path}[]")
    elif not isinstance(shape, MapShape) or value:
        yield path


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Requests:
    """Return the request of each configuration's cluster, with IDs for what is around it."""
    app = new_app(tmp_path_factory.mktemp("requests"))
    account = cdk.Environment(account="111122223333", region="us-west-2")
    stack = cdk.Stack(app, "Stack", env=account)
    provisioner = Provisioner(stack, "Provisioner")
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-ml")
    scripts = LifecycleScripts(stack, "Scripts", bucket=bucket, provisioner=provisioner)
    for path in CONFIGS:
        scope = Construct(stack, path.stem)
        config = load_config(path)
        eks_cluster = eks.Cluster.from_cluster_attributes(scope, "Eks", cluster_name="ml-eks")
        HyperPodCluster(
            scope,
            "Cluster",
            cluster=config.cluster,
            orchestrator=(
                Slurm(accounting=existing_database(config.cluster.accounting))
                if config.control_plane is None
                else Eks(cluster=eks_cluster)
            ),
            provisioner=provisioner,
            execution_role=iam.Role.from_role_arn(scope, "Role", ROLE),
            subnets=node_subnets(scope, zones=config.network.hyperpod_zone_ids),
            security_group=ec2.SecurityGroup.from_security_group_id(scope, "Group", "sg-aaaaaaaa"),
            lifecycle_scripts=None if config.control_plane is None else scripts,
            tags=config.tags,
        )
    view = TemplateView(Template.from_stack(stack).to_json())
    texts = [view.text(item["Request"]) for item in view.all("Custom::HyperPodCluster")]
    return {
        path: json.loads(text.replace(*SCRIPTS)) for path, text in zip(CONFIGS, texts, strict=True)
    }


def existing_database(accounting: AccountingConfig | None) -> ImportedAccountingDatabase | None:
    if accounting is None or not accounting.exists:
        return None
    return ImportedAccountingDatabase(accounting=accounting)


def node_subnets(scope: Construct, *, zones: Sequence[str | None]) -> NodeSubnets:
    ids = [f"subnet-aaaaaaa{index}" for index in range(len(zones))]
    subnets = [ec2.Subnet.from_subnet_id(scope, name, name) for name in ids]
    return NodeSubnets(subnets=subnets, zone_ids=zones)


def excused(leaf: str) -> bool:
    return any(leaf == field or leaf.startswith((f"{field}.", f"{field}[")) for field in REASONS)


def test_every_field_is_reached_or_has_a_reason(shape: StructureShape, requests: Requests) -> None:
    found = {leaf for request in requests.values() for leaf in reached(shape, request)}

    assert {leaf for leaf in leaves(shape) if not excused(leaf)} - found == set()


@pytest.mark.parametrize("field", REASONS)
def test_a_reason_is_for_fields_that_are_there_and_not_reached(
    shape: StructureShape, requests: Requests, field: str
) -> None:
    inside = [leaf for leaf in leaves(shape) if leaf.startswith(field)]

    assert inside
    assert not set(inside) & set(reached(shape, requests[EVERY_FIELD]))


def test_the_walk_finds_what_is_missing(shape: StructureShape, requests: Requests) -> None:
    missing = set(leaves(shape)) - set(reached(shape, requests[DEFAULT]))

    assert "InstanceGroups[].CapacityRequirements.Spot" in missing
    assert "InstanceGroups[].KubernetesConfig.Labels" in missing
    assert "ClusterName" not in missing


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_request_is_one_that_the_service_takes(
    service: ServiceModel, shape: StructureShape, requests: Requests, path: Path
) -> None:
    made = requests[path]

    assert not ParamValidator().validate(made, shape).has_errors()
    assert list(violations_of(shape, _over_the_wire(service, made))) == []
    validate_create(made)


def _over_the_wire(service: ServiceModel, made: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    serializer = create_serializer("json")
    operation = service.operation_model("CreateCluster")
    return json.loads(serializer.serialize_to_request(made, operation)["body"])


REQUEST = {"ClusterName": "c", "Request": '{"ClusterName": "c"}'}
_REST = ("cluster_name", "cluster_input")


def parsed(waiting: WaitingConfig) -> dict[str, Any]:
    read = HyperPodClusterProperties.parse({**REQUEST, **waiting.to_properties()})
    return {name: getattr(read, name) for name in read.__slots__ if name not in _REST}


def test_the_function_reads_what_the_app_writes() -> None:
    waiting = WaitingConfig(
        wait_for="nodes",
        wait_minutes=55,
        on_shortage="fail",
        on_create_failure="delete",
        software_update="2026-11",
    )
    assert parsed(waiting) == waiting.model_dump()


def test_the_defaults_agree() -> None:
    without = HyperPodClusterProperties.parse(REQUEST)
    found = parsed(WaitingConfig())
    assert found == {name: getattr(without, name) for name in found}


@pytest.mark.parametrize(
    "waiting",
    [
        WaitingConfig.model_validate({name: value})
        for name in ("wait_for", "on_shortage", "on_create_failure")
        for value in get_args(WaitingConfig.model_fields[name].annotation)
    ],
)
def test_the_function_knows_every_value_of_the_configuration(waiting: WaitingConfig) -> None:
    assert parsed(waiting)


def test_the_largest_cluster_is_not_refused(stack: cdk.Stack) -> None:
    request = json.loads(properties()["Request"])
    assert request_bytes(stack, request) < MOST_REQUEST_BYTES


@pytest.mark.parametrize(
    "keys",
    [
        {"wait_for": "node"},
        {"wait_minutes": 0},
        {"wait_minutes": 56},
        {"on_shortage": "ignore"},
        {"on_create_failure": "retain"},
        {"software_update": ""},
        {"software_update": "x" * 65},
    ],
)
def test_bad(keys: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    with pytest.raises(ConfigError) as refused:
        WaitingConfig(**keys)

    assert refused.value.lines == snapshot
