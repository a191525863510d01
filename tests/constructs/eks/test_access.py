"""Who gets into the Kubernetes cluster, and with which access policies."""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk import ConfigError, EditorsConfig, EksCluster, EksConfig
from tests.constructs.conftest import View

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
    surroundings: dict[str, Any],
    stack: cdk.Stack,
    view: View,
    eks: Mapping[str, Any],
    expected: Mapping[str, Granted],
) -> None:
    EksCluster(stack, "Eks", **surroundings, eks=EksConfig(**eks))

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


def test_neither_order_nor_rights_change_the_id_of_an_entry(
    surroundings: dict[str, Any], stack: cdk.Stack
) -> None:
    # CloudFormation creates the entry of a new id first, and EKS has one of the principal.
    sections = [
        EksConfig(admins=(ANN,), viewers=(BEN, EVE)),
        EksConfig(viewers=(EVE, ANN), editors=(editors(BEN, of=["a"]),)),
    ]
    other = cdk.Stack(cdk.App.of(stack), "Other", env=cdk.Environment(region="us-west-2"))
    for within, section in zip((stack, other), sections, strict=True):
        EksCluster(within, "Eks", **surroundings, eks=section)

    found = [
        {
            item["Properties"]["PrincipalArn"]: name
            for name, item in Template.from_stack(within).find_resources(ENTRY).items()
        }
        for within in (stack, other)
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 3


@pytest.mark.parametrize(
    ("eks", "message"),
    [
        ({"viewers": [ANN, ANN]}, r"viewers\[1\]: .*is listed twice; EKS takes a principal once"),
        (
            {"admins": [ANN], "viewers": [BEN, ANN]},
            r"viewers\[1\]: .*is in eks.admins, which gives every right",
        ),
        (
            {"admins": [ANN], "editors": [{"namespaces": ["a"], "principals": [ANN]}]},
            r"editors\[0\].principals\[0\]: .*is in eks.admins, which gives every right",
        ),
        (
            {"editors": [{"namespaces": [], "principals": [ANN]}]},
            r"editors\[0\].namespaces: \[\] must name one namespace or more",
        ),
        (
            {"editors": [{"namespaces": ["a"], "principals": []}]},
            r"editors\[0\].principals: \[\] must name one principal or more",
        ),
        (
            {"editors": [{"namespaces": ["a", "a"], "principals": [ANN]}]},
            r"editors\[0\].namespaces\[1\]: 'a' is listed twice",
        ),
        (
            {"editors": [{"namespaces": ["Team A"], "principals": [ANN]}]},
            r"editors\[0\].namespaces\[0\]: 'Team A' must be a namespace, or a pattern of them",
        ),
        (
            {"editors": [{"namespaces": ["kube-*"], "principals": [ANN]}]},
            r"editors\[0\].namespaces\[0\]: 'kube-\*' must leave out kube-system",
        ),
        (
            {"editors": [{"namespaces": ["*"], "principals": [ANN]}]},
            r"editors\[0\].namespaces\[0\]: '\*' must leave out kube-system",
        ),
        (
            {"editors": [{"namespaces": ["kube-node-lease"], "principals": [ANN]}]},
            r"editors\[0\].namespaces\[0\]: 'kube-node-lease' must leave out kube-node-lease",
        ),
        (
            {"editors": [{"namespaces": ["kube-own"], "principals": [ANN]}]},
            r"editors\[0\].namespaces\[0\]: 'kube-own' must leave out kube-own",
        ),
        (
            {
                "editors": [
                    {"namespaces": ["a"], "privileged_namespaces": ["b"], "principals": [ANN]}
                ]
            },
            r"editors\[0\].privileged_namespaces\[0\]: 'b' is none of namespaces",
        ),
        (
            {"editors": [{"namespaces": ["a"], "principals": ["Ann"]}]},
            r"editors\[0\].principals\[0\]: 'Ann' must be the ARN of an IAM role or user",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(eks: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=rf"EksConfig\.{message}"):
        EksConfig(**eks)
