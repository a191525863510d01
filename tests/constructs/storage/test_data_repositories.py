"""Links to S3: what becomes of the section, and the bucket that one may get."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk import DataRepositoryConfig, Lustre, LustreConfig
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView

ASSOCIATION, BUCKET = "AWS::FSx::DataRepositoryAssociation", "AWS::S3::Bucket"
LINK: dict[str, Any] = {"s3_uri": "s3://bucket/prefix"}
Linked = Callable[..., TemplateView]


@pytest.fixture
def linked(
    stack: cdk.Stack,
    vpc: ec2.IVpc,
    subnets: list[ec2.ISubnet],
    security_group: ec2.ISecurityGroup,
    view: View,
) -> Linked:
    """Return a function that makes a file system with links."""

    def make(*links: dict[str, Any]) -> TemplateView:
        Lustre(
            stack,
            "Lustre",
            vpc=vpc,
            subnet=subnets[0],
            security_group=security_group,
            storage=LustreConfig(
                data_repositories=tuple(DataRepositoryConfig(**link) for link in links)
            ),
        )
        return view()

    return make


def test_objects_become_files_and_files_no_objects(linked: Linked) -> None:
    seen = linked(LINK)

    assert seen.one(ASSOCIATION) == {
        "FileSystemId": {"Ref": seen.id("AWS::FSx::FileSystem")},
        "FileSystemPath": "/s3",
        "DataRepositoryPath": "s3://bucket/prefix",
        "BatchImportMetaDataOnCreate": True,
        "S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}},
    }
    assert not seen.ids(BUCKET)


def test_what_is_asked_for(linked: Linked) -> None:
    seen = linked(
        {
            **LINK,
            "path": "/a/b",
            "import_existing": False,
            "import_events": ["NEW"],
            "export_events": ["NEW", "DELETED"],
        }
    )

    found = seen.one(ASSOCIATION)

    assert (found["FileSystemPath"], found["BatchImportMetaDataOnCreate"]) == ("/a/b", False)
    assert found["S3"] == {
        "AutoImportPolicy": {"Events": ["NEW"]},
        "AutoExportPolicy": {"Events": ["NEW", "DELETED"]},
    }


def test_the_first_link_is_that_of_the_first_release(linked: Linked) -> None:
    seen = linked(LINK, {"path": "/other", "new_bucket": True})

    # As 0.1.0 named the only one: another ID would be another link, which FSx refuses.
    assert "LustreDataRepository95D81F00" in seen.ids(ASSOCIATION)


def test_a_later_link_is_known_by_its_directory(linked: Linked) -> None:
    seen = linked(LINK, {"path": "/one", "new_bucket": True}, {"path": "/two", "new_bucket": True})

    paths = {
        seen.resources[name]["Properties"]["FileSystemPath"]: name for name in seen.ids(ASSOCIATION)
    }

    assert "one" in paths["/one"]
    assert "two" in paths["/two"]


def test_a_new_bucket_is_closed_and_kept(linked: Linked) -> None:
    seen = linked({"new_bucket": True})

    buckets = {name: seen.resources[name] for name in seen.ids(BUCKET)}
    data = next(each for name, each in buckets.items() if "AccessLogs" not in name)

    assert data["DeletionPolicy"] == "RetainExceptOnCreate"
    assert data["UpdateReplacePolicy"] == "Retain"
    assert "BucketName" not in data["Properties"]
    assert data["Properties"]["VersioningConfiguration"] == {"Status": "Enabled"}
    assert all(data["Properties"]["PublicAccessBlockConfiguration"].values())
    assert "LoggingConfiguration" in data["Properties"]
    for name in seen.ids("AWS::S3::BucketPolicy"):
        [statement] = [
            each
            for each in seen.resources[name]["Properties"]["PolicyDocument"]["Statement"]
            if each["Effect"] == "Deny"
        ]
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
