"""What is looked at of roles and buckets that exist."""

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.schema.errors import Severity
from hyperpod_cli.inspect.preflight.validator import Problem, Target
from hyperpod_cli.inspect.preflight.validators.existing_bucket import existing_bucket
from hyperpod_cli.inspect.preflight.validators.existing_role import existing_role
from hyperpod_cli.inspect.preflight.validators.iam_principals import iam_principals
from hyperpod_rehearsal.existing_resources.roles import node_role
from tests.cli.inspect.preflight.conftest import with_methods
from tests.support.configs import configure

IAM = "arn:aws:iam::111122223333:role"


def lines(target: Target, changes: dict[str, Any]) -> list[str]:
    config = configure({"cluster": changes})
    both = (*iam_principals(config, target), *existing_role(config, target))
    return [str(finding) for finding, _ in both]


def make(target: Target, arn: str, **cluster: Any) -> list[dict[str, Any]]:
    """Make a role that nodes can run as; return the statements of its policy."""
    config = configure({"cluster": {"execution_role_arn": arn, **cluster}})
    node_role(arn, config).make(target.client)
    found = target.client("iam").get_role_policy(
        RoleName=arn.rpartition("/")[2], PolicyName="Nodes"
    )
    return list(found["PolicyDocument"]["Statement"])


def put(target: Target, arn: str, statements: list[dict[str, Any]]) -> None:
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    target.client("iam").put_role_policy(
        RoleName=arn.rpartition("/")[2], PolicyName="Nodes", PolicyDocument=document
    )


@pytest.mark.parametrize("arn", [f"{IAM}/Fine", f"{IAM}/team/FineToo"])
def test_a_role_with_what_nodes_need(target: Target, arn: str) -> None:
    make(target, arn)
    assert lines(target, {"execution_role_arn": arn}) == []


def test_a_role_of_another_account(target: Target, snapshot: SnapshotAssertion) -> None:
    arn = "arn:aws:iam::444455556666:role/Theirs"
    assert lines(target, {"execution_role_arn": arn}) == snapshot


def test_a_role_that_reads_some_of_the_data_is_told_of_all(target: Target) -> None:
    arn = f"{IAM}/Reader"
    first, second = {"name": "first-data"}, {"name": "second-data", "prefix": "images"}
    statements = make(target, arn, data_buckets=[first])
    wanted = {"execution_role_arn": arn, "data_buckets": [first, second]}
    assert lines(target, {**wanted, "data_buckets": [first]}) == []

    found = lines(target, wanted)

    assert [line.partition(" may not ")[2].partition(",")[0] for line in found] == [
        "s3:ListBucket",
        "s3:GetObject",
    ]
    added = [json.loads(line.partition("add to its policies: ")[2]) for line in found]
    put(target, arn, [*(each for each in statements if each["Sid"] != "ReadData"), *added])
    assert lines(target, wanted) == []


def test_missing_rights_are_named_with_the_statement_to_add(
    target: Target, snapshot: SnapshotAssertion
) -> None:
    arn = f"{IAM}/Poor"
    kept = [each for each in make(target, arn) if each["Sid"] != "PullImages"]
    for statement in kept:
        if statement["Sid"] == "ManageNetworkInterfaces":
            statement["Action"].remove("ec2:CreateNetworkInterface")
    put(target, arn, kept)

    found = lines(target, {"execution_role_arn": arn})

    assert found == snapshot
    to_add = [json.loads(line.partition("add to its policies: ")[2]) for line in found]
    put(target, arn, [*kept, *to_add])
    assert lines(target, {"execution_role_arn": arn}) == []


def test_a_right_on_one_of_several_resources_will_do(target: Target) -> None:
    arn = f"{IAM}/OfSome"
    statements = make(target, arn)
    for statement in statements:
        if statement["Sid"] == "ManageNetworkInterfaces":
            statement["Resource"] = [
                each for each in statement["Resource"] if ":subnet/" not in each
            ]
    put(target, arn, statements)
    assert lines(target, {"execution_role_arn": arn}) == []


@pytest.mark.parametrize(
    ("answer", "may"),
    [
        # As IAM answered formerly: a result for each resource, with its decision.
        ({"EvalDecision": "allowed"}, True),
        ({"EvalDecision": "implicitDeny", "MissingContextValues": ["ec2:Vpc"]}, True),
        ({"EvalDecision": "implicitDeny"}, False),
        ({"EvalDecision": "implicitDeny", "ResourceSpecificResults": ["implicitDeny"]}, False),
        (
            {
                "EvalDecision": "explicitDeny",
                "ResourceSpecificResults": ["explicitDeny", "allowed"],
            },
            True,
        ),
    ],
)
def test_every_shape_of_a_simulation_is_understood(
    target: Target, answer: dict[str, Any], *, may: bool
) -> None:
    make(target, f"{IAM}/Fine")
    nested = [
        {"EvalResourceName": "*", "EvalResourceDecision": decision}
        for decision in answer.get("ResourceSpecificResults", ())
    ]

    told = {**answer, "ResourceSpecificResults": nested} if nested else answer

    def paginate(*, ActionNames: list[str], **_: object) -> list[dict[str, Any]]:
        return [{"EvaluationResults": [{"EvalActionName": n, **told} for n in ActionNames]}]

    paginator = SimpleNamespace(paginate=paginate)
    simulating = with_methods(target, "iam", get_paginator=lambda _name: paginator)
    assert (lines(simulating, {"execution_role_arn": f"{IAM}/Fine"}) == []) is may


def test_the_managed_policy_is_asked_for(target: Target) -> None:
    arn, iam = f"{IAM}/Unmanaged", target.client("iam")
    make(target, arn)
    name = "AmazonSageMakerClusterInstanceRolePolicy"
    iam.detach_role_policy(RoleName="Unmanaged", PolicyArn=f"arn:aws:iam::aws:policy/{name}")
    found = " ".join(lines(target, {"execution_role_arn": arn}))
    assert "logs:PutLogEvents" in found
    assert "ssmmessages:OpenDataChannel" in found


def test_roles_of_groups_are_looked_at_too(target: Target, snapshot: SnapshotAssertion) -> None:
    group = {"name": "cpu", "instance_type": "ml.m5.2xlarge", "instance_count": 1}
    own = {**group, "name": "own", "execution_role_arn": f"{IAM}/NoneOfGroup"}
    make(target, f"{IAM}/OfCluster")
    cluster = {"execution_role_arn": f"{IAM}/OfCluster", "instance_groups": [group, own]}
    assert lines(target, cluster) == snapshot


Change = Callable[[Any, str], object]

BLOCKS = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
TLS_ONLY = {
    "Sid": "TlsOnly",
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:*",
    "Resource": "*",
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}
ONLY_OURS = {
    "Sid": "OnlyOurs",
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:GetObject",
    "Resource": "*",
    "Condition": {"ArnNotEquals": {"aws:PrincipalArn": "arn:aws:iam::111122223333:role/Ours"}},
}


def bucket(target: Target, name: str) -> Any:  # noqa: ANN401 - a client
    """Make a bucket that nothing is wrong with; return the client."""
    s3 = target.client("s3")
    where = {"LocationConstraint": target.region}
    s3.create_bucket(Bucket=name, CreateBucketConfiguration=where)
    s3.put_public_access_block(
        Bucket=name, PublicAccessBlockConfiguration=dict.fromkeys(BLOCKS, True)
    )
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return s3


def put_policy(*statements: object) -> Change:
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    return lambda s3, name: s3.put_bucket_policy(Bucket=name, Policy=document)


def problems(target: Target, name: str, *, key: str | None = None) -> list[Problem]:
    scripts = {"existing_bucket_name": name, "existing_bucket_kms_key_arn": key}
    return list(existing_bucket(configure({"lifecycle_scripts": scripts}), target))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sagemaker-fine", lambda _s3, _name: None),
        ("sagemaker-tls", put_policy(TLS_ONLY)),
        ("sagemaker-public", lambda s3, name: s3.delete_public_access_block(Bucket=name)),
        (
            "sagemaker-unversioned",
            lambda s3, name: s3.put_bucket_versioning(
                Bucket=name, VersioningConfiguration={"Status": "Suspended"}
            ),
        ),
        ("sagemaker-denied", put_policy(TLS_ONLY, ONLY_OURS)),
    ],
)
def test_what_may_go_wrong_later_is_a_warning(
    target: Target, name: str, change: Change, snapshot: SnapshotAssertion
) -> None:
    change(bucket(target, name), name)
    found = problems(target, name)
    assert [(str(problem), command) for problem, command in found] == snapshot
    assert {problem.severity for problem, _ in found} <= {Severity.WARNING}


@pytest.mark.parametrize(
    ("key", "owner"),
    [
        ("on_create.sh", None),
        ("hyperpod/ml/notes.txt", None),
        ("hyperpod/other/on_create.sh", None),
        ("hyperpod/ml/deployment.env", None),
        ("hyperpod/ml/lib/log.sh", "other"),
        ("hyperpod/ml/lib/log.sh", "ml-platform"),
    ],
)
def test_an_object_is_in_the_way_where_a_script_goes(
    target: Target, key: str, owner: str | None, snapshot: SnapshotAssertion
) -> None:
    name = f"sagemaker-{abs(hash((key, owner)))}"
    tags = f"hyperpod-cdk:stack-id=arn:aws:x:stack/{owner}/1" if owner else ""
    bucket(target, name).put_object(Bucket=name, Key=key, Body=b"theirs", Tagging=tags)

    found = [str(finding).replace(name, "BUCKET") for finding, _ in problems(target, name)]

    assert found == snapshot


def test_a_bucket_of_another_region(target: Target, snapshot: SnapshotAssertion) -> None:
    name = "sagemaker-elsewhere"
    bucket(target, name)
    elsewhere = replace(target, region="eu-west-1")
    assert [str(finding) for finding, _ in problems(elsewhere, name)] == snapshot


def test_a_key_is_compared_with_that_of_the_bucket(
    target: Target, snapshot: SnapshotAssertion
) -> None:
    name, kms = "sagemaker-encrypted", target.client("kms")
    s3 = bucket(target, name)
    key, other = (kms.create_key()["KeyMetadata"] for _ in range(2))

    def lines(configured: str | None) -> list[str]:
        found = [str(finding) for finding, _ in problems(target, name, key=configured)]
        # KMS draws the names of keys.
        return [line.replace(key["Arn"], "KEY").replace(other["Arn"], "OTHER") for line in found]

    assert lines(key["Arn"]) == snapshot(name="nothing is encrypted with it")

    rule = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key["KeyId"]}
    s3.put_bucket_encryption(
        Bucket=name,
        ServerSideEncryptionConfiguration={"Rules": [{"ApplyServerSideEncryptionByDefault": rule}]},
    )
    assert lines(None) == snapshot(name="missing")
    assert lines(other["Arn"]) == snapshot(name="another one")
    assert lines(key["Arn"]) == []

    mine = {"AWS": "arn:aws:iam::111122223333:user/ada"}
    own = {"Effect": "Allow", "Principal": mine, "Action": "kms:*", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [own]})
    kms.put_key_policy(KeyId=key["KeyId"], PolicyName="default", Policy=document)
    assert lines(key["Arn"]) == snapshot(name="closed to policies of IAM")
