"""Every field of CreateCluster can be set in the configuration, or stands here with a reason."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator
from hyperpod_cdk.cluster_request import cluster_request
from hyperpod_cdk.instance_group import VpcConfig
from stacks.cluster_settings import shared_environment, tiered_storage
from stacks.instance_groups import Surroundings, instance_group, restricted_instance_group

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.hyperpod.lifecycle import LifecycleConfig
from rehearsal.hyperpod.validation.semantic_validation import validate_create
from rehearsal.hyperpod.validation.service_model import violations_of

ROOT = Path(__file__).parents[2]
EVERY_FIELD = ROOT / "tests" / "support" / "every_field.yaml"
CONFIGS = [EVERY_FIELD, *sorted((ROOT / "config").glob("*.yaml"))]
EKS = "arn:aws:eks:us-west-2:111122223333:cluster/ml-eks"
ROLE = "arn:aws:iam::111122223333:role/Nodes"
SUBNETS = {
    "usw2-az1": "subnet-aaaaaaaa",
    "usw2-az2": "subnet-bbbbbbbb",
    "usw2-az4": "subnet-cccccccc",
}

RESTRICTED_VOLUME = "RestrictedInstanceGroups[].InstanceStorageConfigs[].EbsVolumeConfig"

# Fields, with everything under them, that have no key in the configuration, and why.
REASONS = {
    "Orchestrator.Slurm": "the cluster is orchestrated by EKS",
    "InstanceGroups[].SlurmConfig": "the cluster is orchestrated by EKS",
    f"{RESTRICTED_VOLUME}.VolumeKmsKeyId": "restricted instance groups take no key",
    f"{RESTRICTED_VOLUME}.RootVolume": "its key is all that can be chosen for a root volume",
}


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


def request(config: Config) -> dict[str, Any]:
    """Return the CreateCluster input as the stacks make it, with ids in place of references."""
    cluster = config.cluster
    surroundings = Surroundings(
        subnet_id_in=SUBNETS.__getitem__,
        security_group_id="sg-aaaaaaaa",
        lifecycle=LifecycleConfig(source_s3_uri="s3://sagemaker-ml", on_create="on_create.sh"),
    )
    return cluster_request(
        cluster_name=cluster.name,
        eks_cluster_arn=EKS,
        execution_role_arn=ROLE,
        vpc=VpcConfig(subnet_ids=["subnet-bbbbbbbb"], security_group_ids=["sg-aaaaaaaa"]),
        instance_groups=[instance_group(g, surroundings) for g in cluster.instance_groups],
        restricted_instance_groups=[
            restricted_instance_group(g, surroundings) for g in cluster.restricted_instance_groups
        ],
        shared_environment=shared_environment(cluster.shared_environment),
        node_recovery=cluster.node_recovery,
        node_provisioning_mode=cluster.node_provisioning_mode,
        tiered_storage=tiered_storage(cluster.tiered_storage),
        auto_scaling=cluster.auto_scaling,
        cluster_role_arn=cluster.role_arn,
        tags=config.tags,
    )


def excused(leaf: str) -> bool:
    return any(leaf == field or leaf.startswith((f"{field}.", f"{field}[")) for field in REASONS)


def test_every_field_is_reached_or_has_a_reason(shape: StructureShape) -> None:
    found = set(reached(shape, request(load_config(EVERY_FIELD))))

    assert {leaf for leaf in leaves(shape) if not excused(leaf)} - found == set()


@pytest.mark.parametrize("field", REASONS)
def test_a_reason_is_for_fields_that_are_there_and_not_reached(
    shape: StructureShape, field: str
) -> None:
    inside = [leaf for leaf in leaves(shape) if leaf.startswith(field)]

    assert inside
    assert not set(inside) & set(reached(shape, request(load_config(EVERY_FIELD))))


def test_the_walk_finds_what_is_missing(shape: StructureShape) -> None:
    small = request(load_config(ROOT / "config" / "default.yaml"))

    missing = set(leaves(shape)) - set(reached(shape, small))

    assert "InstanceGroups[].CapacityRequirements.Spot" in missing
    assert "InstanceGroups[].KubernetesConfig.Labels" in missing
    assert "ClusterName" not in missing


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_request_is_one_that_the_service_takes(
    service: ServiceModel, shape: StructureShape, path: Path
) -> None:
    made = request(load_config(path))

    assert not ParamValidator().validate(made, shape).has_errors()
    assert list(violations_of(shape, _over_the_wire(service, made))) == []
    validate_create(made)


def _over_the_wire(service: ServiceModel, made: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    serializer = create_serializer("json")
    operation = service.operation_model("CreateCluster")
    return json.loads(serializer.serialize_to_request(made, operation)["body"])
