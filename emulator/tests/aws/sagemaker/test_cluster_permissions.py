"""A caller needs every permission that HyperPod uses on its behalf, and no other."""

from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from aws_reference.action_resources import action_resources
from hyperpod_emulator.aws.local_aws import ACCOUNT
from hyperpod_emulator.testing.site import CLUSTER_ARN, EKS, REGION, Site
from hyperpod_emulator.testing.slurm_requests import site_request
from hyperpod_emulator.testing.stacks import Template, client, client_of_user

IMAGE = "ami-0123456789abcdef0"
PLAN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/plan"
IMAGE_RIGHTS = {
    "ec2:DescribeImages": "*",
    "ec2:DescribeSnapshots": "*",
    "ec2:ModifyImageAttribute": f"arn:aws:ec2:{REGION}::image/{IMAGE}",
    "ec2:ModifySnapshotAttribute": f"arn:aws:ec2:{REGION}::snapshot/*",
}


# Input of the operations on a cluster, in addition to its name.
REQUESTS: dict[str, Template] = {
    "BatchAddClusterNodes": {
        "NodesToAdd": [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    },
    "BatchDeleteClusterNodes": {"NodeIds": ["i-0123456789abcdef0"]},
    "DeleteCluster": {},
    "UpdateCluster": {},
    "UpdateClusterSoftware": {},
}


def dependent(operation: str) -> list[str]:
    """Return what the Service Authorization Reference says a caller needs in addition.

    What concerns AMIs of the caller's own has a test of its own.
    """
    actions = action_resources()[f"sagemaker:{operation}"].dependent
    # Only the first cluster of an account makes it.
    return [each for each in actions if each not in {*IMAGE_RIGHTS, "iam:CreateServiceLinkedRole"}]


def grants(names: dict[str, str]) -> dict[str, Template]:
    """Return what a caller needs, one statement a permission, scoped as a careful policy does."""
    clusters = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/*"
    actions = (
        "AddTags",
        "BatchAddClusterNodes",
        "BatchDeleteClusterNodes",
        "CreateCluster",
        "DeleteCluster",
        "DescribeCluster",
        "UpdateCluster",
        "UpdateClusterSoftware",
    )
    statements: dict[str, Template] = {
        f"sagemaker:{action}": {"Resource": clusters} for action in actions
    }
    statements |= {
        "iam:PassRole": {
            "Resource": names["ExecutionRole"],
            "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        },
        "iam:CreateServiceLinkedRole": {
            "Resource": "*",
            "Condition": {
                "StringEquals": {"iam:AWSServiceName": "hyperpod.sagemaker.amazonaws.com"}
            },
        },
        "eks:DescribeCluster": {"Resource": names["Cluster"]},
        "eks:CreateAccessEntry": {"Resource": names["Cluster"]},
    }
    entries = ("DescribeAccessEntry", "DeleteAccessEntry", "AssociateAccessPolicy")
    name = names["Cluster"].rsplit("/", 1)[-1]
    for action in entries:
        statements[f"eks:{action}"] = {"Resource": f"{EKS}:access-entry/{name}/*"}
    return {
        action: {"Effect": "Allow", "Action": action, **statement}
        for action, statement in statements.items()
    }


def caller(site: Site, statements: list[Template]) -> Any:  # noqa: ANN401 - a client
    """Return a SageMaker client of a new user with these statements."""
    return client_of_user(site.aws, "sagemaker", *statements)


def entry_types(site: Site) -> dict[str, str]:
    eks, name = client(site.aws, "eks"), site.names["Cluster"].rsplit("/", 1)[-1]
    principals = eks.list_access_entries(clusterName=name)["accessEntries"]
    return {
        arn: eks.describe_access_entry(clusterName=name, principalArn=arn)["accessEntry"]["type"]
        for arn in principals
    }


def test_a_caller_with_every_permission_has_a_whole_life(site: Site) -> None:
    sagemaker = caller(site, list(grants(site.names).values()))
    tags = [{"Key": "team", "Value": "ml"}]
    assert sagemaker.create_cluster(**site.request(), Tags=tags)["ClusterArn"] == CLUSTER_ARN
    assert entry_types(site) == {site.names["ExecutionRole"]: "HYPERPOD_LINUX"}
    iam = client(site.aws, "iam")
    assert iam.get_role(RoleName="AWSServiceRoleForSageMakerHyperPod")["Role"]["Path"] == (
        "/aws-service-role/hyperpod.sagemaker.amazonaws.com/"
    )
    for name in ("c1", CLUSTER_ARN):
        assert sagemaker.describe_cluster(ClusterName=name)["ClusterArn"] == CLUSTER_ARN
    sagemaker.update_cluster(ClusterName="c1", InstanceGroups=site.request()["InstanceGroups"])
    sagemaker.delete_cluster(ClusterName="c1")
    assert entry_types(site) == {}

    [create] = [
        headers for operation, headers in site.hyperpod.calls if operation == "CreateCluster"
    ]
    assert create["x-emulator-account"] == ACCOUNT
    assert create["x-emulator-region"] == REGION
    assert create["x-emulator-caller-arn"].startswith(f"arn:aws:iam::{ACCOUNT}:user/")
    with pytest.raises(ClientError, match="Cluster c1 not found"):
        sagemaker.describe_cluster(ClusterName="c1")


@pytest.mark.parametrize("missing", ["sagemaker:CreateCluster", *dependent("CreateCluster")])
def test_create_without_one_permission(site: Site, missing: str) -> None:
    statements = [s for action, s in grants(site.names).items() if action != missing]
    with pytest.raises(ClientError) as error:
        caller(site, statements).create_cluster(**site.request(), Tags=[{"Key": "a", "Value": "b"}])
    assert error.value.response["Error"]["Code"] == "AccessDeniedException"
    message = error.value.response["Error"]["Message"]
    assert f"is not authorized to perform: {missing} on resource: arn:aws:" in message
    assert f"because no identity-based policy allows the {missing} action" in message
    assert site.hyperpod.clusters == {}
    assert entry_types(site) == {}


@pytest.mark.parametrize(
    "case",
    [
        ("sagemaker:DescribeCluster", "DescribeCluster"),
        # Not in the reference: HyperPod looks for what it deletes.
        ("eks:DescribeAccessEntry", "DeleteCluster"),
        *(
            (missing, operation)
            for operation in REQUESTS
            for missing in (f"sagemaker:{operation}", *dependent(operation))
        ),
    ],
)
def test_other_operations_without_one_permission(site: Site, case: tuple[str, str]) -> None:
    missing, operation = case
    more = REQUESTS.get(operation, {})
    if operation == "UpdateCluster":
        more = {"InstanceGroups": site.request()["InstanceGroups"]}
    root = client(site.aws, "sagemaker")
    root.create_cluster(**site.request())
    statements = [s for action, s in grants(site.names).items() if action != missing]
    call = getattr(caller(site, statements), xform_name(operation))
    with pytest.raises(ClientError, match=f"not authorized to perform: {missing} on resource: arn"):
        call(ClusterName="c1", **more)
    assert root.describe_cluster(ClusterName="c1")["ClusterName"] == "c1"
    root.delete_cluster(ClusterName="c1")


def test_the_first_cluster_of_an_account_needs_the_service_linked_role(site: Site) -> None:
    iam, name = client(site.aws, "iam"), "AWSServiceRoleForSageMakerHyperPod"
    with suppress(iam.exceptions.NoSuchEntityException):
        iam.delete_service_linked_role(RoleName=name)
    needed = "iam:CreateServiceLinkedRole"
    statements = [s for action, s in grants(site.names).items() if action != needed]
    with pytest.raises(ClientError, match=f"{needed} on resource: arn:aws:iam::.*/{name} because"):
        caller(site, statements).create_cluster(**site.request())


@pytest.mark.parametrize("operation", ["CreateCluster", "UpdateCluster", "UpdateClusterSoftware"])
@pytest.mark.parametrize("missing", IMAGE_RIGHTS)
def test_an_image_of_the_callers_is_shared_with_hyperpod(
    site: Site, missing: str, operation: str
) -> None:
    assert missing in action_resources()[f"sagemaker:{operation}"].dependent
    groups = {"InstanceGroups": site.request(ImageId=IMAGE)["InstanceGroups"]}
    more = {
        "CreateCluster": site.request(ImageId=IMAGE),
        "UpdateCluster": {"ClusterName": "c1", **groups},
        "UpdateClusterSoftware": {"ClusterName": "c1", "ImageId": IMAGE},
    }
    if operation != "CreateCluster":
        client(site.aws, "sagemaker").create_cluster(**site.request())
    rights = grants(site.names) | {
        action: {"Effect": "Allow", "Action": action, "Resource": resource}
        for action, resource in IMAGE_RIGHTS.items()
    }
    without = [statement for action, statement in rights.items() if action != missing]
    name = xform_name(operation)
    with pytest.raises(ClientError, match=f"not authorized to perform: {missing} on resource: "):
        getattr(caller(site, without), name)(**more[operation])
    getattr(caller(site, list(rights.values())), name)(**more[operation])


def test_a_group_on_a_training_plan_needs_rights_on_it_and_on_its_capacity(site: Site) -> None:
    request = site.request(TrainingPlanArn=PLAN)
    statements = list(grants(site.names).values())
    create = {"Effect": "Allow", "Action": "sagemaker:CreateCluster"}
    for resource in (PLAN, PLAN.replace(":training-plan/plan", ":reserved-capacity/*")):
        denied = f"sagemaker:CreateCluster on resource: {resource.removesuffix('*')}"
        with pytest.raises(ClientError, match=denied):
            caller(site, statements).create_cluster(**request)
        statements.append({**create, "Resource": resource})
    caller(site, statements).create_cluster(**request)
    with pytest.raises(ClientError, match=f"sagemaker:DescribeTrainingPlan on resource: {PLAN}"):
        caller(site, statements).describe_training_plan(TrainingPlanName="plan")


def test_pass_role_to_another_service_is_not_enough(site: Site) -> None:
    statements = deepcopy(grants(site.names))
    condition = statements["iam:PassRole"]["Condition"]["StringEquals"]
    condition["iam:PassedToService"] = "lambda.amazonaws.com"
    with pytest.raises(ClientError, match="iam:PassRole"):
        caller(site, list(statements.values())).create_cluster(**site.request())


def test_a_policy_on_the_cluster_name_does_not_match(site: Site) -> None:
    statements = grants(site.names)
    statements["sagemaker:CreateCluster"]["Resource"] = (
        f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/c1"
    )
    with pytest.raises(ClientError, match="sagemaker:CreateCluster"):
        caller(site, list(statements.values())).create_cluster(**site.request())


@pytest.mark.parametrize(
    ("tags", "allowed"),
    [
        ([{"Key": "team", "Value": "ml"}], True),
        ([], True),
        ([{"Key": "team", "Value": "others"}], False),
    ],
)
def test_a_cluster_is_changed_as_its_tags_allow(
    site: Site, tags: list[dict[str, str]], *, allowed: bool
) -> None:
    statements = grants(site.names)
    condition = {"StringLikeIfExists": {"aws:ResourceTag/team": "m*"}}
    statements["sagemaker:UpdateCluster"]["Condition"] = condition
    sagemaker = caller(site, list(statements.values()))
    sagemaker.create_cluster(**site.request(), Tags=tags)
    groups = site.request()["InstanceGroups"]

    try:
        if allowed:
            sagemaker.update_cluster(ClusterName="c1", InstanceGroups=groups)
        else:
            with pytest.raises(ClientError, match="is not authorized to perform: sagemaker:Update"):
                sagemaker.update_cluster(ClusterName="c1", InstanceGroups=groups)
    finally:
        sagemaker.delete_cluster(ClusterName="c1")


def test_with_slurm_a_caller_needs_nothing_of_eks(site: Site) -> None:
    rights = grants(site.names)
    role = {"iam:PassRole": {**rights["iam:PassRole"], "Resource": site.names["SlurmRole"]}}
    statements = [each for action, each in (rights | role).items() if not action.startswith("eks:")]
    sagemaker = caller(site, statements)
    wanted = site_request(site, "SlurmRole")

    sagemaker.create_cluster(**wanted)
    sagemaker.update_cluster(ClusterName="c1", InstanceGroups=wanted["InstanceGroups"])
    sagemaker.delete_cluster(ClusterName="c1")
