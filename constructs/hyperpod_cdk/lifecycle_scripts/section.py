"""The `lifecycle_scripts` section: the scripts that new nodes run."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import field_validator, model_validator

from hyperpod_cdk.lifecycle_scripts.own_scripts import OwnScriptsConfig
from hyperpod_cdk.schema.arns import KmsKeyArn, PrincipalArn
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import Matching
from hyperpod_cdk.schema.section import Listed

Prefix = Annotated[
    str,
    Matching(
        # As the API takes an S3 URI, and without what an IAM policy would read as a pattern.
        pattern=r"(?!\.\.?(/|$))[A-Za-z0-9!_.-]+(/(?!\.\.?(/|$))[A-Za-z0-9!_.-]+)*/?",
        longest=256,
        rule="must be a prefix such as lifecycle-scripts, of letters, digits and !_.- between "
        "slashes, without ..",
    ),
]

# Without the suffixes that S3 keeps for itself, and without dots, which no certificate covers.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_NEW_BUCKET = r"(?!.*(-s3alias|--ol-s3|--x-s3|--table-s3)$)sagemaker-[a-z0-9-]{0,52}[a-z0-9]"
_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"


class LifecycleScriptsConfig(OwnScriptsConfig):
    """The lifecycle scripts, which every new node runs as root."""

    prefix: Prefix | None = None
    """Where in their bucket the scripts are, such as lifecycle-scripts. A change moves them, and an
    update of the HyperPod stack then tells the cluster: until that, a new node finds none, so make
    it while no node joins. Default: the top of the bucket."""

    bucket_name: (
        Annotated[
            str,
            Matching(
                pattern=_NEW_BUCKET,
                rule="must be sagemaker- and up to 53 lower-case letters, digits and inner "
                "hyphens: the managed policy of HyperPod nodes reads no other bucket",
            ),
        ]
        | None
    ) = None
    """Name of the bucket that is made for the scripts; it cannot be changed later. Default:
    `sagemaker-<name>-<account>-<region>`."""

    existing_bucket_name: (
        Annotated[
            str,
            Matching(
                pattern=_BUCKET,
                rule="must be the name of an S3 bucket, such as sagemaker-my-scripts",
            ),
        ]
        | None
    ) = None
    """Name of a bucket of your own, of this account and region, that gets the scripts instead.
    Nothing of it is changed, and no object but the scripts; it cannot be changed later. Default: a
    bucket is made."""

    existing_bucket_kms_key_arn: KmsKeyArn | None = None
    """ARN of the KMS key that encrypts existing_bucket_name by default: the deployment may encrypt
    the scripts with it, and the nodes decrypt them. Default: none, which is right for a bucket
    encrypted with keys of S3 or of AWS."""

    writers: Listed[PrincipalArn] = ()
    """ARNs of IAM roles and users that may change or delete the scripts in their bucket besides the
    deployment, if their own policies allow it too. Default: nobody."""

    @field_validator("prefix")
    @classmethod
    def _without_slash(cls, value: str | None) -> str | None:
        return None if value is None else value.rstrip("/")

    @field_validator("writers")
    @classmethod
    def _check_writers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        refuse(
            Finding(path=(index,), value=arn, message="is listed twice; name it once")
            for index, arn in enumerate(value)
            if arn in value[:index]
        )
        return value

    @model_validator(mode="after")
    def _check_bucket(self) -> Self:
        refuse(self._bucket_findings())
        return self

    def _bucket_findings(self) -> Iterator[Finding]:
        if self.existing_bucket_name is None:
            if self.existing_bucket_kms_key_arn is not None:
                message = "must be left out: it is for existing_bucket_name, which is not set"
                yield Finding(
                    path=("existing_bucket_kms_key_arn",),
                    value=self.existing_bucket_kms_key_arn,
                    message=message,
                )
            return
        if self.bucket_name is not None:
            message = "must be left out: existing_bucket_name names a bucket that is not made"
            yield Finding(path=("bucket_name",), value=self.bucket_name, message=message)
        if self.writers:
            message = (
                "must be left out: the policy of existing_bucket_name is yours, and decides who "
                "changes the scripts"
            )
            yield Finding(path=("writers",), value=list(self.writers), message=message)
