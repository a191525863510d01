"""A local folder, put into a bucket by the provisioner."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aws_cdk import CustomResource, IgnoreMode
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct, IDependable

from hyperpod_cdk.lifecycle_scripts.own_scripts import script_keys
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.sizes import refuse_large_request


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """Files of one local folder.

    Attributes:
        directory: The folder.
        on_create: The script in it that nodes run.
        prefix: What their keys in the bucket begin with, without a slash at its ends.
        made: Text of each file that is not in the folder, by its path. Default: none.
    """

    directory: Path
    on_create: str
    prefix: str
    made: Mapping[str, str] = field(default_factory=dict)

    def paths(self) -> list[str]:
        """Return the paths of all files, from the folder.

        Raises:
            ValueError: The entry script is not there, or a file is that is also made.
        """
        keys = script_keys(self.directory)
        if self.on_create not in keys:
            raise ValueError(
                f"{self.directory}: entry script {self.on_create!r} is missing; it has {keys}"
            )
        for key in self.made:
            if key in keys:
                raise ValueError(
                    f"{self.directory}: {key!r} is made from the settings; remove the file"
                )
        return sorted([*keys, *self.made])


def asset_of(scope: Construct, folder: Folder) -> s3_assets.Asset:
    """Return a folder as an asset in `scope`."""
    return s3_assets.Asset(
        scope,
        "Source",
        path=str(folder.directory),
        exclude=["*.md", ".*"],
        ignore_mode=IgnoreMode.GIT,
    )


def put_scripts(
    scope: Construct,
    folder: Folder,
    *,
    asset: s3_assets.Asset,
    bucket: s3.IBucket,
    provisioner: Provisioner,
    depends_on: Sequence[IDependable],
) -> CustomResource:
    """Put a folder into a bucket.

    Args:
        scope: Gets the custom resource.
        folder: The folder.
        asset: The folder as an asset.
        bucket: The bucket.
        provisioner: Does the copying.
        depends_on: What must be there first: the provisioner's rights above all.

    Raises:
        ValueError: The entry script is not in the folder, or a file is that is also made.
        TooLargeError: There are more files than a request names.
    """
    paths = folder.paths()
    refuse_large_request(
        scope, paths, noun="the list of files", to_do="let a script download some of them"
    )
    key = bucket.encryption_key
    return provisioner.custom_resource(
        scope,
        "Resource",
        resource_type="Custom::LifecycleScripts",
        properties={
            "SourceBucket": asset.s3_bucket_name,
            "SourceKey": asset.s3_object_key,
            "SourceDigest": asset.asset_hash,
            "DestinationBucket": bucket.bucket_name,
            **({"Prefix": folder.prefix} if folder.prefix else {}),
            "Keys": json.dumps(paths),
            **({"Files": json.dumps(folder.made)} if folder.made else {}),
            # A changed key encrypts only later uploads, so everything is uploaded again.
            **({"KmsKeyArn": key.key_arn} if key is not None else {}),
        },
        depends_on=depends_on,
    )
