"""What the provisioner may do with a cluster, and with values that a template holds as tokens."""

from fnmatch import fnmatchcase
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

from hyperpod_cdk import ClusterConfig
from hyperpod_cdk.hyperpod.access import hyperpod_access
from hyperpod_cdk.synthesis.reasons import wildcard_nag_id
from hyperpod_shared.owner import Owner
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView, listed

NODES, OTHERS, SCALING = (f"arn:aws:iam::111122223333:role/{n}" for n in ("Nodes", "B", "Scaling"))
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5"
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"
IMAGE = "ami-0123456789abcdef0"
MOUNT = {"dns_name": "fs-0123456789abcdef0.fsx.amazonaws.com", "mount_name": "abcdefgh"}
RESTRICTED = {"name": "nova", "instance_type": "ml.p5.48xlarge", "instance_count": 1}
ALWAYS = {
    "DescribeCluster",
    "ManageCluster",
    "PassExecutionRole",
    "FirstUseOfHyperPod",
    "FindTaskGovernance",
}
CAPACITY = "arn:aws:sagemaker:us-west-2:<AWS::AccountId>:reserved-capacity/*"
CLUSTERS = "arn:aws:sagemaker:us-west-2:<AWS::AccountId>:cluster/*"


def cluster(*groups: dict[str, Any], **fields: object) -> ClusterConfig:
    base = {"instance_type": "ml.p5.48xlarge", "instance_count": 1}
    named = [{"name": f"g{index}", **base, **group} for index, group in enumerate(groups)]
    return ClusterConfig.model_validate({"name": "ml", "instance_groups": named, **fields})


def volumes(*keys: str) -> list[dict[str, Any]]:
    """Return a root volume and, for a second key, a second volume."""
    kinds: list[dict[str, Any]] = [{"root_volume": True}, {"volume_size_gib": 1}]
    return [{**kind, "kms_key_id": key} for kind, key in zip(kinds, keys, strict=False)]


def seen(stack: cdk.Stack, view: View, cluster: ClusterConfig, *roles: str) -> TemplateView:
    role = iam.Role(stack, "Caller", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    statements = hyperpod_access(stack, cluster, execution_role_arns=roles or [NODES])
    iam.Policy(stack, "Access", roles=[role], statements=statements)
    return view()


def resources(found: TemplateView, sid: str) -> set[str]:
    return {found.text(resource) for resource in listed(found.statement(sid)["Resource"])}


def test_clusters_of_other_deployments_are_looked_at_alone(stack: cdk.Stack, view: View) -> None:
    found = seen(stack, view, cluster({}))
    owner = Owner(
        stack_id=f"arn:aws:cloudformation:us-west-2:<AWS::AccountId>:stack/{stack.stack_name}/1",
        logical_id="Cluster",
    )
    (condition,) = found.statement("ManageCluster")["Condition"]["StringLikeIfExists"].items()
    key, pattern = condition

    assert "Condition" not in found.statement("DescribeCluster")
    tags = {f"aws:ResourceTag/{name}": value for name, value in owner.tags.items()}
    assert fnmatchcase(tags[key], found.text(pattern).replace("arn:<AWS::Partition>", "arn:aws"))


@pytest.mark.parametrize(
    ("named", "more"),
    [
        pytest.param(cluster({}), set(), id="plain"),
        pytest.param(cluster({"image_id": "default"}), set(), id="default-image"),
        pytest.param(cluster({"fsx_lustre_mounts": [MOUNT]}), set(), id="mount"),
        pytest.param(cluster({}, role_arn=SCALING), {"PassClusterRole"}, id="cluster-role"),
        pytest.param(cluster({"training_plan_arn": PLAN}), {"UseTrainingPlans"}, id="plan"),
        pytest.param(
            cluster({"image_id": IMAGE}),
            {"FindImages", "ShareImages", "ShareSnapshots"},
            id="image",
        ),
        pytest.param(
            cluster({}, restricted_instance_groups=[{**RESTRICTED, "ebs_volumes": volumes(KEY)}]),
            {"GrantVolumeKeys", "DescribeVolumeKeys"},
            id="key-of-restricted-group",
        ),
    ],
)
def test_only_what_the_cluster_names_is_allowed(
    stack: cdk.Stack, view: View, named: ClusterConfig, more: set[str]
) -> None:
    found = seen(stack, view, named)

    assert {statement["Sid"] for _, statement in found.statements()} == ALWAYS | more


def test_roles_are_passed_to_their_service_only(stack: cdk.Stack, view: View) -> None:
    found = seen(stack, view, cluster({}, role_arn=SCALING), NODES, OTHERS)

    assert resources(found, "PassExecutionRole") == {NODES, OTHERS}
    assert found.statement("PassExecutionRole")["Condition"] == {
        "StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}
    }
    assert resources(found, "PassClusterRole") == {SCALING}


def test_keys_serve_sagemaker_only(stack: cdk.Stack, view: View) -> None:
    named = cluster({"ebs_volumes": volumes(KEY, "5678abcd")}, {"ebs_volumes": volumes(KEY)})
    found = seen(stack, view, named)
    keys = {KEY, "arn:aws:kms:us-west-2:<AWS::AccountId>:key/5678abcd"}

    for sid, action in (
        ("GrantVolumeKeys", "kms:CreateGrant"),
        ("DescribeVolumeKeys", "kms:DescribeKey"),
    ):
        statement = found.statement(sid)
        service = statement["Condition"]["StringEquals"]["kms:ViaService"]
        assert statement["Action"] == action
        assert len(listed(statement["Resource"])) == len(keys)
        assert resources(found, sid) == keys
        assert found.text(service) == "sagemaker.us-west-2.<AWS::URLSuffix>"
    assert found.statement("GrantVolumeKeys")["Condition"]["Bool"] == {
        "kms:GrantIsForAWSResource": "true"
    }


def test_plans_and_images_are_named(stack: cdk.Stack, view: View) -> None:
    found = seen(stack, view, cluster({"training_plan_arn": PLAN, "image_id": IMAGE}))

    assert resources(found, "UseTrainingPlans") == {PLAN, CAPACITY}
    assert resources(found, "ShareImages") == {f"arn:aws:ec2:us-west-2::image/{IMAGE}"}


@pytest.mark.parametrize(
    ("fields", "wild"),
    [
        pytest.param({}, {CLUSTERS, "*"}, id="plain"),
        pytest.param({"training_plan_arn": PLAN}, {CLUSTERS, CAPACITY, "*"}, id="plan"),
        pytest.param(
            {"image_id": IMAGE}, {CLUSTERS, "*", "arn:aws:ec2:us-west-2::snapshot/*"}, id="image"
        ),
        pytest.param({"ebs_volumes": volumes(KEY)}, {CLUSTERS, "*"}, id="key"),
    ],
)
def test_every_wildcard_is_acknowledged_and_nothing_else(
    stack: cdk.Stack, view: View, fields: dict[str, Any], wild: set[str]
) -> None:
    named = cluster(fields)
    found = seen(stack, view, named)
    sids = [statement["Sid"] for _, statement in found.statements()]

    assert {arn for sid in sids for arn in resources(found, sid) if "*" in arn} == wild
    acknowledged = {
        rule.removeprefix("Annotation::")
        for entry in stack.node.metadata
        if entry.type == "aws:cdk:acknowledged-rules"
        for rule in entry.data
    }
    assert acknowledged == {
        wildcard_nag_id(stack, resource.replace("<AWS::AccountId>", cdk.Aws.ACCOUNT_ID))
        for resource in wild
    }
