"""The lifecycle scripts, put into their bucket before any node starts."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from aws_cdk import Aws, CustomResource, IgnoreMode, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from hyperpod_cdk.encryption.key_policy import through_s3
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.acknowledge import acknowledge, wildcard_nag_id
from hyperpod_cdk.synthesis.assets import asset_directory

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
_CHANGES = [
    "s3:DeleteObject",
    "s3:DeleteObjectVersion",
    "s3:PutObject",
    "s3:ReplicateDelete",
    "s3:ReplicateObject",
]

_SETTINGS_KEY = "deployment.env"
# What `lifecycle/settings.sh` finds in a line.
_SETTING = re.compile(r"[A-Z][A-Z0-9_]*=[^\n\r]*")


class LifecycleScripts(Construct):
    """Lifecycle scripts in an S3 bucket.

    Puts each file of a directory at the bucket's root, apart from documents (`.md`) and what is
    hidden: files and folders whose names start with a dot. An update removes files that are gone
    from the directory; deletion removes exactly the files that were put there and nothing else.
    (`s3_deployment.BucketDeployment` would delete everything under its prefix.)

    Settings become a file `deployment.env` beside them, one line `NAME=value` each, which HyperPod
    copies to each new node with the scripts.

    Nodes run the scripts as root, and several AWS managed policies let their holders write every
    object whose bucket's name has `sagemaker` in it. So the policy of a bucket in the provisioner's
    stack denies everyone but the provisioner, the `writers` and the account's root user to change
    or delete the scripts. It denies nothing else: who may change the bucket's policy can lift it.

    Args:
        bucket: The bucket.
        provisioner: Does the copying.
        directory: Local directory. Default: this package's own scripts.
        on_create: Entry script, relative to the directory.
        settings: What the scripts read of this deployment, by name. Default: nothing.
        writers: ARNs of IAM roles and users that may change the scripts too. Default: nobody.

    Attributes:
        bucket: The bucket.
        s3_uri: `s3://<bucket>`; resolves once the scripts are in place.
        on_create: Entry script's name.
        keys: Keys of all scripts in the bucket.

    Raises:
        ValueError: The entry script is not in the directory, `deployment.env` is although there are
            settings, or a setting is not one line.
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
        settings: Mapping[str, str] | None = None,
        writers: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        directory = directory if directory is not None else asset_directory("lifecycle")
        files = (path for path in directory.rglob("*") if path.is_file() and path.suffix != ".md")
        paths = (path.relative_to(directory) for path in files)
        self.keys = sorted(
            path.as_posix()
            for path in paths
            if not any(part.startswith(".") for part in path.parts)
        )
        if on_create not in self.keys:
            raise ValueError(
                f"{directory}: entry script {on_create!r} is missing; it has {self.keys}"
            )
        made = _made_files(settings if settings is not None else {})
        for key in made:
            if key in self.keys:
                raise ValueError(f"{directory}: {key!r} is made from the settings; remove the file")
        self.keys = sorted([*self.keys, *made])
        self.bucket = bucket
        self.on_create = on_create
        asset = s3_assets.Asset(
            self,
            "Source",
            path=str(directory),
            exclude=["*.md", ".*"],
            ignore_mode=IgnoreMode.GIT,
        )
        objects = bucket.arn_for_objects("*")
        bucket_key = bucket.encryption_key
        access = provisioner.grant(
            self,
            "Access",
            statements=[
                provisioner.read_asset(asset),
                iam.PolicyStatement(
                    sid="PutAndRemoveScripts",
                    actions=["s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion"],
                    # Not the keys: an update, and its rollback, removes those of the other side.
                    resources=[objects],
                ),
                iam.PolicyStatement(
                    sid="FindScriptVersions",
                    actions=["s3:ListBucketVersions"],
                    resources=[bucket.bucket_arn],
                ),
                *use_of_bucket_key(
                    self,
                    bucket,
                    sid="EncryptScripts",
                    actions=["kms:GenerateDataKey"],
                ),
            ],
        )
        acknowledge(
            access,
            {
                wildcard_nag_id(self, objects): (
                    "A script that an update removes or renames is no longer known by its key; the "
                    "provisioner changes no key but those of its resource."
                )
            },
        )
        # From another stack, the bucket's policy would name a role that is made after it.
        if Stack.of(bucket) is Stack.of(provisioner):
            bucket.add_to_resource_policy(
                self._denial(writers=[provisioner.role.role_arn, *writers])
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
                **({"Files": json.dumps(made)} if made else {}),
                # Another key encrypts what is put from then on, so all is put again.
                **({"KmsKeyArn": bucket_key.key_arn} if bucket_key is not None else {}),
            },
            depends_on=[access],
        )
        self.s3_uri = resource.get_att_string("S3Uri")

    def _denial(self, *, writers: Sequence[str]) -> iam.PolicyStatement:
        root_user = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:root"
        return iam.PolicyStatement(
            sid="KeepScripts",
            effect=iam.Effect.DENY,
            principals=[iam.AnyPrincipal()],
            actions=_CHANGES,
            resources=[self.bucket.arn_for_objects(key) for key in self.keys],
            # Of a role's session it is the role's ARN.
            # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
            conditions={"ArnNotEquals": {"aws:PrincipalArn": [*writers, root_user]}},
        )


def use_of_bucket_key(
    scope: Construct, bucket: s3.IBucket, *, sid: str, actions: Sequence[str]
) -> list[iam.PolicyStatement]:
    """Return the right to use a bucket's KMS key, through S3 and for this bucket; none without one.

    Args:
        scope: A construct of the policy's stack.
        bucket: The bucket.
        sid: Name of the statement.
        actions: What to do with the key.
    """
    key = bucket.encryption_key
    if key is None:
        return []
    condition = through_s3(
        region=Stack.of(scope).region, dns_suffix=Aws.URL_SUFFIX, bucket_arn=bucket.bucket_arn
    )
    return [
        iam.PolicyStatement(
            sid=sid, actions=[*actions], resources=[key.key_arn], conditions=dict(condition)
        )
    ]


def _made_files(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each file that is not in the directory, by its key."""
    lines = [f"{name}={value}" for name, value in settings.items()]
    for line in lines:
        if _SETTING.fullmatch(line) is None:
            raise ValueError(f"setting {line!r} must be one line, NAME=value")
    return {_SETTINGS_KEY: "".join(f"{line}\n" for line in lines)} if lines else {}
