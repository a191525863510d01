"""The lifecycle scripts, put into their bucket before any node starts."""

import json
from pathlib import Path

from aws_cdk import CustomResource, IgnoreMode
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.assets import asset_directory


class LifecycleScripts(Construct):
    """Lifecycle scripts in an S3 bucket.

    Puts each file of a directory at the bucket's root. An update removes files that are gone from
    the directory; deletion removes exactly the files that were put there and nothing else.
    (`s3_deployment.BucketDeployment` would delete everything under its prefix.)

    Args:
        bucket: The bucket.
        provisioner: Does the copying.
        directory: Local directory. Default: this package's own scripts.
        on_create: Entry script, relative to the directory.

    Attributes:
        bucket: The bucket.
        s3_uri: `s3://<bucket>`; resolves once the scripts are in place.
        on_create: Entry script's name.
        keys: Keys of all scripts in the bucket.

    Raises:
        ValueError: The entry script is not in the directory.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        provisioner: Provisioner,
        directory: Path | None = None,
        on_create: str = "on_create.sh",
    ) -> None:
        super().__init__(scope, construct_id)
        directory = directory if directory is not None else asset_directory("lifecycle")
        self.keys = sorted(
            path.relative_to(directory).as_posix()
            for path in directory.rglob("*")
            if path.is_file() and not path.name.startswith(".") and path.suffix != ".md"
        )
        if on_create not in self.keys:
            raise ValueError(
                f"{directory}: entry script {on_create!r} is missing; it has {self.keys}"
            )
        self.bucket = bucket
        self.on_create = on_create
        asset = s3_assets.Asset(
            self,
            "Source",
            path=str(directory),
            exclude=["*.md", ".*"],
            ignore_mode=IgnoreMode.GIT,
        )
        access = provisioner.grant(
            self,
            "Access",
            statements=[
                provisioner.read_asset(asset),
                iam.PolicyStatement(
                    sid="PutAndRemoveScripts",
                    actions=["s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion"],
                    resources=[bucket.arn_for_objects(key) for key in self.keys],
                ),
                iam.PolicyStatement(
                    sid="FindScriptVersions",
                    actions=["s3:ListBucketVersions"],
                    resources=[bucket.bucket_arn],
                ),
            ],
        )
        resource: CustomResource = provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::LifecycleScripts",
            properties={
                "SourceBucket": asset.s3_bucket_name,
                "SourceKey": asset.s3_object_key,
                "SourceDigest": asset.asset_hash,
                "DestinationBucket": bucket.bucket_name,
                "Keys": json.dumps(self.keys),
            },
            depends_on=[access],
        )
        self.s3_uri = resource.get_att_string("S3Uri")
