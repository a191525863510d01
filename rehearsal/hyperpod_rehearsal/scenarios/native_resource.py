"""The scenario in which CloudFormation's own type makes the cluster."""

from collections.abc import Iterator
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.facts.native_cluster import native_regions
from hyperpod_cdk.hyperpod.checks.native_resource import native_resource as refused_by_type
from hyperpod_cdk.hyperpod.waiting import WaitingConfig
from hyperpod_cli.aws.stacks import resources_of
from hyperpod_emulator.hyperpod import Faults
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    Scenario,
    all_nodes_run,
    cluster_is,
    grow,
    has_status,
    is_refused,
    succeeds,
    with_another_group,
)
from hyperpod_rehearsal.stage import Stage

_TYPE = "AWS::SageMaker::Cluster"


def _native(document: dict[str, Any]) -> None:
    cluster = document["cluster"]
    for key in WaitingConfig.model_fields:
        cluster.pop(key, None)
    cluster["resource"] = "native"


def _with_another_group(document: dict[str, Any]) -> None:
    _native(document)
    with_another_group(document)


def _grown(document: dict[str, Any]) -> None:
    _native(document)
    grow(document)


def _lacking(config: Config) -> str | None:
    native = config.cluster.model_copy(update={"resource": "native"})
    refused = [
        finding.path
        for finding in refused_by_type(native)
        if finding.path[1] not in WaitingConfig.model_fields
    ]
    has_type = config.region is None or config.region in native_regions()
    return f"a cluster that {_TYPE} can make" if refused or not has_type else None


def _has_the_type(stage: Stage) -> Fact:
    cloudformation = stage.environment.clients("cloudformation")
    types = {resource.type for resource in resources_of(cloudformation, stage.stack("hyperpod"))}
    is_native = _TYPE in types and "Custom::HyperPodCluster" not in types
    return Fact(title=f"{_TYPE} makes the cluster, no custom resource", ok=is_native)


@Scenario(also_lacking=_lacking)
def native_resource(stage: Stage) -> Iterator[Fact]:
    """AWS::SageMaker::Cluster makes the cluster: it fails, is created, grows, and is deleted."""
    stage.change(_with_another_group)
    stage.environment.hyperpod.faults = Faults(create_failure="The cluster could not be created.")
    yield is_refused(stage.deploy(), matching=r"The cluster could not be created\.")
    yield cluster_is(stage, "gone")
    stage.environment.hyperpod.faults = Faults()

    yield succeeds("it is deployed again", stage.deploy())
    yield _has_the_type(stage)
    yield all_nodes_run(stage)
    stage.change(_grown)
    yield succeeds("one group grows by two nodes, another goes", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)

    stage.restore()
    matching = r"cluster\.resource: 'custom' cannot be changed once it is deployed"
    yield is_refused(stage.deploy(), matching=matching)
    yield cluster_is(stage, "InService")
    yield succeeds("the HyperPod stack is destroyed", stage.destroy("hyperpod"))
    yield cluster_is(stage, "gone")
