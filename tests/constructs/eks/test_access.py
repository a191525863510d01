"""Who gets into the Kubernetes cluster, and with which access policies."""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, EditorsConfig, EksConfig
from tests.constructs.conftest import View
from tests.constructs.eks.conftest import Make

ENTRY = "AWS::EKS::AccessEntry"
ANN, BEN, EVE = (f"arn:aws:iam::111122223333:role/{name}" for name in ("Ann", "Ben", "team/Ann"))
ADMIN, EDIT, VIEW, TRAINING = (
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSViewPolicy",
    "AmazonSagemakerHyperpodTrainingPolicy",
)
Granted = Mapping[str, Sequence[str] | None]


def editors(*principals: str, of: Sequence[str], training_jobs: bool = True) -> EditorsConfig:
    """Return an entry of the list."""
    return EditorsConfig(namespaces=tuple(of), principals=principals, training_jobs=training_jobs)


@pytest.mark.parametrize(
    ("eks", "expected"),
    [
        pytest.param({}, {}, id="nobody"),
        pytest.param({"admins": [ANN]}, {ANN: {ADMIN: None}}, id="admin"),
        pytest.param({"viewers": [ANN]}, {ANN: {VIEW: None}}, id="viewer"),
        pytest.param(
            {"editors": [editors(ANN, BEN, of=["b", "a"])]},
            {
                ANN: {EDIT: ["a", "b"], TRAINING: ["a", "b"]},
                BEN: {EDIT: ["a", "b"], TRAINING: ["a", "b"]},
            },
            id="editors",
        ),
        pytest.param(
            {"viewers": [ANN], "editors": [editors(ANN, of=["a"], training_jobs=False)]},
            {ANN: {EDIT: ["a"], VIEW: None}},
            id="viewer-and-editor",
        ),
        pytest.param(
            {
                "editors": [
                    editors(ANN, of=["a", "dev-*"]),
                    editors(BEN, ANN, of=["b", "a"], training_jobs=False),
                ]
            },
            {ANN: {EDIT: ["a", "b", "dev-*"], TRAINING: ["a", "dev-*"]}, BEN: {EDIT: ["a", "b"]}},
            id="editor-of-several-entries",
        ),
    ],
)
def test_a_principal_has_one_entry_with_all_its_policies(
    make: Make, view: View, eks: Mapping[str, Any], expected: Mapping[str, Granted]
) -> None:
    make(**eks)

    assert {entry["PrincipalArn"]: granted(entry) for entry in view().all(ENTRY)} == expected
    assert len(view().all(ENTRY)) == len(expected)


def granted(entry: Mapping[str, Any]) -> Granted:
    """Return the namespaces of each policy of an entry; None for the whole cluster."""
    found = {}
    for each in entry["AccessPolicies"]:
        arn = str(each["PolicyArn"]["Fn::Join"][1][-1])
        name = arn.removeprefix(":eks::aws:cluster-access-policy/")
        scope = each["AccessScope"]
        assert scope["Type"] == ("namespace" if "Namespaces" in scope else "cluster")
        found[name] = scope.get("Namespaces")
    return found


def test_neither_order_nor_rights_change_the_id_of_an_entry(make: Make, stack: cdk.Stack) -> None:
    # CloudFormation creates the entry of a new id first, and EKS has one of the principal.
    other = cdk.Stack(cdk.App.of(stack), "Other", env=cdk.Environment(region="us-west-2"))
    make(admins=(ANN,), viewers=(BEN, EVE))
    make(within=other, viewers=(EVE, ANN), editors=(editors(BEN, of=["a"]),))

    found = [
        {
            item["Properties"]["PrincipalArn"]: name
            for name, item in Template.from_stack(within).find_resources(ENTRY).items()
        }
        for within in (stack, other)
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 3


ENTRIES: list[dict[str, list[str]]] = [
    {"namespaces": []},
    {"namespaces": ["a", "a"]},
    {"namespaces": ["Team A"]},
    {"namespaces": ["kube-*"]},
    {"namespaces": ["*"]},
    {"namespaces": ["kube-node-lease"]},
    {"namespaces": ["kube-own"]},
    {"privileged_namespaces": ["b"]},
    {"principals": []},
    {"principals": ["Ann"]},
]


@pytest.mark.parametrize(
    "eks",
    [
        {"viewers": [ANN, ANN]},
        {"admins": [ANN], "viewers": [BEN, ANN]},
        {"admins": [ANN], "editors": [{"namespaces": ["a"], "principals": [ANN]}]},
        *({"editors": [{"namespaces": ["a"], "principals": [ANN], **entry}]} for entry in ENTRIES),
    ],
)
def test_what_contradicts_itself_is_refused(
    eks: Mapping[str, Any], snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(ConfigError) as refused:
        EksConfig(**eks)

    assert refused.value.lines == snapshot
