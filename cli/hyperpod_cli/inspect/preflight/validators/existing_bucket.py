"""Whether an existing bucket can hold the lifecycle scripts."""

import json

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.lifecycle_scripts.section import joined
from hyperpod_cdk.schema.errors import error, warning
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import answer_of, listed
from hyperpod_cli.inspect.preflight.deployed import is_deployed
from hyperpod_cli.inspect.preflight.validator import (
    Phase,
    Problems,
    Target,
    as_list,
    validator,
)
from hyperpod_cli.inspect.preflight.validators.kms_key import leaves_it_to_iam, policy_of
from hyperpod_shared.aws_errors import code
from hyperpod_shared.owner import STACK_TAG
from hyperpod_stacks.table import stack_name

_NAME = ("lifecycle_scripts", "existing_bucket_name")
_KEY = ("lifecycle_scripts", "existing_bucket_kms_key_arn")
_BLOCKS = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
_KMS = ("aws:kms", "aws:kms:dsse")


@validator(
    phase=Phase.EXISTING_RESOURCES,
    names=("bucket",),
    iam=[
        "cloudformation:ListStackResources",
        "kms:DescribeKey",
        "s3:GetBucketPolicy",
        "s3:GetBucketPublicAccessBlock",
        "s3:GetBucketVersioning",
        "s3:GetEncryptionConfiguration",
        "s3:GetObjectTagging",
        "s3:ListBucket",
    ],
)
def existing_bucket(config: Config, target: Target) -> Problems:
    """A bucket of yours does not exist; that of scripts cannot be used, or others are in its way.

    Keys: lifecycle_scripts.existing_bucket_kms_key_arn, lifecycle_scripts.prefix

    [existing resources](existing-resources.md)
    """
    for named in named_resources(config, "bucket"):
        name = named.value.removeprefix("s3://").partition("/")[0]
        is_of_scripts = named.path == _NAME
        region = _region(name, target, is_of_scripts=is_of_scripts)
        if region is None:
            message = (
                "does not exist; correct it, or create it with "
                f"`aws s3 mb s3://{name} --region {target.region}`"
            )
            # Of data that no one reads yet, the deployment would succeed.
            severity = warning if "data_buckets" in named.path else error
            command = f"aws s3api head-bucket --bucket {name}"
            yield severity(named.path, named.value, message), command
        elif is_of_scripts:
            yield from _problems(config, name, target, region=region)


def _problems(config: Config, name: str, target: Target, *, region: str) -> Problems:
    """Find what keeps the scripts from a bucket."""
    command = f"aws s3api head-bucket --bucket {name}"
    if region != target.region:
        message = f"is in {region}; nodes read their scripts from {target.region}: name one there"
        yield error(_NAME, name, message), command
        return
    owned = {"Bucket": name, "ExpectedBucketOwner": target.account}
    if answer_of(target.client("s3").head_bucket, "403", **owned) is None:
        message = f"is not of account {target.account}; name a bucket of this account"
        yield error(_NAME, name, message), f"{command} --expected-bucket-owner {target.account}"
        return
    yield from _safety_problems(name, target)
    yield from _key_problems(config, name, target)
    yield from _policy_problems(name, target)
    yield from _object_problems(config, name, target)


def _region(name: str, target: Target, *, is_of_scripts: bool) -> str | None:
    """Return the region of a bucket; None if there is none. Another account's may be closed.

    https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
    """
    try:
        answer = target.client("s3").head_bucket(Bucket=name)
    except ClientError as refused:
        if code(refused) == "404":
            return None
        if code(refused) != "301" and (is_of_scripts or code(refused) != "403"):
            raise
        headers = refused.response["ResponseMetadata"]["HTTPHeaders"]
        return str(headers.get("x-amz-bucket-region", "another region"))
    return str(answer.get("BucketRegion") or target.region)


def _safety_problems(name: str, target: Target) -> Problems:
    """Find what lets others change what nodes run as root, or loses what was there before."""
    s3 = target.client("s3")
    absent = "NoSuchPublicAccessBlockConfiguration"
    answer = answer_of(s3.get_public_access_block, absent, Bucket=name)
    blocks = {} if answer is None else answer["PublicAccessBlockConfiguration"]
    if not all(blocks.get(block) for block in _BLOCKS):
        settings = ",".join(f"{block}=true" for block in _BLOCKS)
        message = (
            "does not block public access, and nodes run its scripts as root: `aws s3api "
            f"put-public-access-block --bucket {name} --public-access-block-configuration "
            f"{settings}`"
        )
        command = f"aws s3api get-public-access-block --bucket {name}"
        yield warning(_NAME, name, message), command
    if s3.get_bucket_versioning(Bucket=name).get("Status") != "Enabled":
        message = (
            "keeps no versions: a script that is overwritten by mistake is lost; `aws s3api "
            f"put-bucket-versioning --bucket {name} --versioning-configuration Status=Enabled`"
        )
        command = f"aws s3api get-bucket-versioning --bucket {name}"
        yield warning(_NAME, name, message), command


def _key_problems(config: Config, name: str, target: Target) -> Problems:
    """Find a KMS key that nodes could not decrypt with.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
    """
    configured = config.lifecycle_scripts.existing_bucket_kms_key_arn
    key = _customer_key(name, target)
    command = f"aws s3api get-bucket-encryption --bucket {name}"
    if key is None and configured is not None:
        message = f"does not encrypt {name}, which no customer key does; leave it out"
        yield warning(_KEY, configured, message), command
    elif key is not None and configured is None:
        message = f"is missing: {name} is encrypted with {key}; set it to that"
        yield error(_KEY, None, message), command
    elif key != configured:
        message = f"does not encrypt {name}; {key} does"
        yield error(_KEY, configured, message), command
    elif key is not None and not leaves_it_to_iam(policy_of(key, target), "kms:Decrypt", target):
        statement = {
            "Sid": "AllowIamPolicies",
            "Effect": "Allow",
            "Principal": {"AWS": target.iam_arn("root")},
            "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
            "Resource": "*",
        }
        message = (
            "has a policy that does not let IAM policies of the account allow its use, so neither "
            f"nodes nor the deployment may use it; add to it: {json.dumps(statement)}"
        )
        command = f"aws kms get-key-policy --key-id {key} --policy-name default"
        yield error(_KEY, key, message), command


def _customer_key(name: str, target: Target) -> str | None:
    """Return the ARN of the customer key that encrypts a bucket by default."""
    encryption = target.client("s3").get_bucket_encryption(Bucket=name)
    for rule in encryption["ServerSideEncryptionConfiguration"]["Rules"]:
        default = rule.get("ApplyServerSideEncryptionByDefault", {})
        if default.get("SSEAlgorithm") in _KMS and default.get("KMSMasterKeyID"):
            # May be an ID, an alias or an ARN.
            key = target.client("kms").describe_key(KeyId=default["KMSMasterKeyID"])["KeyMetadata"]
            return str(key["Arn"]) if key.get("KeyManager") == "CUSTOMER" else None
    return None


def _policy_problems(name: str, target: Target) -> Problems:
    """Find statements of the bucket's policy that may deny what nodes and the deployment do."""
    answer = answer_of(target.client("s3").get_bucket_policy, "NoSuchBucketPolicy", Bucket=name)
    statements = [] if answer is None else as_list(json.loads(answer["Policy"])["Statement"])
    for number, statement in enumerate(statements):
        # Everything here goes by TLS.
        only_without_tls = {"Bool": {"aws:SecureTransport": "false"}}
        if statement["Effect"] != "Deny" or statement.get("Condition") == only_without_tls:
            continue
        message = (
            f"has a policy whose statement {statement.get('Sid', number + 1)} denies something; "
            "see to it that it lets the nodes' role read the scripts, and the provisioner's role "
            "put them"
        )
        command = f"aws s3api get-bucket-policy --bucket {name}"
        yield warning(_NAME, name, message), command


def _object_problems(config: Config, name: str, target: Target) -> Problems:
    """Find an object of others where a first deployment puts a script."""
    if is_deployed(config, "platform", target):
        return
    stack = stack_name(config, "platform")
    s3, prefix = target.client("s3"), config.scripts_prefix
    objects = listed(s3, "list_objects_v2", "Contents", Bucket=name, Prefix=f"{prefix}/")
    keys = {item["Key"] for item in objects}
    for key in sorted(keys & _script_keys(config)):
        tags = s3.get_object_tagging(Bucket=name, Key=key)["TagSet"]
        if f":stack/{stack}/" in "".join(tag["Value"] for tag in tags if tag["Key"] == STACK_TAG):
            continue  # a namesake left it
        message = (
            f"holds {key} in {name}, which is not of this deployment; set it to a prefix that "
            f"holds nothing, or move the object away: `aws s3 mv s3://{name}/{key} ...`"
        )
        command = f"aws s3 ls --recursive s3://{name}/{prefix}/"
        yield error(("lifecycle_scripts", "prefix"), prefix, message), command
        return


def _script_keys(config: Config) -> set[str]:
    return {
        joined(folder.prefix, path)
        for home in config.script_folders
        for folder in home
        for path in folder.paths()
    }
