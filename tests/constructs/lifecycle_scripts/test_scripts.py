"""Lifecycle scripts on their way into the bucket: what is copied, what may be removed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, LifecycleScripts, LifecycleScriptsConfig, Provisioner
from hyperpod_cdk.lifecycle_scripts.bucket import LifecycleBucket
from hyperpod_cdk.lifecycle_scripts.folder import ScriptFolder
from hyperpod_shared.content import content_digest
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.support.refusals import line_after
from tests.support.template_view import TemplateView

RESOURCE = "Custom::LifecycleScripts"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a directory of scripts, with files that are none."""
    for name in (
        "on_create.sh",
        "lib/log.sh",
        "README.md",
        "docs/notes.md",
        ".editorconfig",
        "lib/.hidden",
        ".git/hooks/post-commit.sh",
        "lib/.cache/log.sh",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
    return tmp_path


Make = Callable[..., LifecycleScripts]


@pytest.fixture
def make(stack: cdk.Stack, bucket: s3.IBucket, provisioner: Provisioner, directory: Path) -> Make:
    """Return what makes the construct of the directory's scripts."""

    def made(construct_id: str = "Scripts", **options: Any) -> LifecycleScripts:
        folder = {key: options.pop(key) for key in ("entry", "settings") if key in options}
        given = {
            "bucket": bucket,
            "provisioner": provisioner,
            "project": ScriptFolder(directory=directory, **folder),
            **options,
        }
        return LifecycleScripts(stack, construct_id, **given)

    return made


def test_properties(stack: cdk.Stack, make: Make, view: View) -> None:
    scripts = make()

    seen = view()
    properties = seen.one(RESOURCE)

    assert properties.keys() == {
        "ServiceToken",
        "ServiceTimeout",
        "SourceBucket",
        "SourceKey",
        "SourceDigest",
        "DestinationBucket",
        "DestinationOwner",
        "Keys",
    }
    assert properties["DestinationBucket"] == "sagemaker-bucket"
    assert properties["DestinationOwner"] == "user"
    assert properties["SourceKey"].endswith(".zip")
    assert json.loads(properties["Keys"]) == ["lib/log.sh", "on_create.sh"] == scripts.keys
    assert scripts.lifecycle == {"on_create": "on_create.sh"}
    assert stack.resolve(scripts.s3_uri) == {"Fn::GetAtt": [seen.id(RESOURCE), "S3Uri"]}


def test_the_asset_has_the_listed_scripts_and_no_other_file(
    directory: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    app = cdk.App(
        context={"aws:cdk:bundling-stacks": []},
        outdir=str(tmp_path_factory.mktemp("out")),
        builtin_cloud_formation_validation=False,
    )
    stack = cdk.Stack(app, "Stack")
    scripts = LifecycleScripts(
        stack,
        "Scripts",
        bucket=s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-bucket"),
        provisioner=Provisioner(stack, "Provisioner"),
        project=ScriptFolder(directory=directory),
    )

    assembly = Path(app.synth().directory)
    (resource,) = Template.from_stack(stack).find_resources(RESOURCE).values()
    properties = resource["Properties"]
    staged = assembly / f"asset.{properties['SourceKey'].removesuffix('.zip')}"

    shipped = [path.relative_to(staged).as_posix() for path in staged.rglob("*") if path.is_file()]
    assert sorted(shipped) == scripts.keys
    digest = content_digest(shipped, read=lambda path: (staged / path).read_bytes())
    assert properties["SourceDigest"] == digest


def test_a_changed_script_is_a_changed_resource(make: Make, directory: Path, view: View) -> None:
    for construct_id, changed in (
        ("Before", "on_create.sh"),
        ("DocumentChanged", "README.md"),
        ("ScriptChanged", "on_create.sh"),
    ):
        (directory / changed).write_text(f"# {construct_id}\n")
        cdk.AssetStaging.clear_asset_hash_cache()
        make(construct_id)

    digests = [resource["SourceDigest"] for resource in view().all(RESOURCE)]

    assert digests[0] == digests[1] != digests[2]


def test_the_packages_own_scripts_are_the_default(make: Make, repository: Path) -> None:
    scripts = make(project=None)

    shipped = {
        path.relative_to(repository / "lifecycle" / "eks").as_posix()
        for path in (repository / "lifecycle" / "eks").rglob("*.sh")
    }
    assert shipped <= set(scripts.keys)
    assert scripts.lifecycle["on_create"] in scripts.keys


def test_a_missing_entry_script_is_refused(make: Make, raises: Raises) -> None:
    with raises(ValueError):
        make(entry="boot.sh")


def test_settings_become_a_file_beside_the_scripts(make: Make, view: View) -> None:
    scripts = make(settings={"LUSTRE_FAILURE": "stop", "OTHER": "a b"})

    properties = view().one(RESOURCE)

    assert scripts.keys == ["deployment.env", "lib/log.sh", "on_create.sh"]
    assert json.loads(properties["Keys"]) == scripts.keys
    assert json.loads(properties["Files"]) == {"deployment.env": "LUSTRE_FAILURE=stop\nOTHER=a b\n"}


@pytest.mark.parametrize("settings", [{"A": "1\nB=2"}, {"a b": "1"}, {"A": "1\r"}])
def test_a_setting_that_is_not_one_line_is_refused(
    make: Make, settings: dict[str, str], raises: Raises
) -> None:
    with raises(ValueError):
        make(settings=settings)


def test_a_file_of_the_same_name_is_refused(make: Make, directory: Path, raises: Raises) -> None:
    (directory / "deployment.env").write_text("LUSTRE_FAILURE=warn\n")

    with raises(ValueError):
        make(settings={"LUSTRE_FAILURE": "stop"})


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
        project=ScriptFolder(directory=tmp_path, settings={"LUSTRE_FAILURE": "stop"}),
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
    assert seen.text(denial["Resource"]) == "<AWS::S3::Bucket.Arn>/*"
    assert seen.one(RESOURCE)["DestinationOwner"] == "deployment"
    assert "MarkScriptVersions" not in {each.get("Sid") for _, each in seen.statements()}


def test_a_bucket_of_another_stack_is_left_alone(stack: cdk.Stack, view: View) -> None:
    other = cdk.Stack(cdk.App.of(stack), "Other", env=cdk.Environment(region="us-west-2"))
    bucket = LifecycleBucket(stack, "Bucket", bucket_name="sagemaker-ml").bucket
    provisioner = Provisioner(other, "Provisioner")
    LifecycleScripts(other, "Scripts", bucket=bucket, provisioner=provisioner)

    assert "KeepScripts" not in {statement.get("Sid") for _, statement in view().statements()}


def test_a_writer_is_named_once(raises: Raises) -> None:
    with raises(ConfigError):
        LifecycleScriptsConfig(writers=(WRITER, WRITER))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("lifecycle_scripts", {"writers": ["arn:aws-cn:iam::1:role/A"]}),
        ("lifecycle_scripts", {"writers": ["arn:aws-cn:iam::111122223333:role/A"]}),
        ("name", "my-sagemaker"),
    ],
)
def test_what_is_refused(path: str, value: object, snapshot: SnapshotAssertion) -> None:
    line = line_after(path, value)

    assert line.startswith(path)
    assert line == snapshot
