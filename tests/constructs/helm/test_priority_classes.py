"""The release of the PriorityClasses as CloudFormation sees it."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_eks_v2 as eks
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import PriorityClassConfig, PriorityClasses, Provisioner
from tests.conftest import Assemble, Configure
from tests.constructs.conftest import View
from tests.support.refusals import helm_lines
from tests.support.template_view import TemplateView

RELEASE = "Custom::HelmRelease"


@pytest.fixture
def arguments(eks_cluster: eks.ICluster, provisioner: Provisioner) -> dict[str, Any]:
    """Return the arguments without a default."""
    return {"cluster": eks_cluster, "provisioner": provisioner}


def test_defaults(stack: cdk.Stack, arguments: dict[str, Any], view: View) -> None:
    PriorityClasses(stack, "Classes", **arguments)

    properties = view().one(RELEASE)
    listed = json.loads(properties["Values"])["classes"]

    assert (properties["Release"], properties["Namespace"]) == (
        "hyperpod-priority-classes",
        "kube-system",
    )
    assert {item["name"]: item["value"] for item in listed} == {
        "inference": 100000,
        "training": 10000,
        "best-effort": -10,
    }


def test_options(stack: cdk.Stack, arguments: dict[str, Any], view: View) -> None:
    one = PriorityClassConfig(
        name="one", value=7, preemption_policy="Never", description="it", global_default=True
    )
    PriorityClasses(
        stack, "Classes", **arguments, classes=[one], release="mine", namespace="research"
    )

    properties = view().one(RELEASE)

    assert (properties["Release"], properties["Namespace"]) == ("mine", "research")
    assert json.loads(properties["Values"]) == {
        "classes": [
            {
                "name": "one",
                "value": 7,
                "preemptionPolicy": "Never",
                "description": "it",
                "globalDefault": True,
            }
        ]
    }


@pytest.mark.parametrize(
    ("helm", "releases"),
    [
        ({}, {"hyperpod-dependencies", "hyperpod-priority-classes"}),
        ({"priority_classes": None}, {"hyperpod-dependencies"}),
        ({"priority_classes": []}, {"hyperpod-dependencies"}),
    ],
)
def test_the_stack_installs_them_unless_there_are_none(
    helm: dict[str, Any], releases: set[str], configure: Configure, assemble: Assemble
) -> None:
    template = assemble(configure({"helm": helm})).templates()["ml-hyperpod"]

    assert {item["Release"] for item in TemplateView(template).all(RELEASE)} == releases


def classes(*names: str, **others: object) -> list[dict[str, object]]:
    return [{"name": name, "value": 1, **others} for name in names]


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "system": ({"priority_classes": classes("system-mine")}, "helm.priority_classes[0].name"),
    "governance": (
        {"priority_classes": classes("training-priority")},
        "helm.priority_classes[0].name",
    ),
    "upper-case": ({"priority_classes": classes("Training")}, "helm.priority_classes[0].name"),
    "too-great": (
        {"priority_classes": classes("a", value=1_000_000_001)},
        "helm.priority_classes[0].value",
    ),
    "twice": ({"priority_classes": classes("a", "b", "a")}, "helm.priority_classes[2].name"),
    "two-defaults": (
        {"priority_classes": classes("a", "b", global_default=True)},
        "helm.priority_classes[1].global_default",
    ),
}


@pytest.mark.parametrize(("helm", "place"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_gives_one_line(
    helm: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    (line,) = helm_lines(helm)

    assert line.startswith(f"{place}: ")
    assert line == snapshot
