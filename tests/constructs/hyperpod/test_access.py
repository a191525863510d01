"""The rights of the principal that makes a HyperPod cluster: those that this cluster takes."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

from hyperpod_cdk.hyperpod.access import access_findings, hyperpod_access
from hyperpod_cdk.synthesis.acknowledge import wildcard_finding
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView, listed

NODES, OTHERS, SCALING = (f"arn:aws:iam::111122223333:role/{n}" for n in ("Nodes", "B", "Scaling"))
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5"
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"
IMAGE = "ami-0123456789abcdef0"
ALWAYS = {"ManageCluster", "PassExecutionRole", "FirstUseOfHyperPod"}
CAPACITY = "arn:aws:sagemaker:us-west-2:<AWS::AccountId>:reserved-capacity/*"
CLUSTERS = "arn:aws:sagemaker:us-west-2:<AWS::AccountId>:cluster/*"


def group(**fields: object) -> dict[str, Any]:
    return {"ExecutionRole": NODES, **fields}


def volumes(*keys: str) -> list[dict[str, Any]]:
    return [{"EbsVolumeConfig": {"VolumeSizeInGB": 1, "VolumeKmsKeyId": key}} for key in keys]


def seen(stack: cdk.Stack, view: View, request: Mapping[str, Any]) -> TemplateView:
    role = iam.Role(stack, "Caller", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    iam.Policy(stack, "Access", roles=[role], statements=hyperpod_access(stack, request))
    return view()


def resources(found: TemplateView, sid: str) -> set[str]:
    return {found.text(resource) for resource in listed(found.statement(sid)["Resource"])}


@pytest.mark.parametrize(
    ("request_", "more"),
    [
        pytest.param({"InstanceGroups": [group()]}, set(), id="plain"),
        pytest.param({"InstanceGroups": [group(ImageId="default")]}, set(), id="default-image"),
        pytest.param(
            {"InstanceGroups": [group(InstanceStorageConfigs=[{"FsxLustreConfig": {}}])]},
            set(),
            id="mount",
        ),
        pytest.param(
            {"InstanceGroups": [group()], "ClusterRole": SCALING},
            {"PassClusterRole"},
            id="cluster-role",
        ),
        pytest.param(
            {"InstanceGroups": [group(TrainingPlanArn=PLAN)]}, {"UseTrainingPlans"}, id="plan"
        ),
        pytest.param(
            {"InstanceGroups": [group(ImageId=IMAGE)]},
            {"FindImages", "ShareImages", "ShareSnapshots"},
            id="image",
        ),
        pytest.param(
            {"RestrictedInstanceGroups": [group(InstanceStorageConfigs=volumes(KEY))]},
            {"GrantVolumeKeys", "DescribeVolumeKeys"},
            id="key-of-restricted-group",
        ),
    ],
)
def test_only_what_the_cluster_names_is_allowed(
    stack: cdk.Stack, view: View, request_: dict[str, Any], more: set[str]
) -> None:
    found = seen(stack, view, request_)

    assert {statement["Sid"] for _, statement in found.statements()} == ALWAYS | more


def test_exactly_the_roles_in_use_are_passed(stack: cdk.Stack, view: View) -> None:
    groups = [group(), group(), group(ExecutionRole=OTHERS)]
    found = seen(stack, view, {"InstanceGroups": groups, "ClusterRole": SCALING})

    assert resources(found, "PassExecutionRole") == {NODES, OTHERS}
    assert found.statement("PassExecutionRole")["Condition"] == {
        "StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}
    }
    assert resources(found, "PassClusterRole") == {SCALING}


def test_keys_serve_sagemaker_only(stack: cdk.Stack, view: View) -> None:
    groups = [group(InstanceStorageConfigs=volumes(KEY, "5678abcd", KEY))]
    found = seen(stack, view, {"InstanceGroups": groups})
    keys = {KEY, "arn:aws:kms:us-west-2:<AWS::AccountId>:key/5678abcd"}

    for sid, action in (
        ("GrantVolumeKeys", "kms:CreateGrant"),
        ("DescribeVolumeKeys", "kms:DescribeKey"),
    ):
        statement = found.statement(sid)
        service = statement["Condition"]["StringEquals"]["kms:ViaService"]
        assert statement["Action"] == action
        assert resources(found, sid) == keys
        assert found.text(service) == "sagemaker.us-west-2.<AWS::URLSuffix>"
    assert found.statement("GrantVolumeKeys")["Condition"]["Bool"] == {
        "kms:GrantIsForAWSResource": "true"
    }


def test_plans_and_images_are_named(stack: cdk.Stack, view: View) -> None:
    groups = [group(TrainingPlanArn=PLAN, ImageId=IMAGE)]
    found = seen(stack, view, {"InstanceGroups": groups})

    assert resources(found, "UseTrainingPlans") == {PLAN, CAPACITY}
    assert resources(found, "ShareImages") == {f"arn:aws:ec2:us-west-2::image/{IMAGE}"}


@pytest.mark.parametrize(
    ("fields", "wild"),
    [
        pytest.param({}, {CLUSTERS}, id="plain"),
        pytest.param({"TrainingPlanArn": PLAN}, {CLUSTERS, CAPACITY}, id="plan"),
        pytest.param(
            {"ImageId": IMAGE}, {CLUSTERS, "*", "arn:aws:ec2:us-west-2::snapshot/*"}, id="image"
        ),
        pytest.param({"InstanceStorageConfigs": volumes(KEY)}, {CLUSTERS}, id="key"),
    ],
)
def test_every_wildcard_is_acknowledged_and_nothing_else(
    stack: cdk.Stack, view: View, fields: dict[str, Any], wild: set[str]
) -> None:
    request = {"InstanceGroups": [group(**fields)]}
    found = seen(stack, view, request)
    sids = [statement["Sid"] for _, statement in found.statements()]

    assert {arn for sid in sids for arn in resources(found, sid) if "*" in arn} == wild
    assert access_findings(stack, request).keys() == {
        wildcard_finding(stack, resource.replace("<AWS::AccountId>", cdk.Aws.ACCOUNT_ID))
        for resource in wild
    }
