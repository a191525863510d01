"""The HyperPod cluster as CloudFormation sees it: the request, rights, order."""

import inspect
import json
from typing import Any

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import (
    ClusterConfig,
    ConfigError,
    HyperPodCluster,
    InstanceGroupConfig,
    Provisioner,
)
from hyperpod_cdk.hyperpod.cluster import ClusterArguments
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView

CLUSTER = "Custom::HyperPodCluster"
OWN_ROLE = "arn:aws:iam::111122223333:role/Own"
MOST_PROPS = 10
GPU = InstanceGroupConfig(
    name="gpu",
    instance_type="ml.p5.48xlarge",
    instance_count=2,
    threads_per_core=2,
    deep_health_checks=("InstanceStress", "InstanceConnectivity"),
)
CPU = InstanceGroupConfig(
    name="cpu",
    instance_type="ml.m5.2xlarge",
    instance_count=0,
    volume_size_gib=100,
    threads_per_core=1,
)


def cluster(*groups: InstanceGroupConfig, **fields: Any) -> ClusterConfig:
    return ClusterConfig(name="ml-cluster", instance_groups=groups or (GPU, CPU), **fields)


@pytest.fixture
def arguments(cluster_arguments: dict[str, Any], provisioner: Provisioner) -> dict[str, Any]:
    """Return the arguments but for the section."""
    return {**cluster_arguments, "provisioner": provisioner}


def request(view: TemplateView) -> dict[str, Any]:
    """Return the CreateCluster input, with `<type.attribute>` for each reference."""
    result: dict[str, Any] = json.loads(view.text(view.one(CLUSTER)["Request"]))
    return result


@pytest.mark.parametrize(
    ("section", "options"),
    [
        pytest.param(cluster(), {}, id="default"),
        pytest.param(cluster(node_recovery="None"), {}, id="no-recovery"),
        pytest.param(cluster(node_provisioning_mode=None), {}, id="all-or-none"),
        pytest.param(cluster(), {"tags": {"team": "research", "cost": "42"}}, id="tags"),
        pytest.param(cluster(), {"tags": {}}, id="no-tags"),
        pytest.param(cluster(CPU), {}, id="one-group"),
        pytest.param(cluster(CPU), {"lifecycle_scripts": None}, id="no-scripts"),
        pytest.param(cluster(CPU, auto_scaling="Karpenter", role_arn=OWN_ROLE), {}, id="scaling"),
    ],
)
def test_the_request_is_the_create_cluster_input(
    *,
    stack: cdk.Stack,
    arguments: dict[str, Any],
    view: View,
    section: ClusterConfig,
    options: dict[str, Any],
    snapshot: SnapshotAssertion,
) -> None:
    HyperPodCluster(stack, "Cluster", cluster=section, **{**arguments, **options})

    assert request(view()) == snapshot


@pytest.mark.parametrize(
    "plan", ["p5", "arn:aws:sagemaker:us-west-2:<AWS::AccountId>:training-plan/p5"]
)
def test_a_training_plan_may_be_named(
    stack: cdk.Stack, arguments: dict[str, Any], view: View, plan: str
) -> None:
    given = plan.replace("<AWS::AccountId>", cdk.Aws.ACCOUNT_ID)
    planned = GPU.model_copy(update={"training_plan_arn": given})
    HyperPodCluster(stack, "Cluster", cluster=cluster(planned, CPU), **arguments)

    seen = view()
    [group] = [each for each in request(seen)["InstanceGroups"] if "TrainingPlanArn" in each]

    arn = "arn:aws:sagemaker:us-west-2:<AWS::AccountId>:training-plan/p5"
    assert group["TrainingPlanArn"] == arn
    assert arn in map(seen.text, seen.statement("UseTrainingPlans")["Resource"])


def test_exactly_the_roles_of_the_groups_are_passed(
    stack: cdk.Stack, arguments: dict[str, Any], view: View
) -> None:
    own = CPU.model_copy(update={"name": "own", "execution_role_arn": OWN_ROLE})
    HyperPodCluster(stack, "Cluster", cluster=cluster(GPU, CPU, own), **arguments)

    seen = view()
    passing = [item for _, item in seen.statements() if "iam:PassRole" in item["Action"]]

    assert passing == [
        {
            "Sid": "PassExecutionRole",
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": [OWN_ROLE, stack.resolve(arguments["execution_role"].role_arn)],
            "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        }
    ]


def test_scaling_needs_a_role(stack: cdk.Stack, arguments: dict[str, Any], raises: Raises) -> None:
    with raises(ValueError):
        HyperPodCluster(stack, "Cluster", cluster=cluster(auto_scaling="Karpenter"), **arguments)


def test_a_group_in_a_zone_without_a_subnet_is_refused(
    stack: cdk.Stack, arguments: dict[str, Any], raises: Raises
) -> None:
    elsewhere = CPU.model_copy(update={"availability_zone_id": "usw2-az4"})

    with raises(ValueError):
        HyperPodCluster(stack, "Cluster", cluster=cluster(elsewhere), **arguments)


def test_what_the_rules_of_a_cluster_refuse_is_refused_in_lines(
    stack: cdk.Stack, arguments: dict[str, Any]
) -> None:
    spot = CPU.model_copy(update={"capacity": "Spot", "min_instance_count": 0})
    section = cluster(GPU, spot, node_provisioning_mode=None)

    with pytest.raises(ConfigError) as caught:
        HyperPodCluster(stack, "Cluster", cluster=section, **arguments)

    needs = "needs cluster.node_provisioning_mode: Continuous"
    starts = [
        f"Stack/Cluster: cluster.instance_groups[1] (cpu).min_instance_count: 0 {needs}",
        f"Stack/Cluster: cluster.instance_groups[1] (cpu).capacity: 'Spot' {needs}",
    ]
    assert len(caught.value.lines) == len(starts)
    for line, start in zip(caught.value.lines, starts, strict=True):
        assert line.startswith(start)


def test_a_tag_that_is_the_deployments_own_mark_is_refused(
    stack: cdk.Stack, arguments: dict[str, Any], raises: Raises
) -> None:
    with raises(ConfigError):
        HyperPodCluster(
            stack, "Cluster", cluster=cluster(), tags={"hyperpod-cdk:stack-id": "x"}, **arguments
        )


def test_what_the_rules_of_a_cluster_warn_of_is_an_annotation_that_can_be_acknowledged(
    stack: cdk.Stack, arguments: dict[str, Any]
) -> None:
    half = GPU.model_copy(update={"threads_per_core": 1})
    made = HyperPodCluster(stack, "Cluster", cluster=cluster(half), **arguments)
    rule = "hyperpod-cdk:threads_per_core"

    (message,) = warnings(made)
    cdk.Annotations.of(stack).acknowledge_warning(rule, "It only serves models.")

    assert message.startswith("cluster.instance_groups[0] (gpu).threads_per_core: 1 ")
    assert message.endswith(f"[ack: {rule}]")
    assert warnings(made) == []


def warnings(construct: HyperPodCluster) -> list[str]:
    entries = construct.node.metadata
    return [str(entry.data) for entry in entries if entry.type == "aws:cdk:warning"]


def test_it_has_few_props() -> None:
    parameters = inspect.signature(HyperPodCluster.__init__).parameters.values()
    own = [item.name for item in parameters if item.kind is inspect.Parameter.KEYWORD_ONLY]

    assert own == ["provisioner"]
    assert len(ClusterArguments.__annotations__) < MOST_PROPS
