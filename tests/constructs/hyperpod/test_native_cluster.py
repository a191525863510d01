"""The HyperPod cluster as a resource of CloudFormation's own."""

import inspect
import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk import (
    ClusterConfig,
    ConfigError,
    HyperPodCluster,
    InstanceGroupConfig,
    NativeHyperPodCluster,
    Provisioner,
    hyperpod_cluster,
)
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView

NATIVE, CUSTOM = "AWS::SageMaker::Cluster", "Custom::HyperPodCluster"
GROUP = InstanceGroupConfig(
    name="cpu",
    instance_type="ml.m5.2xlarge",
    instance_count=2,
    threads_per_core=1,
    labels={"team": "research"},
)


def cluster(**fields: Any) -> ClusterConfig:
    return ClusterConfig(
        **{"name": "ml", "resource": "native", "instance_groups": (GROUP,), **fields}
    )


@pytest.fixture
def arguments(cluster_arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of both constructs."""
    return {**cluster_arguments, "tags": {"team": "research"}}


def texts(view: TemplateView, value: object) -> Any:  # noqa: ANN401 - JSON
    """Return a property with a text for each reference, as the custom resource's request has it."""
    match value:
        case list():
            return [texts(view, item) for item in value]
        case dict() if not any(key == "Ref" or key.startswith("Fn::") for key in value):
            return {key: texts(view, item) for key, item in value.items()}
        case dict():
            return view.text(value)
    return value


def test_its_properties_are_the_request_of_the_custom_resource(
    stack: cdk.Stack, arguments: dict[str, Any], provisioner: Provisioner, view: View
) -> None:
    release = cdk.CfnResource(stack, "First", type="AWS::CloudFormation::WaitConditionHandle")
    for kind in ("custom", "native"):
        hyperpod_cluster(
            stack,
            kind,
            cluster=cluster(resource=kind),
            provisioner=provisioner,
            depends_on=[release],
            **arguments,
        )

    seen = view()
    properties = texts(seen, seen.one(NATIVE))

    request = json.loads(seen.text(seen.one(CUSTOM)["Request"]))
    own = {"Key": "hyperpod-cdk:stack-id", "Value": "<AWS::StackId>"}
    assert properties == {**request, "Tags": [*request["Tags"], own]}
    assert type(properties["InstanceGroups"][0]["InstanceCount"]) is int
    assert stack.get_logical_id(release) in seen.resources[seen.id(NATIVE)]["DependsOn"]


def test_it_has_the_attributes_of_the_custom_resource(
    stack: cdk.Stack, arguments: dict[str, Any], view: View
) -> None:
    made = NativeHyperPodCluster(stack, "Cluster", cluster=cluster(), **arguments)

    assert made.cluster_name == "ml"
    assert stack.resolve(made.cluster_arn) == {"Fn::GetAtt": [view().id(NATIVE), "ClusterArn"]}
    assert made.shortage is None
    parameters = inspect.signature(HyperPodCluster.__init__).parameters.keys()
    own = inspect.signature(NativeHyperPodCluster.__init__).parameters.keys()
    assert parameters - own == {"provisioner"}


def test_a_change_of_its_kind_or_mode_is_refused_by_the_template(
    stack: cdk.Stack, arguments: dict[str, Any]
) -> None:
    NativeHyperPodCluster(stack, "Cluster", cluster=cluster(), **arguments)

    rules = json.dumps(Template.from_stack(stack).to_json()["Rules"])

    assert "cluster.resource: 'native' " in rules
    assert "cluster.node_provisioning_mode: 'Continuous' " in rules


def test_another_kind_is_refused(
    stack: cdk.Stack, arguments: dict[str, Any], provisioner: Provisioner, raises: Raises
) -> None:
    with raises(ValueError):
        NativeHyperPodCluster(stack, "One", cluster=cluster(resource="custom"), **arguments)
    with raises(ValueError):
        HyperPodCluster(stack, "Two", cluster=cluster(), provisioner=provisioner, **arguments)


def test_what_the_type_lacks_is_refused_in_a_line(
    stack: cdk.Stack, arguments: dict[str, Any], raises: Raises
) -> None:
    section = cluster(wait_minutes=50)

    with raises(ConfigError):
        NativeHyperPodCluster(stack, "Cluster", cluster=section, **arguments)
