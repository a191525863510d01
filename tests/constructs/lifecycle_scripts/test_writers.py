"""Who may change the scripts that nodes run as root."""

from pathlib import Path

import aws_cdk as cdk
import pytest

from hyperpod_cdk import ConfigError, LifecycleScripts, LifecycleScriptsConfig, Provisioner
from hyperpod_cdk.lifecycle_scripts.bucket import LifecycleBucket
from tests.constructs.conftest import View
from tests.support.refusals import line_after
from tests.support.template_view import TemplateView

WRITER = "arn:aws:iam::111122223333:role/team/Ci"
ROOT_USER = "arn:<AWS::Partition>:iam::<AWS::AccountId>:root"


@pytest.fixture
def seen(stack: cdk.Stack, provisioner: Provisioner, tmp_path: Path, view: View) -> TemplateView:
    for name in ("on_create.sh", "log.sh"):
        (tmp_path / name).write_text("#!/bin/bash\n")
    bucket = LifecycleBucket(stack, "Bucket", bucket_name="sagemaker-ml").bucket
    LifecycleScripts(
        stack,
        "Scripts",
        bucket=bucket,
        provisioner=provisioner,
        directory=tmp_path,
        settings={"LUSTRE_FAILURE": "stop"},
        writers=[WRITER],
    )
    return view()


def test_all_but_the_provisioner_and_the_writers_are_denied(seen: TemplateView) -> None:
    denial = seen.statement("KeepScripts")
    principals = denial["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]

    assert denial["Effect"] == "Deny"
    assert denial["Principal"] == {"AWS": "*"}
    assert [seen.text(arn) for arn in principals] == ["<AWS::IAM::Role.Arn>", WRITER, ROOT_USER]
    role = principals[0]["Fn::GetAtt"][0]
    assert seen.resources[role]["Properties"]["Description"].startswith("Installs Helm releases")
    assert {seen.text(arn) for arn in denial["Resource"]} == {
        "<AWS::S3::Bucket.Arn>/deployment.env",
        "<AWS::S3::Bucket.Arn>/log.sh",
        "<AWS::S3::Bucket.Arn>/on_create.sh",
    }


def test_nothing_but_changes_of_objects_is_denied(seen: TemplateView) -> None:
    # Who may change or delete the bucket and its policy is not locked out.
    assert set(seen.statement("KeepScripts")["Action"]) == {
        "s3:DeleteObject",
        "s3:DeleteObjectVersion",
        "s3:PutObject",
        "s3:ReplicateDelete",
        "s3:ReplicateObject",
    }


def test_a_bucket_of_another_stack_is_left_alone(stack: cdk.Stack, view: View) -> None:
    other = cdk.Stack(cdk.App.of(stack), "Other", env=cdk.Environment(region="us-west-2"))
    bucket = LifecycleBucket(stack, "Bucket", bucket_name="sagemaker-ml").bucket
    provisioner = Provisioner(other, "Provisioner")
    LifecycleScripts(other, "Scripts", bucket=bucket, provisioner=provisioner)

    assert "KeepScripts" not in {statement.get("Sid") for _, statement in view().statements()}


def test_a_writer_is_named_once() -> None:
    with pytest.raises(ConfigError, match=r"writers\[1\]: .* is listed twice; name it once"):
        LifecycleScriptsConfig(writers=(WRITER, WRITER))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("lifecycle_scripts", {"writers": ["arn:aws-cn:iam::1:role/A"]}, "must be the ARN of an"),
        (
            "lifecycle_scripts",
            {"writers": ["arn:aws-cn:iam::111122223333:role/A"]},
            "must be of partition aws",
        ),
        ("name", "my-sagemaker", "must not contain 'sagemaker': the deployment's functions carry"),
    ],
)
def test_what_is_refused(path: str, value: object, message: str) -> None:
    line = line_after(path, value)

    assert line.startswith(path)
    assert message in line
