"""A role that exists, for the nodes; and a name for one that is made."""

from typing import Any

import pytest

from hyperpod_cdk import load_config
from tests.conftest import Configure, Synthesize
from tests.support.configs import CONFIG_FOLDER, default_document
from tests.support.refusals import lines_for

ROLE = "arn:aws:iam::111122223333:role/team/Nodes"


def test_the_role_is_passed_on_and_not_changed(
    configure: Configure, synthesize: Synthesize
) -> None:
    found = synthesize(configure({"cluster": {"execution_role_arn": ROLE}}))

    found["ml-platform"].has_output("SageMakerIAMRoleArn", {"Value": ROLE})
    policies = found["ml-platform"].find_resources("AWS::IAM::Policy").values()
    assert not any("ManageNetworkInterfaces" in str(policy) for policy in policies)
    (cluster,) = found["ml-hyperpod"].find_resources("Custom::HyperPodCluster").values()
    assert str(cluster["Properties"]["Request"]).count(ROLE) == len(
        configure({}).cluster.instance_groups
    )
    (passed,) = [
        statement
        for policy in found["ml-hyperpod"].find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Sid"] == "PassExecutionRole"
    ]
    assert passed["Resource"] == ROLE


@pytest.mark.parametrize(
    ("cluster", "line"),
    [
        (
            {"execution_role_arn": ROLE, "execution_role_name": "Nodes"},
            "cluster.execution_role_name: 'Nodes' must be left out: execution_role_arn names a",
        ),
        ({"execution_role_arn": "Nodes"}, "'Nodes' must be the ARN of an IAM role"),
        ({"execution_role_name": "team/Nodes"}, "'team/Nodes' must be the name of an IAM role"),
        ({"execution_role_name": "x" * 65}, "must be the name of an IAM role: 1 to 64 letters"),
    ],
)
def test_what_does_not_go_together_is_told(cluster: dict[str, Any], line: str) -> None:
    document = default_document()
    (found,) = lines_for({**document, "cluster": {**document["cluster"], **cluster}})
    assert line in found


def test_names_cannot_be_changed(synthesize: Synthesize) -> None:
    named = load_config(CONFIG_FOLDER / "examples" / "names.yaml")
    platform = synthesize(named)["named-platform"].to_json()
    held = {
        parameter["Description"].partition(" ")[0]: parameter["Default"]
        for parameter in platform["Parameters"].values()
        if "as the stack was created" in parameter.get("Description", "")
    }
    assert {
        "eks.cluster_name": "Research_EKS",
        "lifecycle_scripts.bucket_name": "sagemaker-research-node-scripts",
        "cluster.execution_role_name": "ResearchHyperPodNodes",
    }.items() <= held.items()
    (role,) = [
        each
        for each in platform["Resources"].values()
        if each["Type"] == "AWS::IAM::Role"
        and each["Properties"].get("RoleName") == "ResearchHyperPodNodes"
    ]
    assert role["Properties"]["Description"] == "HyperPod cluster nodes"
