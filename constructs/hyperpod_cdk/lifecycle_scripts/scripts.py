"""The lifecycle scripts, as they get into their bucket."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from aws_cdk import Aws, CustomResource, IgnoreMode, Resource, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct, IDependable

from hyperpod_cdk.encryption.key_policy import through_s3
from hyperpod_cdk.lifecycle_scripts.folder import ScriptFolder, homes
from hyperpod_cdk.lifecycle_scripts.section import (
    OwnScriptsConfig,
    folder_name,
    folder_prefix,
    joined,
)
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.synthesis.reasons import statement
from hyperpod_cdk.synthesis.refusals import refuse_large_request

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
_CHANGES = [
    "s3:DeleteObject",
    "s3:DeleteObjectVersion",
    "s3:PutObject",
    "s3:ReplicateDelete",
    "s3:ReplicateObject",
]


class LifecycleScripts(Construct):
    """Lifecycle scripts in an S3 bucket.

    Puts each file of a directory at the bucket's root or under a prefix, apart from documents
    (`.md`) and what is hidden: files and folders whose names start with a dot. An update removes
    files that are gone from the directory; deletion removes exactly the files that were put there
    and nothing else. (`s3_deployment.BucketDeployment` would delete everything under its prefix.)
    In a bucket that this app does not make, an object that is there already is refused, and
    versions that others put are never removed.

    Settings become a file `deployment.env` next to them, one line `NAME=value` each, which HyperPod
    copies to each new node with the scripts. `OWN_SCRIPTS` is among them if `own` runs after the
    others.

    The user's scripts are in the place of the others, or below them in `own/`, where the others
    run them. A folder that only some groups run has a place of its own, `folders/<its name>/`, with
    a copy of the others if they run before it.

    Nodes run the scripts as root, and several AWS managed policies let their holders write every
    object whose bucket's name has `sagemaker` in it. So the policy of a bucket in the provisioner's
    stack denies everyone but the provisioner, the `writers` and the account's root user to put or
    delete any object under the prefix, or in the whole bucket without one: HyperPod copies all of
    it to the nodes. It denies nothing else: who may change the bucket's policy can lift it.

    Args:
        bucket: The bucket.
        provisioner: Does the copying.
        project: The scripts that run before the user's, whose prefix is not read. Default: this
            package's own, for nodes of EKS.
        prefix: What the keys begin with, without a slash at its ends. Default: nothing.
        own: The user's folder of scripts, and when it runs. Default: none.
        folders: Those of groups. Default: none.
        writers: ARNs of IAM roles and users that may change the scripts too. Default: none.

    Attributes:
        bucket: The bucket.
        s3_uri: Where the scripts are, `s3://<bucket>/<prefix>`; without `after_ami` of the project,
            resolves once all are in place.
        lifecycle: The entry script, as `LifecycleConfig` takes it; empty if nodes run none but
            those of `folders`.
        are_run: Whether any node runs scripts of this bucket, those of `folders` included.
        keys: Keys of those scripts in the bucket.
        pattern: What the keys of all scripts match: `<prefix>/*`, or `*` without a prefix.

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
        project: ScriptFolder | None = None,
        prefix: str = "",
        own: OwnScriptsConfig | None = None,
        folders: Sequence[OwnScriptsConfig] = (),
        writers: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.bucket = bucket
        self._provisioner = provisioner
        self._prefix = prefix
        self._is_made = Resource.is_owned_resource(bucket)
        project = project or ScriptFolder(directory=asset_directory("lifecycle") / "eks")
        own_home, *others = homes(project, own=own, folders=folders, prefix=prefix)
        self._project = project
        # The last is the one whose attribute is read: it waits for the others.
        places = [
            *(
                place
                for folder, home in zip(folders, others, strict=True)
                for place in self._places(Construct(self, f"Folder-{folder_name(folder)}"), home)
            ),
            *self._places(self, own_home),
        ]
        self.are_run = bool(places)
        self.pattern = joined(prefix, "*")
        # From another stack, the bucket's policy would name a role that is made after it.
        denied = Stack.of(bucket) is Stack.of(provisioner) and bucket.add_to_resource_policy(
            self._denial(writers=[provisioner.role.role_arn, *writers])
        )
        # No object is there before it is protected.
        resource = self._put(places, after=denied.policy_dependable if denied else None)
        self.lifecycle = own_home[0].lifecycle if own_home else {}
        self.keys = sorted(
            joined(folder.prefix, path) for folder in own_home for path in folder.paths()
        )
        # Of the bucket, without the prefix: stacks that import it would keep it from changing; and
        # not of the resource where nodes may cease to run scripts.
        self._bucket_uri = (
            f"s3://{bucket.bucket_name}"
            if resource is None or project.after_ami
            else resource.get_att_string("S3Uri")
        )
        self.s3_uri = joined(self._bucket_uri, prefix)

    def s3_uri_of(self, folder: OwnScriptsConfig) -> str:
        """Return where a folder of `folders` is; resolves once all scripts are in place."""
        return joined(self._bucket_uri, folder_prefix(folder, prefix=self._prefix))

    def lifecycle_of(self, folder: OwnScriptsConfig) -> dict[str, Any]:
        """Return the entry script of a folder of `folders`, as `LifecycleConfig` takes it."""
        ((first, *_),) = homes(self._project, own=folder, folders=(), prefix="")
        return first.lifecycle

    def _places(
        self, scope: Construct, home: Sequence[ScriptFolder]
    ) -> Iterator[tuple[Construct, ScriptFolder]]:
        """Yield the folders of a home, each with a scope of its own, the one at the front last."""
        for folder in home[1:]:
            yield Construct(scope, "Own"), folder
        for folder in home[:1]:
            yield scope, folder

    def _put(
        self, places: Sequence[tuple[Construct, ScriptFolder]], *, after: IDependable | None
    ) -> CustomResource | None:
        """Put folders into the bucket; return the last, which waits for the others, if any."""
        if not places:
            return None
        assets = [
            s3_assets.Asset(
                scope,
                "Source",
                path=str(folder.directory),
                exclude=["*.md", ".*"],
                ignore_mode=IgnoreMode.GIT,
            )
            for scope, folder in places
        ]
        access = self._access(assets)
        key = self.bucket.encryption_key
        resources: list[CustomResource] = []
        for (scope, folder), asset in zip(places, assets, strict=True):
            paths = folder.paths()
            refuse_large_request(
                scope, paths, noun="the list of files", to_do="let a script download some of them"
            )
            is_last = asset is assets[-1]
            resource = self._provisioner.custom_resource(
                scope,
                "Resource",
                resource_type="Custom::LifecycleScripts",
                properties={
                    "SourceBucket": asset.s3_bucket_name,
                    "SourceKey": asset.s3_object_key,
                    "SourceDigest": folder.digest(),
                    "DestinationBucket": self.bucket.bucket_name,
                    "DestinationOwner": "deployment" if self._is_made else "user",
                    **({"Prefix": folder.prefix} if folder.prefix else {}),
                    "Keys": json.dumps(paths),
                    **({"Files": json.dumps(folder.made)} if folder.made else {}),
                    # A changed key encrypts only later uploads, so everything is uploaded again.
                    **({"KmsKeyArn": key.key_arn} if key is not None else {}),
                },
                depends_on=[access, *(resources if is_last else ())],
            )
            if after is not None:
                resource.node.add_dependency(after)
            resources.append(resource)
        return resources[-1]

    def _access(self, assets: Sequence[s3_assets.Asset]) -> iam.Policy:
        """Let the provisioner copy the assets into the bucket."""
        objects = self.bucket.arn_for_objects("*")
        return self._provisioner.grant(
            self,
            "Access",
            statements=[
                self._provisioner.read_asset(*assets),
                statement(
                    self,
                    sid="PutAndRemoveScripts",
                    why=(
                        "It puts the lifecycle scripts into their bucket, and removes those that "
                        "are gone or renamed, whose keys the template no longer has."
                    ),
                    actions=["s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion"],
                    # Not the keys: an update, and its rollback, removes those of the other side.
                    resources=[objects],
                    wildcard=(
                        "A script that an update removes or renames is no longer known by its key; "
                        "the provisioner changes no key but those of its resource."
                    ),
                ),
                statement(
                    self,
                    sid="FindScriptVersions",
                    why="It removes a script with all its versions.",
                    actions=["s3:ListBucketVersions"],
                    resources=[self.bucket.bucket_arn],
                ),
                *([] if self._is_made else [self._mark_versions(objects)]),
                *use_of_bucket_key(
                    self,
                    self.bucket,
                    sid="EncryptScripts",
                    why=(
                        "The provisioner puts scripts that S3 encrypts with the key, for that "
                        "bucket alone."
                    ),
                    actions=["kms:GenerateDataKey"],
                ),
            ],
        )

    def _mark_versions(self, objects: str) -> iam.PolicyStatement:
        return statement(
            self,
            sid="MarkScriptVersions",
            why=(
                "In a bucket of yours, it marks the versions that it puts by a tag, and removes no "
                "other ones."
            ),
            added_by="`lifecycle_scripts.existing_bucket_name`",
            actions=["s3:GetObjectVersionTagging", "s3:PutObjectTagging"],
            resources=[objects],
        )

    def _denial(self, *, writers: Sequence[str]) -> iam.PolicyStatement:
        root_user = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:root"
        return iam.PolicyStatement(
            sid="KeepScripts",
            effect=iam.Effect.DENY,
            principals=[iam.AnyPrincipal()],
            actions=_CHANGES,
            resources=[self.bucket.arn_for_objects(self.pattern)],
            # For a session of a role, this is the role's ARN.
            # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
            conditions={"ArnNotEquals": {"aws:PrincipalArn": [*writers, root_user]}},
        )


def use_of_bucket_key(
    scope: Construct, bucket: s3.IBucket, *, sid: str, why: str, actions: Sequence[str]
) -> list[iam.PolicyStatement]:
    """Return the right to use a bucket's KMS key, by S3 and for this bucket; none without a key."""
    key = bucket.encryption_key
    if key is None:
        return []
    condition = through_s3(
        region=Stack.of(scope).region, dns_suffix=Aws.URL_SUFFIX, bucket_arn=bucket.bucket_arn
    )
    return [
        statement(
            scope,
            sid=sid,
            why=why,
            added_by="`encryption.lifecycle_bucket`",
            actions=actions,
            resources=[key.key_arn],
            conditions=condition,
        )
    ]
